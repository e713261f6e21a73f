"""Pages that list others get these as children on the site; a reader of the repository sees nothing of that."""

CHILDREN = {
    "README": "Tutorial <docs/tutorial>\ndocs/how-to/index\ndocs/explanation/index\ndocs/reference/index\ndocs/project",
    "docs/decisions/README": "[0-9]*",
    "docs/proofs/README": "[a-z]*",
}


def add_children(_app, name, source):
    """Append a table of contents that is not shown."""
    if name in CHILDREN:
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n\n{CHILDREN[name]}\n```\n"


def setup(app):
    """Let Sphinx call it on each page it reads."""
    app.connect("source-read", add_children)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Puts the page to try the JavaScript client on the site, beside the page whose link leads a reader to its source."""

from pathlib import Path

SOURCE = "[a page to try](../src/anonhist/local/client/index.html)"
ON_SITE = '<a href="try/index.html">a page to try</a>'


def link_to_page(_app, name, source):
    """Let the link lead to the page itself."""
    if name == "docs/collecting":
        if SOURCE not in source[0]:
            message = f"docs/collecting.md has no link {SOURCE}"
            raise ValueError(message)
        source[0] = source[0].replace(SOURCE, ON_SITE)


def write_page(app, exception):
    """Write what ``anonhist collect client`` writes."""
    from anonhist.local.collect_commands import client

    if exception is None:
        folder = Path(app.outdir) / "docs" / "try"
        client.main(["-o", str(folder), "--force", "--quiet"], standalone_mode=False)


def setup(app):
    """Let Sphinx call them: on each page it reads, and at last."""
    app.connect("source-read", link_to_page)
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

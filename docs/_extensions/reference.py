"""The reference, written from the code: a page for each room with all its public names, and a page for each name."""

import inspect
import re
import typing
from pathlib import Path

import anonhist

FOLDER = "docs/reference/generated"
FRONT = [name for name in anonhist.__all__ if not inspect.ismodule(getattr(anonhist, name))]
TOGETHER = re.compile(r"^(\w+(?:, \w+)+)\n((?: +.*(?:\n|$))+)", re.MULTILINE)
ROOMS = [getattr(anonhist, name) for name in anonhist.__all__ if name not in FRONT]


def kind_of(value):
    """Return the heading under which a name is listed."""
    if inspect.isroutine(value):
        return "Functions"
    return "Types" if inspect.isclass(value) else "Constants and names of types"


def listing(place, names):
    """Return the tables of names: those with pages here, and those whose page is that of the front door."""
    groups = {"Functions": [], "Types": [], "Constants and names of types": [], "In anonhist itself, too": []}
    for name in names:
        value = getattr(place, name)
        at_front = place is not anonhist and name in FRONT and getattr(anonhist, name) is value
        groups["In anonhist itself, too" if at_front else kind_of(value)].append(name)
    lines = []
    for title, group in groups.items():
        here = title != "In anonhist itself, too"
        if group:
            lines += [title, "-" * len(title), "", f".. currentmodule:: {place.__name__ if here else 'anonhist'}", ""]
            lines += [".. autosummary::", "   :nosignatures:", *(["   :toctree: ."] if here else []), ""]
            lines += [f"   {name}" for name in group] + [""]
    return lines


def write_rooms(app, _config):
    """Write the pages of the front door and of the rooms; Sphinx then writes those of the names on them."""
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(exist_ok=True)
    for place, names in [(anonhist, FRONT), *((room, room.__all__) for room in ROOMS)]:
        title = place.__name__
        head = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
        text = "\n".join(head + listing(place, names))
        page = folder / f"{title}.rst"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def name_one_by_one(_app, _what, _name, _value, _options, lines):
    """Repeat the text of attributes that a docstring describes together, as napoleon does for parameters."""
    text = TOGETHER.sub(lambda found: "".join(f"{name}\n{found[2]}" for name in found[1].split(", ")), "\n".join(lines))
    lines[:] = text.split("\n")


def kept_type(annotation):
    """Return the type that a field keeps: of ``Converted[given, kept]`` the second."""
    name, _, inner = annotation.partition("[")
    if name not in {"Converted", "Checked"}:
        return annotation
    inner = inner.removesuffix("]")
    depth = 0
    for position, character in enumerate(inner):
        depth += (character in "[(") - (character in "])")
        if character == "," and not depth:
            return inner[position + 1 :].strip()
    return inner


def name_kept_types(_app, _what, _name, _value, _options, lines):
    """Say of each field the type that it keeps, not the class that converts it."""
    for number, line in enumerate(lines):
        found = re.fullmatch(r"(:vartype \w+:) (.*)", line)
        if found:
            lines[number] = f"{found[1]} {kept_type(found[2])}"


def types_as_written(value, *namespaces, found=typing.get_type_hints, **options):
    """Return the types of ours as they are written: Sphinx would show what each alias stands for, at great length."""
    if not getattr(value, "__module__", "").startswith("anonhist."):
        return found(value, *namespaces, **options)
    return {name: getattr(type_, "__forward_arg__", type_) for name, type_ in value.__annotations__.items()}


def setup(app):
    """Let Sphinx call these while it builds."""
    typing.get_type_hints = types_as_written
    app.connect("config-inited", write_rooms)
    app.connect("autodoc-process-docstring", name_one_by_one, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", name_kept_types, priority=900)  # after it
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""A strict reader of the little YAML that this program writes: it refuses what versions of YAML read differently."""

import json
import re
from typing import Any

_LINE = re.compile(
    r"(?P<indent>(?:  )*)(?P<item>- )?(?:(?P<name>[a-z_]+):)?"
    r"(?: ?(?P<value>\"(?:[^\"\\]|\\.)*\"|[^\s#\"]+))?(?:  # .*)?"
)
# As YAML 1.1 has them: 1e-9 would be text.
_NUMBER = re.compile(r"[0-9]+\.[0-9]+(?:e[-+][0-9]+)?|[0-9]+")
# JSON writes two halves of one sign so, which YAML does not join.
_HALF = re.compile(r"\\ud[89a-f]")
# Not even within quotes: ends of lines, marks of byte order and other signs that YAML 1.1 does not print.
_UNPRINTED = re.compile("[^\t\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def read_block(text: str) -> dict[str, Any]:
    """Return what a block says; each name once.

    Raises
    ------
    ValueError
        If it has anything but mappings, lists, text in double quotes and numbers, each on one line.

    Examples
    --------
    >>> read_block('# A remark\\na:\\n  - b: "c: d"\\n    e: 1.0e-9  # a hint\\n')
    {'a': [{'b': 'c: d', 'e': 1e-09}]}
    """
    lines: list[tuple[int, bool, str | None, str | None]] = []
    for line in text.removesuffix("\n").split("\n"):
        if line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None or _UNPRINTED.search(line):
            raise ValueError(line)
        depth = len(found["indent"]) // 2
        if found["item"] and found["name"]:
            # An item that is a mapping: its first field stands beside the mark.
            lines.append((depth, True, None, None))
            depth += 1
        lines.append((depth, bool(found["item"]) and not found["name"], found["name"], found["value"]))
    told = _mapping(lines, 0)
    if lines:
        raise ValueError(lines[0])
    assert isinstance(told, dict)
    return told


def _mapping(lines: list[tuple[int, bool, str | None, str | None]], depth: int) -> Any:
    fields: dict[str, Any] = {}
    items: list[Any] = []
    while lines and lines[0][0] == depth:
        _, is_item, name, value = lines.pop(0)
        if is_item:
            items.append(_mapping(lines, depth + 1) if value is None else _scalar(value))
        elif name is None or name in fields:
            raise ValueError(name)
        else:
            fields[name] = _mapping(lines, depth + 1) if value is None else _scalar(value)
    if bool(fields) == bool(items):
        raise ValueError(depth)
    return fields or items


def _scalar(value: str) -> str | float | int:
    if value.startswith('"'):
        if _HALF.search(value.replace(r"\\", "")):
            raise ValueError(value)
        return str(json.loads(value))
    if _NUMBER.fullmatch(value) is None:
        raise ValueError(value)
    return float(value) if "." in value else int(value)

"""JSON documents: written for people to read, read without trusting anybody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping


def document_text(document: Mapping[str, Any]) -> str:
    """Write a document: objects are spread out, lists stay on one line, readable and no longer than needed."""
    return _spread(document, 0) + "\n"


def _spread(value: object, depth: int) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = "  " * (depth + 1)
    fields = [f"{inner}{json.dumps(name)}: {_spread(field, depth + 1)}" for name, field in value.items()]
    return "{\n" + ",\n".join(fields) + "\n" + "  " * depth + "}"


def parse_json(content: bytes) -> object:
    """Return what a JSON text says, each field once; reject NaN and infinities."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_unique)
    except DataError:
        raise
    except (ValueError, RecursionError):  # besides bad syntax: bad UTF-8, endless numbers, endless nesting
        raise DataError("it is not valid JSON") from None


def _no_constant(name: str) -> NoReturn:
    raise DataError(f"it holds {name} where a number must be")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DataError("it names a field twice")
    return fields

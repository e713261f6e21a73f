"""Values out of a document that may hold anything, each refused unless it is of its kind."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from anonhist.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Member = TypeVar("Member", bound=Enum)
_LONGEST_TEXT = 4096
_LARGEST_FLOAT = sys.float_info.max


def mapping(value: object, names: set[str], what: str) -> Mapping[str, Any]:
    """Return an object that has exactly these fields."""
    if not isinstance(value, dict) or set(value) != names:
        raise DataError(f"it must describe {what} by exactly the fields {', '.join(sorted(names))}")
    return value


def text(value: object, what: str) -> str:
    """Return text that is short and can be shown anywhere."""
    # Control characters could take over the terminal the text is shown on; half characters could not be written.
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not all(map(_is_plain, value)):
        raise DataError(f"{what} must be plain text")
    return value


def member(members: type[Member], value: object, what: str) -> Member:
    """Return the member of an enumeration that has this text as its value."""
    known = {each.value: each for each in members}
    if (found := known.get(text(value, what))) is None:
        raise DataError(f"{what} must be one of {', '.join(known)}")
    return found


def _is_plain(character: str) -> bool:
    return character.isprintable() or character in "\n\t"


def whole(value: object, what: str) -> NDArray[np.int64]:
    """Return a list of whole numbers."""
    if not isinstance(value, list) or not all(type(number) is int and abs(number) < 2**63 for number in value):
        raise DataError(f"{what} must be a list of whole numbers below 2^63")
    return np.array(value, dtype=np.int64)


def floats(value: object, what: str) -> NDArray[np.float64]:
    """Return a list of finite numbers."""
    numbers: list[Any] = value if isinstance(value, list) else [None]
    # The comparison also refuses infinities and NaN; whole numbers may be longer than a float can hold.
    if not all(type(number) in (int, float) and abs(number) <= _LARGEST_FLOAT for number in numbers):
        raise DataError(f"{what} must be finite numbers")
    return np.array(numbers, dtype=np.float64)


def check_version(document: object, kind: str, version: int, *, oldest: int | None = None) -> int:
    """Return the version of a document; refuse another format, or a version that this program does not know.

    Versions from ``oldest`` on are read; by default this one alone.
    """
    top = document if isinstance(document, dict) else {}
    if top.get("format") != kind:
        raise DataError(f"its format is not {kind!r}")
    first = version if oldest is None else oldest
    if type(top.get("version")) is not int or not first <= top["version"] <= version:
        known = f"{version}, the one" if first == version else f"from {first} to {version}, the ones"
        raise DataError(f"its version is not {known} that this program reads; a newer program may read it")
    found: int = top["version"]
    return found


# What guarantees say today, and what the first files say.
_FIRST_WORDS = (
    ("is replaced by another", "is exchanged for another"),
    ("is randomized on the device", "is randomised on the device"),
    ("nobody has to be trusted with it as long as the device follows the survey", "nobody need be trusted with it"),
)


def file_wording(guarantee: str) -> str:
    """Return what a guarantee says in the words of the first files; readers compare it.

    Examples
    --------
    >>> file_wording("private when one item is replaced by another; noise is exact.")
    'private when one item is exchanged for another; noise is exact.'
    """
    for today, first in _FIRST_WORDS:
        guarantee = guarantee.replace(today, first, 1)
    return guarantee

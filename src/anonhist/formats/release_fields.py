"""What a release may say besides what every release says: how each such field is written and read, one line a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.formats.excess_fields import excess_document, excess_from
from anonhist.formats.fields import text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anonhist.privacy import Guarantee
    from anonhist.releases import Release


@dataclass(frozen=True)
class OptionalField:
    """A field of :class:`~anonhist.releases.release.Release` that may be None, and is not in the document then.

    Attributes
    ----------
    since
        The first version of the document that has it.
    read
        Returns the value, of what the document holds and the guarantee of the release; or raises a DataError.
    write
        Returns a JSON value.
    """

    since: int
    read: Callable[[object, Guarantee], Any]
    write: Callable[[Any], Any] = lambda value: value


def _text(what: str) -> Callable[[object, Guarantee], str]:
    return lambda value, _: text(value, what)


def _number(what: str) -> Callable[[object, Guarantee], int]:
    def read(value: object, _: Guarantee) -> int:
        # Whether it is in range, the release checks.
        if type(value) is not int:
            message = f"{what} must be a whole number"
            raise DataError(message)
        return value

    return read


OPTIONAL_FIELDS = {
    "order_key": OptionalField(3, _text("the order key")),
    "excess": OptionalField(4, excess_from, excess_document),
    "items": OptionalField(1, _number("items")),
    "zeros": OptionalField(1, _number("zeros")),
}


def optional_document(release: Release) -> dict[str, Any]:
    """Return those fields that a release has, as JSON values."""
    values = {name: getattr(release, name) for name in OPTIONAL_FIELDS}
    return {name: OPTIONAL_FIELDS[name].write(value) for name, value in values.items() if value is not None}


def optional_fields(document: Mapping[str, Any], guarantee: Guarantee) -> dict[str, Any]:
    """Return those fields that a document has.

    Raises
    ------
    DataError
        If one is not what it must be.
    """
    return {name: each.read(document[name], guarantee) for name, each in OPTIONAL_FIELDS.items() if name in document}


def check_since(document: Mapping[str, Any], version: int) -> None:
    """Refuse a document with fields that came in a later version.

    Raises
    ------
    DataError
        If it has one.
    """
    for name, each in OPTIONAL_FIELDS.items():
        if name in document and version < each.since:
            message = f"a release of version {version} has no {name.replace('_', ' ')}"
            raise DataError(message)

"""Fields that a release may have: how each is written and read, one line a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonhist.accounting import Receipt
from anonhist.errors import DataError
from anonhist.formats.error_fields import names_of
from anonhist.formats.fields import mapping, member, text
from anonhist.privacy import Guarantee, parse_epsilon
from anonhist.profiles import Bounded
from anonhist.releases import Excess, Release

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_NUMBERS = ("bound", "cap", "noisy_within", "noisy_above", "noisy_items")
_RECEIPT = ("ledger", "entry", "head")
_EPSILONS = ("users_epsilon", "items_epsilon")
# The first version with an excess of labels.
_OF_OTHERS = 7


def excess_document(excess: Excess) -> dict[str, Any]:
    """Return the excess as JSON values; between which neighbors it holds, the guarantee says.

    What was bounded is not written where it is items of users, as in version 4.
    """
    numbers = {name: getattr(excess, name) for name in _NUMBERS}
    of = {} if excess.of is Bounded.ITEMS_OF_USERS else {"of": excess.of.value}
    return numbers | {name: str(getattr(excess, name)) for name in _EPSILONS} | of


def excess_from(value: object, guarantee: Guarantee) -> Excess:
    """Return the excess in a document, having refused what none can be.

    Raises
    ------
    DataError
        With what is wrong in one clause; numbers out of their range raise a UsageError.
    """
    fields = mapping(value, {*_NUMBERS, *_EPSILONS} | (names_of(value) & {"of"}), "the excess")
    of = member(Bounded, fields.get("of", Bounded.ITEMS_OF_USERS.value), "what the excess is of")
    if "of" in fields and of is Bounded.ITEMS_OF_USERS:
        raise DataError("an excess of items of users does not say what it is of")
    if any(type(fields[name]) is not int for name in _NUMBERS):
        raise DataError("the numbers of the excess must be whole")
    for_users, for_items = (parse_epsilon(text(fields[name], name), name=name) for name in _EPSILONS)
    numbers = {name: fields[name] for name in _NUMBERS}
    return Excess(relation=guarantee.relation, users_epsilon=for_users, items_epsilon=for_items, of=of, **numbers)


@dataclass(frozen=True)
class OptionalField:
    """A field of :class:`~anonhist.releases.release.Release` that may be None, and is not in the document then.

    Attributes
    ----------
    since
        The first version of the document that has it, of what the document holds.
    read
        Returns the value, of what the document holds and the guarantee of the release; or raises a DataError.
    write
        Returns a JSON value.
    """

    since: Callable[[Any], int]
    read: Callable[[object, Guarantee], Any]
    write: Callable[[Any], Any] = lambda value: value


def _text(what: str) -> Callable[[object, Guarantee], str]:
    return lambda value, _: text(value, what)


def _number(what: str) -> Callable[[object, Guarantee], int]:
    def read(value: object, _: Guarantee) -> int:
        # Whether it is in range, the release checks.
        if type(value) is not int:
            raise DataError(f"{what} must be a whole number")
        return value

    return read


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as JSON values."""
    return {name: getattr(receipt, name) for name in _RECEIPT}


def receipt_from(value: object, _: Guarantee | None = None) -> Receipt:
    """Return the receipt in a document; it refuses what none can be.

    Raises
    ------
    DataError
        With what is wrong in one clause; values out of their range raise a UsageError.
    """
    # What each must be, the receipt checks.
    return Receipt(**mapping(value, {*_RECEIPT}, "the receipt"))


OPTIONAL_FIELDS = {
    "order_key": OptionalField(lambda _: 3, _text("the order key")),
    "excess": OptionalField(lambda value: _OF_OTHERS if "of" in names_of(value) else 4, excess_from, excess_document),
    "items": OptionalField(lambda _: 1, _number("items")),
    "zeros": OptionalField(lambda _: 1, _number("zeros")),
    "receipt": OptionalField(lambda _: 6, receipt_from, receipt_document),
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
        if name in document and version < each.since(document[name]):
            raise DataError(f"a release of version {version} has no {name.replace('_', ' ')}")

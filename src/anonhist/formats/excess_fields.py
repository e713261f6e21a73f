"""What a release says of the items that a bound on users left out, in its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.formats.fields import mapping, text
from anonhist.privacy import parse_epsilon
from anonhist.releases import Excess

if TYPE_CHECKING:
    from anonhist.privacy import Guarantee

_NUMBERS = ("bound", "cap", "noisy_within", "noisy_above", "noisy_items")
_EPSILONS = ("users_epsilon", "items_epsilon")


def excess_document(excess: Excess) -> dict[str, Any]:
    """Return the excess as JSON values; between which neighbors it holds, the guarantee says."""
    numbers = {name: getattr(excess, name) for name in _NUMBERS}
    return numbers | {name: str(getattr(excess, name)) for name in _EPSILONS}


def excess_from(value: object, guarantee: Guarantee) -> Excess:
    """Return the excess in a document, having refused what none can be.

    Raises
    ------
    DataError
        With what is wrong in one clause; numbers out of their range raise a UsageError.
    """
    fields = mapping(value, {*_NUMBERS, *_EPSILONS}, "the excess")
    if any(type(fields[name]) is not int for name in _NUMBERS):
        raise DataError("the numbers of the excess must be whole")
    for_users, for_items = (parse_epsilon(text(fields[name], name), name=name) for name in _EPSILONS)
    numbers = {name: fields[name] for name in _NUMBERS}
    return Excess(relation=guarantee.relation, users_epsilon=for_users, items_epsilon=for_items, **numbers)

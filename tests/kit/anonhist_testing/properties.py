"""Every property, by every method and with numbers of every kind, as users may ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.catalogue import PROPERTIES as ENTRIES
from anonhist.errors import UsageError
from anonhist.properties.by_name import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated

_ALPHABET_SIZE = 2**62
_GOOD: dict[str, tuple[Any, ...]] = {
    "draws": (1, 500, 10**6, 2**64),
    "order": (0, 0.5, 1, 2, 3.7, 12),
    "alphabet_size": (_ALPHABET_SIZE,),
    "guesses": (1, 10, 10**6),
    "share": (0.01, 0.5, 1),
}
_NEED_ALPHABET = ("chebyshev",)


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every property by name, with options."""
    for name, known in PROPERTIES.items():
        for numbers in _numbers(name, known.required):
            order = numbers.get("order", 2)
            is_whole = order >= 2 and order == int(order)
            if name == "power-sum" and not is_whole:
                continue
            for method in known.methods or (None,):
                if method == "unbiased" and not is_whole:
                    continue
                alphabet = {"alphabet_size": _ALPHABET_SIZE} if method in _NEED_ALPHABET else {}
                yield name, numbers | alphabet | ({} if method is None else {"method": method})


def _numbers(name: str, required: tuple[str, ...]) -> list[dict[str, Any]]:
    if not required:
        return [{}]
    (option,) = required
    if option not in _GOOD:  # an option of one property alone
        return [dict(asked) for asked in ENTRIES[name].asked]
    return [{option: value} for value in _GOOD[option]]


def answer(data: Profile | Resimulated, name: str, options: dict[str, Any]) -> Estimate | None:
    """Estimate, or return None if refused: more draws than items in rarefaction, or more labels than there can be."""
    try:
        found: Estimate = PROPERTIES[name].estimate(data, **options)
    except UsageError as error:
        if "at most as many draws as there are items" in str(error) or "below the number of labels" in str(error):
            return None
        raise
    return found

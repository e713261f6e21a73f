"""Options of estimators: names of methods and public numbers, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Collection

    from anonhist.properties.estimator import Resimulated


def check_method(method: object, methods: Collection[str], *, of: str) -> None:
    """Refuse an unknown name of a method.

    Raises
    ------
    UsageError
        If there is no such method.

    Examples
    --------
    >>> check_method("plug-in", ("plug-in", "pml"), of="entropy")
    """
    if method not in methods:
        raise UsageError(f"There is no method {method!r:.80} for {of}; choose one of {', '.join(methods)}.")


def check_unit(unit: object, units: Collection[str]) -> None:
    """Refuse an unknown unit.

    Raises
    ------
    UsageError
        If there is no such unit.

    Examples
    --------
    >>> check_unit("bits", ("guesses", "bits"))
    """
    if unit not in units:
        raise UsageError(f"`unit` must be one of {', '.join(units)}, not {unit!r:.80}.")


def check_alphabet(data: Profile | Resimulated, alphabet_size: int | None) -> int | None:
    """Return k; refuse anything but a whole number ≥ 1, and a k below the number of labels of a profile.

    A release may have more labels than there are, by chance, so its number of labels is not checked.
    """
    if alphabet_size is None:
        return None
    size = parse_whole_number(alphabet_size, name="alphabet_size")
    if isinstance(data, Profile) and size < data.num_labels:
        raise UsageError(
            "`alphabet_size` is below the number of labels in the data: give a larger one, or leave it out."
        )
    return size

"""Candidates: values of interest, named before anybody sees the reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.value_name import one_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anonhist.local.surveys.alphabet import Alphabet


def distinct_candidates(candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the candidates, or refuse an empty list or one with duplicates.

    Raises
    ------
    UsageError
        If there are none, one is not a string, or one is named twice.
    """
    names = tuple(one_column(candidates))
    if isinstance(candidates, str) or not all(isinstance(name, str) for name in names):
        raise UsageError("Candidates must be a list of strings.")
    if not names:
        raise UsageError("The list of candidates is empty; name at least one.")
    if len(set(names)) < len(names):
        raise UsageError("A candidate is named twice; name each once.")
    return tuple(map(str, names))


def candidate_codes(names: tuple[str, ...], alphabet: Alphabet) -> NDArray[np.int64]:
    """Return the codes of candidates that are labels of an alphabet, or refuse any other.

    Raises
    ------
    UsageError
        If a candidate is outside.
    """
    try:
        codes = alphabet.codes(names)
    except DataError:
        codes = np.empty(0, dtype=np.int64)
    # The label for all other values is not a candidate for any of them.
    if alphabet.names(codes.tolist()) != names:
        raise UsageError("A candidate is not in the alphabet of the survey; take it from the list.")
    return codes

"""The possible answers: labels that everybody knows beforehand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import index
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import frozen
from anonhist.numeric.value_name import one_column
from anonhist.privacy import parse_whole_number

LARGEST_ALPHABET = 2**32
# The labels of an alphabet of whole numbers, and longer ones.
_LABEL = re.compile("0|[1-9][0-9]{0,18}")

_OUTSIDE = "A value is not in the alphabet; leave such values out, or declare a label for all of them (`other`)."


@frozen(init=False)
class Alphabet:
    """A closed alphabet: k ≥ 2 labels, known to everybody, and the treatment of all other values.

    Parameters
    ----------
    labels
        Distinct texts, in the order of estimates; or their number k, from 2 to 2³²: the labels are
        then the whole numbers 0 to k − 1.
    other
        The label for every value outside the alphabet; it is added at the end if it is not among the labels. Without
        it, the device refuses such a value, and the refusal itself reveals something about the value.

    Raises
    ------
    UsageError
        If there are fewer than two labels, duplicate labels, or a label that is not text.

    Examples
    --------
    >>> Alphabet(["cat", "dog"], other="another").codes(["dog", "emu", "cat"]).tolist()
    [1, 2, 0]
    >>> Alphabet(10).codes([3, 9]).tolist()
    [3, 9]
    """

    labels: tuple[str, ...] | int
    other: str | None

    def __init__(self, labels: Iterable[str] | SupportsIndex, other: str | None = None) -> None:
        vars(self).update(labels=_checked_labels(labels, other), other=other)

    def __repr__(self) -> str:
        other = "" if self.other is None else f", other={self.other!r}"
        return str(self.labels) if isinstance(self.labels, int) else f"Alphabet({self.size:,} labels{other})"

    @classmethod
    def of(cls, value: AlphabetLike) -> Alphabet:
        """Return an alphabet unchanged, or make one from labels or their number."""
        if isinstance(value, Alphabet):
            return value
        return cls(value)

    @property
    def size(self) -> int:
        """The number k of labels."""
        return self.labels if isinstance(self.labels, int) else len(self.labels)

    def names(self, codes: Iterable[int] | None = None) -> tuple[str, ...]:
        """Return the labels of the codes, or all labels in their order."""
        chosen = range(self.size) if codes is None else codes
        if isinstance(self.labels, int):
            return tuple(map(str, chosen))
        return tuple(self.labels[code] for code in chosen)

    def codes(self, values: Any) -> NDArray[np.int64]:
        """Return the position of every value among the labels, from 0.

        Parameters
        ----------
        values
            Texts, or whole numbers if the labels are whole numbers.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        DataError
            If a value is outside the alphabet and there is no label for others. The message does not contain the value.
        """
        if isinstance(self.labels, int):
            return self._whole_codes(values)
        places = self._places
        if self.other is None:
            try:
                return np.fromiter(map(places.__getitem__, values), dtype=np.int64)
            except (KeyError, TypeError):
                raise DataError(_OUTSIDE) from None
        beyond = places[self.other]
        try:
            return np.fromiter((places.get(value, beyond) for value in values), dtype=np.int64)
        except TypeError:
            raise DataError("Values must be text.") from None

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {label: place for place, label in enumerate(self.names())}

    def _whole_codes(self, values: Any) -> NDArray[np.int64]:
        # NumPy would choose one type for all values of a list.
        given = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
        if given.size == 0:
            return np.empty(0, dtype=np.int64)
        if given.ndim != 1 or given.dtype.kind not in "iuUO":
            raise DataError("Values must be whole numbers, one per person.")
        try:
            if given.dtype.kind in "UO":
                given = np.array([*map(_whole_number, given.tolist())])
            inside = bool(given.dtype.kind in "iu" and given.min() >= 0 and given.max() < self.size)
        except (ValueError, TypeError, OverflowError):
            inside = False
        if not inside:
            message = f"A value is not one of the whole numbers from 0 to {self.size - 1:,}; leave such values out."
            raise DataError(message)
        return given.astype(np.int64, copy=False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The description of the alphabet, as JSON values."""
        own: dict[str, Any] = {"size": self.labels} if isinstance(self.labels, int) else {"labels": list(self.labels)}
        return own if self.other is None else own | {"other": self.other}


# The arguments of an alphabet, or an alphabet itself.
AlphabetLike = Alphabet | Iterable[str] | SupportsIndex


def _whole_number(value: Any) -> int:
    """Return a whole number, or parse it from text; fractions are not truncated, and booleans are not numbers.

    A text is the label itself: 05 is none. Devices in other languages must accept the same.
    """
    if isinstance(value, bool) or (isinstance(value, str) and not _LABEL.fullmatch(value)):
        raise TypeError
    return int(value) if isinstance(value, str) else index(value)


def _checked_labels(given: Iterable[str] | SupportsIndex, other: str | None) -> tuple[str, ...] | int:
    """Return distinct labels, including the one for others, or the number of labels if they are whole numbers."""
    if isinstance(given, str | bytes):
        raise UsageError("An alphabet is a list of labels or their number, not a string.")
    given = one_column(given)
    if not isinstance(given, Iterable):
        if other is not None:
            raise UsageError("An alphabet of whole numbers has no label for other values; list the labels instead.")
        return parse_whole_number(given, name="alphabet", least=2, most=LARGEST_ALPHABET)
    labels = tuple(given)
    if other is not None and other not in labels:
        labels = (*labels, other)
    if len(labels) < 2:
        raise UsageError(f"An alphabet needs at least two labels; {len(labels)} is too few.")
    if not all(isinstance(label, str) for label in labels):
        raise UsageError("The labels of an alphabet must be strings; for the whole numbers from 0 to k - 1, give k.")
    if len(set(labels)) < len(labels):
        twice, _ = Counter(labels).most_common(1)[0]
        raise UsageError(f"The label {twice!r:.80} is in the alphabet twice; remove one.")
    # NumPy strings have their own type, which JSON may not support.
    return tuple(map(str, labels))


def distinct_candidates(candidates: Iterable[str]) -> tuple[str, ...]:
    """Return the candidates; refuse an empty list, duplicates and values that are not strings."""
    names = tuple(one_column(candidates))
    if isinstance(candidates, str) or not all(isinstance(name, str) for name in names):
        raise UsageError("Candidates must be a list of strings.")
    if not names:
        raise UsageError("The list of candidates is empty; name at least one.")
    if len(set(names)) < len(names):
        raise UsageError("A candidate is named twice; name each once.")
    return tuple(map(str, names))


def candidate_codes(names: tuple[str, ...], alphabet: Alphabet) -> NDArray[np.int64]:
    """Return the codes of candidates that are labels of an alphabet; refuse all others."""
    try:
        codes = alphabet.codes(names)
    except DataError:
        codes = np.empty(0, dtype=np.int64)
    # The label for all other values is not a candidate for any of them.
    if alphabet.names(codes.tolist()) != names:
        raise UsageError("A candidate is not in the alphabet of the survey; remove it from the list.")
    return codes

"""Subset selection: a set of d labels that probably contains the value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, completed, frozen
from anonhist.local.designs.matrices import check_entries
from anonhist.local.randomizers.pure import LabelSurvey
from anonhist.local.surveys.reports import BytesColumn, Column
from anonhist.numeric import ExponentialQuotient
from anonhist.privacy import parse_whole_number
from anonhist.randomness import bernoulli, random_subsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class SubsetSelection(LabelSurvey):
    """Subset selection: the report is a set of exactly d labels; sets with the value are e^ε times as likely.

    It contains the value with probability ``p = e^ε·d/(e^ε·d + k − d)`` and is otherwise uniform; another label is in
    it with probability ``q = (p(d − 1) + (1 − p)d)/(k − 1)``. The lowest error known; with d = 1 it is k-RR.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    subset_size
        d, from 1 to k − 1; by default the integer next to ``k/(e^ε + 1)`` with the lower error.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If d is out of range.

    Notes
    -----
    All reports have the same length. Sets with independent members and the same probabilities would cost more than ε.

    References
    ----------
    Ye and Barg 2018, "Optimal Schemes for Discrete Distribution Estimation under Locally Differential Privacy", §III.

    Examples
    --------
    >>> survey = SubsetSelection(alphabet=1000, epsilon=1)
    >>> survey.subset_size, round(survey.variance(), 4)
    (269, 3.6733)
    """

    decode_cost: ClassVar[str] = "n·d"
    name: ClassVar[str] = "subset-selection"
    in_files: ClassVar[Mapping[str, str]] = {"subset_size": "chosen"}
    subset_size: Converted[SupportsIndex | None, int] = completed(
        lambda self, given: self._whole_size(given), default=None
    )

    def _whole_size(self, given: SupportsIndex | None) -> int:
        most = self.size - 1
        if given is not None:
            return parse_whole_number(given, name="subset_size", most=most)
        near = int(self.size / (float(self.odds) + 1))
        return min(
            (min(max(1, d), most) for d in (near, near + 1)), key=lambda d: _variance(self.size, d, self.epsilon)
        )

    @property
    def columns(self) -> tuple[Column, ...]:
        """One column, ``report``: the codes of the labels, ascending, little-endian, of 2 or 4 bytes each."""
        return (BytesColumn("report", self.subset_size * self._code_type.itemsize),)

    @property
    def report_bytes(self) -> int:
        """Bytes that a report needs, packed."""
        return -(-self.subset_size * (self.size - 1).bit_length() // 8)

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``p = e^ε·d/(e^ε·d + k − d)``."""
        holding = self.subset_size * self.odds
        return holding / (holding + (self.size - self.subset_size))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``q = (p(d − 1) + (1 − p)d)/(k − 1)``."""
        return (self.subset_size - self.true_support_probability) / (self.size - 1)

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, k over d): the sets in lexicographic order of their ascending codes."""
        size, members = self.size, self.subset_size
        check_entries(size * comb(size, members))
        holding = self.true_support_probability / comb(size - 1, members - 1)
        missing = (1 - self.true_support_probability) / comb(size - 1, members)
        sets = [frozenset(chosen) for chosen in combinations(range(size), members)]
        return tuple(tuple(holding if x in chosen else missing for chosen in sets) for x in range(size))

    @property
    def _code_type(self) -> np.dtype[Any]:
        return np.dtype("<u2") if self.size <= 1 << 16 else np.dtype("<u4")

    @property
    def _working_bytes(self) -> int:
        return 16 * self.subset_size

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        holds = bernoulli(self.true_support_probability, codes.size, source=source)
        # Short codes are sorted several times faster.
        sets = np.empty((codes.size, self.subset_size), dtype=self._code_type)
        for holding in (True, False):
            rows = np.flatnonzero(holds == holding)
            others = random_subsets(self.size - 1, self.subset_size - holding, rows.size, source=source)
            # Numbers of the other labels, with the value left out.
            others += others >= codes[rows, np.newaxis]
            sets[rows] = np.column_stack((codes[rows], others)) if holding else others
        sets.sort(axis=1)
        return {"report": sets.view(np.uint8)}

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return self._sets(columns).ravel().astype(np.int64)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        # A label named twice would count twice.
        sets = self._sets(columns)
        return np.asarray((sets[:, 1:] > sets[:, :-1]).all(axis=1) & (sets[:, -1] < self.size))

    def _sets(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Return the codes of the labels of each report, shape (n, d)."""
        return np.ascontiguousarray(columns["report"]).view(self._code_type).reshape(-1, self.subset_size)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self.subset_size, self.subset_size


def _variance(size: int, members: int, epsilon: Any) -> float:
    """Return n times the variance of a label that nobody has, with sets of this size."""
    odds = math.exp(epsilon)
    p = odds * members / (odds * members + size - members)
    q = (members - p) / (size - 1)
    return q * (1 - q) / (p - q) ** 2

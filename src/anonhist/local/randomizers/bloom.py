"""Bloom filters with independently randomized bits: the common part of O-RAPPOR and RAPPOR."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, converted, frozen
from anonhist.local.cohorts.counts import BitCounts, CohortCounts
from anonhist.local.designs.bits import bit_counts, overwrite_bits
from anonhist.local.designs.matrices import check_entries
from anonhist.local.designs.ones import have_ones, honest_ones
from anonhist.local.randomizers.open import CohortSurvey
from anonhist.local.surveys.reports import BytesColumn, Column, WholeColumn
from anonhist.local.surveys.tally import nonzero_cells
from anonhist.privacy import parse_whole_number
from anonhist.randomness import bernoulli, bernoulli_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.surveys.tally import Tally
    from anonhist.numeric import ExponentialQuotient
    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class BloomSurvey(CohortSurvey):
    """A survey whose report has k bits: those that the functions of the cohort give the value are 1 with probability p.

    All others are 1 with probability q. Two values differ in at most 2h bits. Reports with more or fewer ones than
    :attr:`honest_ones` are invalid.

    Attributes
    ----------
    hashes
        h, functions of each cohort, from 1 to 64. A value for which several collide has fewer bits.
    """

    _counts_type: ClassVar[type[CohortCounts]] = BitCounts
    hashes: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="hashes", most=64), default=1)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Two columns: the ``cohort``, and ``report``, whose bit j is bit j mod 8, from the lowest, of byte ⌊j/8⌋."""
        return (WholeColumn("cohort", self.cohorts), BytesColumn("report", -(-self.places // 8)))

    @property
    def cells(self) -> int:
        """C(k + 1): cell c(k + 1) counts the reports of cohort c, and cell c(k + 1) + 1 + j those with bit j."""
        return self.cohorts * (self.places + 1)

    def _matrix(self, places: NDArray[np.int32]) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        size = self.places
        check_entries(places.shape[2] * self.cohorts << min(size, 64))
        p, q = self.true_support_probability, self.false_support_probability
        # Only the number of the value's bits, and how many of them and of the others are 1, matters.
        distributions = {
            (bits, own, rest): p**own
            * (1 - p) ** (bits - own)
            * q**rest
            * (1 - q) ** (size - bits - rest)
            / self.cohorts
            for bits in range(1, min(self.hashes, size) + 1)
            for own in range(bits + 1)
            for rest in range(size - bits + 1)
        }
        masks = np.bitwise_or.reduce(1 << places.astype(np.int64), axis=1).T.tolist()
        return tuple(
            tuple(
                distributions[mask.bit_count(), (report & mask).bit_count(), (report & ~mask).bit_count()]
                for mask in row
                for report in range(1 << size)
            )
            for row in masks
        )

    @property
    def _working_bytes(self) -> int:
        return self.places + 16 * self.hashes

    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        cohorts = self._cohorts(len(codes), source=source)
        p, q = self.true_support_probability, self.false_support_probability
        return {"cohort": cohorts, "report": self._filters(codes, cohorts, p, q, source=source)}

    def _filters(
        self,
        codes: NDArray[Any],
        cohorts: NDArray[np.int64],
        true_probability: ExponentialQuotient,
        false_probability: ExponentialQuotient,
        *,
        source: RandomSource,
    ) -> NDArray[np.uint8]:
        """Return one packed row for each value, bits that are its own 1 with the first probability, else the second."""
        bits: NDArray[np.uint8] = bernoulli_bits(false_probability, len(codes), self.places, source=source)
        # A bit that two functions share is drawn twice, and the last draw stands.
        for places in self.functions.own_places(codes, cohorts).T:
            overwrite_bits(bits, places, bernoulli(true_probability, len(codes), source=source))
        return bits

    def _count_cells(self, columns: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(columns["cohort"], kind="stable")
        # Only cohorts with reports: there may be many more.
        cohorts, starts = np.unique(columns["cohort"][order], return_index=True)
        table = np.empty((cohorts.size, self.places + 1), dtype=np.int64)
        for row, rows in zip(table, np.split(order, starts[1:]), strict=False):
            row[0] = rows.size
            row[1:] = bit_counts(columns["report"][rows], self.places)
        cells, counts = nonzero_cells(table.ravel())
        numbers, places = np.divmod(cells, self.places + 1)
        return cohorts[numbers] * (self.places + 1) + places, counts

    @cached_property
    def honest_ones(self) -> tuple[int, int]:
        """Bounds on the number of ones in an honest report, which fail with probability at most 2⁻⁴⁰; public."""
        own = min(self.hashes, self.places)
        return honest_ones(self.places, own, self.true_support_probability, self.false_support_probability)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        return have_ones(columns["report"], self.places, *self.honest_ones)

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return self.honest_ones

    def _is_possible(self, tally: Tally) -> bool:
        # By the cells that were counted: there may be many more cohorts than reports.
        cohorts, places = np.divmod(tally.cells, self.places + 1)
        users = tally.at(cohorts * (self.places + 1))
        is_total = places == 0
        if sum(tally.counts[is_total].tolist()) != tally.users or bool((tally.counts > users).any()):
            return False
        least, most = self.honest_ones
        total: int = sum(tally.counts[~is_total].tolist())
        return least * tally.users <= total <= most * tally.users

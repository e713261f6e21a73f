"""O-RR: randomized response on hashed values, for unknown alphabets."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonhist.frozen import frozen
from anonhist.local.cohorts.counts import CohortCounts, SymbolCounts
from anonhist.local.designs.matrices import check_entries
from anonhist.local.randomizers.open import CohortSurvey
from anonhist.local.surveys.reports import Column, WholeColumn
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli, uniform_integers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class ORR(CohortSurvey):
    """O-RR: ``Q(y, c | s) = (1 + (e^ε − 1)·[hash_c(s) = y]) / (C(e^ε + k − 1))``, k-RR on a hash of the value.

    Two values with the same hash have the same distribution, so collisions cost accuracy, not privacy. With an
    alphabet, each cohort permutes it instead, modulo k if buckets are given, too: with a bucket for each label there
    are no collisions, and one cohort is k-RR with its labels renamed.

    Parameters
    ----------
    buckets
        k: about e^ε + 1 had the lowest error, but no more than the expected number of values. With an alphabet, as many
        as there are labels, by default.
    alphabet
        Labels, their number, or an :class:`Alphabet`, if all of them are known.
    cohorts
        C; at least 2 if there are fewer buckets than labels, so that colliding labels are separated across cohorts, and
        so many that C·k is several times the number of candidates. With a bucket for each label of an alphabet, 1 is as
        good as any number.
    key
        Public text that determines the hash functions.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If neither alphabet nor buckets are given, or a number is out of range.

    References
    ----------
    Kairouz, Bonawitz, Ramage 2016, "Discrete Distribution Estimation under Local Privacy", §5.

    Examples
    --------
    >>> survey = ORR(buckets=256, cohorts=8, key="pets 2024", epsilon=4)
    >>> tally = survey.tally(survey.randomize(["cat", "dog", "axolotl"] * 10_000))
    >>> estimate = survey.estimate(tally, candidates=["axolotl", "cat", "emu"])
    >>> estimate.significant.tolist()
    [True, True, False]
    """

    name: ClassVar[str] = "o-rr"
    _counts_type: ClassVar[type[CohortCounts]] = SymbolCounts

    @property
    def columns(self) -> tuple[Column, ...]:
        """Two columns: the ``cohort`` and the place reported in it, ``report``."""
        return (WholeColumn("cohort", self.cohorts), WholeColumn("report", self.places))

    @property
    def cells(self) -> int:
        """C·k: cell c·k + y counts report y of cohort c."""
        return self.cohorts * self.places

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``e^ε/(e^ε + k − 1)``, of the hash of the value."""
        return self.odds / (self.odds + (self.places - 1))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(e^ε + k − 1)``, of any other place."""
        return 1 / (self.odds + (self.places - 1))

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return 1, 1

    def _matrix(self, places: NDArray[np.int32]) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        check_entries(places.shape[2] * self.cells)
        same, other = self.true_support_probability / self.cohorts, self.false_support_probability / self.cohorts
        return tuple(
            tuple(same if y == place else other for place in row for y in range(self.places))
            for row in places[:, 0].T.tolist()
        )

    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        cohorts = self._cohorts(len(codes), source=source)
        kept = bernoulli(self._kept_probability, len(codes), source=source)
        places = self.functions.own_places(codes, cohorts)[:, 0]
        # With probability p − q the hash, otherwise any place.
        noise = uniform_integers(self.places, len(codes), source=source)
        return {"cohort": cohorts, "report": np.where(kept, places, noise)}

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return columns["cohort"] * self.places + columns["report"]

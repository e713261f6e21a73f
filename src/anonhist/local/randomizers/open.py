"""Surveys with cohorts: for any text, hashed into a few buckets, or for a known alphabet, permuted, then modulo k."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen, named, optional
from anonhist.local.alphabet import Alphabet, AlphabetLike, candidate_codes, distinct_candidates
from anonhist.local.cohort_counts import (
    DEFAULT_KEY,
    MOST_BUCKETS,
    MOST_COHORTS,
    MOST_PLACES,
    CohortCounts,
    Cohorts,
    HashedCohorts,
    PermutedCohorts,
    Supports,
    SymbolCounts,
)
from anonhist.local.cohort_estimates import raw_estimates
from anonhist.local.estimate import ForgedWeight, RawEstimate, forged_weight
from anonhist.local.randomizers.closed import SupportProbabilities
from anonhist.local.reports import Column, Tally, WholeColumn
from anonhist.local.survey import Survey, check_entries
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, bernoulli, uniform_integers

# Largest alphabet whose matrix can be computed without naming labels.
_MOST_ROWS = 1 << 16
# Decoding holds a dozen tables of all places of the cohorts that reported.
_MOST_DECODED_PLACES = 1 << 25
# Least squares pass over all places a few hundred times.
_MOST_FITTED_PLACES = 1 << 22
_ONE_BY_ONE = "if labels are estimated one by one; least squares over all of them may give it more weight"


@frozen(kw_only=True)
class CohortSurvey(Survey, SupportProbabilities):
    """A survey whose devices draw a cohort, independently of their value, and report the value's place in it.

    ``alphabet`` is None for any text. k is from 2 to 65,536, by default the number of labels; C is from 1 to 65,536.
    The cohort is public, and so is the key, which determines the functions: another key gives other collisions.
    """

    _counts_type: ClassVar[type[CohortCounts]]
    alphabet: Converted[AlphabetLike | None, Alphabet | None] = converted(
        lambda given: None if given is None else Alphabet.of(given), default=None
    )
    buckets: Converted[SupportsIndex | None, int | None] = named(
        optional(parse_whole_number), least=2, most=MOST_BUCKETS, default=None
    )
    cohorts: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_COHORTS)
    key: str = DEFAULT_KEY

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alphabet is None and self.buckets is None:
            raise UsageError("Give the number of buckets (for any text), an alphabet (for known labels), or both.")
        _ = self.functions  # These refuse invalid parameters.

    @property
    def hashes(self) -> int:
        """The number h of functions of a cohort."""
        return 1

    @cached_property
    def functions(self) -> Cohorts:
        """The functions of all cohorts."""
        if self.alphabet is None:
            assert self.buckets is not None  # noqa: S101  # one of them is given
            return HashedCohorts(buckets=self.buckets, cohorts=self.cohorts, hashes=self.hashes, key=self.key)
        return PermutedCohorts(
            alphabet=self.alphabet, buckets=self.buckets, cohorts=self.cohorts, hashes=self.hashes, key=self.key
        )

    @property
    def places(self) -> int:
        """The number k of places of a function: the buckets, by default one per label."""
        return self.functions.buckets

    @property
    def parameters(self) -> dict[str, Any]:
        """As for other surveys, with the alphabet, the number of buckets, or both, as they were given."""
        return {name: value for name, value in super().parameters.items() if value is not None}

    def matrix(self, labels: Iterable[Any] | None = None) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(cohort, report | label): a row for each label, columns cohort by cohort.

        Parameters
        ----------
        labels
            Texts, or values of the alphabet; all of them by default.

        Raises
        ------
        UsageError
            If any text may be answered and none are given, or the matrix would have more than 2²⁰ entries.
        """
        if labels is None:
            if self.alphabet is None or self.alphabet.size > _MOST_ROWS:
                raise UsageError(
                    "Name the labels whose rows of the matrix you want; the values of an open survey are unlimited."
                )
            labels = range(self.alphabet.size) if isinstance(self.alphabet.labels, int) else self.alphabet.names()
        codes = self._codes(list(labels))
        return self._matrix(self.functions.all_places(codes).reshape(self.cohorts, self.hashes, len(codes)))

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report on estimates label by label; κ is the probability of a collision.

        It adds ``((1 − q)/(p − q) − κ)/(1 − κ)`` to a label if it supports all of its places, and
        ``(−q/(p − q) − κ)/(1 − κ)`` if it supports none. With an alphabet, it supports the labels of its places. Least
        squares over all labels give a report other weights, which may be larger.
        """
        (_, q, gap), kappa = self._probabilities, self.functions.collision
        inside = ((1 - q) / gap - kappa) / (1 - kappa)
        outside = (-q / gap - kappa) / (1 - kappa)
        functions = self.functions
        if isinstance(functions, HashedCohorts):
            return ForgedWeight(max(abs(inside), abs(outside)), math.inf, _ONE_BY_ONE)
        # A report with fewer places supports the fewest labels if these are the places with the fewest.
        sizes = np.sort(functions.sizes)
        least, most = self._support_sizes
        labels = int(sizes[:least].sum()), int(sizes[self.places - most :].sum())
        weight = forged_weight(functions.alphabet.size, labels, inside=inside, outside=outside)
        return replace(weight, condition=_ONE_BY_ONE)

    @abstractmethod
    def _matrix(self, places: NDArray[np.int32]) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return the matrix of labels with these places, shape (C, h, m)."""

    def _counts(
        self,
        tally: Tally,
        supports: Supports,
        others: Floats | None,
        cohorts: Ints | None = None,
    ) -> CohortCounts:
        """Return the tally as a table of these cohorts (default: all), with others as in :class:`CohortCounts`."""
        _, q, gap = self._probabilities
        counts, users = self._counts_type.split(self._table(tally, cohorts))
        return self._counts_type(
            counts=counts,
            users=users,
            supports=supports,
            other_probability=q,
            gap=gap,
            shares=self.functions.shares,
            others=others,
            collision=self.functions.collision,
        )

    @property
    def _cohort_cells(self) -> int:
        """The number of a tally's cells that belong to one cohort."""
        return self.cells // self.cohorts

    def _table(self, tally: Tally, cohorts: Ints | None) -> Ints:
        """Return the counts of these cohorts, or of all, one row each; other cohorts must have no reports."""
        width = self._cohort_cells
        if cohorts is None:
            return tally.dense(self.cells).reshape(self.cohorts, width)
        table = np.zeros((cohorts.size, width), dtype=np.int64)
        numbers, columns = np.divmod(tally.cells, width)
        table[np.searchsorted(cohorts, numbers), columns] = tally.counts
        return table

    def _places_in(self, cohorts: Ints, codes: NDArray[Any]) -> NDArray[np.int32]:
        """Return the places of labels under the functions of these cohorts, row by row."""
        rows = cohorts[:, np.newaxis] * self.hashes + np.arange(self.hashes)
        return np.asarray(self.functions.all_places(codes)[rows.ravel()])

    def _codes(self, values: Any) -> NDArray[Any]:
        return self.functions.codes(values)

    def _cohorts(self, users: int, *, source: RandomSource) -> Ints:
        return uniform_integers(self.cohorts, users, source=source)

    def _raw_estimate(self, tally: Tally, candidates: Iterable[str] | None) -> RawEstimate:
        names = self._candidates(candidates)
        if len(names) * self.cohorts * self.hashes > MOST_PLACES:
            raise UsageError(
                "So many candidates and cohorts do not fit in memory; estimate fewer candidates at a time."
            )
        # A cohort without reports carries no information, and there may be many more cohorts than reports.
        met = np.unique(tally.cells // self._cohort_cells)
        if met.size * self.places > _MOST_DECODED_PLACES:
            raise UsageError(
                "The cohorts that reported have more than 2^25 places together, too many to decode; make a survey with "
                "fewer buckets or cohorts."
            )
        supports = Supports(self._places_in(met, self._codes_of(names)), met.size, self.places)
        others = self._others(supports, None if candidates is None else names, met)
        counts = self._counts(tally, supports, others, met)
        fits = counts.collision > 0 and supports.places.size <= _MOST_FITTED_PLACES
        return RawEstimate(
            raw=raw_estimates(counts),
            labels=names,
            users=tally.users,
            complete=others is None,
            channel=counts.channel,
            guarantee=self.guarantee,
            sharing=supports.sharing,
            default="least-squares" if fits else "projected",
        )

    def _candidates(self, candidates: Iterable[str] | None) -> tuple[str, ...]:
        if candidates is not None:
            return distinct_candidates(candidates)
        if self.alphabet is None:
            raise UsageError("This survey accepts any text; name the candidates to look for.")
        return self.alphabet.names()

    def _others(self, supports: Supports, names: tuple[str, ...] | None, cohorts: Ints | None = None) -> Floats | None:
        """Return the probability that unnamed labels, all equally frequent, support each cell; None without any."""
        functions = self.functions
        if isinstance(functions, HashedCohorts):
            return np.tile(functions.chances, (supports.cohorts, 1))
        rest = functions.alphabet.size - supports.values
        if names is None or not rest:
            return None
        unlisted = np.delete(np.arange(functions.alphabet.size), self._codes_of(names))
        places = self._places_in(np.arange(self.cohorts) if cohorts is None else cohorts, unlisted)
        return Supports(places, supports.cohorts, self.places).spread(np.full(rest, 1 / rest))

    def _codes_of(self, names: tuple[str, ...]) -> NDArray[Any]:
        if self.alphabet is None:
            return self._codes(names)
        return candidate_codes(names, self.alphabet)


@frozen(kw_only=True)
class ORR(CohortSurvey):
    """O-RR: ``Q(y, c | s) = (1 + (e^ε − 1)·[hash_c(s) = y]) / (C(e^ε + k − 1))``, k-RR on a hash of the value.

    Two values with the same hash have the same distribution, so collisions cost accuracy, not privacy. With an
    alphabet, each cohort permutes it instead, modulo k if buckets are given, too: with a bucket for each label there
    are no collisions, and one cohort is k-RR with its labels renamed.

    Parameters
    ----------
    buckets
        k: about e^ε + 1 had the lowest error, but no more than the expected number of values. With an alphabet, the
        default is one per label.
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

    Source: Kairouz and others 2016, §5.

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

    def _cells_of(self, columns: Mapping[str, Ints]) -> Ints:
        return columns["cohort"] * self.places + columns["report"]

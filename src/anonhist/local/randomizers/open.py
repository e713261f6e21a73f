"""Surveys with cohorts: for any text, hashed into few buckets, or for a known alphabet, permuted."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen, optional
from anonhist.local.cohorts.counts import Supports
from anonhist.local.cohorts.estimates import raw_estimates
from anonhist.local.cohorts.hash_functions import (
    DEFAULT_KEY,
    MOST_BUCKETS,
    MOST_COHORTS,
    MOST_PLACES,
    HashedCohorts,
    PermutedCohorts,
)
from anonhist.local.surveys.alphabet import Alphabet
from anonhist.local.surveys.candidates import candidate_codes, distinct_candidates
from anonhist.local.surveys.estimate import decode_raw
from anonhist.local.surveys.forgery import ForgedWeight, forged_weight
from anonhist.local.surveys.survey import Survey
from anonhist.privacy import parse_whole_number
from anonhist.randomness import uniform_integers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anonhist.local.cohorts.counts import CohortCounts
    from anonhist.local.cohorts.hash_functions import Cohorts
    from anonhist.local.decoding import Correction, CorrectionName, Decoder, DecoderName
    from anonhist.local.surveys.alphabet import AlphabetLike
    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.local.surveys.tally import Tally
    from anonhist.numeric import ExponentialQuotient
    from anonhist.randomness import RandomSource

# Largest alphabet whose matrix can be computed without naming labels.
_MOST_ROWS = 1 << 16
# Decoding holds a dozen tables of all places of the cohorts that reported.
_MOST_DECODED_PLACES = 1 << 25
# Least squares go over all places some hundred times.
_MOST_FITTED_PLACES = 1 << 22
_ONE_BY_ONE = "where labels are estimated one by one; least squares over all of them may give it more"


@frozen(kw_only=True)
class CohortSurvey(Survey):
    """A survey whose devices draw a cohort, independently of their value, and report the value's place in it.

    Attributes
    ----------
    alphabet
        The labels if all are known, as in other surveys; None for any text.
    buckets
        k, the number of places for text, from 2 to 65,536; None if there is an alphabet.
    cohorts
        C, from 1 to 65,536. The cohort is public.
    key
        Public text that determines the functions, such as the name of the survey; another key gives other collisions.
    """

    alphabet: Converted[AlphabetLike | None, Alphabet | None] = converted(
        lambda given: None if given is None else Alphabet.of(given), default=None
    )
    buckets: Converted[SupportsIndex | None, int | None] = converted(
        optional(partial(parse_whole_number, name="buckets", least=2, most=MOST_BUCKETS)), default=None
    )
    cohorts: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="cohorts", most=MOST_COHORTS))
    key: str = DEFAULT_KEY

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.alphabet is None) == (self.buckets is None):
            raise UsageError("Give either the number of buckets (for any text) or an alphabet (for known labels).")
        _ = self.functions  # which refuse invalid parameters

    @property
    def labels(self) -> Alphabet | None:
        """The alphabet as such, None if any text may be answered."""
        return self.alphabet

    @property
    def _hashes(self) -> int:
        """How many functions a cohort has, h."""
        return 1

    @cached_property
    def functions(self) -> Cohorts:
        """The functions of all cohorts."""
        labels = self.labels
        if labels is None:
            assert self.buckets is not None  # noqa: S101  # one of them is given
            return HashedCohorts(buckets=self.buckets, cohorts=self.cohorts, hashes=self._hashes, key=self.key)
        return PermutedCohorts(alphabet=labels, cohorts=self.cohorts, hashes=self._hashes, key=self.key)

    @property
    def places(self) -> int:
        """How many places a function has, k: the buckets, or as many as there are labels."""
        return self.functions.buckets

    @property
    def parameters(self) -> dict[str, Any]:
        """The alphabet or the number of buckets, cohorts and key, as JSON values."""
        labels = self.labels
        domain = {"buckets": self.places} if labels is None else {"alphabet": labels.parameters}
        return {**domain, "cohorts": self.cohorts, "key": self.key}

    def matrix(self, labels: Iterable[Any] | None = None) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(cohort, report | label): a row for each label, columns cohort by cohort.

        Parameters
        ----------
        labels
            Texts, or values of the alphabet; all of them by default.

        Raises
        ------
        UsageError
            If any text may be answered and none are given, or the matrix would have more than 2^20 entries.
        """
        if labels is None:
            if self.labels is None or self.labels.size > _MOST_ROWS:
                raise UsageError(
                    "Name the labels whose rows of the matrix you want; the values of an open survey are unlimited."
                )
            labels = range(self.labels.size) if isinstance(self.labels.labels, int) else self.labels.names()
        codes = self._codes(list(labels))
        places = self.functions.all_places(codes).reshape(self.cohorts, self._hashes, len(codes))
        return self._matrix(places)

    @property
    @abstractmethod
    def true_support_probability(self) -> ExponentialQuotient:
        """p, of a place of the value."""

    @property
    @abstractmethod
    def false_support_probability(self) -> ExponentialQuotient:
        """q, of any other place."""

    @property
    @abstractmethod
    def _support_sizes(self) -> tuple[int, int]:
        """The least and the largest number of places of a cohort that a possible report supports."""

    @property
    def forged_weight(self) -> ForgedWeight:
        """The effect of one forged report on estimates label by label; κ is the probability of a collision.

        It adds ``((1 − q)/(p − q) − κ)/(1 − κ)`` to a label all of whose places it supports, and
        ``(−q/(p − q) − κ)/(1 − κ)`` to one with none, and with an alphabet the shares of places that it supports add up
        to as many labels as it supports places. Least squares over all labels give a report other weights, which may be
        larger.
        """
        p, q = self.true_support_probability, self.false_support_probability
        kappa, gap = self._collision, float(p - q)
        inside = (float(1 - q) / gap - kappa) / (1 - kappa)
        outside = (-float(q) / gap - kappa) / (1 - kappa)
        if self.labels is None:
            return ForgedWeight(max(abs(inside), abs(outside)), math.inf, _ONE_BY_ONE)
        weight = forged_weight(self.labels.size, self._support_sizes, inside=inside, outside=outside)
        return replace(weight, condition=_ONE_BY_ONE)

    @abstractmethod
    def _matrix(self, places: NDArray[np.int32]) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return the matrix of labels with these places, shape (C, h, m)."""

    @abstractmethod
    def _counts(
        self,
        tally: Tally,
        supports: Supports,
        others: NDArray[np.float64] | None,
        cohorts: NDArray[np.int64] | None = None,
    ) -> CohortCounts:
        """Return the tally as a table of these cohorts, all by default, with its distribution.

        Others are as in :class:`CohortCounts`.
        """

    @property
    def _cohort_cells(self) -> int:
        """How many cells of a tally belong to one cohort."""
        return self.cells // self.cohorts

    def _table(self, tally: Tally, cohorts: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """Return the counts of these cohorts, which have all reports, or of all, one row each."""
        width = self._cohort_cells
        if cohorts is None:
            return tally.dense(self.cells).reshape(self.cohorts, width)
        table = np.zeros((cohorts.size, width), dtype=np.int64)
        numbers, columns = np.divmod(tally.cells, width)
        table[np.searchsorted(cohorts, numbers), columns] = tally.counts
        return table

    def _places_in(self, cohorts: NDArray[np.int64], codes: NDArray[Any]) -> NDArray[np.int32]:
        """Return the places of labels under the functions of these cohorts, row by row."""
        rows = cohorts[:, np.newaxis] * self._hashes + np.arange(self._hashes)
        return np.asarray(self.functions.all_places(codes)[rows.ravel()])

    def _codes(self, values: Any) -> NDArray[Any]:
        return self.functions.codes(values)

    def _cohorts(self, users: int, *, source: RandomSource) -> NDArray[np.int64]:
        return uniform_integers(self.cohorts, users, source=source)

    def estimate(
        self,
        tally: Tally,
        *,
        candidates: Iterable[str] | None = None,
        decoder: DecoderName | Decoder | None = None,
        correction: CorrectionName | Correction = "holm",
        level: float = 0.95,
    ) -> FrequencyEstimate:
        """Estimate how frequent each candidate is among those who reported.

        Parameters
        ----------
        tally
            Of this survey, with at least one report.
        candidates
            The labels of interest, chosen before anybody sees the reports; optional only if there is an alphabet. The
            share that they do not explain is reported as ``other``.
        decoder
            As for any survey. By default ``"projected"`` if each label has its own places, and ``"least-squares"`` if
            labels can collide, because its error is lowest then; ``"projected"`` again with more than 2^22 places.
        correction, level
            As for any survey.

        Returns
        -------
        FrequencyEstimate
            Raw estimates by least squares over all candidates if these can be separated, otherwise candidate by
            candidate; both are unbiased over the keys, and errors and p-values include collisions of labels.

        Raises
        ------
        UsageError, DataError
            If candidates are missing, named twice or outside the alphabet, the tally belongs to another survey or is
            empty, or a choice is unknown.
        """
        self.check_tally(tally)
        if not tally.users:
            raise DataError("There are no reports yet, so nothing can be estimated.")
        names = self._candidates(candidates)
        if len(names) * self.cohorts * self._hashes > MOST_PLACES:
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
        return decode_raw(
            raw_estimates(counts),
            labels=names,
            users=tally.users,
            complete=others is None,
            channel=counts.channel,
            decoder=decoder or ("least-squares" if fits else "projected"),
            correction=correction,
            level=level,
            guarantee=self.guarantee,
            sharing=supports.sharing,
        )

    def _candidates(self, candidates: Iterable[str] | None) -> tuple[str, ...]:
        if candidates is not None:
            return distinct_candidates(candidates)
        if self.labels is None:
            raise UsageError("This survey accepts any text; name the candidates to look for.")
        return self.labels.names()

    def _others(
        self, supports: Supports, names: tuple[str, ...] | None, cohorts: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64] | None:
        """Return the probability that unnamed labels, all equally frequent, support each cell; None without any."""
        if self.labels is None:
            return np.tile(self._chances, (supports.cohorts, 1))
        rest = self.labels.size - supports.values
        if names is None or not rest:
            return None
        unlisted = np.delete(np.arange(self.labels.size), self._codes_of(names))
        places = self._places_in(np.arange(self.cohorts) if cohorts is None else cohorts, unlisted)
        return Supports(places, supports.cohorts, self.places).spread(np.full(rest, 1 / rest))

    def _codes_of(self, names: tuple[str, ...]) -> NDArray[Any]:
        if self.labels is None:
            return self._codes(names)
        return candidate_codes(names, self.labels)

    @property
    def _collision(self) -> float:
        """Probability, over the keys, that one label's place is among those of another."""
        if self.labels is not None:
            # Under the same permutation they never collide; under the others they may.
            return 1 - (1 - 1 / self.places) ** (self._hashes - 1)
        return float(self.functions.shares @ self._chances)

    @property
    def _chances(self) -> NDArray[np.float64]:
        """Probability, over the keys, that each place is among those of a text."""
        return np.asarray(1 - (1 - self.functions.shares) ** self._hashes)

"""Private support size, support coverage and sample coverage: linear statistics with noise."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import ClassVar, Literal, SupportsIndex, get_args

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen, named
from anonhist.mechanisms.estimators.statistic_mechanism import (
    Asked,
    StatisticMechanism,
    mean_error,
    populations,
    public_size,
)
from anonhist.mechanisms.estimators.weights import WholeWeights, largest_bias, new_labels
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import LinearStatistic, check_method
from anonhist.properties.sample_coverage import GoodTuring
from anonhist.properties.sampling import SampleDistribution
from anonhist.properties.support_coverage import LINEAR_COVERAGE_METHODS, MAX_DRAWS, LinearCoverageMethod
from anonhist.properties.support_size import Chebyshev
from anonhist.properties.support_size_estimators import Observed
from anonhist.properties.unseen_labels import (
    LARGEST_RATE,
    GoodToulmin,
    Rarefaction,
    SmoothedBinomialA,
    SmoothedBinomialB,
    SmoothedPoisson,
    poisson_rate,
    usual_trials,
)
from anonhist.randomness import RandomSource

# If the number of labels is not known, these multiples of the number of items are tried.
_LABELS_PER_ITEM = (0.5, 2.0, 10.0)
_MOST_LABELS = 2**62
_RATES, _TRIALS = (0.7, 0.85, 1.0, 1.2), (-4, -3, -2, -1, 0, 1)


@dataclass(frozen=True)
class Smoothing:
    """Smoothing of the series for unseen labels: see the methods of support coverage.

    The parameter is the rate r or the number of trials K, by default the usual one; ``"good-toulmin"`` has none.
    """

    method: str
    parameter: float | None = None

    def statistic(self, items: int, draws: int) -> LinearStatistic:
        """Return the weights for n items and m > n draws."""
        if self.method == GoodToulmin.name:
            return GoodToulmin(draws).statistic(items)
        if self.method == SmoothedPoisson.name:
            return SmoothedPoisson(draws, self.parameter).statistic(items)
        trials = None if self.parameter is None else int(self.parameter)
        smoothed = SmoothedBinomialA if self.method == SmoothedBinomialA.name else SmoothedBinomialB
        return smoothed(draws, trials).statistic(items)


@frozen
class SupportCoverageMechanism(StatisticMechanism):
    """Private ``S_m = Σ_x (1 − (1 − p_x)^m)``: expected distinct labels in m draws, clipped to [1, min(m, k)].

    Noise is added to all of S_m, seen and unseen labels together: adding the exact number of seen labels to a private
    number of new ones would not be private.

    Up to n draws, every method is rarefaction: one item changes it by at most m/n, as for the mean over batches of m
    items, and its error is no larger. Beyond, m ≤ 2⁶⁴, the default is the smoothing with the lowest error predicted
    from n, m, the noise and k, if public (:func:`recommended_smoothing`).
    """

    quantity: ClassVar[str] = "the support coverage"
    counted: ClassVar[str] = "labels"
    estimator: ClassVar[type[SmoothedPoisson]] = SmoothedPoisson

    _: KW_ONLY
    draws: Converted[SupportsIndex, int] = named(parse_whole_number, most=MAX_DRAWS)
    method: str | None = None
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method is not None:
            check_method(self.method, LINEAR_COVERAGE_METHODS, of="support coverage")

    def method_for(self, items: int) -> str:
        """Return the method for a public number of items."""
        return Rarefaction.name if self.draws <= items else self.smoothing(items).method

    def smoothing(self, items: int) -> Smoothing:
        """Return the smoothing of the series, for a public number of items below the draws."""
        if self.method in (None, Rarefaction.name):
            return recommended_smoothing(self, items)
        return Smoothing(self.method)

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        if self.draws <= items:
            return Rarefaction(self.draws).statistic(items)
        return self.smoothing(items).statistic(items, self.draws)

    def bias(self, items: int) -> tuple[float, float]:
        """Return the largest bias over all distributions, beyond n draws."""
        if self.draws <= items:
            return 0.0, 0.0
        truth = new_labels(self.draws / items)
        return largest_bias(self.statistic(items), truth, items, alphabet_size=self.alphabet_size)

    def doubts(self, items: int) -> tuple[str, ...]:
        """Warn if a method other than the requested one was used."""
        if self.method == Rarefaction.name and self.draws > items:
            return (f"Rarefaction takes at most as many draws as there are items: {self.method_for(items)} was used.",)
        return ()

    def ends(self, items: int) -> tuple[float, float]:
        """Return 1 and m, or k."""
        return 1.0, float(min(self.draws, self.alphabet_size or self.draws))


@lru_cache(maxsize=256)
def recommended_smoothing(mechanism: SupportCoverageMechanism, items: int) -> Smoothing:
    """Return the smoothing with the lowest predicted error for n items: a function of public numbers alone.

    Poisson and binomial smoothings with parameters around the usual ones are tried on samples from four distributions
    (uniform, two steps, Zipf's with exponents 1/2 and 1) over k labels or, if k is not known, over n/2, 2n and 10n
    labels. The squares of bias, sampling and noise are added, and the mean of the roots is minimized.
    """
    beyond = (mechanism.draws - items) / items
    usual_rate = poisson_rate(items, beyond)
    tried = [Smoothing(SmoothedPoisson.name, min(factor * usual_rate, LARGEST_RATE)) for factor in _RATES]
    for name, base in ((SmoothedBinomialA.name, 2), (SmoothedBinomialB.name, 3)):
        usual = usual_trials(items, beyond, base=base)
        tried += [Smoothing(name, usual + more) for more in _TRIALS if usual + more >= 1]
    if beyond <= 1:
        tried.append(Smoothing(GoodToulmin.name))
    known = mechanism.alphabet_size
    sizes = [known] if known is not None else [min(math.ceil(each * items), _MOST_LABELS) for each in _LABELS_PER_ITEM]
    references = [
        (SampleDistribution(population, items), population.coverage(mechanism.draws))
        for size in sizes
        for population in populations(size)
    ]

    def error(smoothing: Smoothing) -> float:
        statistic = smoothing.statistic(items, mechanism.draws)
        return mean_error(statistic, references, mechanism.noise_variance(statistic, items))

    return min(tried, key=error)


def support_coverage(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    draws: int,
    method: LinearCoverageMethod | None = None,
    alphabet_size: int | None = None,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    known_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Estimate the expected number of distinct labels in m draws with differential privacy.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    draws
        m, from 1 to 2⁶⁴: public.
    method
        ``"rarefaction"``, ``"good-toulmin"``, ``"smoothed-poisson"``, ``"smoothed-binomial-a"`` or
        ``"smoothed-binomial-b"``; by default the smoothing with the lowest predicted error.
    alphabet_size
        k, the number of possible labels, if public; it improves the prediction.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Source: Acharya and others 2018, section 4.1.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> support_coverage(Profile.from_labels("abracadabra" * 50), epsilon=1, draws=100).unit
    'labels'
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, SupportCoverageMechanism, draws=draws, method=method, alphabet_size=alphabet_size)


PrivateSupportSizeMethod = Literal["chebyshev", "coverage", "observed"]
PRIVATE_SUPPORT_SIZE_METHODS: tuple[str, ...] = get_args(PrivateSupportSizeMethod)


@frozen
class SupportSizeMechanism(StatisticMechanism):
    """Private number of labels with a probability above zero, clipped to [1, k].

    ``"chebyshev"`` (Wu and Yang 2019) and ``"coverage"`` (the support coverage of ``m = k·ln 30`` draws, which misses
    at most k/30 labels) assume that no label has a probability below 1/k. ``"observed"`` is the number of observed
    labels, and needs no k.
    """

    quantity: ClassVar[str] = "the support size"
    counted: ClassVar[str] = "labels"

    _: KW_ONLY
    method: str = "chebyshev"
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method(self.method, PRIVATE_SUPPORT_SIZE_METHODS, of="private support size")
        if self.alphabet_size is None and self.method != "observed":
            raise UsageError(
                f"The {self.method} method needs `alphabet_size`: 1/p, p the smallest probability a label may have."
            )

    @property
    def assumes(self) -> str:
        """What the interval assumes."""
        return Observed.assumes if self.method == "observed" else Chebyshev.assumes

    def method_for(self, items: int) -> str:
        """Return the method."""
        return self.method

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        if self.alphabet_size is None or self.method == "observed":
            return LinearStatistic(lambda counts: np.where(counts > 0, 1.0, 0.0), head=1)
        if self.method == "chebyshev":
            return Chebyshev(self.alphabet_size).statistic(items)
        draws = coverage_draws(self.alphabet_size)
        return SupportCoverageMechanism(self.epsilon, self.unit, self.relation, draws=draws).statistic(items)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 1 and k."""
        return 1.0, math.inf if self.alphabet_size is None else float(self.alphabet_size)

    def bias(self, items: int) -> tuple[float, float]:
        """Return the largest bias if no label has a probability below 1/k; observed labels have no bound."""
        size = self.alphabet_size
        if size is None or self.method == "observed":
            return math.inf, 0.0
        truth = new_labels(math.inf)
        return largest_bias(self.statistic(items), truth, items, alphabet_size=size, least=items / size)

    def sampling_error(self, weights: WholeWeights, value: float, scale: float) -> float:
        """Return 0 for the observed labels: there are at least as many labels, whatever the sample."""
        if self.method == "observed":
            return 0.0
        return super().sampling_error(weights, value, scale)


def coverage_draws(alphabet_size: int, accuracy: float = 0.1) -> int:
    """Return ``m = ⌈k·ln(3/α)⌉``: the coverage of m draws misses at most αk/3 labels of probability 1/k or more.

    Each of them is missing with probability ``(1 − p)^m ≤ e^(−m/k) ≤ α/3``.
    """
    return math.ceil(alphabet_size * math.log(3 / accuracy))


def support_size(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    method: PrivateSupportSizeMethod | None = None,
    alphabet_size: int | None = None,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    known_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Estimate with differential privacy the number of labels with a probability above zero.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    method
        ``"chebyshev"`` (default with an alphabet size), ``"observed"`` (default without) or ``"coverage"``. Ratios such
        as Chao1 have unbounded sensitivity: make a release, and estimate from it.
    alphabet_size
        k, which is public: no label has a probability below 1/k.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> support_size(Profile.from_labels("abracadabra" * 50), epsilon=1, alphabet_size=100).unit
    'labels'
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(
        profile,
        SupportSizeMechanism,
        method=method or ("observed" if alphabet_size is None else "chebyshev"),
        alphabet_size=alphabet_size,
    )


@frozen
class SampleCoverageMechanism(StatisticMechanism):
    """Private ``C = 1 − φ_1/n``, clipped to [0, 1]: the probability that the next item has a label seen before.

    Replacing one item changes it by at most 2/n.
    """

    quantity: ClassVar[str] = "the sample coverage"
    estimator: ClassVar[type[GoodTuring]] = GoodTuring

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights of φ_1/n."""
        return LinearStatistic(lambda counts: np.where(counts == 1, 1.0 / items, 0.0), head=2)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

    def finish(self, statistic: float, items: int) -> float:
        """Return one minus the statistic."""
        return 1.0 - statistic


def sample_coverage(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    known_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Estimate with differential privacy the probability that the next item has a label seen before.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> 0.5 < sample_coverage(Profile.from_labels("abracadabra" * 50), epsilon=1).value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, SampleCoverageMechanism)

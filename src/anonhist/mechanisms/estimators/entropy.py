"""Private entropies and power sums under noise: INSPECTRE (Acharya and others 2018), with exact sensitivities."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import ClassVar, Literal, SupportsIndex, get_args

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
from anonhist.mechanisms.estimators.weights import WholeWeights, largest_bias, surprise
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.entropy import Jackknife, MillerMadow, PlugIn, Polynomial, entropy_unit
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import LinearStatistic, check_method, scaled
from anonhist.properties.power_sum import PowerSum
from anonhist.properties.sampling import SampleDistribution
from anonhist.properties.uniformity import DistanceToUniformity, distance_bias
from anonhist.randomness import RandomSource

_LINEAR = {estimator.name: estimator for estimator in (Jackknife(), MillerMadow(), PlugIn())}
PrivateEntropyMethod = Literal["polynomial", "jackknife", "miller-madow", "plug-in"]
PRIVATE_ENTROPY_METHODS: tuple[str, ...] = get_args(PrivateEntropyMethod)


@dataclass(frozen=True)
class PolynomialParameters:
    """The parameters of the best polynomial entropy: see :class:`~anonhist.properties.entropy.Polynomial`.

    The polynomial of degree L ≥ 0 is the best approximation up to the probability M/n, ``interval`` M > 0. It is used
    for counts up to the ``threshold`` N ≥ 0.
    """

    degree: int
    interval: float
    threshold: int

    @classmethod
    def of_inspectre(cls, alphabet_size: int) -> PolynomialParameters:
        """Return the parameters of INSPECTRE: ``L = ⌈1.2·ln k⌉, M = 2·ln k, N = ⌊1.6·ln k⌋``."""
        logarithm = math.log(alphabet_size)
        return cls(math.ceil(1.2 * logarithm), max(2 * logarithm, 1.0), math.floor(1.6 * logarithm))

    def statistic(self, items: int, alphabet_size: int) -> LinearStatistic:
        """Return the weights for n items and k labels."""
        return Polynomial(alphabet_size, self.degree, self.interval, self.threshold).statistic(items)


@frozen
class EntropyMechanism(StatisticMechanism):
    """Private Shannon entropy, in nats, clipped to [0, ln k] after the noise.

    The method is ``"polynomial"`` (Wu and Yang 2016; needs the alphabet size k), ``"jackknife"``, ``"miller-madow"`` or
    ``"plug-in"``. By default, the parameters of the polynomial are those with the lowest error predicted from n, k and
    the noise, over four public distributions (:func:`recommended_polynomial`).
    """

    quantity: ClassVar[str] = "the entropy"
    counted: ClassVar[str] = "nats"

    _: KW_ONLY
    method: str = "polynomial"
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)
    polynomial: PolynomialParameters | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method(self.method, PRIVATE_ENTROPY_METHODS, of="private entropy")
        if self.alphabet_size is None and self.method == "polynomial":
            raise UsageError(
                "The polynomial method needs `alphabet_size`, the number of possible labels: give it, or use jackknife."
            )

    @property
    def assumes(self) -> str:
        """What the interval assumes."""
        return Polynomial.assumes if self.method == Polynomial.name else _LINEAR[self.method].assumes

    def method_for(self, items: int) -> str:
        """Return the method."""
        return self.method

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights, in nats, for a public number of items."""
        if self.method in _LINEAR:
            return _LINEAR[self.method].statistic(items)
        return (self.polynomial or recommended_polynomial(self, items)).statistic(items, self.alphabet_size or 1)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and ln k; without k there is no upper end."""
        return 0.0, math.inf if self.alphabet_size is None else math.log(self.alphabet_size)

    def bias(self, items: int) -> tuple[float, float]:
        """Return the largest bias over all distributions; without k the negative bias is unbounded."""
        truth, size = surprise(items), self.alphabet_size
        too_low, too_high = largest_bias(self.statistic(items), truth, items, alphabet_size=size)
        return math.inf if size is None else too_low, too_high


@lru_cache(maxsize=256)
def recommended_polynomial(mechanism: EntropyMechanism, items: int) -> PolynomialParameters:
    """Return the parameters with the lowest predicted error for n items: a function of public numbers alone.

    Degrees, intervals and thresholds around the published ones are tried on four distributions over k labels: uniform,
    two steps, and Zipf's with exponents 1/2 and 1; the squares of bias, sampling and noise are added, and the mean of
    the roots is minimized.
    """
    size = mechanism.alphabet_size or 1
    logarithm = max(math.log(size), 1.0)
    references = [(SampleDistribution(each, items), each.entropy) for each in populations(size)]

    # For a small alphabet, several parameters round to the same degree and threshold.
    tried = dict.fromkeys(
        PolynomialParameters(math.ceil(degree * logarithm), interval * logarithm, math.floor(threshold * logarithm))
        for degree, interval, threshold in product(_DEGREES, _INTERVALS, _THRESHOLDS)
    )

    def error(parameters: PolynomialParameters) -> float:
        statistic = parameters.statistic(items, size)
        return mean_error(statistic, references, mechanism.noise_variance(statistic, items))

    return min(tried, key=error)


# Multiples of ln k; the published ones are 1.2, 2 and 1.6.
_DEGREES, _INTERVALS, _THRESHOLDS = (0.6, 0.9, 1.2, 1.6), (1.0, 1.5, 2.0, 2.5, 3.5, 5.0), (0.8, 1.2, 1.6, 2.4)


def entropy(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    method: PrivateEntropyMethod | None = None,
    alphabet_size: int | None = None,
    base: float = math.e,
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
    """Estimate the Shannon entropy with differential privacy.

    Parameters
    ----------
    profile
        The private data.
    epsilon
        The whole budget, > 0; a float means its shortest decimal. There is no default.
    method
        ``"polynomial"`` (default with an alphabet size), ``"jackknife"`` (default without), ``"miller-madow"`` or
        ``"plug-in"``.
    alphabet_size
        k, the number of possible labels: public.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    unit
        The unit to protect, items or users; the profile's own unit by default.
    relation
        Neighbors differ by one unit added or removed (default) or replaced.
    known_items
        The exact number of items, if it is public.
    level
        Intended probability that the interval contains the truth.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    Estimate
        With its guarantee; the parts of its error are privacy noise, exactly, and an upper bound on sampling error.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Source: Acharya and others 2018, section 4. The noise is
    smaller than published: see docs/proofs/estimators.md.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = entropy(Profile.from_labels("abracadabra" * 50), epsilon=1, alphabet_size=26, base=2)
    >>> found.unit, str(found.guarantee.epsilon)
    ('bits', '1')
    """
    name, scale = entropy_unit(base)
    chosen = method or ("jackknife" if alphabet_size is None else "polynomial")
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    found = asked.of(profile, EntropyMechanism, method=chosen, alphabet_size=alphabet_size)
    return replace(scaled(found, scale), unit=name)


LARGEST_ORDER = 12


@frozen
class PowerSumMechanism(StatisticMechanism):
    """Private ``Σ_x p_x^a``, estimated by ``M_a = Σ_j (j^(a)/n^(a))·φ_j``, falling factorials, clipped to [k^(1−a), 1].

    Replacing one item changes M_a by at most a/n. The order a is a whole number from 2 to 12. Without k, the sum is
    clipped to [n^(1−a), 1].
    """

    quantity: ClassVar[str] = "the power sum"
    estimator: ClassVar[type[PowerSum]] = PowerSum

    _: KW_ONLY
    order: Converted[SupportsIndex, int] = named(parse_whole_number, least=2, most=LARGEST_ORDER)
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items; n below a is treated as a."""
        return PowerSum(self.order).statistic(max(items, self.order))

    def sampling_error(self, weights: WholeWeights, value: float, scale: float) -> float:
        """Return an upper bound on the sampling error of a power sum M up to the released one plus noise.

        ``Var M_a = Σ_{c=1..a} C(a,c)·C(n−a,a−c)/C(n,a)·ζ_c`` (Hoeffding 1948, eq. 5.13) with
        ``ζ_c ≤ Σ_x p_x^(2a−c) ≤ M^((2a−c)/a)``: for small M, far below the bound for all distributions.
        """
        a, n = self.order, max(weights.items, 2 * self.order)
        most = min(max(value, 0.0) + 3 * scale, 1.0)
        shared = (math.comb(a, c) * math.comb(n - a, a - c) / math.comb(n, a) for c in range(1, a + 1))
        variance = math.fsum(chance * most ** ((2 * a - c) / a) for c, chance in enumerate(shared, start=1))
        return min(math.sqrt(variance), super().sampling_error(weights, value, scale))

    def ends(self, items: int) -> tuple[float, float]:
        """Return the smallest possible power sum, and 1."""
        return float(self.alphabet_size or max(items, 2)) ** (1 - self.order), 1.0


@frozen
class RenyiEntropyMechanism(PowerSumMechanism):
    """Private Rényi entropy ``ln(Σ_x p_x^a)/(1 − a)`` of a whole order a, in nats, from a private power sum."""

    quantity: ClassVar[str] = "the Rényi entropy"
    counted: ClassVar[str] = "nats"

    def finish(self, statistic: float, items: int) -> float:
        """Return the logarithm of the clipped sum, which is above zero."""
        return math.log(statistic) / (1 - self.order)


def renyi_entropy(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    order: int = 2,
    alphabet_size: int | None = None,
    base: float = math.e,
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
    """Estimate the Rényi entropy of a whole order ≥ 2 with differential privacy.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    order
        a, a whole number from 2 to 12.
    alphabet_size
        k, the number of possible labels: public.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> renyi_entropy(Profile.from_labels("abracadabra" * 50), epsilon=1, base=2).unit
    'bits'
    """
    name, scale = entropy_unit(base)
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    found = asked.of(profile, RenyiEntropyMechanism, order=order, alphabet_size=alphabet_size)
    return replace(scaled(found, scale), unit=name)


def power_sum(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    order: int = 2,
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
    """Estimate ``Σ_x p_x^a`` with differential privacy: the probability that a items all have the same label.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    order
        a, a whole number from 2 to 12; 2 gives Simpson's index.
    alphabet_size
        k, the number of possible labels: public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> 0 < power_sum(Profile.from_labels("abracadabra" * 50), epsilon=1).value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, PowerSumMechanism, order=order, alphabet_size=alphabet_size)


@frozen
class UniformityMechanism(StatisticMechanism):
    """Private ``Σ_x |p_x − 1/k|``, plug-in, clipped to [0, 2·(1 − 1/k)].

    Replacing one item changes it by at most 2/n.
    """

    quantity: ClassVar[str] = "the distance to uniformity"
    estimator: ClassVar[type[DistanceToUniformity]] = DistanceToUniformity

    _: KW_ONLY
    alphabet_size: Converted[SupportsIndex, int] = named(parse_whole_number)

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        return DistanceToUniformity(self.alphabet_size).statistic(items)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and the distance of a single label."""
        return 0.0, 2 * (1 - 1 / self.alphabet_size)

    def bias(self, items: int) -> tuple[float, float]:
        """Return 0 and the largest positive bias."""
        return 0.0, distance_bias(items, self.alphabet_size)


def distance_to_uniformity(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    alphabet_size: int,
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
    """Estimate with differential privacy the distance between the distribution and the uniform one over k labels.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    alphabet_size
        k, the number of possible labels: public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> found = distance_to_uniformity(Profile.from_counts([500, 300]), epsilon=1, alphabet_size=2)
    >>> 0 <= found.value <= 1
    True
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(profile, UniformityMechanism, alphabet_size=alphabet_size)

"""Base class of private estimators: a linear statistic on a grid, with exact noise added to it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from anonhist.accounting.recording import Account, Price, recording
from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named, optional
from anonhist.mechanisms.estimators.weights import FINEST, WholeWeights
from anonhist.mechanisms.noise import Noise, exact_noise
from anonhist.mechanisms.setting import Setting, check_profile, whole_items, without_sizes
from anonhist.numeric.arrays import read_only
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import PLUS_MINUS, Estimate, Holds, Statement, check_level, quantile
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.sampling import Assemblage, SampleDistribution
from anonhist.randomness import RandomSource
from anonhist.randomness.source import SMALLEST_GAMMA
from anonhist.releases.content import estimates_digest

# Names of the components of the error.
SAMPLING, NOISE = "sampling, at most", "privacy noise"
# Share of the budget for the number of items, if it is not public: the number is released first.
_ITEMS_SHARE = Fraction(1, 3)
# Digits of the knots for predictions of the noise.
_FORESEEN = 6
_BEYOND = (
    "The released value was far outside the possible range and was clipped: an assumption fails, or a public number, "
    "such as the alphabet size, is wrong."
)
_RARE = Statement(Holds.AT_LEAST, "labels too rare to be seen may add any amount")
_ALLOWED = Statement(Holds.BOTH, "the interval allows for the largest possible bias")
_ARITHMETIC = "weights are whole multiples of a public step and noise is exact, so floating point costs nothing"


@dataclass(frozen=True)
class Noised:
    """A statistic with noise, and the scale of that noise.

    ``items`` is the n of its weights, ``scale`` the b of its discrete Laplace noise, P(x) ∝ e^(−|x|/b). The errors are
    upper bounds on standard errors: of noise on the number of items (0 if n is public), and of sampling.
    """

    value: float
    items: int
    scale: float
    items_error: float
    sampling_error: float


@frozen
class StatisticMechanism(Setting, ABC):
    """Release ``f = Σ_j w(j)·φ_j`` under discrete Laplace noise whose scale depends on public numbers alone.

    The weights depend on the number of items n:

    - one item replaced by another (``SUBSTITUTE``, unit item): n is the same in neighboring data sets and used exactly.
      A row without a label is not an item, so whether a row has a label is not protected, unless such rows count as a
      separate label (``keep_null`` of :func:`read_profile`). The noise has scale ``Δ/ε``, ``Δ = max |d(a) − d(b)|``
      over ``a + b ≤ n − 1``, ``d(j) = w(j + 1) − w(j)``;
    - ``known_items``: n is that public number; if it is wrong, the estimate is wrong, but the guarantee holds;
    - otherwise a third of the budget releases n first, and the weights are made for the released number.

    In the last two cases ``Σ_j (w(j) − c·j)·φ_j`` is released with noise of scale ``l1_sensitivity·max |d(j) − c|/ε``,
    c half-way between the largest and the smallest step, and ``c·n`` is added back: this takes half the noise needed
    without c.

    Weights are rounded to whole multiples of a public step first, and those of large counts lie on chords between
    others (:class:`~anonhist.mechanisms.estimators.weights.WholeWeights`), so that private values are whole numbers and
    the sensitivities are exact. The step is so small that n labels together are off by at most a share n/2³⁵ of the
    sensitivity, for ε ≥ 1/8; chords shift entropies by at most 10⁻⁷ nats.

    The guarantee is pure ``epsilon``-differential privacy of an item or a user, for every profile: the scale, the
    weights and all branches are independent of the data. Proof: docs/proofs/estimators.md.
    """

    # The estimated property and its unit.
    quantity: ClassVar[str]
    counted: ClassVar[str] = ""
    # The estimator without noise, which provides the name and the assumptions.
    estimator: ClassVar[type[Any]]

    _: KW_ONLY
    known_items: Converted[SupportsIndex | float | None, int | None] = named(optional(whole_items), default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit.max_count is not None:
            raise UsageError(
                "Private estimators protect items or users. For label privacy, make a release: it has the number of "
                "labels with each count."
            )

    @abstractmethod
    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""

    def method_for(self, items: int) -> str:
        """Return the name of the method, for a public number of items."""
        return str(self.estimator.name)

    @property
    def assumes(self) -> str:
        """What the interval assumes."""
        return str(self.estimator.assumes)

    @abstractmethod
    def ends(self, items: int) -> tuple[float, float]:
        """Return the range of possible statistics, for a public number of items."""

    def clip(self, statistic: float, items: int) -> float:
        """Return the possible statistic nearest to a noisy one; post-processing."""
        least, most = self.ends(items)
        return min(max(statistic, least), most)

    def finish(self, statistic: float, items: int) -> float:
        """Turn the statistic into the estimate by a monotone function; post-processing."""
        return statistic

    def bias(self, items: int) -> tuple[float, float]:
        """Return how far the mean of the statistic may be below and above the truth, from public numbers; ≥ 0.

        A value is infinite if there is no bound: then the interval has only one end.
        """
        return 0.0, 0.0

    @property
    def items_are_released(self) -> bool:
        """Whether part of the budget releases the number of items."""
        return self.known_items is None and not self._items_are_fixed

    @property
    def _items_are_fixed(self) -> bool:
        is_replaced = self.unit == PrivacyUnit.item() and self.relation is NeighboringRelation.SUBSTITUTE
        return is_replaced and self.known_items is None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one estimate."""
        steps: tuple[tuple[str, Fraction], ...] = ()
        arithmetic = _ARITHMETIC
        if self.items_are_released:
            steps = (("the number of items", self._items_epsilon), (self.quantity, self._statistic_epsilon))
        elif self.known_items is None:
            arithmetic = (
                f"{arithmetic}; the number of items, which are the rows with a label, is the same in neighboring data "
                "sets and not protected"
            )
        return Guarantee(self.unit, self.relation, self.epsilon, self.delta, arithmetic, steps)

    @property
    def fineness(self) -> float:
        """The resolution of the grid of weights: as fine as the noise sampler allows for the budget.

        Sensitivities are at most about twice this for a distance of two, so the rate of the noise stays above twice the
        smallest possible.
        """
        return min(FINEST, float(self._statistic_epsilon / (4 * self.l1_sensitivity * SMALLEST_GAMMA)))

    @property
    def _items_epsilon(self) -> Fraction:
        return self.epsilon * _ITEMS_SHARE

    @property
    def _statistic_epsilon(self) -> Fraction:
        return self.epsilon - self._items_epsilon if self.items_are_released else self.epsilon

    def scale(self, items: int) -> float:
        """Return b, the scale of the noise on the statistic, for a public number of items."""
        return self.scale_of(self.weights(items))

    def weights(self, items: int) -> WholeWeights:
        """Return the weights on their grid, for a public number of items."""
        return WholeWeights.of(self.statistic(items), items, fineness=self.fineness)

    def noise_variance(self, statistic: LinearStatistic, items: int) -> float:
        """Return the variance of the noise of a statistic, within a few percent, for choosing parameters."""
        return 2 * self.scale_of(WholeWeights.of(statistic, items, fineness=self.fineness, digits=_FORESEEN)) ** 2

    def scale_of(self, weights: WholeWeights) -> float:
        """Return b for weights on their grid."""
        return weights.grid * float(self._sensitivity(weights) / self._statistic_epsilon)

    def _sensitivity(self, weights: WholeWeights) -> int:
        # A constant statistic needs no noise, but a rate must be finite.
        return max(
            1,
            weights.sensitivity_to_replacing
            if self._items_are_fixed
            else self.l1_sensitivity * weights.sensitivity_to_adding,
        )

    def estimate(self, profile: Profile, *, level: float = 0.95, source: RandomSource | None = None) -> Estimate:
        """Spend the budget once on a private profile.

        The parts of the error are the privacy noise, exactly, and an upper bound on sampling error: a data-dependent
        value would cost budget.
        """
        check_level(level)
        with without_sizes():
            noised = self.release_with(self.admit(profile), exact_noise(source))
        return replace(self.estimate_of(noised, level=level), where=profile.where)

    def release_with(self, profile: Profile, noise: Noise) -> Noised:
        """Release the statistic of an admitted profile with noise from ``noise``."""
        items, items_error = profile.n, 0.0
        if self.known_items is not None:
            items = self.known_items
        elif self.items_are_released:
            rate = self._items_epsilon / self.unit.max_distance
            items = profile.n + int(noise(rate, 1)[0])
            items_error = _deviation(rate)
        items = min(max(items, 1), MAX_ITEMS)
        weights = self.weights(items)
        secret = weights.value(profile)
        known = weights.unseen_weight
        if not self._items_are_fixed:
            secret -= weights.middle * profile.n
            known += weights.middle * items
        noisy = secret + int(noise(self._statistic_epsilon / self._sensitivity(weights), 1)[0])
        value, scale = weights.grid * (noisy + known), self.scale_of(weights)
        on_items = weights.grid * weights.sensitivity_to_adding * items_error
        return Noised(value, items, scale, on_items, self.sampling_error(weights, value, scale))

    def sampling_error(self, weights: WholeWeights, value: float, scale: float) -> float:
        """Return an upper bound on the sampling error, from the release and public numbers.

        By default it is ``√n·Δ/2``, Δ the largest change by replacing one item (Efron and Stein).
        """
        return weights.grid * (weights.highest - weights.lowest) * math.sqrt(weights.items) / 2

    def estimate_of(self, noised: Noised, *, level: float = 0.95) -> Estimate:
        """Turn a noisy statistic into an estimate; post-processing."""
        value, items = noised.value, noised.items
        deviation = math.sqrt(2) * noised.scale
        # The quantile of the Laplace distribution, whose tails are heavier than normal.
        noise = -noised.scale * math.log1p(-level)
        half = math.hypot(noise, quantile(level) * math.hypot(noised.sampling_error, noised.items_error))
        least, most = self.ends(items)
        # Clipping a value also moves its interval; otherwise the interval of a value outside the range would have
        # length zero.
        middle = self.clip(value, items)
        too_low, too_high = self.bias(items)
        low, high = (
            self.finish(self.clip(end, items), items) for end in (middle - half - too_high, middle + half + too_low)
        )
        slope = _slope(self, value, items, max(deviation, 1e-300))
        parts = [(SAMPLING, noised.sampling_error), (NOISE, deviation)]
        if self.items_are_released:
            parts.append(("privacy noise on the number of items, at most", noised.items_error))
        scaled = tuple((cause, slope * error) for cause, error in parts)
        return Estimate(
            self.finish(middle, items),
            math.hypot(*(error for _, error in scaled)),
            (min(low, high), max(low, high)),
            f"private {self.method_for(items)}",
            assumes=self.assumes,
            level=level,
            parts=scaled,
            warnings=(*self.doubts(items), *(() if least - half <= value <= most + half else (_BEYOND,))),
            unit=self.counted,
            guarantee=self.guarantee,
            statement=_RARE if math.isinf(too_low) else _ALLOWED if too_low or too_high else PLUS_MINUS,
        )

    def doubts(self, items: int) -> tuple[str, ...]:
        """Return warnings that follow from public numbers."""
        return ()


def _slope(mechanism: StatisticMechanism, value: float, items: int, width: float) -> float:
    """Return the derivative of the estimate with respect to the statistic, around the released value."""
    middle = mechanism.clip(value, items)
    low, high = mechanism.clip(middle - width, items), mechanism.clip(middle + width, items)
    if not high > low:
        return 1.0
    return abs(mechanism.finish(high, items) - mechanism.finish(low, items)) / (high - low)


def _deviation(rate: Fraction) -> float:
    """Return the standard deviation of discrete Laplace noise of a rate γ: ``1/(√2·sinh(γ/2))``."""
    half = float(rate) / 2
    return 1 / (math.sqrt(2) * math.sinh(half)) if half < 300 else 0.0


@dataclass(frozen=True)
class Asked:
    """Options of all private estimates, as given."""

    epsilon: EpsilonLike
    unit: PrivacyUnit | None
    relation: NeighboringRelation
    known_items: int | None
    level: float
    source: RandomSource | None
    account: Account | None

    def of(self, profile: Profile, mechanism: Callable[..., StatisticMechanism], **own: Any) -> Estimate:
        """Make the estimate; by default, the unit is the profile's own."""
        check_profile(profile)
        unit = profile.unit if self.unit is None else self.unit
        made = mechanism(self.epsilon, unit, self.relation, known_items=self.known_items, **own)
        made.check_unit_of(profile)
        check_level(self.level)
        price = Price(made.guarantee, f"private estimate of {made.quantity}", made.parameters)
        with recording(self.account, lambda: price) as recorded:
            recorded.keep()
            estimate = made.estimate(profile, level=self.level, source=self.source)
            recorded.complete(lambda: estimates_digest([(made.quantity, estimate)]))
        return estimate


def public_size(alphabet_size: SupportsIndex | None) -> int | None:
    """Return k, or None if it is not known; refuse everything except whole numbers from 1 to 2⁶²."""
    return None if alphabet_size is None else parse_whole_number(alphabet_size, name="alphabet_size")


_GROUPS = 48


# The samples from a reference distribution, and its true property.
Reference = tuple["SampleDistribution", float]


def mean_error(statistic: LinearStatistic, references: Sequence[Reference], noise_variance: float) -> float:
    """Return the mean of the root mean squared errors over the references, noise included."""
    errors = []
    for distribution, truth in references:
        mean, variance = distribution.moments(statistic.weights)
        errors.append(math.sqrt(noise_variance + ((mean - truth) ** 2 + variance)))
    return math.fsum(errors) / len(errors)


@lru_cache(maxsize=64)
def populations(labels: int) -> tuple[Assemblage, ...]:
    """Return reference distributions over labels: uniform, two steps, Zipf with exponents 1/2 and 1.

    Labels of neighboring ranks are grouped, except the first sixteen.
    """
    starts = {
        *range(min(labels, 16)),
        *np.geomspace(16.0, float(max(labels, 16)), _GROUPS).astype(int).tolist(),
        labels // 2,
    }
    edges = np.array(sorted({edge for edge in starts if edge < labels} | {0, labels}), dtype=np.float64)
    sizes, middles = np.diff(edges), (edges[1:] + edges[:-1] + 1) / 2
    shapes = (np.ones(sizes.size), np.where(edges[:-1] < labels // 2, 1.0, 3.0), middles**-0.5, 1 / middles)
    return tuple(Assemblage(read_only(shape / float(shape @ sizes)), read_only(sizes)) for shape in shapes)

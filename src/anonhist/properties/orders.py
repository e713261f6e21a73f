"""Hill numbers, Rényi and Tsallis entropies of an order, their curve, and the min-entropy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.entropy import EntropyInterval, entropy_unit
from anonhist.properties.estimate import Bounds, Estimate
from anonhist.properties.estimator import LowerEnd, NormalInterval, Point, Resimulated, apply, check_method, value_of
from anonhist.properties.power_sum import ChaoJostSum, OrderSum, PlugInSum, PowerSumInterval, UnbiasedSum, check_order
from anonhist.properties.support_size import AtLeastLabels

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats
    from anonhist.properties.estimator import Interval, Sample
    from anonhist.properties.power_sum import SumEstimator

_ONLY_LEAST = "labels too rare to be seen may add any amount at orders below 2"


def order_interval(order: float, scale: Callable[[OrderSum], Point], ends: NormalInterval) -> Interval:
    """Return the interval of an order q ≥ 0 on a scale of :class:`OrderSum`: the same for all methods.

    From order 2 on it is the interval of the unbiased power sum; at q = 0 that of the support size, at q = 1 that of
    the entropy. Otherwise it has only the lower end of ``plug-in``, which is too low on average for every distribution,
    because Tsallis entropies are concave in the probabilities.
    """
    if order >= 2:
        return PowerSumInterval(order, _of_number(order)[scale], *ends.of_nothing())
    if order == 1:
        return ExponentialInterval(EntropyInterval()) if scale is OrderSum.as_hill else EntropyInterval()
    if order == 0 and scale is OrderSum.as_hill:
        return AtLeastLabels()
    return LowerEnd(PlugInSum(order, scale), _ONLY_LEAST, ends)


def _of_number(order: float) -> dict[Callable[[OrderSum], Point], Callable[[float], float]]:
    """Return each scale as a function of the Hill number."""
    return {
        OrderSum.as_hill: lambda number: number,
        OrderSum.as_renyi: math.log,
        OrderSum.as_tsallis: lambda number: (1.0 - number ** (1.0 - order)) / (order - 1.0),
    }


@dataclass(frozen=True)
class ExponentialInterval:
    """The exponential of another interval: for the Hill number of order 1, that of the entropy."""

    of_logarithm: Interval

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        found = self.of_logarithm.of(sample, math.log(value), error / value)
        return Bounds(math.exp(found.low), math.exp(found.high), found.statement).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return the range of the property."""
        low, high = self.of_logarithm.of_nothing()
        return math.exp(low), math.exp(high)


DiversityMethod = Literal["chao-jost", "plug-in", "unbiased"]
DIVERSITY_METHODS: tuple[str, ...] = get_args(DiversityMethod)


def hill_number(
    data: Profile | Resimulated, *, order: float, method: DiversityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Hill number ``D_q = (Σ_x p_x^q)^(1/(1−q))``, at q = 1 ``exp(−Σ_x p_x·ln p_x)``.

    q = 0 counts all labels alike, 1 in proportion to how frequent they are, 2 is the inverse of Simpson's index; the
    larger q, the less rare labels matter.

    From order 2 on there is an interval, the same for all methods; at order 1 there is one if few labels are missing.
    Otherwise there is only a lower end below order 2, because any number of labels may be too rare to be seen.

    Source: Hill 1973; Chao and Jost 2015; Simpson 1949.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), the asymptotic estimate of iNEXT and SpadeR; ``"plug-in"``, the value of the sample;
        ``"unbiased"``, for whole orders from 2 on, where it equals the first.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(hill_number(Profile.from_counts([9, 4, 2, 2, 1, 1, 1]), order=2))
    4.31818 labels (95% interval 1.82154 to 25.0051)
    """
    chosen = sum_estimator(order, method, OrderSum.as_hill, of="Hill numbers")
    interval = order_interval(chosen.order, OrderSum.as_hill, NormalInterval(1.0))
    return apply(data, chosen, interval, level=level, unit="labels")


def renyi_entropy(
    data: Profile | Resimulated,
    *,
    order: float = 2,
    method: DiversityMethod | None = None,
    base: float = math.e,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Rényi entropy ``H_q = ln(Σ_x p_x^q)/(1 − q)``, at q = 1 the Shannon entropy.

    It is the logarithm of the Hill number of the same order; order 2 is the collision entropy.

    Source: Rényi 1961; Chao and Jost 2015.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), which includes unseen labels; ``"plug-in"``; or ``"unbiased"`` for whole orders from
        2 on: the power sum is unbiased, its logarithm nearly so.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(renyi_entropy(Profile.from_counts([3, 1]), base=2, method="unbiased").value, 12)
    1.0
    """
    chosen = sum_estimator(order, method, OrderSum.as_renyi, of="Rényi entropies")
    unit, scale = entropy_unit(base)
    interval = order_interval(chosen.order, OrderSum.as_renyi, NormalInterval(0.0))
    return apply(data, chosen, interval, level=level, unit=unit, scale=scale)


def tsallis_entropy(
    data: Profile | Resimulated, *, order: float = 2, method: DiversityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Tsallis entropy ``T_q = (1 − Σ_x p_x^q)/(q − 1)``, at q = 1 the Shannon entropy in nats.

    Order 0 is the number of labels minus 1, order 2 the probability that two items have different labels.

    Source: Tsallis 1988; Chao and Jost 2015.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), which includes unseen labels; ``"plug-in"``; or ``"unbiased"`` for whole orders from
        2 on.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(tsallis_entropy(Profile.from_counts([3, 1]), method="unbiased").value, 12)
    0.5
    """
    chosen = sum_estimator(order, method, OrderSum.as_tsallis, of="Tsallis entropies")
    most = 1 / (chosen.order - 1) if chosen.order > 1 else math.inf
    interval = order_interval(chosen.order, OrderSum.as_tsallis, NormalInterval(0.0, most))
    return apply(data, chosen, interval, level=level)


def sum_estimator(order: object, method: str | None, scale: Callable[[OrderSum], Point], *, of: str) -> SumEstimator:
    """Return the estimator with this order and method, ``chao-jost`` by default, on a scale."""
    number, name = check_order(order), method or "chao-jost"
    check_method(name, DIVERSITY_METHODS, of=of)
    if name == "plug-in":
        return PlugInSum(number, scale)
    if name == "chao-jost":
        return ChaoJostSum(number, scale)
    if number < 2 or not number.is_integer():
        raise UsageError(f"Only whole orders of at least 2 have an unbiased estimator, not {number:g}; use chao-jost.")
    return UnbiasedSum(number, scale)


_WITHOUT_BIAS = 2
_TOO_LOW = "Below order 2, labels too rare to be seen may add any amount: read the curve as a lower bound there."
_SKEWED = "The band is too narrow where few items share a label: use the interval of an estimate of one order there."
_ORDERS = tuple(tenth / 10 for tenth in range(31))


def hill_curve(
    data: Profile | Resimulated,
    *,
    orders: Iterable[float] = _ORDERS,
    method: DiversityMethod | None = None,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate the Hill number of each order, with a bootstrap band as iNEXT and SpadeR draw it.

    Source: Hill 1973; Chao and Jost 2015.

    Parameters
    ----------
    data
        A profile or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    orders
        q, numbers from 0 to 12, ascending; 0, 0.1, …, 3 by default.
    method
        ``"chao-jost"`` (default), ``"plug-in"`` or ``"unbiased"``: see :func:`~anonhist.properties.hill_number`.
    level
        Probability with which each interval is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the band, ≥ 3; 50 by default, as in iNEXT.
    rng
        Random generator for the samples; a new one by default.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([9, 4, 2, 2, 1, 1, 1])
    >>> curve = hill_curve(profile, orders=(0, 1, 2), rng=np.random.default_rng(1))
    >>> curve.value.round(3).tolist()
    [9.138, 6.229, 4.318]
    """
    chosen = [sum_estimator(order, method, OrderSum.as_hill, of="Hill numbers") for order in orders]
    x = np.array([estimator.order for estimator in chosen])
    if not x.size or not bool(np.all(np.diff(x) > 0)):
        raise UsageError("`orders` must be ascending numbers, at least one, such as (0, 1, 2).")

    def numbers(profile: Profile) -> Floats:
        return np.array([value_of(estimator, profile) for estimator in chosen])

    return estimated_curve(
        data,
        numbers,
        Axes("orders", "labels", x, ("estimated",) * x.size, 0.0),
        method=chosen[0].name,
        assumes=chosen[0].assumes,
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        bias=_TOO_LOW if x[0] < _WITHOUT_BIAS else _SKEWED,
    )


_CLEAR = 2.0
_BY_CHANCE = "the most frequent label in a sample is partly so by chance"


@dataclass(frozen=True)
class MinEntropy:
    """``−ln(r_max/n)`` in nats, with standard error ``sqrt((1 − p)/(n·p))``, ``p = r_max/n`` (Rényi 1961).

    It is too low, because the largest of several counts is largest partly by chance: by at most about ``1/(n·p)`` if
    one label is clearly the most frequent, by far more if many are about as frequent. For one label it is 0, for n
    singletons ln n.
    """

    name: ClassVar[str] = "plug-in"
    assumes: ClassVar[str] = "one label is clearly the most frequent; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n, largest = float(profile.n), float(profile.counts[-1])
        # A share that is 1 only by rounding must not make the error 0.
        others = profile.n - int(profile.counts[-1])
        error = math.sqrt(others / n / largest)
        value = -math.log1p(-others / n) if largest > n / 2 else math.log(n / largest)
        return Point(abs(value), standard_error=error, warnings=_tie_warning(profile))


def _tie_warning(profile: Profile) -> tuple[str, ...]:
    largest = float(profile.counts[-1])
    if profile.prevalences[-1] == 1:
        if len(profile) == 1:
            return ()
        second = float(profile.counts[-2])
        if largest - second >= _CLEAR * math.sqrt(largest + second):
            return ()
    return ("Several labels are about as frequent as the most frequent one: the value is too low.",)


def min_entropy(data: Profile | Resimulated, *, base: float = math.e, level: float = 0.95) -> Estimate:
    """Estimate the min-entropy ``H_∞ = −ln max_x p_x``: how hard the single best guess is.

    The largest share of a sample is too high on average for every distribution, so there is only a lower end.

    Source: Rényi 1961.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(min_entropy(Profile.from_counts([400, 200, 200]), base=2))
    at least 0.900028 bits (95% confidence), estimate 1: the most frequent label in a sample is partly so by chance
    """
    unit, scale = entropy_unit(base)
    return apply(data, MinEntropy(), LowerEnd(MinEntropy(), _BY_CHANCE), level=level, unit=unit, scale=scale)

"""Hill numbers, Rényi and Tsallis entropies of an order, by a method of your choice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.diversity.chao_jost import ChaoJostSum
from anonhist.properties.diversity.interval import order_interval
from anonhist.properties.diversity.order_sum import OrderSum, check_order
from anonhist.properties.diversity.plug_in import PlugInSum
from anonhist.properties.diversity.power_sum import UnbiasedSum
from anonhist.properties.entropy.entropy import entropy_unit
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Resimulated
from anonhist.properties.intervals import NormalInterval
from anonhist.properties.options import check_method

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.properties.diversity.order_sum import SumEstimator
    from anonhist.properties.estimator import Point

DiversityMethod = Literal["chao-jost", "plug-in", "unbiased"]
DIVERSITY_METHODS: tuple[str, ...] = get_args(DiversityMethod)


def hill_number(
    data: Profile | Resimulated, *, order: float, method: DiversityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Hill number ``D_q = (Σ_x p_x^q)^(1/(1−q))``, at q = 1 ``exp(−Σ_x p_x·ln p_x)``.

    q = 0 counts all labels alike, 1 in proportion to how frequent they are, 2 is the inverse of Simpson's index; the
    larger q, the less rare labels matter.

    From order 2 on there is an interval, the same for all methods; at order 1 there is one if few labels are missing.
    Otherwise there is only a lower end below order 2, since any number of labels may be too rare to be seen.

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

    References
    ----------
    .. [1] M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973), 427–432.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882.
    .. [3] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(hill_number(Profile.from_counts([9, 4, 2, 2, 1, 1, 1]), order=2))
    4.31818 labels (95 % interval 1.82154 to 25.0051)
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

    References
    ----------
    .. [1] A. Rényi, "On measures of entropy and information", Proceedings of the Fourth Berkeley Symposium on
           Mathematical Statistics and Probability 1 (1961), 547–561.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882.

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

    References
    ----------
    .. [1] C. Tsallis, "Possible generalization of Boltzmann–Gibbs statistics", Journal of Statistical Physics 52
           (1988), 479–487.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882.

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
    """Return the estimator of this order and method, ``chao-jost`` by default, on a scale.

    Examples
    --------
    >>> sum_estimator(2, None, OrderSum.as_hill, of="Hill numbers").name
    'chao-jost'
    """
    number, name = check_order(order), method or "chao-jost"
    check_method(name, DIVERSITY_METHODS, of=of)
    if name == "plug-in":
        return PlugInSum(number, scale)
    if name == "chao-jost":
        return ChaoJostSum(number, scale)
    if number < 2 or not number.is_integer():
        raise UsageError(f"Only whole orders of at least 2 have an unbiased estimator, not {number:g}; use chao-jost.")
    return UnbiasedSum(number, scale)

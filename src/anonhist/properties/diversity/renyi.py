"""The Rényi entropy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.properties.apply import apply
from anonhist.properties.diversity.interval import order_interval
from anonhist.properties.diversity.methods import sum_estimator
from anonhist.properties.diversity.order_sum import OrderSum
from anonhist.properties.entropy.entropy import entropy_unit
from anonhist.properties.intervals import NormalInterval

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.diversity.methods import DiversityMethod
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated


def renyi_entropy(
    data: Profile | Resimulated,
    *,
    order: float = 2,
    method: DiversityMethod | None = None,
    base: float = math.e,
    level: float = 0.95,
) -> Estimate:
    """Estimate the Rényi entropy ``H_q = ln(Σ_x p_x^q)/(1 − q)``, at q = 1 the Shannon entropy.

    Order 2 is the collision entropy; the logarithm of the Hill number of the same order.

    Parameters
    ----------
    data
        A profile, or a release: then the interval covers privacy noise as well.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), labels not seen included, ``"plug-in"``, or ``"unbiased"`` for whole orders from 2:
        there the power sum is without bias, its logarithm nearly so.
    base
        Base of the logarithm, > 1: 2 for bits, e (default) for nats.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    References
    ----------
    .. [1] A. Rényi, "On measures of entropy and information", Proceedings of the Fourth Berkeley Symposium on
           Mathematical Statistics and Probability 1 (1961), 547–561.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882, eq. 5b.

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

"""The Tsallis entropy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.properties.apply import apply
from anonhist.properties.diversity.interval import order_interval
from anonhist.properties.diversity.methods import sum_estimator
from anonhist.properties.diversity.order_sum import OrderSum
from anonhist.properties.intervals import NormalInterval

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.diversity.methods import DiversityMethod
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated


def tsallis_entropy(
    data: Profile | Resimulated, *, order: float = 2, method: DiversityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Tsallis entropy ``T_q = (1 − Σ_x p_x^q)/(q − 1)``, at q = 1 the Shannon entropy in nats.

    Order 0 is the number of labels less one, order 2 the chance that two items differ.

    Parameters
    ----------
    data
        A profile, or a release: then the interval covers privacy noise as well.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), labels not seen included, ``"plug-in"``, or ``"unbiased"`` for whole orders from 2.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    References
    ----------
    .. [1] C. Tsallis, "Possible generalization of Boltzmann–Gibbs statistics", Journal of Statistical Physics 52
           (1988), 479–487.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882, eq. 5b.

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

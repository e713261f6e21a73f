"""Hill numbers against their order: the diversity profile, with its band."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.diversity.order_sum import OrderSum
from anonhist.properties.diversity.orders import DiversityMethod, sum_estimator
from anonhist.properties.estimator import Resimulated, value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    References
    ----------
    .. [1] M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973), 427–432.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882.

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

    def numbers(profile: Profile) -> NDArray[np.float64]:
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

"""Hill numbers: how many equally frequent labels would be as diverse."""

from __future__ import annotations

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


def hill_number(
    data: Profile | Resimulated, *, order: float, method: DiversityMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the Hill number ``D_q = (Σ_x p_x^q)^(1/(1−q))``, at q = 1 ``exp(−Σ_x p_x·ln p_x)``.

    q = 0 counts all labels alike, 1 in proportion to how frequent they are, 2 is the inverse of Simpson's index; the
    larger q, the less rare labels matter.

    From order 2 on there is an interval, the same for all methods, and at order 1 where little was not seen. Below 2
    the number has a lower end only, since any number of labels may be too rare to be seen.

    Parameters
    ----------
    data
        A profile, or a release: then the interval covers privacy noise as well.
    order
        q, a number from 0 to 12.
    method
        ``"chao-jost"`` (default), what iNEXT and SpadeR call the asymptotic estimate; ``"plug-in"``, of the sample
        itself; ``"unbiased"``, for whole orders from 2, the same as the first but by its own name.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    References
    ----------
    .. [1] M. O. Hill, "Diversity and evenness: a unifying notation and its consequences", Ecology 54 (1973), 427–432.
    .. [2] A. Chao, L. Jost, "Estimating diversity and entropy profiles via discovery rates of new species", Methods in
           Ecology and Evolution 6 (2015), 873–882, eq. 5b.
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

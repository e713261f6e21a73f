"""Power sums as they are asked for: the chance that several items have the same label, or different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.apply import apply
from anonhist.properties.diversity.power_interval import PowerSumInterval
from anonhist.properties.diversity.power_sum import GiniSimpson, PowerSum, whole_order

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated


def power_sum(data: Profile | Resimulated, *, order: int, level: float = 0.95) -> Estimate:
    """Estimate ``Σ_x p_x^a`` without bias: the probability that a items all have the same label.

    Parameters
    ----------
    data
        A profile, or a release: then the interval covers privacy noise as well.
    order
        a, a whole number from 2 to 12.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If a number is impossible.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(power_sum(Profile.from_labels("abracadabra"), order=2))
    0.218182 (95 % interval 0 to 0.832855)
    """
    whole = whole_order(order)
    interval = PowerSumInterval(whole, lambda number: number ** (1 - whole), 0.0, 1.0)
    return apply(data, PowerSum(whole), interval, level=level)


def simpson(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``D = Σ_x p_x²`` without bias: the probability that two items have the same label (Simpson 1949).

    scikit-bio calls it dominance; what is there, and by many ecologists, called Simpson's index is 1 − D:
    :func:`gini_simpson`. ``1/D`` is the Hill number of order 2.

    Parameters
    ----------
    data, level
        As of :func:`power_sum`.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> simpson(Profile.from_counts([3, 1])).value
    0.5
    """
    return apply(data, PowerSum(2), PowerSumInterval(2, lambda number: 1 / number, 0.0, 1.0), level=level)


def gini_simpson(data: Profile | Resimulated, *, level: float = 0.95) -> Estimate:
    """Estimate ``1 − Σ_x p_x²`` without bias: the probability that two items have different labels.

    Also known as Gini impurity and as probability of interspecific encounter (Hurlbert 1971); the Tsallis entropy of
    order 2.

    Parameters
    ----------
    data, level
        As of :func:`power_sum`.

    References
    ----------
    .. [1] E. H. Simpson, "Measurement of diversity", Nature 163 (1949), 688.
    .. [2] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> gini_simpson(Profile.from_counts([3, 1, 1])).value
    0.7
    """
    return apply(data, GiniSimpson(), PowerSumInterval(2, lambda number: 1 - 1 / number, 0.0, 1.0), level=level)

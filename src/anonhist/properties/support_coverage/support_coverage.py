"""The expected number of labels in a number of draws, by a choice of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Resimulated, profile_of
from anonhist.properties.options import check_method
from anonhist.properties.support_coverage.good_toulmin import GoodToulmin
from anonhist.properties.support_coverage.interval import SupportCoverageInterval
from anonhist.properties.support_coverage.mixture import Mixture
from anonhist.properties.support_coverage.rarefaction import Rarefaction
from anonhist.properties.support_coverage.smoothed import SmoothedBinomialA, SmoothedBinomialB, SmoothedPoisson

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator

_ESTIMATORS = (Rarefaction, Mixture, GoodToulmin, SmoothedPoisson, SmoothedBinomialA, SmoothedBinomialB)
# Linear in the prevalences, so that they can be private on their own.
LinearCoverageMethod = Literal[
    "rarefaction", "good-toulmin", "smoothed-poisson", "smoothed-binomial-a", "smoothed-binomial-b"
]
LINEAR_COVERAGE_METHODS: tuple[str, ...] = get_args(LinearCoverageMethod)
SupportCoverageMethod = Literal[
    "rarefaction", "mixture", "good-toulmin", "smoothed-poisson", "smoothed-binomial-a", "smoothed-binomial-b"
]
SUPPORT_COVERAGE_METHODS: tuple[str, ...] = get_args(SupportCoverageMethod)
# Twice the largest number of items: as far as the series of Good and Toulmin goes.
MAX_DRAWS = 2**64


def support_coverage(
    data: Profile | Resimulated, *, draws: int, method: SupportCoverageMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the expected number of distinct labels in m draws, ``S_m = Σ_x (1 − (1 − p_x)^m)``.

    The default and the ends of its interval never fall as draws grow, and from n draws on it is at least the number of
    labels seen. The interval is the same for all methods, but for being widened to contain the value. Up to 2n draws it
    is that of an unbiased estimator, widened for labels that may have been missed; beyond, it follows from the one at
    2n and from the concavity of S_m in m.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    draws
        m, from 1 to 2^64. Beyond about n·(1 + ln n) no estimate is reliable.
    method
        ``"rarefaction"``, ``"mixture"``, ``"good-toulmin"``, ``"smoothed-poisson"``, ``"smoothed-binomial-a"`` or
        ``"smoothed-binomial-b"``. Up to n draws all methods are rarefaction, and beyond, the default is the mixture.
        The others are published series, whose values may fall as draws grow: a warning then says so.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, a number is out of range, or rarefaction is asked for more draws than items.

    References
    ----------
    .. [1] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586.
    .. [2] I. J. Good, G. H. Toulmin, "The number of new species, and the increase in population coverage, when a sample
           is increased", Biometrika 43 (1956), 45–63.
    .. [3] B. Efron, R. Thisted, "Estimating the number of unseen species: how many words did Shakespeare know?",
           Biometrika 63 (1976), 435–447.
    .. [4] A. Orlitsky, A. T. Suresh, Y. Wu, "Optimal prediction of the number of unseen species", Proceedings of the
           National Academy of Sciences 113 (2016), 13283–13288.
    .. [5] C. X. Mao, R. K. Colwell, J. Chang, "Estimating the species accumulation curve using mixtures", Biometrics 61
           (2005), 433–441.

    Examples
    --------
    >>> profile = Profile.from_prevalences({1: 60, 2: 20, 5: 10})
    >>> print(support_coverage(profile, draws=50))
    39.8683 labels (95 % interval 37.151 to 43.2254)
    >>> print(support_coverage(profile, draws=300))
    141.681 labels (95 % interval 117.339 to 166.502)
    """
    chosen = support_coverage_estimator(method, draws=draws, n=profile_of(data).n)
    return apply(data, chosen, SupportCoverageInterval(draws), level=level, unit="labels")


def support_coverage_estimator(method: str | None, *, draws: int, n: int) -> Estimator:
    """Return the estimator of this name; by default the one with the lowest error for n items and m draws."""
    count = parse_whole_number(draws, name="draws", most=MAX_DRAWS)
    name = method or (Rarefaction.name if count <= n else Mixture.name)
    check_method(name, SUPPORT_COVERAGE_METHODS, of="support coverage")
    if name == Rarefaction.name and n and count > n:
        raise UsageError("Rarefaction takes at most as many draws as there are items: leave the method out.")
    return next(estimator for estimator in _ESTIMATORS if estimator.name == name)(count)

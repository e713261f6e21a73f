"""The sample coverage, the probability of all labels seen, by a choice of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from anonhist.profiles import Profile
from anonhist.properties.apply import apply
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import Resimulated
from anonhist.properties.options import check_method
from anonhist.properties.sample_coverage.chao_jost import ChaoJost
from anonhist.properties.sample_coverage.good_turing import GoodTuring
from anonhist.properties.sample_coverage.interval import CoverageInterval

if TYPE_CHECKING:
    from anonhist.properties.estimator import Estimator

_ESTIMATORS: dict[str, Estimator] = {estimator.name: estimator for estimator in (GoodTuring(), ChaoJost())}
SampleCoverageMethod = Literal["good-turing", "chao-jost"]
SAMPLE_COVERAGE_METHODS: tuple[str, ...] = get_args(SampleCoverageMethod)


def sample_coverage(
    data: Profile | Resimulated, *, method: SampleCoverageMethod | None = None, level: float = 0.95
) -> Estimate:
    """Estimate the probability ``Σ_{x seen} p_x`` that the next item has a label seen before.

    Parameters
    ----------
    data
        A profile or a release. For a release, the interval also covers privacy noise.
    method
        ``"good-turing"`` (default) or ``"chao-jost"``.
    level
        Probability with which the interval is meant to contain the truth.

    Raises
    ------
    UsageError
        If there is no such method, or the level is impossible.

    References
    ----------
    .. [1] I. J. Good, "The population frequencies of species and the estimation of population parameters", Biometrika
           40 (1953), 237–264.
    .. [2] A. Chao, L. Jost, "Coverage-based rarefaction and extrapolation: standardizing samples by completeness rather
           than size", Ecology 93 (2012), 2533–2547, eq. 4a.
    .. [3] W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample", Annals of
           Statistics 11 (1983), 905–912.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(sample_coverage(Profile.from_counts([9, 4, 2, 2, 1, 1, 1])))
    0.85 (95 % interval 0.438059 to 1)
    """
    return apply(data, sample_coverage_estimator(method), CoverageInterval(), level=level)


def sample_coverage_estimator(method: str | None) -> Estimator:
    """Return the estimator of this name."""
    name = method or GoodTuring.name
    check_method(name, SAMPLE_COVERAGE_METHODS, of="sample coverage")
    return _ESTIMATORS[name]

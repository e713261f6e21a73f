"""The rarefaction and extrapolation curve: the number of labels in m draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.estimator import Resimulated, profile_of
from anonhist.properties.options import check_method
from anonhist.properties.support_coverage.mixture import PoissonMixture
from anonhist.properties.support_coverage.rarefaction import Rarefaction
from anonhist.properties.support_coverage.series import reach, visible_doubts
from anonhist.properties.support_coverage.support_coverage import MAX_DRAWS
from anonhist.properties.unseen import chao_unseen

if TYPE_CHECKING:
    from numpy.typing import NDArray

RarefactionMethod = Literal["mixture", "inext"]
RAREFACTION_METHODS: tuple[str, ...] = get_args(RarefactionMethod)
_FAR = 2
_FORECAST = (
    "Beyond n, the band does not cover labels far rarer than those seen once: use the interval of an estimate for one "
    "number of draws."
)
_TOO_LOW = "Beyond n, the curve is too low if some labels not seen are rarer than those seen once."
_TOO_SHORT = "The band is about a tenth too narrow: use the interval of an estimate for one number of draws."


def rarefaction_curve(
    data: Profile | Resimulated,
    *,
    draws: int | None = None,
    points: int = 40,
    method: RarefactionMethod = "mixture",
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate the expected number of distinct labels in m draws, for m from 1 to twice the items.

    Up to n draws it is rarefaction, at n the number of labels seen; beyond, it is that of
    :func:`~anonhist.properties.support_coverage.support_coverage`: neither falls as draws grow. Points are evenly
    spread, half of them up to n, as in iNEXT; n is one of them. Each end of the band is the largest up to there.

    Parameters
    ----------
    data
        A profile or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    draws
        The largest m, from 1 to 2⁶⁴; 2n by default.
    points
        The largest number of points, ≥ 4.
    method
        Beyond n: ``"mixture"``, or ``"inext"`` to compare with iNEXT, a lower bound that is lower the farther it goes:
        ``S_obs + f_0·(1 − (1 − φ_1/(n·f_0 + φ_1))^{m−n})`` ([2]_, eq. 9; generalized to Hill numbers in [3]_). f_0 is
        Chao's lower bound on the number of unseen labels, ``(n−1)/n·φ_1²/(2φ_2)``, or ``(n−1)/n·φ_1·(φ_1−1)/2`` if
        ``φ_2 = 0``.
    level
        Probability with which the interval at each m is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the band, ≥ 3.
    rng
        Random generator for the samples; a new one by default.

    Returns
    -------
    Curve
        Its points are ``"interpolated"``, ``"observed"`` (m = n) or ``"extrapolated"``.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.

    References
    ----------
    .. [1] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586.
    .. [2] R. K. Colwell, A. Chao, N. J. Gotelli and others, "Models and estimators linking individual-based and
           sample-based rarefaction, extrapolation and comparison of assemblages", Journal of Plant Ecology 5 (2012),
           3–21, eq. 4 and 9.
    .. [3] A. Chao, N. J. Gotelli, T. C. Hsieh and others, "Rarefaction and extrapolation with Hill numbers: a framework
           for sampling and estimation in species diversity studies", Ecological Monographs 84 (2014), 45–67.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_prevalences({1: 12, 2: 4, 6: 3})
    >>> curve = rarefaction_curve(profile, points=6, rng=np.random.default_rng(1))
    >>> for draws, labels, low, high, kind in curve.rows():
    ...     print(f"{draws:g} {labels:.2f} {kind}")
    1 1.00 interpolated
    37 18.68 interpolated
    38 19.00 observed
    39 19.31 extrapolated
    57 24.17 extrapolated
    76 28.32 extrapolated
    """
    check_method(method, RAREFACTION_METHODS, of="rarefaction curves")
    profile = profile_of(data)
    n = profile.n
    most = max(2 * n, 1) if draws is None else parse_whole_number(draws, name="draws", most=MAX_DRAWS)
    marks = _marks(n, most, parse_whole_number(points, name="points", least=4))
    x = np.array(marks, dtype=np.float64)
    kinds = tuple("observed" if mark == n else "interpolated" if mark < n else "extrapolated" for mark in marks)
    beyond = _TOO_LOW if method == "inext" else _FORECAST
    curve = estimated_curve(
        data,
        lambda profile: _expected_labels(profile, marks, method),
        Axes("draws", "labels", x, kinds, least=0.0, most=x),
        method="rarefaction and extrapolation",
        assumes="items drawn independently; beyond n, labels not seen about as frequent as those seen once",
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=_doubts(profile, most, method) if n else (),
        bias=beyond if most > n else _TOO_SHORT,
    )
    # More draws show no fewer labels, however little a noisy series says of them.
    return replace(curve, low=np.maximum.accumulate(curve.low), high=np.maximum.accumulate(curve.high))


def _doubts(profile: Profile, most: int, method: RarefactionMethod) -> tuple[str, ...]:
    """Return warnings about the farthest point."""
    if method == "inext":
        return ("Beyond 2n draws, the curve is too low.",) if most > _FAR * profile.n else ()
    return visible_doubts(profile, most) if most > profile.n else ()


def _expected_labels(profile: Profile, marks: list[int], method: RarefactionMethod) -> NDArray[np.float64]:
    """Return the expected number of labels in each number of draws; 0 for an empty profile."""
    if not profile.n:
        return np.zeros(len(marks))
    rarefied = [Rarefaction(mark).statistic(profile.n).of(profile) for mark in marks if mark <= profile.n]
    further = [mark for mark in marks if mark > profile.n]
    if method == "inext" or not further:
        more = np.array([mark - profile.n for mark in further], dtype=np.float64)
        return np.append(rarefied, _extrapolate(profile, more))
    mixture = PoissonMixture.of(profile)
    new = [mixture.new_labels(reach(n=profile.n, draws=mark)) for mark in further]
    return np.append(rarefied, profile.num_labels + np.array(new))


def _extrapolate(profile: Profile, more: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return equation 9 of Colwell et al. (2012): the expected number of labels after ``more`` draws beyond n."""
    once, unseen = float(profile.prevalence(1)), chao_unseen(profile)
    # The probability that a draw is one particular unseen label.
    chance = once / (profile.n * unseen + once) if unseen else 0.0
    return np.asarray(profile.num_labels - unseen * np.expm1(more * np.log1p(-chance)))


def _marks(n: int, most: int, points: int) -> list[int]:
    """Return numbers of draws as iNEXT spreads them: evenly up to ``most``, or half of them up to n, including n."""
    if most <= n or n < 2:
        return _evenly(1, most, points)
    return [*_evenly(1, n - 1, points // 2 - 1), n, *_evenly(n + 1, most, points // 2)]


def _evenly(first: int, last: int, points: int) -> list[int]:
    """Return whole numbers, rounded down, both ends included; in integers, since floats are not exact beyond 2^53."""
    return sorted({first + (last - first) * step // max(points - 1, 1) for step in range(points)})

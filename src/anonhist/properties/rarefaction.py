"""The rarefaction and extrapolation curve: the number of labels in m draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, estimated_curve
from anonhist.properties.estimator import Resimulated
from anonhist.properties.support_coverage.rarefaction import rarefaction
from anonhist.properties.support_coverage.support_coverage import MAX_DRAWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.properties.curve import Curve

_FAR = 2
_TOO_LOW = "Beyond n, the curve is too low if some labels not seen are rarer than those seen once."
_TOO_SHORT = "The band is about a tenth too narrow: use the interval of an estimate for one number of draws."


def rarefaction_curve(
    data: Profile | Resimulated,
    *,
    draws: int | None = None,
    points: int = 40,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate the expected number of distinct labels in m draws, for m from 1 to twice the items, as iNEXT does.

    Up to n draws it is rarefaction, at n the number of labels seen, and beyond

    ``S_obs + f_0·(1 − (1 − φ_1/(n·f_0 + φ_1))^{m−n})``

    with f_0 the labels not seen by Chao's lower bound, ``(n−1)/n·φ_1²/(2φ_2)``, or ``(n−1)/n·φ_1·(φ_1−1)/2`` where
    ``φ_2 = 0`` (Chao et al. 2014, eq. 9). Points are evenly spread, half of them up to n, which is one of them.

    Parameters
    ----------
    data
        A profile, or a release: then the band covers privacy noise as well, or there is none and
        :attr:`Curve.why_unknown` says why.
    draws
        The largest m, from 1 to 2^64; 2n by default. Beyond 2n the values are too low.
    points
        How many m at most, ≥ 4.
    level
        Probability with which the interval at each m is meant to hold the truth.
    bootstraps
        How many samples are drawn for the band, ≥ 3.
    rng
        Where they come from; a new generator by default.

    Returns
    -------
    Curve
        Of kinds ``"interpolated"``, ``"observed"`` (m = n) and ``"extrapolated"``.

    Raises
    ------
    UsageError
        If a number is impossible.

    References
    ----------
    .. [1] S. H. Hurlbert, "The nonconcept of species diversity: a critique and alternative parameters", Ecology 52
           (1971), 577–586, eq. 7.
    .. [2] A. Chao, N. J. Gotelli, T. C. Hsieh and others, "Rarefaction and extrapolation with Hill numbers: a framework
           for sampling and estimation in species diversity studies", Ecological Monographs 84 (2014), 45–67, eq. 9.

    Examples
    --------
    >>> profile = Profile.from_prevalences({1: 12, 2: 4, 6: 3})
    >>> curve = rarefaction_curve(profile, points=6, rng=np.random.default_rng(1))
    >>> for draws, labels, low, high, kind in curve.rows():
    ...     print(f"{draws:g} {labels:.2f} {kind}")
    1 1.00 interpolated
    37 18.68 interpolated
    38 19.00 observed
    39 19.31 extrapolated
    57 24.04 extrapolated
    76 27.63 extrapolated
    """
    if not isinstance(data, Profile | Resimulated):
        message = f"A Profile or a Release is needed, such as read_profile(data) returns, not a {type(data).__name__}."
        raise UsageError(message)
    n = data.n if isinstance(data, Profile) else data.profile.n
    most = max(2 * n, 1) if draws is None else parse_whole_number(draws, name="draws", most=MAX_DRAWS)
    marks = _marks(n, most, parse_whole_number(points, name="points", least=4))
    x = np.array(marks, dtype=np.float64)
    kinds = tuple("observed" if mark == n else "interpolated" if mark < n else "extrapolated" for mark in marks)
    return estimated_curve(
        data,
        lambda profile: _expected_labels(profile, marks),
        Axes("draws", "labels", x, kinds, least=0.0, most=x),
        method="rarefaction and extrapolation",
        assumes="items drawn independently; beyond n, labels not seen about as frequent as those seen once",
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=("Beyond 2n draws, the curve is too low.",) if n and most > _FAR * n else (),
        bias=_TOO_LOW if most > n else _TOO_SHORT,
    )


def _expected_labels(profile: Profile, marks: list[int]) -> NDArray[np.float64]:
    """Return the expected number of labels in each number of draws; 0 for an empty profile."""
    if not profile.n:
        return np.zeros(len(marks))
    n, once, twice = float(profile.n), float(profile.prevalence(1)), float(profile.prevalence(2))
    unseen = (n - 1) / n * (once**2 / (2 * twice) if twice else once * (once - 1) / 2)
    # The chance that a draw is one label that was not seen.
    chance = once / (n * unseen + once) if unseen else 0.0
    return np.array(
        [
            rarefaction(n=profile.n, draws=mark).of(profile)
            if mark <= profile.n
            else profile.num_labels - unseen * np.expm1((mark - profile.n) * np.log1p(-chance))
            for mark in marks
        ]
    )


def _marks(n: int, most: int, points: int) -> list[int]:
    """Return whole numbers of draws as iNEXT spreads them: to ``most``, or half up to n, and n itself."""
    if most <= n or n < 2:
        return _evenly(1, most, points)
    return [*_evenly(1, n - 1, points // 2 - 1), n, *_evenly(n + 1, most, points // 2)]


def _evenly(first: int, last: int, points: int) -> list[int]:
    """Return whole numbers, rounded down, both ends among them; in Python, for floats are too short beyond 2^53."""
    return sorted({first + (last - first) * step // max(points - 1, 1) for step in range(points)})

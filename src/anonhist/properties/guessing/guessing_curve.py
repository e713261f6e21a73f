"""The guessing curve with its band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.estimator import Resimulated, profile_of
from anonhist.properties.guessing.covered import covered_share, round_grid
from anonhist.properties.guessing.success import GuessingSuccess
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray


def guessing_curve(
    data: Profile | Resimulated,
    *,
    points: int = 100,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate ``λ_β`` for numbers β of guesses from 1 to the number of labels, evenly spaced on a log scale.

    Numbers are rounded to 1, 2, 5, 10, 20, 50, 100, … if one of these is near.

    Parameters
    ----------
    data
        A profile of passwords or a release. For a release, the band also covers privacy noise, or there is no band, and
        :attr:`Curve.why_unknown` says why.
    points
        The largest number of points, ≥ 2.
    level
        Probability with which each interval is meant to contain the truth.
    bootstraps
        Number of bootstrap samples for the band, ≥ 3.
    rng
        Random generator for the samples; a new one by default.

    Raises
    ------
    UsageError
        If a number is out of range.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> profile = Profile.from_counts([60, 30, 10])
    >>> guessing_curve(profile, rng=np.random.default_rng(1)).value.tolist()
    [0.6, 0.9, 1.0]
    """
    most = parse_whole_number(points, name="points", least=2, most=10**6)
    profile = profile_of(data)
    labels = profile.num_labels
    marks = np.array(round_grid(max(labels, 1), points=most), dtype=np.int64)

    def shares(sample: Profile) -> NDArray[np.float64]:
        return covered_share(sample, marks)

    warnings: tuple[str, ...] = ()
    if labels and undersampling_warning(profile):
        warnings = ("Some of these labels were seen only once: the values are too high beyond the frequent labels.",)
    return estimated_curve(
        data,
        shares,
        Axes("guesses", "share", marks.astype(np.float64), ("observed",) * marks.size, 0.0, 1.0),
        method=GuessingSuccess.name,
        assumes=GuessingSuccess(1).assumes,
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=warnings,
        bias="The labels that lead in a sample lead partly by chance: read the curve as an upper bound.",
    )

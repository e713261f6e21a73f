"""The guessing curve with its band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, estimated_curve
from anonhist.properties.estimator import Resimulated
from anonhist.properties.guessing.covered import covered_share, round_grid
from anonhist.properties.guessing.success import GuessingSuccess
from anonhist.properties.unseen import undersampling_warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.properties.curve import Curve


def guessing_curve(
    data: Profile | Resimulated,
    *,
    points: int = 100,
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
) -> Curve:
    """Estimate ``λ_β`` for numbers β of guesses from 1 to the number of labels, evenly spread on a log scale.

    The numbers are round where that is near enough: 1, 2, 5, 10, 20, 50, 100, … are among them if the points are dense.

    Parameters
    ----------
    data
        A profile of passwords, or a release: then the band covers privacy noise as well, or there is none and
        :attr:`Curve.why_unknown` says why.
    points
        At most so many, ≥ 2.
    level
        Probability with which each interval is meant to hold the truth.
    bootstraps
        How many samples are drawn for the band, ≥ 3.
    rng
        Where they come from; a new generator by default.

    Raises
    ------
    UsageError
        If a number is impossible.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552.

    Examples
    --------
    >>> profile = Profile.from_counts([60, 30, 10])
    >>> guessing_curve(profile, rng=np.random.default_rng(1)).value.tolist()
    [0.6, 0.9, 1.0]
    """
    most = parse_whole_number(points, name="points", least=2, most=10**6)
    profile = data.profile if isinstance(data, Resimulated) else data
    labels = profile.num_labels if isinstance(profile, Profile) else 0
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
        assumes=GuessingSuccess.assumes,
        level=level,
        bootstraps=bootstraps,
        rng=rng,
        warnings=warnings,
        bias="The labels that lead in a sample lead partly by chance: read the curve as an upper bound.",
    )

"""Errors of estimates of the sample coverage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.profiles import Profile


def esty_error(profile: Profile) -> float:
    """Return ``sqrt((φ_1·(n − φ_1) + 2n·φ_2)/n³)`` (Esty 1983), exact integers under the root.

    That is the error against the coverage of this very sample, itself random: more than the sampling error of φ_1/n.

    References
    ----------
    .. [1] W. W. Esty, "A normal limit law for a nonparametric estimator of the coverage of a random sample", Annals of
           Statistics 11 (1983), 905–912.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(esty_error(Profile.from_counts([4, 3, 2, 1, 1])), 6)
    0.173357
    """
    n, once, twice = profile.n, profile.prevalence(1), profile.prevalence(2)
    return math.sqrt((once * (n - once) + 2 * n * twice) / n**3)


def zero_error_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if the error is 0 only because the sample does not show it.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> zero_error_warning(Profile.from_counts([3, 1])), len(zero_error_warning(Profile.from_counts([3, 3])))
    ((), 1)
    """
    if profile.prevalence(1) == profile.n:
        return ("Every label was seen once: the coverage is small, but how small cannot be estimated.",)
    if profile.prevalence(1) or profile.prevalence(2):
        return ()
    return ("No label was seen once or twice: the coverage is close to 1, but how close cannot be estimated.",)

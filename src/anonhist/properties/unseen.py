"""The number of labels that a sample misses, and warnings if it is visibly large."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.profiles import Profile

_MUCH = 0.1


def chao_unseen(profile: Profile) -> float:
    """Return Chao's lower bound on the number of unseen labels, as iNEXT computes it; n ≥ 1.

    It is ``((n − 1)/n)·φ_1²/(2·φ_2)`` ([1]_, eq. 6, with the factor of [2]_), or ``((n − 1)/n)·φ_1·(φ_1 − 1)/2`` if
    φ_2 is 0.

    References
    ----------
    .. [1] A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian Journal of
           Statistics 11 (1984), 265–270, eq. 6.
    .. [2] A. Chao, N. J. Gotelli, T. C. Hsieh and others, "Rarefaction and extrapolation with Hill numbers: a framework
           for sampling and estimation in species diversity studies", Ecological Monographs 84 (2014), 45–67.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> chao_unseen(Profile.from_counts([2, 1, 1])), chao_unseen(Profile.from_counts([3, 1]))
    (1.5, 0.0)
    """
    n, once, twice = float(profile.n), float(profile.prevalence(1)), float(profile.prevalence(2))
    finite = (n - 1) / n
    return finite * once**2 / (2 * twice) if twice else finite * once * (once - 1) / 2


def undersampling_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if labels seen once make up a tenth of the items or more: about that share of further items is new labels.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> undersampling_warning(Profile.from_counts([90, 9])), len(undersampling_warning(Profile.from_counts([5, 1, 1])))
    ((), 1)
    """
    share = profile.prevalence(1) / profile.n
    if share < _MUCH:
        return ()
    return (f"About {100 * share:.0f} % of further items would have labels not seen yet: the value is too low.",)


def without_repeats(profile: Profile) -> tuple[str, ...]:
    """Warn if every label was seen once.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> without_repeats(Profile.from_counts([2, 1])), len(without_repeats(Profile.from_counts([1, 1])))
    ((), 1)
    """
    if profile.num_labels < profile.n:
        return ()
    return ("Every label was seen once: the number of labels cannot be estimated, and may be arbitrarily large.",)

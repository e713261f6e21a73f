"""Whether a sample visibly misses much of the population."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.profiles import Profile

_MUCH = 0.1


def undersampling_warning(profile: Profile) -> tuple[str, ...]:
    """Warn if at least a tenth of the items have labels seen once: as many further items will have new labels.

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

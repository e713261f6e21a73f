"""Whether a sample has repeats: without them nothing can be estimated about labels not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.profiles import Profile


def without_repeats(profile: Profile) -> tuple[str, ...]:
    """Warn where every label was seen once.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> without_repeats(Profile.from_counts([2, 1])), len(without_repeats(Profile.from_counts([1, 1])))
    ((), 1)
    """
    if profile.num_labels < profile.n:
        return ()
    return ("Every label was seen once: the number of labels cannot be estimated, and may be arbitrarily large.",)

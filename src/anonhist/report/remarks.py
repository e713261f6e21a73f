"""What pages and terminals say of a release besides its numbers and its promise, where there is something to say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.report.bound_wording import what_a_bound_costs
from anonhist.report.wording import no_intervals

if TYPE_CHECKING:
    from anonhist.releases import Release


def remarks(release: Release) -> list[tuple[str, str]]:
    """Return names and sentences: one line for each thing that a release may say, in the order they are shown.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> user = PrivacyUnit.user(max_items=2)
    >>> [name for name, _ in remarks(release(Profile.from_counts([8, 8, 3]), epsilon=1, unit=user))]
    ['Bound']
    """
    listed = (
        ("Intervals", no_intervals(release.error)),
        ("Bound", what_a_bound_costs(release)),
    )
    return [(name, sentence) for name, sentence in listed if sentence]

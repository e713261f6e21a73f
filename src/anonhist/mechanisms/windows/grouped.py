"""The release of cumulative windows of several groups, by one mechanism for a unit in all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.mechanisms.windows.release import check_cap, prepare_cumulative
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import GroupedCumulativeCounts
from anonhist.randomness import RandomSource
from anonhist.releases.content import content_digest, rest_digest
from anonhist.releases.cumulative import GroupedCumulativeRelease

if TYPE_CHECKING:
    from anonhist.mechanisms.windows.window_mechanism import WindowMechanism


def release_cumulative_groups(
    grouped: GroupedCumulativeCounts,
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    mechanism: Literal["auto", "anchors", "tree", "increments", "daily"] = "auto",
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> GroupedCumulativeRelease:
    """Release how many labels of each group have reached each threshold by the end of each day, under one guarantee.

    The budget is for a unit in all groups and on all days together, and is not divided by the number of groups: noise
    grows with the groups that one unit can be in, g for a label, m·g for a user with at most m items in each of g.

    Parameters
    ----------
    grouped
        The private data, as :func:`~anonhist.ingest.window_groups.read_cumulative_groups` returns them.
    epsilon
        The whole budget, > 0.
    unit
        The unit to protect; by default that for which the data were read. A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another.
    mechanism
        As for :func:`~anonhist.mechanisms.windows.release.release_cumulative`; the same for all groups.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    GroupedCumulativeRelease
        A release for each group, also for those without data.

    Raises
    ------
    UsageError
        If ε is impossible, the unit protects less than the data were read for, or the mechanism is none of these.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles.windows import CumulativeCounts
    >>> unit = PrivacyUnit.label(max_count=5, groups=2)
    >>> days = "2026-11-01", "2026-11-02"
    >>> spring, fall = (CumulativeCounts((1, 2), days, each, unit) for each in ([[40, 10], [0, 20]], [[0, 0], [0, 0]]))
    >>> counts = GroupedCumulativeCounts(("campaign",), {("spring",): spring, ("fall",): fall})
    >>> release = release_cumulative_groups(counts, epsilon=60)
    >>> release["spring"].values.tolist(), release["fall"].values.tolist()
    ([[40, 50], [0, 20]], [[0, 0], [0, 0]])
    >>> print(release.guarantee.unit)
    one label with all its items in at most 2 groups (counts of 5 or more in a group are taken together)
    """
    if not isinstance(grouped, GroupedCumulativeCounts):
        raise UsageError(
            f"Cumulative counts of groups are needed, as read_cumulative_groups returns, not a {type(grouped).__name__}"
            "."
        )
    thresholds, days = grouped.size_of_each
    prepared, reason = prepare_cumulative(
        epsilon=epsilon,
        unit=unit or grouped.unit,
        relation=relation,
        mechanism=mechanism,
        thresholds=thresholds,
        days=days,
    )
    check_cap(prepared, grouped.thresholds)
    own = {
        "days": next(iter(grouped.values())).days,
        "thresholds": grouped.thresholds,
        "by": grouped.by,
        "groups": [*grouped],
    }
    with recording(account_of(ledger, dataset, purpose, run_id, settings=own), lambda: Price.of(prepared)) as recorded:
        recorded.keep()
        released = release_windows(grouped, prepared, reason, source=source).with_receipt(recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def release_windows(
    grouped: GroupedCumulativeCounts,
    prepared: WindowMechanism,
    reason: str,
    *,
    source: RandomSource | None = None,
) -> GroupedCumulativeRelease:
    """Spend the budget once on all groups."""
    if prepared.unit.max_count is not None and grouped.unit.max_count is None and len(grouped) > 1:
        raise UsageError("Labels may be in many groups: to protect them, read the data with `max_groups_per_label`.")
    # Refused before any noise is drawn.
    for counts in grouped.values():
        prepared.check_counts(counts)
    made = {group: prepared.release(counts, source=source, reason=reason) for group, counts in grouped.items()}
    return GroupedCumulativeRelease(grouped.by, made)

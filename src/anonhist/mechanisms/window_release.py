"""The release of cumulative windows: the choice of mechanism, and one budget for all days together."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeVar

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.mechanisms.window_mechanism import WindowMechanism
from anonhist.mechanisms.windows_by_day import (
    AnchorsMechanism,
    DailyMechanism,
    IncrementsMechanism,
    TreeMechanism,
    TwoLevelMechanism,
)
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts, check_cap, in_one_group
from anonhist.properties.estimate import format_number
from anonhist.randomness import RandomSource
from anonhist.releases.content import content_digest, rest_digest
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

# Shares are tried in hundredths; more blocks than this take long to compute, and are never best.
_HUNDREDTHS = 100
_MOST_BLOCKS = 200
_WIDTHS = 24
Two = TypeVar("Two", bound=TwoLevelMechanism)


def with_best_levels(kind: type[Two], /, *given: Any, days: int, **others: Any) -> Two:
    """Return the two-level mechanism that minimizes the largest standard error over some widths and all shares."""

    def best_share(width: int) -> Two:
        @cache
        def made(hundredths: int) -> Two:
            return kind(*given, days=days, width=width, share=Fraction(hundredths, _HUNDREDTHS), **others)

        # The largest error falls with the share, then rises.
        shares = range(1, _HUNDREDTHS)
        return made(shares[bisect_left(shares[:-1], True, key=lambda at: made(at).worst <= made(at + 1).worst)])

    narrow = max(min(2, days), -(-days // _MOST_BLOCKS))
    widths = sorted({round(each) for each in np.geomspace(narrow, days, _WIDTHS).tolist()})
    return min(map(best_share, widths), key=lambda each: each.worst)


WINDOW_MECHANISMS: dict[str, type[WindowMechanism]] = {
    each.name: each for each in (AnchorsMechanism, TreeMechanism, IncrementsMechanism, DailyMechanism)
}


def release_cumulative(
    counts: CumulativeCounts,
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
) -> CumulativeRelease:
    """Release how many labels have reached each threshold by the end of each day, under one guarantee.

    All days are released at once: noise is drawn once, and the budget covers a unit on all days together. Publishing
    each day as it ends, or the same days again with one more, is another release with its own budget.

    Parameters
    ----------
    counts
        The private data, as :func:`~anonhist.ingest.windows.read_cumulative` returns them.
    epsilon
        The whole budget, > 0.
    unit
        The unit to protect; by default that for which the data were read. A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another.
    mechanism
        ``"increments"`` adds up noisy increments of days; ``"tree"`` uses those of blocks of days as well;
        ``"anchors"`` releases a few days separately, with noisy increments between them; ``"daily"`` releases each day
        separately. ``"auto"`` picks the one whose largest standard error is smallest; this depends on public numbers
        alone, as do the widths of blocks and the shares of ε.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    CumulativeRelease
        A whole number with a 95% interval for each threshold and day.

    Raises
    ------
    UsageError
        If ε is impossible, the unit protects less than the data were read for, or the mechanism is none of these.

    Examples
    --------
    >>> counts = CumulativeCounts((1, 2), ("2026-11-01", "2026-11-02"), [[40, 10], [0, 20]])
    >>> release = release_cumulative(counts, epsilon=20)
    >>> release.values.tolist()
    [[40, 50], [0, 20]]
    >>> print(release["2026-11-02", 2].value, release.mechanism.name)
    20.0 daily
    """
    if not isinstance(counts, CumulativeCounts):
        raise UsageError(f"Cumulative counts are needed, as read_cumulative returns, not a {type(counts).__name__}.")
    account = ledger, dataset, purpose, run_id
    grouped = in_one_group(counts)
    return _recorded(grouped, source, account, unit=unit, epsilon=epsilon, relation=relation, mechanism=mechanism).first


def _recorded(
    grouped: GroupedCumulativeCounts,
    source: RandomSource | None,
    account: tuple[Ledger | str | None, str | None, str | None, str | None],
    *,
    unit: PrivacyUnit | None,
    **asked: Any,
) -> GroupedCumulativeRelease:
    """Charge a release of all groups, and make it."""
    thresholds, days = grouped.first.increments.shape
    prepared, reason = prepare_cumulative(unit=unit or grouped.unit, thresholds=thresholds, days=days, **asked)
    check_cap(prepared.unit, grouped.thresholds)
    own: dict[str, object] = {"days": grouped.days, "thresholds": grouped.thresholds, "where": grouped.first.where}
    own |= {"by": grouped.by, "groups": [*grouped]}
    with recording(account_of(*account, settings=own), lambda: Price.of(prepared)) as recorded:
        recorded.keep()
        released = release_windows(grouped, prepared, reason, source=source).with_receipt(recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def prepare_cumulative(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    mechanism: str,
    thresholds: int,
    days: int,
) -> tuple[WindowMechanism, str]:
    """Make the mechanism from public numbers alone, and give the reason for it.

    It raises the same errors as :func:`release_cumulative`, whatever the data.
    """
    if mechanism != "auto" and mechanism not in WINDOW_MECHANISMS:
        known = ", ".join(("auto", *WINDOW_MECHANISMS))
        raise UsageError(f"`mechanism` of cumulative windows must be one of {known}, not {mechanism!r}.")

    def made(kind: type[WindowMechanism]) -> WindowMechanism:
        if issubclass(kind, TwoLevelMechanism):
            return with_best_levels(kind, epsilon, unit, relation, thresholds=thresholds, days=days)
        return kind(epsilon, unit, relation, thresholds=thresholds, days=days)

    if mechanism != "auto":
        return made(WINDOW_MECHANISMS[mechanism]), "It was requested."
    best, *others = sorted(map(made, WINDOW_MECHANISMS.values()), key=lambda each: each.worst)
    *most, last = (f"{format_number(each.worst, digits=3)} with {each.name}" for each in others)
    told = f"The largest standard error of a number is {format_number(best.worst, digits=3)} labels"
    return best, f"{told}; it would be {', '.join(most)} and {last}."


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

    The budget covers a unit in all groups and on all days together, and is not divided by the number of groups: noise
    grows with the number of groups that one unit can be in: by g for a label, by m·g for a user with at most m items in
    each of g.

    Parameters
    ----------
    grouped
        The private data, as :func:`~anonhist.ingest.windows.read_cumulative_groups` returns them.
    epsilon
        The whole budget, > 0.
    unit
        The unit to protect; by default that for which the data were read. A smaller unit is refused.
    relation
        Neighbors differ by a unit added or removed (default) or replaced by another.
    mechanism
        As for :func:`~anonhist.mechanisms.window_release.release_cumulative`; the same for all groups.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    GroupedCumulativeRelease
        A release for each group, including groups without data.

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
    account = ledger, dataset, purpose, run_id
    return _recorded(grouped, source, account, unit=unit, epsilon=epsilon, relation=relation, mechanism=mechanism)


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

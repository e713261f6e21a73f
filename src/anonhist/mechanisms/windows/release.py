"""The release of cumulative windows: which mechanism, and one budget for all days together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError
from anonhist.mechanisms.windows.anchors import AnchorsMechanism
from anonhist.mechanisms.windows.best_levels import with_best_levels
from anonhist.mechanisms.windows.daily import DailyMechanism
from anonhist.mechanisms.windows.increments import IncrementsMechanism
from anonhist.mechanisms.windows.tree import TreeMechanism
from anonhist.mechanisms.windows.two_levels import TwoLevelMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist.randomness import RandomSource
from anonhist.releases.content import content_digest, rest_digest
from anonhist.releases.cumulative import CumulativeRelease

if TYPE_CHECKING:
    from anonhist.mechanisms.windows.window_mechanism import WindowMechanism

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

    All days are released at once: noise is drawn once, and the budget is for a unit on all days together. To publish
    each day as it ends, or the same days again with one more, is another release with a budget of its own.

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
        ``"anchors"`` releases a few days on their own, with noisy increments between them; ``"daily"`` releases each
        day on its own. ``"auto"`` takes that with the smallest largest standard error, which depends on public numbers
        alone, as do the widths of blocks and the shares of ε.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        The ledger to charge before any noise is drawn, as for :func:`~anonhist.mechanisms.release`.

    Returns
    -------
    CumulativeRelease
        For each threshold and day a whole number with a 95 % interval.

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
    thresholds, days = counts.increments.shape
    prepared, reason = prepare_cumulative(
        epsilon=epsilon,
        unit=unit or counts.unit,
        relation=relation,
        mechanism=mechanism,
        thresholds=thresholds,
        days=days,
    )
    check_cap(prepared, counts.thresholds)
    own = {"days": counts.days, "thresholds": counts.thresholds}
    with recording(account_of(ledger, dataset, purpose, run_id, settings=own), lambda: Price.of(prepared)) as recorded:
        recorded.keep()
        released = replace(prepared.release(counts, source=source, reason=reason), receipt=recorded.receipt)
        recorded.complete(lambda: content_digest(released), lambda: rest_digest(released))
    return released


def check_cap(mechanism: WindowMechanism, thresholds: tuple[int, ...]) -> None:
    """Refuse thresholds above the count from which those of labels are taken together."""
    largest = mechanism.unit.max_count
    if largest is not None and thresholds[-1] > largest:
        raise UsageError(f"`thresholds` must not exceed `max_count`: counts of {largest:,} or more are taken together.")


def prepare_cumulative(
    *,
    epsilon: EpsilonLike,
    unit: PrivacyUnit,
    relation: NeighboringRelation,
    mechanism: str,
    thresholds: int,
    days: int,
) -> tuple[WindowMechanism, str]:
    """Make the mechanism from public numbers alone, and say why it is this one.

    Raises
    ------
    UsageError
        As for :func:`release_cumulative`, whatever the data.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> given = {"epsilon": 1, "relation": NeighboringRelation.ADD_OR_REMOVE, "mechanism": "auto", "thresholds": 1}
    >>> print(prepare_cumulative(unit=PrivacyUnit.label(max_count=1), days=30, **given)[1])
    The largest standard error of a number is 5.3 labels; it would be 5.78 with anchors, 7.43 with increments and 42.4
    with daily.
    """
    if mechanism != "auto" and mechanism not in WINDOW_MECHANISMS:
        known = ", ".join(("auto", *WINDOW_MECHANISMS))
        raise UsageError(f"`mechanism` of cumulative windows must be one of {known}, not {mechanism!r}.")

    def made(kind: type[WindowMechanism]) -> WindowMechanism:
        if issubclass(kind, TwoLevelMechanism):
            return with_best_levels(kind, epsilon, unit, relation, thresholds=thresholds, days=days)
        return kind(epsilon, unit, relation, thresholds=thresholds, days=days)

    if mechanism != "auto":
        return made(WINDOW_MECHANISMS[mechanism]), "It was asked for."
    best, *others = sorted(map(made, WINDOW_MECHANISMS.values()), key=lambda each: each.worst)
    *most, last = (f"{each.worst:,.3g} with {each.name}" for each in others)
    told = f"The largest standard error of a number is {best.worst:,.3g} labels"
    return best, f"{told}; it would be {', '.join(most)} and {last}."

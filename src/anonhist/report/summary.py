"""What a terminal and a notebook show of a release: sentences, and the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.estimate import Holds
from anonhist.report.kinds import view_of
from anonhist.report.promise import any_user
from anonhist.report.remarks import remarks
from anonhist.report.wording import expected_error, free_arithmetic, interval, many, promise_lines, share_of_items

if TYPE_CHECKING:
    from anonhist.properties.estimate import Estimate
    from anonhist.releases import Release

_LEVELS = (2, 3, 5, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def facts(release: Release) -> list[tuple[str, str]]:
    """Say what was released, promised and done: names and sentences."""
    profile = release.profile
    unit = release.guarantee.unit
    words = release.words
    runs = release.error.simulations
    found = release.error.sorted_l1
    about = (
        f"less than {words.error.format('one').removesuffix('s')} expected"
        if found is not None and found.value < 0.5  # it would be written as 0
        else f"about {words.error.format(expected_error(release.error))} expected{share_of_items(release)}"
    )
    expected = (
        f"{about} (sorted ℓ1, {runs} simulations)."
        if runs
        else "not simulated (0 simulations), so there is no expected error and no interval based on one."
    )
    items, own, between = words.many_items(profile.n), "", _between(release.num_items())
    if release.items is None:
        items += between
    else:
        own = f" Released on its own: {words.many_items(release.items)}{between}."
    silent = "" if release.zeros is None else f", and {words.many_labels(release.zeros)} without any"
    capped = "" if unit.max_count is None else f", each label counted at most {many(unit.max_count, 'time')}"
    # Noise makes labels where there are few: the number is not said without what it is worth.
    # Of degrees that were bounded: that many of them, as in the table.
    labels = words.many_labels(profile.num_labels) + _between(release.error.k_plus(profile, 1)) + silent
    return [
        ("Released", f"{items} of {labels}{capped}.{own}"),
        *view_of(release).facts(release),
        *promise_lines(release.guarantee),
        *([("Users", everyone)] if (everyone := any_user(release)) else []),
        ("Mechanism", f"{release.mechanism.name}. {release.reason}"),
        ("Error", expected),
        *remarks(release),
        *([("Arithmetic", f"{clause}.")] if (clause := free_arithmetic(release.guarantee)) else []),
    ]


def _between(found: Estimate) -> str:
    return "" if found.statement.holds is not Holds.BOTH else f" (95 % interval {interval(*found.interval)})"


def rows(release: Release) -> list[tuple[str, Estimate]]:
    """Return the numbers that a table shows: how many labels there are, by how often they occur."""
    words, error, profile = release.words, release.error, release.profile
    levels = {level for level in _LEVELS if profile.k_plus(level)}
    if (largest := release.guarantee.unit.max_count) is not None:
        # All that is known of what lies beyond.
        levels = {*levels, largest} - {1}
    # Of degrees that were bounded: what is said before the table.
    shown = [
        (
            words.labels if k == 1 and release.zeros is None else words.at_least.format(f"{k:,}"),
            error.k_plus(profile, k),
        )
        for k in (1, *sorted(levels))
    ]
    if release.zeros is not None:
        shown.insert(0, (words.exactly.format(0), release.prevalence(0)))
    if release.excess is not None:
        bound, cap, units = release.excess.bound, release.excess.cap, f"{release.excess.of.unit}s"
        shown.append((f"{units} with more than {many(bound, 'item')}", release.excess.units))
        shown.append((f"items left out of them, up to {cap:,} each", release.excess.capped_amount))
    return shown

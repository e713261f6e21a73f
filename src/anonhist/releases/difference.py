"""How two releases differ, beyond their noise: free post-processing of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from anonhist.errors import UsageError, kind_of
from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, compose, parse_whole_number
from anonhist.profiles import Profile
from anonhist.profiles.grouped import Group
from anonhist.properties.estimate import Estimate, Holds, Statement
from anonhist.properties.share_band import GuessedOf
from anonhist.releases.cumulative import Windows
from anonhist.releases.grouped import GroupedRelease, SumOfReleases
from anonhist.releases.numbers import LEVEL, Asked, Key, NumbersOfData, factor_of, numbers_of_source
from anonhist.releases.release import Release

METHOD = "difference, by MOVER"
_ALL_COUNTS = 10
_ROUND = (1, 2, 5)
WHOLE = ("items", "labels", "zeros", "k-plus", "prevalence")
_COVERS = {
    "data": "the interval covers the noise of both releases alone",
    "distribution": "the interval covers sampling and noise of two independent samples",
}
_CANNOT = {
    "data": "The intervals cover the noise of both releases alone: they are about these data, not what they came from.",
    "distribution": (
        "This holds only if all items were drawn independently: not if those of one person are alike, nor for a panel, "
        "for windows that overlap, or for the same data twice."
    ),
}
_KEPT = (
    "Of rows beyond the bound, each release may have kept others: then releases of one data set differ, too. With one "
    "order key, one order column and one list of groups, equal data have equal rows kept."
)
_ADDED = (
    "One release adds up groups, so that a label counts once in each of its groups, and the other does not: if labels "
    "are in several groups, releases of one data set differ, too."
)


@dataclass(frozen=True)
class NumberDifference:
    """One number in two releases, and how much larger it is in the second.

    ``difference`` has a 95% interval of its own; ``together`` are the ends of one that holds together with those of all
    other numbers, with probability 95%.
    """

    key: Key
    first: Estimate
    second: Estimate
    difference: Estimate
    together: tuple[float, float]

    @property
    def has_interval(self) -> bool:
        """Whether the difference has at least one end."""
        return self.difference.statement.holds is not Holds.NONE

    @property
    def differs(self) -> bool:
        """Whether the numbers differ, by the interval that holds together with all others."""
        low, high = self.together
        return low > 0 or high < 0


@frozen
class ReleaseDifference(Shown, Tabular, Saved):
    """How a second release differs from a first one, number by number.

    Attributes
    ----------
    rows
        The numbers, with their differences: second minus first.
    first, second
        The releases.
    names
        What the two are called.
    of
        What the intervals are about: ``"data"``, what was counted, or ``"distribution"``, what it was drawn from.
    guarantee
        What both releases together promise: ε and δ add up.

    Examples
    --------
    >>> import anonhist as ah
    >>> weeks = [ah.release(ah.Profile.from_counts([5] * many), epsilon=1) for many in (900, 300)]
    >>> found = ah.compare_releases(*weeks)
    >>> found.names, str(found.guarantee.epsilon)
    (('first', 'second'), '2')
    """

    known_as: ClassVar[str] = "release difference"
    rows: tuple[NumberDifference, ...] = field(repr=False)
    first: Release = field(repr=False)
    second: Release = field(repr=False)
    names: tuple[str, str] = ("first", "second")
    of: GuessedOf = "data"

    @property
    def guarantee(self) -> Guarantee:
        """What both releases together promise, for somebody who may be in both."""
        return compose((self.first, self.second))

    @property
    def comparisons(self) -> int:
        """K, the number of differences with an interval."""
        return sum(row.has_interval for row in self.rows)

    @property
    def differing(self) -> tuple[NumberDifference, ...]:
        """The numbers that differ, all at once with at most 5% risk that any of them does not."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def why_as_counted(self) -> str:
        """Why equal data may differ as the two releases counted them; empty if they do not.

        Which rows of a user are kept depends on the order key, and on columns and groups that a release of one group
        does not record.
        """
        if self.of != "data":
            return ""
        keeps = (self.first.order_key, self.second.order_key) != (None, None)
        adds = self.first.adds_groups != self.second.adds_groups
        return " ".join([*([_KEPT] if keeps else []), *([_ADDED] if adds else [])])

    @property
    def caveat(self) -> str:
        """What the statement does not say, or what it assumes."""
        return " ".join(filter(None, (_CANNOT[self.of], self.why_as_counted)))

    @property
    def left_out(self) -> str:
        """What the intervals leave out, because units were bounded before noise was added; empty if they were not."""
        return self.first.left_out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[NumberDifference]:
        return iter(self.rows)

    def __getitem__(self, key: tuple[str, float | None]) -> NumberDifference:
        """Return one number, such as ``difference["k-plus", 2]`` or ``difference["items", None]``."""
        found = next((row for row in self.rows if row.key == key), None)
        if found is None:
            raise UsageError(f"There is no number {key!r:.80} here.")
        return found


def compare_releases(
    first: Release,
    second: Release,
    *,
    counts: Iterable[int] | None = None,
    of: GuessedOf = "data",
    names: tuple[str, str] = ("first", "second"),
) -> ReleaseDifference:
    """Say by how much the numbers of two releases differ, beyond their noise: post-processing, at no privacy cost.

    Of the data, it compares the numbers of items and labels, φ_{k+} and φ_r, the entropy and the probability Σ(r/n)²φ_r
    that two items have one label, the number of labels that hold half of the items, and the share λ_β of items that the
    β most frequent labels hold. Their intervals cover the noise of the releases alone, which is independent given the
    data: they hold even if the same people are in both. Of the distributions, it compares the properties of
    :func:`~anonhist.properties.estimate_all` and the guessing curve.

    With intervals (l, u) of the two numbers x and y, the difference d = y − x has the interval
    ``(d − sqrt((y − l_y)² + (u_x − x)²), d + sqrt((u_y − y)² + (x − l_x)²))``. To hold together, K intervals are
    stretched first, by ln(20K)/ln 20 for noise (:mod:`~anonhist.releases.numbers`), or are for the level 1 − 0.05/K.

    Source: Zou and Donner 2008 (MOVER).

    Parameters
    ----------
    first, second
        Releases of one kind, unit and bound, of one group each, made independently of each other.
    counts
        The counts k of φ_{k+} and φ_r, each ≥ 1; by default 1 to 10 (φ_r only there), then 20, 50, 100, … up to the
        largest released count. Only of the data: distributions have no numbers of labels.
    of
        ``"data"``: whether these data sets differ. ``"distribution"``: whether their sources do; only if all items of
        both were drawn independently: not if those of one person are alike, nor for a panel, for windows that overlap,
        or for the same data twice.
    names
        What the two are called in tables and figures.

    Raises
    ------
    UsageError
        If these are not two releases of single profiles; if they are views of one draw, by their content, their
        receipt, as a sum and its part, or as groups that were adjusted together; if kind, unit, bound or relation
        differ; or if a count is not a whole number ≥ 1.

    Notes
    -----
    Coverage is measured in docs/benchmarks/intervals.md. For the privacy of both together, budgets add up:
    :attr:`ReleaseDifference.guarantee`.

    Examples
    --------
    >>> import anonhist as ah
    >>> weeks = [ah.release(ah.Profile.from_counts([5] * many), epsilon=1) for many in (900, 300)]
    >>> ah.compare_releases(*weeks)["k-plus", 3].differs
    True
    """
    check_comparable(first, second)
    if of not in get_args(GuessedOf):
        raise UsageError(f"`of` must be one of {', '.join(get_args(GuessedOf))}, not {of!r:.80}.")
    if of == "distribution" and counts is not None:
        raise UsageError("`counts` are of the data: distributions have no numbers of labels. Leave `counts` out.")
    asked = _asked(first, second, counts)
    numbers = [_numbers(each, asked, of) for each in (first, second)]
    single = [at_once(1) for at_once in numbers]
    shared = [key for key in single[0] if key in single[1]]
    plain = [difference(key, single[0][key], single[1][key], of) for key in shared]
    comparisons = sum(each.statement.holds is not Holds.NONE for each in plain)
    wide = [at_once(max(comparisons, 1)) for at_once in numbers]
    together = [difference(key, wide[0][key], wide[1][key], of).interval for key in shared]
    rows = tuple(
        NumberDifference(key, single[0][key], single[1][key], found, _around(ends, found.interval))
        for key, found, ends in zip(shared, plain, together, strict=True)
    )
    return ReleaseDifference(rows, first, second, names, of)


def _numbers(release: Release, asked: Asked, of: GuessedOf) -> Callable[[int], Mapping[Key, Estimate]]:
    """Return the numbers of a release as a function of K: with intervals of which K hold together."""
    if of == "data":
        known = NumbersOfData.of(release, asked)
        return lambda comparisons: dict(known.stretched(factor_of(comparisons)))
    return lambda comparisons: dict(numbers_of_source(release, asked, 1 - (1 - LEVEL) / comparisons))


def difference(key: Key, first: Estimate, second: Estimate, of: GuessedOf) -> Estimate:
    """Return second minus first with its interval, by MOVER; ends of numbers of labels or items are whole."""
    value = second.value - first.value
    (low_x, high_x), (low_y, high_y) = first.interval, second.interval
    has_low = _has_high(first) and _has_low(second)
    has_high = _has_low(first) and _has_high(second)
    # Noise of few whole numbers adds up to more than its root of squares: half a number is added to each reach.
    more = 0.5 if key.what in WHOLE else 0.0
    below = math.hypot(second.value - low_y + more, high_x - first.value + more) if has_low else math.inf
    above = math.hypot(high_y - second.value + more, first.value - low_x + more) if has_high else math.inf
    if key.what in WHOLE:
        below, above = (reach if math.isinf(reach) else math.floor(reach + 0.5) for reach in (below, above))
    low, high = value - below, value + above
    return Estimate(
        value,
        math.hypot(first.standard_error, second.standard_error),
        (low, high),
        METHOD,
        assumes="; ".join(dict.fromkeys(filter(None, (first.assumes, second.assumes)))),
        level=LEVEL,
        unit=first.unit,
        statement=_said(first, second, of, has_low=math.isfinite(low), has_high=math.isfinite(high)),
        warnings=tuple(dict.fromkeys((*first.warnings, *second.warnings))),
    )


def _has_low(found: Estimate) -> bool:
    return found.statement.holds in (Holds.BOTH, Holds.AT_LEAST)


def _has_high(found: Estimate) -> bool:
    return found.statement.holds in (Holds.BOTH, Holds.AT_MOST)


def _said(first: Estimate, second: Estimate, of: GuessedOf, *, has_low: bool, has_high: bool) -> Statement:
    """Say which ends hold, and why not both."""
    if has_low and has_high:
        return Statement(Holds.BOTH, _COVERS[of])
    without = [each for each in (first, second) if each.statement.holds is not Holds.BOTH]
    reason = "; ".join(dict.fromkeys(each.statement.reason for each in without))
    return Statement(Holds.AT_LEAST if has_low else Holds.AT_MOST if has_high else Holds.NONE, reason)


def _around(ends: tuple[float, float], inner: tuple[float, float]) -> tuple[float, float]:
    """Return ends that hold together, never inside of those that hold each by itself."""
    return min(ends[0], inner[0]), max(ends[1], inner[1])


def _asked(first: Release, second: Release, counts: Iterable[int] | None) -> Asked:
    """Return where to compare: a round grid up to the largest released count, number of labels, and size."""
    both = first.profile, second.profile
    largest = max([1, *(int(each.counts[-1]) for each in both if len(each))])
    labels, items = max(1, *(each.num_labels for each in both)), max(1, min(each.n for each in both))
    guesses = tuple(_round_numbers(labels))
    if counts is None:
        grid = [*range(1, min(largest, _ALL_COUNTS) + 1), *(k for k in _round_numbers(largest) if k > _ALL_COUNTS)]
        return Asked(tuple(grid), _ALL_COUNTS, guesses, items)
    given = sorted({parse_whole_number(count, name="counts") for count in counts})
    if not given:
        raise UsageError("`counts` must have at least one count, or be left out.")
    return Asked(tuple(given), given[-1], guesses, items)


def _round_numbers(largest: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, … up to a number ≥ 1."""
    powers = range(len(str(largest)))
    return [digit * 10**power for power in powers for digit in _ROUND if digit * 10**power <= largest]


def check_comparable(first: object, second: object) -> None:
    """Refuse everything except two releases of single profiles that differ in their draws and data alone."""
    for each in (first, second):
        if isinstance(each, GroupedRelease):
            raise UsageError('A release of groups has many profiles: name one group of each, as in release["spring"].')
        if isinstance(each, Windows):
            raise UsageError("Cumulative windows are not compared: the days of one release share their noise.")
        if not isinstance(each, Release):
            raise UsageError(
                f"Two releases are needed, as release(profile, epsilon=…) makes them, not {kind_of(each)}."
            )
    assert isinstance(first, Release)  # noqa: S101  # checked above
    assert isinstance(second, Release)  # noqa: S101
    _check_two_draws(first, second)
    kinds = [each.mechanism.kind.name for each in (first, second)]
    units = [each.guarantee.unit for each in (first, second)]
    relations = [each.guarantee.relation for each in (first, second)]
    if kinds[0] != kinds[1] or units[0].kind != units[1].kind:
        raise UsageError(
            f"The releases are of different kinds, for {units[0]} and for {units[1]}: their numbers count other things."
        )
    if first.mechanism.kind.name == "sketch":
        raise UsageError("Profiles of sketches are not compared: sketches with one key share their collisions.")
    if units[0] != units[1] or first.largest_count != second.largest_count:
        raise UsageError(
            f"The releases have different bounds, for {units[0]} and for {units[1]}: a difference may be due to those "
            "alone. Release both with the same bounds."
        )
    if relations[0] != relations[1]:
        raise UsageError(
            "One release hides a unit added or removed, the other one replaced: release both with the same relation."
        )


def _check_two_draws(first: Release, second: Release) -> None:
    """Refuse two views of one draw, whose noise is the same."""
    if first.receipt is not None and first.receipt == second.receipt:
        raise UsageError(
            f"Both releases were charged as one, in entry {first.receipt.entry} of a ledger: they are one release, or "
            "groups of one."
        )
    is_charged = first.receipt is not None and second.receipt is not None
    if first is second or (not is_charged and _is_one_draw(first, second)):
        raise UsageError(
            "Both releases have the same content: a difference needs two draws, each with noise of its own. If these "
            "are two, they show none."
        )
    for one, other in ((first, second), (second, first)):
        if isinstance(one.mechanism, SumOfReleases) and _overlaps(other, one.mechanism):
            raise UsageError("One release is a sum of groups that the other is part of: they share their noise.")
        if one.agreed_with is not None and not is_charged and _is_agreed(other, one.agreed_with):
            raise UsageError(
                "One release was adjusted to agree with groups that the other is one of: they share their noise. "
                "Compare both as they were drawn."
            )


def _is_one_draw(first: Release, second: Release) -> bool:
    """Whether two releases hold what one draw of noise made: adjusted or not, fitted or not, under any guarantee."""
    one, other = first.unadjusted or first, second.unadjusted or second
    if _origin(one) != _origin(other) or any(
        None not in pair and pair[0] != pair[1] for pair in ((one.items, other.items), (one.zeros, other.zeros))
    ):
        return False
    if one.draw is not None and other.draw is not None:
        return one.draw == other.draw
    return any(
        mine is not None and mine == theirs
        for mine in (one.profile, one.draw)
        for theirs in (other.profile, other.draw)
    )


def _origin(release: Release) -> object:
    mechanism = release.mechanism
    return mechanism.name, dict(mechanism.parameters), release.order_key, release.where


def _overlaps(release: Release, total: SumOfReleases) -> bool:
    """Whether a release is one of the groups that a sum adds up, or another sum with some of them."""
    groups, prefix = total.runs.groups, total.prefix
    if isinstance(release.mechanism, SumOfReleases):
        own = release.mechanism.prefix
        shared = min(len(own), len(prefix))
        return own[:shared] == prefix[:shared] and _profiles(release.mechanism.runs.groups) == _profiles(groups)
    return any(_is_one_draw(each, release) for group, each in groups.items() if group[: len(prefix)] == prefix)


def _is_agreed(release: Release, drawn: Mapping[Group, Release]) -> bool:
    """Whether a release is one of these groups, as drawn or adjusted; nothing is known of one without labels."""
    if release.agreed_with is not None:
        return release.agreed_with is drawn or _profiles(release.agreed_with) == _profiles(drawn)
    return bool(len(release.profile)) and any(_is_one_draw(each, release) for each in drawn.values())


def _profiles(releases: Mapping[Group, Release]) -> dict[Group, Profile]:
    return {group: each.profile for group, each in releases.items()}

"""What is said in words and numbers on pages, terminals and in notebooks; all of it is plain text, not yet HTML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.privacy import certainty, is_in_groups, strength, warning
from anonhist.privacy.guarantee import delta_apart
from anonhist.privacy.parameters import NONE_ABOVE
from anonhist.properties.estimate import Holds, format_number
from anonhist.releases import Release
from anonhist.releases.grouped import GroupedRelease

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from anonhist.outward import Tabular
    from anonhist.privacy import Guarantee
    from anonhist.properties.estimate import Estimate
    from anonhist.releases import Excess, ReleaseError

_COSTS_NOTHING = "so floating point costs nothing"
# What :func:`promise_lines` calls its lines.
PROMISE_NAMES = ("Promise", "Protection", "Toward a party", "Warning")


def promise_lines(guarantee: Guarantee) -> list[tuple[str, str]]:
    """Return the promise for a terminal, as names and sentences: what it is and what it is worth.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    >>> made = Guarantee(PrivacyUnit.item(), NeighboringRelation.SUBSTITUTE, Fraction(2), arithmetic="noise is exact")
    >>> [name for name, _ in promise_lines(made)]
    ['Promise', 'Protection']
    """
    lines = [
        ("Promise", _without_arithmetic(guarantee)),
        ("Protection", protection_line(guarantee.epsilon, guarantee.delta)),
    ]
    if guarantee.party_epsilon is not None:
        lines.append(("Toward a party", protection_line(guarantee.party_epsilon, guarantee.delta)))
    said = warning(guarantee.epsilon)
    return [*lines, ("Warning", said)] if said else lines


def free_arithmetic(guarantee: Guarantee) -> str:
    """Return the clause that says that arithmetic costs nothing; empty where the guarantee says anything else of it.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> free_arithmetic(FrobeniusMechanism(1).guarantee)
    'noise is exact and added to whole numbers, so floating point costs nothing'
    """
    return next((each for each in guarantee.arithmetic.split("; ") if each.endswith(_COSTS_NOTHING)), "")


def _without_arithmetic(guarantee: Guarantee) -> str:
    """Return the guarantee in a sentence, without a clause on arithmetic that limits nothing; files have it whole."""
    clause = free_arithmetic(guarantee)
    return guarantee.sentence.replace(f"; {clause}", "", 1) if clause else guarantee.sentence


def promise_of(guarantee: Guarantee) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the promise in two parts: warnings, which must not be missed, and the other lines."""
    lines = promise_lines(guarantee)
    return [text for name, text in lines if name == "Warning"], [line for line in lines if line[0] != "Warning"]


def protection_line(epsilon: Fraction, delta: Fraction) -> str:
    """Say on one line what an epsilon is worth, and apart from which δ.

    Examples
    --------
    >>> from fractions import Fraction
    >>> protection_line(Fraction(4), Fraction(0))
    'weak: someone at 50:50 can become at most 98.3 % sure.'
    >>> protection_line(Fraction(1), Fraction(1, 1000))
    'moderate: someone at 50:50 can become at most 73.2 % sure, apart from δ = 0.001.'
    """
    sure = f"at most {certainty(epsilon)} sure" if epsilon <= NONE_ABOVE else "practically certain"
    return f"{strength(epsilon)}: someone at 50:50 can become {sure}{delta_apart(delta)}."


def with_error(value: float, error: float) -> str:
    """Write a number and its standard error, both cut where the error has two digits.

    Examples
    --------
    >>> with_error(15166.8, 89.43), with_error(48020, 1234.0), with_error(7, 0)
    ('15,167 ± 89', '48,000 ± 1,200', '7 ± 0')
    """
    if not error:
        return f"{value:,.6g} ± 0" if value < 1e6 else f"{value:,.0f} ± 0"
    places = 1 - math.floor(math.log10(error))
    shown = min(max(places, 0), 6)
    return f"{round(value, places):,.{shown}f} ± {round(error, places):,.{shown}f}"


def expected_error(error: ReleaseError) -> str:
    """Write the expected error of a whole profile with the range it is in, three digits of each, if it was simulated.

    Examples
    --------
    >>> import numpy as np
    >>> from anonhist.properties import Estimate
    >>> from anonhist.releases import ReleaseError
    >>> l1 = Estimate(8970.4, 31.0, (8909.6, 9031.2), "")
    >>> expected_error(ReleaseError(l1, 32, np.array([1]), np.array([1.0]), np.array([1.0])))
    '8,970 (7,120 to 14,400)'
    >>> expected_error(ReleaseError.without_runs())
    'not simulated'
    """
    if error.sorted_l1 is None or error.expected_range is None:
        return "not simulated"
    low, high = error.expected_range

    def digits(number: float, way: Callable[[float], int]) -> str:
        step: int = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 2)
        return f"{way(number / step) * step:,}"

    return f"{digits(error.sorted_l1.value, round)} ({digits(low, math.floor)} to {digits(high, math.ceil)})"


def interval(low: float, high: float, *, places: int = 0) -> str:
    """Write an interval, its ends rounded outward; without an upper end it says nothing.

    Examples
    --------
    >>> interval(2.4, 5.1), interval(0.123, 0.128, places=2)
    ('2 to 6', '0.12 to 0.13')
    >>> interval(0.0, math.inf)
    'no interval'
    """
    if math.isinf(high):
        return "no interval"
    scale = 10**places
    return f"{math.floor(low * scale) / scale:,.{places}f} to {math.ceil(high * scale) / scale:,.{places}f}"


def with_interval(ends: str) -> str:
    """Write the ends of an interval where nothing else says what they are.

    Examples
    --------
    >>> with_interval("2 to 6"), with_interval("no interval")
    ('95 % interval 2 to 6', 'no interval')
    """
    return f"95 % interval {ends}" if " to " in ends else ends


def bars_text(error: ReleaseError, *, none: str) -> str:
    """Say how to read bars and bands, where there are some; ``none`` is what a number at 0 cannot be told from.

    Examples
    --------
    >>> from anonhist.releases import ReleaseError
    >>> bars_text(ReleaseError.without_runs(), none="that number from none")
    'There are no 95 % intervals here, so the plots have neither bars nor bands.'
    """
    if not (error.has_k_plus_intervals or error.has_prevalence_intervals):
        return "There are no 95 % intervals here, so the plots have neither bars nor bands."
    return (
        "Bars and bands are 95 % intervals, each for its own place on the plot. Where one reaches 0, the release cannot"
        f" tell {none}."
    )


def share_of_items(release: Release) -> str:
    """Say how large the expected error is beside the released items, to be put after it: nothing for no items.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.profiles import Profile
    >>> share_of_items(FrobeniusMechanism("0.5").release(Profile.from_counts([2, 1])))[-14:]
    ': mostly noise'
    """
    items, name = release.profile.n, release.words.total
    expected = release.error.sorted_l1
    share = f", {percent(expected.value / items)} of the {name}" if items and expected is not None else ""
    return share + (": mostly noise" if release.mostly_noise else "")


def parameters_text(release: Release) -> str:
    """Write the public parameters of the mechanism."""
    return ", ".join(f"{name} = {value}" for name, value in release.mechanism.parameters.items())


def runs_text(release: Release, *, of: str = "profile") -> str:
    """Say what errors come from, or that there are none.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from anonhist.mechanisms import PrevalenceMechanism
    >>> from anonhist.profiles import Profile
    >>> made = PrevalenceMechanism(1, public_cap=9).release(Profile.from_counts([2, 1]))
    >>> runs_text(replace(made, simulations=0))
    'No errors were simulated (0 simulations), so there is no expected error and no interval based on one.'
    """
    runs = release.error.simulations
    if not runs:
        return "No errors were simulated (0 simulations), so there is no expected error and no interval based on one."
    return f"Errors come from {runs:,} new runs of the mechanism on the released {of}, which costs no privacy."


def no_intervals(error: ReleaseError) -> str:
    """Say why a release that was simulated has no intervals; empty where it has some, or :func:`runs_text` says it.

    Examples
    --------
    >>> from anonhist.releases import ReleaseError
    >>> no_intervals(ReleaseError.without_runs())
    ''
    """
    if not error.simulations or error.has_k_plus_intervals:
        return ""
    return f"There are no intervals: {error.why_unknown}."


def percent(share: float) -> str:
    """Write a share in percent with two digits, however small.

    Examples
    --------
    >>> percent(0.0000524), percent(0.25), percent(0)
    ('0.0052 %', '25 %', '0 %')
    """
    if share <= 0:
        return "0 %"
    places = max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:,.{min(places, 12)}f} %"


def method_text(title: str, estimate: Estimate) -> str:
    """Return the method, after the number that was asked with."""
    number = title.partition(", ")[2]
    method = estimate.method.removesuffix(", from a release")
    return f"{number}, {method}" if number else method


def known_ends(estimate: Estimate, *, digits: int) -> str:
    """Write the ends that hold."""
    low, high = (format_number(end, digits=digits) for end in estimate.interval)
    holds = estimate.statement.holds
    if holds is Holds.BOTH:
        return f"{low} to {high}"
    return "none" if holds is Holds.NONE else f"{holds.value} {low if holds is Holds.AT_LEAST else high}"


def many(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> many(1, "item"), many(2000, "label")
    ('1 item', '2,000 labels')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_HAD = {"item": "had more items", "group": "were in more groups"}
_HOW_TO_ASK = "A release with an excess share of 0.05 estimates that, for 5 % of its epsilon."


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
    missing = no_intervals(release.error)
    return [*([("Intervals", missing)] if missing else []), *bound_of(release)]


def bound_of(value: Tabular) -> list[tuple[str, str]]:
    """Return the line that says what intervals leave out where units were bounded; none where they were not.

    Parameters
    ----------
    value
        A release of any kind, or what was made from one.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> bound_of(FrobeniusMechanism(1, PrivacyUnit.user(max_items=5)).release(Profile.from_counts([20, 10])))
    [('Bound', 'At most 5 items of each user are counted in the whole release. Errors and intervals do not cover what
    this leaves out.')]
    """
    if not value.left_out:
        return []
    said, key = [value.left_out], getattr(value, "order_key", None)
    if key is not None:
        said.append(f"What is counted was chosen with the order key {key}.")
    if isinstance(value, Release | GroupedRelease):
        if value.excess is not None:
            said.append(describe_excess(value.excess))
        elif _could_tell(value):
            said.append(_HOW_TO_ASK)
    return [("Bound", " ".join(said))]


def _could_tell(release: Release | GroupedRelease) -> bool:
    """Return whether a release like this could have told what was left out: where it was chosen, or is of counts."""
    unit = release.guarantee.unit
    if isinstance(release, GroupedRelease):
        # Where there are no more groups than the bound keeps, it leaves out none.
        bounds_groups = unit.groups > 1 or unit.max_count is not None
        return release.order_key is not None and not (bounds_groups and len(release) <= unit.groups)
    # One group of several has no excess of its own.
    return not is_in_groups(unit) and (release.order_key is not None or unit.max_count is not None)


def describe_excess(excess: Excess) -> str:
    """Say what a bound on users or labels left out, as far as a release tells it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import NeighboringRelation
    >>> from anonhist.profiles import Bounded
    >>> from anonhist.releases import Excess
    >>> spent = (NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 80), Fraction(3, 80))
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 2_000, 20_000))
    'The bound of 3 items per user left out at least 17,603 items (95 % confidence), of 1,760 to 2,240 users, 17 to 23 %
    of all (95 % intervals); the other numbers do not include them. No more than 30 of each user were counted, so there
    may be more.'
    >>> describe_excess(Excess(3, 30, *spent, 8_000, 12, -20, Bounded.GROUPS_OF_LABELS))
    'What the bound of 3 groups per label left out is indistinguishable from nothing: 0 to 252 labels were in more
    groups (95 % interval). A larger share of epsilon, or a cap below 30, would show more.'
    >>> describe_excess(Excess(3, 2, *spent, 8_000, 2_000, 3_000, Bounded.GROUPS_OF_LABELS, groups=5))
    'The bound of 3 groups per label left out 2,803 to 3,160 pairs of a label and a group, of 1,760 to 2,240 labels, 17
    to 23 % of all (95 % intervals); the other numbers do not include them.'
    """
    units, share, of = excess.units.interval, excess.share_of_units.interval, excess.of
    bound = f"the bound of {many(excess.bound, of.part)} per {of.unit}"
    amount = "items" if of.part == "item" else f"pairs of a {of.unit} and a group"
    least, most = excess.amount.interval
    if not least:
        also, cap, s = "", "", ""
        if excess.counts_all:
            also, s = f", and up to {most:,.0f} {amount} were left out", "s"
        elif excess.cap > 1:
            cap = f", or a cap below {excess.cap:,},"
        return (
            f"What {bound} left out is indistinguishable from nothing: {interval(*units)} {of.unit}s {_HAD[of.part]}"
            f"{also} (95 % interval{s}). A larger share of epsilon{cap} would show more."
        )
    # What was left out is of some units, at most C counted of each, whatever the noise on those says.
    many_units = max(units[1], math.ceil(least / excess.cap))
    number = interval(units[0], many_units) if units[0] else f"up to {many_units:,.0f}"
    percents = interval(100 * share[0], 100 * share[1]) if share[0] else f"up to {max(1, math.ceil(100 * share[1]))}"
    told = f"at least {least:,.0f} {amount} (95 % confidence)"
    more = f" No more than {excess.cap:,} of each {of.unit} were counted, so there may be more."
    if excess.counts_all:
        told, more = f"{interval(least, most)} {amount}", ""
    return (
        f"T{bound[1:]} left out {told}, of {number} {of.unit}s, {percents} % of all (95 % intervals); the other "
        f"numbers do not include them.{more}"
    )

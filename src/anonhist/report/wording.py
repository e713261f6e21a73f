"""Sentences about releases and guarantees for pages, terminals and notebooks: plain text, not yet HTML."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from anonhist.privacy import NeighboringRelation, certainty, is_in_groups, protection, short_decimal, warning
from anonhist.privacy.guarantee import delta_apart
from anonhist.privacy.parameters import NONE_ABOVE, round_up, with_power
from anonhist.properties.estimate import LABELS_APART, Estimate, Holds, format_number, percent
from anonhist.releases import Excess, Release, ReleaseError
from anonhist.releases.grouped import GroupedRelease
from anonhist.releases.runs import BY_BOTH, BY_POSTERIOR

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from anonhist.kinds import Tabular
    from anonhist.privacy import Guarantee, PrivacyUnit
    from anonhist.releases.content import AnyRelease

_COSTS_NOTHING = "so floating point costs nothing"
# The names of the lines that :func:`promise_lines` returns.
PROMISE_NAMES = ("Protection", "Promise", "Toward a party", "Warning")


def promise_lines(guarantee: Guarantee, *, doubt: str = "") -> list[tuple[str, str]]:
    """Return names and sentences for a terminal: what the promise is worth, and the promise itself.

    ``doubt`` is the question of somebody who sees the results, if it does not follow from the unit.
    """
    # The clause that says that arithmetic costs nothing is left out here; files keep the whole sentence.
    sentence, clause = guarantee.for_people, free_arithmetic(guarantee)
    lines = [
        ("Protection", _protection(guarantee, guarantee.epsilon, doubt)),
        ("Promise", sentence.replace(f"; {clause}", "", 1) if clause else sentence),
    ]
    if guarantee.party_epsilon is not None:
        lines.append(("Toward a party", _protection(guarantee, guarantee.party_epsilon, doubt)))
    said = warning(guarantee.epsilon)
    return [*lines, ("Warning", said)] if said else lines


def free_arithmetic(guarantee: Guarantee) -> str:
    """Return the clause that says that arithmetic costs nothing; empty if the guarantee has no such clause."""
    return next((each for each in guarantee.arithmetic.split("; ") if each.endswith(_COSTS_NOTHING)), "")


def _protection(guarantee: Guarantee, epsilon: Fraction, doubt: str) -> str:
    asked = doubt or doubt_about(guarantee.unit.called, guarantee.relation)
    return f"{_sure(epsilon, asked, guarantee.delta, who='someone')}: {protection(epsilon)}."


def with_error(value: float, error: float) -> str:
    """Write a number and its standard error, both rounded to the second digit of the error."""
    if not error:
        return f"{format_number(value, digits=6)} ± 0"
    places = 1 - math.floor(math.log10(error))
    shown = min(max(places, 0), 6)
    return f"{round(value, places):,.{shown}f} ± {round(error, places):,.{shown}f}"


def expected_error(release: Release) -> str:
    """Write the expected error of a whole profile and its range, with three digits each, if it was simulated.

    Where the error is vague, the range is all that is known.
    """
    error = release.error
    if error.sorted_l1 is None or error.expected_range is None:
        return "not simulated"
    low, high = error.expected_range

    def digits(number: float, way: Callable[[float], int]) -> str:
        step: int = 10 ** max(0, math.floor(math.log10(max(1.0, number))) - 2)
        return f"{way(number / step) * step:,}"

    ends = f"{digits(low, math.floor)} to {digits(high, math.ceil)}"
    return ends if release.error_is_vague else f"{digits(error.sorted_l1.value, round)} ({ends})"


def named_error(release: Release, error: str) -> str:
    """Name an error beside what :func:`expected_error` writes of it."""
    return f"range of the expected {error}" if release.error_is_vague else f"expected {error}, and its range"


def interval(low: float, high: float, *, places: int = 0) -> str:
    """Write an interval, its ends rounded outward; without an upper end, it counts as no interval."""
    if math.isinf(high):
        return "no interval"
    scale = 10**places
    return f"{math.floor(low * scale) / scale:,.{places}f} to {math.ceil(high * scale) / scale:,.{places}f}"


def number_and_ends(found: Estimate) -> tuple[str, str]:
    """Write a number of things and its interval."""
    return f"{found.value:,.0f}", interval(*found.interval)


def with_interval(ends: str) -> str:
    """Write the ends of an interval after the words "95% interval", if there are any."""
    return f"95% interval {ends}" if " to " in ends else ends


def bars_text(error: ReleaseError, *, none: str) -> str:
    """Say how to read bars and bands, if there are any; ``none`` completes "the release cannot tell"."""
    if not (error.has_k_plus_intervals or error.has_prevalence_intervals):
        return "There are no 95% intervals here, so the plots have neither bars nor bands."
    return (
        "Bars and bands are 95% intervals, each for its own place on the plot. Where one reaches 0, the release cannot"
        f" tell {none}."
    )


def share_of_items(release: Release) -> str:
    """Write the expected error as a share of the released items, to follow that error; without items, no share."""
    items, name, is_vague = release.profile.n, release.words.total, release.error_is_vague
    expected, within = release.error.sorted_l1, release.error.expected_range
    if is_vague and release.mostly_noise:
        return ": nearly everything is noise"
    if not items or expected is None or within is None:
        share = ""
    elif is_vague:
        share = f", at most {percent(within[1] / items)} of the {name}"
    else:
        share = f", {percent(expected.value / items)} of the {name}"
    return share + (": mostly noise" if release.mostly_noise else "")


def runs_text(*releases: Release, of: str = "profile") -> str:
    """Say where expected errors come from, or that there are none."""
    methods = {each.error.sorted_l1.method for each in releases if each.error.sorted_l1 is not None}
    if not methods:
        return "No errors were simulated (0 simulations), so there is no expected error and no interval based on one."
    if methods == {BY_POSTERIOR}:
        return f"Errors follow from the noisy values that the {of} was read from, which costs no privacy."
    told = [(each.error.simulations, each.error.sorted_l1) for each in releases]
    runs = [number for number, expected in told if expected is not None and expected.method != BY_POSTERIOR]
    number = " to ".join(f"{each:,}" for each in dict.fromkeys((min(runs), max(runs))))
    both = " and from the noisy values that it was read from" if BY_BOTH in methods else ""
    others = f", or from {'these alone' if both else 'noisy values'} where they are far above the noise"
    if BY_POSTERIOR not in methods:
        others = ""
    where = f"on the released {of}{both}{others}"
    return f"Errors come from {number} new runs of the mechanism {where}, which costs no privacy."


def no_intervals(error: ReleaseError) -> str:
    """Say why a simulated release has no intervals; empty if it has some, or if :func:`runs_text` says why."""
    if not error.simulations or error.has_k_plus_intervals:
        return ""
    return f"There are no intervals: {error.why_unknown}."


def method_text(title: str, estimate: Estimate) -> str:
    """Return the method, after the number in the title, if there is one."""
    number = title.partition(", ")[2]
    method = estimate.method.removesuffix(", from a release")
    return f"{number}, {method}" if number else method


def known_ends(estimate: Estimate, *, digits: int) -> str:
    """Write those ends of the interval that hold."""
    low, high = (format_number(end, digits=digits) for end in estimate.interval)
    holds = estimate.statement.holds
    if holds is Holds.BOTH:
        return f"{low} to {high}"
    return "none" if holds is Holds.NONE else f"{holds.value} {low if holds is Holds.AT_LEAST else high}"


def many(number: int, noun: str) -> str:
    """Write a number of things."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


_HAD = {"item": "had more items", "group": "were in more groups"}
_HOW_TO_ASK = "With an excess share of 0.05, a release also estimates that, for 5% of its ε."


def remarks(release: Release) -> list[tuple[str, str]]:
    """Return names and sentences, a line for each remark on a release, in the order in which they are shown."""
    missing = no_intervals(release.error)
    return [*([("Intervals", missing)] if missing else []), *bound_of(release)]


def bound_of(value: Tabular) -> list[tuple[str, str]]:
    """Return the lines that say which rows count, if not all do, and what a bound on units leaves out."""
    where = getattr(value, "where", None)
    rows = [] if where is None else [("Rows", f"Only rows where {where} were counted.")]
    added = (
        [("Groups", f"{LABELS_APART[0].upper()}{LABELS_APART[1:]}.")] if getattr(value, "adds_groups", False) else []
    )
    return [*rows, *added, *_bound_of(value)]


def _bound_of(value: Tabular) -> list[tuple[str, str]]:
    if not value.left_out:
        return []
    said, key = [value.left_out], getattr(value, "order_key", None)
    if key is not None:
        said.append(f"The order key {key} chose what is counted or, with an order column, decided ties.")
    if isinstance(value, Release | GroupedRelease):
        if value.excess is not None:
            said.append(describe_excess(value.excess))
        elif _could_tell(value):
            said.append(_HOW_TO_ASK)
    return [("Bound", " ".join(said))]


def _could_tell(release: Release | GroupedRelease) -> bool:
    """Return whether such a release could have estimated what was left out: it chose items, or capped counts."""
    unit = release.guarantee.unit
    if getattr(release.mechanism, "bound_choice", None) is not None:
        return False
    if isinstance(release, GroupedRelease):
        # If there are no more groups than the bound keeps, it leaves out none.
        bounds_groups = unit.groups > 1 or unit.max_count is not None
        return release.order_key is not None and not (bounds_groups and len(release) <= unit.groups)
    # One group of several has no excess of its own.
    return not is_in_groups(unit) and (release.order_key is not None or unit.max_count is not None)


def describe_excess(excess: Excess) -> str:
    """Say what a bound on users or labels left out, as far as a release shows it."""
    units, share, of = excess.units.interval, excess.share_of_units.interval, excess.of
    named = None if excess.guarantee is None else excess.guarantee.unit
    one, several = (of.unit, f"{of.unit}s") if named is None else (named.called, named.many)
    bound = f"the bound of {many(excess.bound, of.part)} per {one}"
    amount = "items" if of.part == "item" else f"pairs of a {one} and a group"
    least, most = excess.amount.interval
    if not least:
        also, cap, s = "", "", ""
        if excess.counts_all:
            also, s = f", and up to {most:,.0f} {amount} were left out", "s"
        elif excess.cap > 1:
            cap = f", or a cap below {excess.cap:,},"
        return (
            f"What {bound} left out is indistinguishable from nothing: {interval(*units)} {several} {_HAD[of.part]}"
            f"{also} (95% interval{s}). A larger share of epsilon{cap} would show more."
        )
    # Each unit adds at most C to what was left out, so at least ``least / C`` units had some, whatever the noise says.
    many_units = max(units[1], math.ceil(least / excess.cap))
    number = interval(units[0], many_units) if units[0] else f"up to {many_units:,.0f}"
    percents = interval(100 * share[0], 100 * share[1]) if share[0] else f"up to {max(1, math.ceil(100 * share[1]))}"
    told = f"at least {least:,.0f} {amount} (95% confidence)"
    more = f" No more than {excess.cap:,} of each {one} were counted, so there may be more."
    if excess.counts_all:
        told, more = f"{interval(least, most)} {amount}", ""
    return (
        f"T{bound[1:]} left out {told}, of {number} {several}, {percents}% of all (95% intervals); the other "
        f"numbers do not include them.{more}"
    )


# Below the first ε and above the second, a factor as a plain decimal would have too many digits to count.
_PLAIN = (1e-6, 12)
_STAYS = "This stays true whatever is done with the results."


def plain_promise(guarantee: Guarantee, *, result: str = "result") -> str:
    """State the promise in one sentence, with one number; ``result`` names what it is about."""
    unit, is_substitute = guarantee.unit, guarantee.relation is NeighboringRelation.SUBSTITUTE
    change = f"Replacing any {unit} by another" if is_substitute else f"Adding or removing any {unit}"
    # A party that knows its own share of the noise is promised less, in a sentence of its own.
    seen = "" if guarantee.party_epsilon is None else ", as outsiders see it,"
    return f"{change} changes the probability of any {result}{seen} by {at_most(guarantee)}."


def at_most(guarantee: Guarantee) -> str:
    """Say by how much the guarantee allows a probability to change."""
    plus = f" (plus δ ≤ {with_power(guarantee.delta)})" if guarantee.delta else ""
    return f"at most a factor of {factor(guarantee.epsilon)}{plus}"


def factor(epsilon: Fraction) -> str:
    """Write ``e^ε``, rounded up, with at least three digits of ``e^ε − 1``."""
    least, most = _PLAIN
    if epsilon > most:
        power = short_decimal(epsilon)
        return f"e^({power})" if "/" in power else f"e^{power}"
    if epsilon < least:
        return f"1 + {round_up(epsilon + epsilon**2)}"
    exact = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
    places = max(0, 2 - (exact - 1).adjusted())
    return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING):,f}"


def lead(guarantee: Guarantee) -> str:
    """Say in a sentence what a guarantee is worth: how sure somebody who sees the results can become."""
    who = "Someone" if guarantee.party_epsilon is None else "An outsider"
    doubt = doubt_about(guarantee.unit.called, guarantee.relation)
    return worth(guarantee.epsilon, doubt=doubt, delta=guarantee.delta, who=who)


def meaning(guarantee: Guarantee, *, result: str = "result", stays: str = _STAYS) -> list[str]:
    """State the guarantee, in paragraphs; ``stays`` says how long it holds."""
    said = [f"{plain_promise(guarantee, result=result)} {stays}"]
    if guarantee.conditions:
        said.append(f"This holds provided that {', and that '.join(guarantee.conditions)}.")
    if guarantee.party_epsilon is not None:
        doubt = doubt_about(guarantee.unit.called, guarantee.relation)
        said.append(
            "Toward a party, which knows its own share of the noise, the factor is at most "
            f"{factor(guarantee.party_epsilon)}. "
            f"{worth(guarantee.party_epsilon, doubt=doubt, delta=guarantee.delta, who='A party')}"
        )
    return said


def promise_of(release: AnyRelease, *, result: str = "result") -> list[str]:
    """State what a release promises, and first to whom, if this program ensured it."""
    everyone = any_user(release)
    return [*([everyone] if everyone else []), *meaning(release.guarantee, result=result)]


def worth(epsilon: Fraction, *, doubt: str, delta: Fraction, who: str = "Someone") -> str:
    """Say how sure somebody with this ``doubt`` can become, and what such protection is called."""
    return f"{_sure(epsilon, doubt, delta, who=who)}. This is {protection(epsilon)}."


def _sure(epsilon: Fraction, doubt: str, delta: Fraction, *, who: str) -> str:
    sure = "practically certain" if epsilon > NONE_ABOVE else f"at most {certainty(epsilon)} sure"
    return f"{who} who is 50:50 about {doubt} can become {sure}{delta_apart(delta)}"


def doubt_about(unit: str, relation: NeighboringRelation) -> str:
    """Return the question of somebody who cannot tell two neighbors apart."""
    if relation is NeighboringRelation.SUBSTITUTE:
        return f"which of two versions of a given {unit} is in the data"
    return f"whether a given {unit} is in the data"


def any_user(release: AnyRelease) -> str:
    """Say that users are protected whatever they did, if this program counted only some items of each; else nothing.

    If the data were limited before they were read, nobody knows whether every user was; :func:`exclusions` says so.
    """
    unit, excess = release.guarantee.unit, getattr(release, "excess", None)
    # A reading that bounds users draws an order key, and only such a reading estimates what it left out.
    if unit.max_items is None or (release.order_key is None and excess is None):
        return ""
    counted = f"at most {unit.max_items:,} of them {'counts' if unit.max_items == 1 else 'count'}"
    if is_in_groups(unit):
        counted += f", in {'each of ' if unit.groups > 1 else ''}at most {many(unit.groups, 'group')}"
    if excess is not None:
        counted += f", and at most {many(excess.cap, f'more {excess.of.part}')} in the estimate of what was left out"
    return f"Any one {unit.called} is protected, however many items they have: {counted}."


def release_exclusions(release: Release) -> list[str]:
    """Return what a release's promise does not cover, beginning with what follows from the unit."""
    listed = exclusions(release.guarantee.unit)
    return listed[1:] if any_user(release) else listed


def exclusions(unit: PrivacyUnit) -> list[str]:
    """Return what the promise does not cover, beginning with what follows from the unit."""
    # Weekly releases are made from new data, but on the same people.
    again = "the same data" if unit.people is None else f"data of the same {unit.people}, such as those of next week"
    return [
        unit.not_covered,
        f"Further releases of {again}: their budgets add up.",
        "What the running time or memory use of the program tells someone who watches the machine.",
        "The original data file.",
    ]

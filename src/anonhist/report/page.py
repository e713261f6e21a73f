"""One self-contained HTML page about one release."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.properties.estimate import Holds
from anonhist.report import wording
from anonhist.report.figures import Points, inline_svg, k_plus_figure, prevalences_figure
from anonhist.report.frame import (
    DRAWN_AGAIN,
    Sheet,
    card,
    interval_rows,
    paragraphs,
    promised,
    released_parts,
    template,
)
from anonhist.report.guessing import Guessing, guessing_figure
from anonhist.report.kinds import ReleaseView, view_of
from anonhist.report.promise import any_user, for_one_person, release_exclusions
from anonhist.report.wording import (
    expected_error,
    free_arithmetic,
    interval,
    many,
    promise_lines,
    remarks,
    share_of_items,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.properties.estimate import Estimate
    from anonhist.releases import Release


@dataclass(frozen=True)
class ProfilePage:
    """The page of a released profile.

    Attributes
    ----------
    again
        What running the command again does.
    also_not_covered
        What the promise does not cover besides what follows from the unit.
    """

    again: str = DRAWN_AGAIN
    also_not_covered: tuple[str, ...] = ()

    def write(self, release: Release, sheet: Sheet, truth: object) -> None:
        """Write the page of a release; its error is computed first if it has not been yet."""
        if truth is not None:
            raise UsageError("`not_private_truth` applies only to releases of degrees; leave it out.")
        sheet.check()
        sheet.write(
            _main(release, sheet.command, self),
            headline="How often things occur, without saying which things",
            subtitle="A differentially private profile: how many labels occur once, twice, and so on.",
            version=release.library_version,
        )


def _main(release: Release, command: str | None, page: ProfilePage) -> str:
    guarantee = release.guarantee
    guessing = Guessing.of(release)
    limit = guarantee.unit.max_count
    first, *rest = release_exclusions(release)
    everyone = any_user(release)
    words = {
        "bars": wording.bars_text(release.error, none="that count from one that no label has"),
        "last": "" if limit is None else f"The count {limit:,} stands for {limit:,} or more.",
        "runs": wording.runs_text(release),
    }
    return template("page.html").substitute(
        {name: escape(text) for name, text in words.items()},
        **released_parts(release, command, again=page.again, noun="counts", file="release.csv"),
        cards="".join(card(*each) for each in _cards(release)),
        promised=promised(
            guarantee,
            meaning=[*([everyone] if everyone else []), *for_one_person(guarantee)],
            not_covered=(first, *page.also_not_covered, *rest),
        ),
        remarks=paragraphs(told for _, told in remarks(release)),
        k_plus=inline_svg(
            lambda: k_plus_figure(release),
            name="k-plus",
            description="Labels with at least a given count, both on log scales, with a 95 % band",
            hover=Points.at_least(release).hover,
        ),
        plot=inline_svg(
            lambda: prevalences_figure(release),
            name="prevalences",
            description="Released prevalences against counts, both on log scales, with 95 % intervals",
            hover=Points.exactly(release).hover,
        ),
        guessing="" if limit else _draw_guessing(release, guessing),
        guessing_table=_guessing_table(release, guessing, limit),
    )


def _cards(release: Release) -> list[tuple[str, str]]:
    """Return the numbers that are told first, each with what it is."""
    profile, guarantee = release.profile, release.guarantee
    many_items = wording.with_interval(wording.interval(*release.num_items().interval))
    counted = "" if release.items is None else f", released as a number of its own; the profile has {profile.n:,}"
    limit = guarantee.unit.max_count
    capped = "" if limit is None else f", each label counted at most {limit:,} times"
    reached = wording.with_interval(wording.interval(*release.k_plus(1).interval))
    error = f"items: expected error of the whole profile (sorted ℓ1), and its range{wording.share_of_items(release)}"
    return [
        (f"{profile.num_labels:,}", f"different labels released; {reached}"),
        (
            f"{release.n:,}",
            f"items of these labels{capped}{counted}; {many_items}",
        ),
        (f"ε = {short_decimal(guarantee.epsilon)}", f"the whole privacy budget, for {guarantee.unit}"),
        (wording.expected_error(release.error), error),
    ]


def _draw_guessing(release: Release, guessing: Guessing) -> str:
    drawn = inline_svg(
        lambda: guessing_figure(release, guessing=guessing),
        name="guessing",
        description="Share of items covered by the most frequent labels, with a 95 % band",
        hover=guessing.hover,
    )
    told = "Guessing curve: the share of all items that the β most frequent labels cover."
    return f"<figure>{drawn}<figcaption>{told}</figcaption></figure>"


def _guessing_table(release: Release, guessing: Guessing, limit: int | None) -> str:
    """Return the table of the guessing curve, or why there is none: what is cut is most of what it is about."""
    if limit is not None:
        return (
            f"<div><h3>Guessing curve</h3><p>None: counts of {limit:,} or more were taken together, so this release "
            "does not say which share of the items frequent labels have.</p></div>"
        )
    unit = " %" if guessing.is_known else ""
    found = interval_rows(_guessing_rows(guessing), places=2, unit=unit) if len(release.profile) else ""
    return (
        '<div tabindex="0" role="region" aria-label="Guessing curve"><h3>Guessing curve</h3>'
        '<table><thead><tr><th scope="col">labels</th><th scope="col">share of items</th>'
        f'<th scope="col">95&nbsp;% interval</th></tr></thead><tbody>{found}</tbody></table></div>'
    )


def _guessing_rows(guessing: Guessing) -> Iterable[tuple[str, str, tuple[float, float]]]:
    for power in range(len(str(guessing.labels[-1]))):
        at = int(np.searchsorted(guessing.labels, 10**power))
        low, high = (float(end[at]) for end in guessing.band)
        yield f"{10**power:,}", f"{100 * float(guessing.share[at]):.2f} %", (100 * low, 100 * high)


VIEW = ReleaseView(prevalences_figure, ProfilePage().write)
# A release that was read from a sketch costs nothing to read again.
_SKETCH_PAGE = ProfilePage(
    again="The same command reads the same noise in the same sketch, and costs nothing more.",
    also_not_covered=(
        (
            "What the sketch counts between two states of it, from an adversary who sees both. This page shows one "
            "state, and so does any copy of the sketch."
        ),
    ),
)
SKETCH_VIEW = ReleaseView(prevalences_figure, _SKETCH_PAGE.write)


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

"""One self-contained HTML page about one release."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.report.figures import k_plus_figure, prevalences_figure
from anonhist.report.frame import Sheet, template
from anonhist.report.guessing import Guessing, guessing_figure
from anonhist.report.kinds import ReleaseView
from anonhist.report.points import Points
from anonhist.report.promise import exclusions
from anonhist.report.remarks import remarks
from anonhist.report.rows import LEVELS, rows
from anonhist.report.sections import (
    DRAWN_AGAIN,
    card,
    download,
    epsilon_warning,
    folded,
    paragraphs,
    promised,
    reproduce,
)
from anonhist.report.svg import inline_svg
from anonhist.report.wording import (
    bars_text,
    expected_error,
    interval,
    interval_of_items,
    parameters_text,
    runs_text,
    share_of_items,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.profiles import Profile
    from anonhist.releases import Release

_ROWS = 12


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
            raise UsageError("`not_private_truth` belongs to a release of degrees; leave it out.")
        sheet.check()
        sheet.write(
            _main(release, sheet.command, self),
            headline="How often things occur, without saying which things",
            subtitle="A differentially private profile: how many labels occur once, twice, and so on.",
            version=release.library_version,
        )


def _main(release: Release, command: str | None, page: ProfilePage) -> str:
    profile, error, guarantee = release.profile, release.error, release.guarantee
    guessing = Guessing.of(release)
    limit = guarantee.unit.max_count
    first, *rest = exclusions(guarantee.unit)
    words = {
        "bars": bars_text(error, none="that count from one that no label has"),
        "mechanism": release.mechanism.name,
        "reason": release.reason,
        "more": f"The first {_ROWS} of {len(profile):,} released counts." if len(profile) > _ROWS else "",
        "last": "" if limit is None else f"The count {limit:,} stands for {limit:,} or more.",
        "runs": runs_text(release),
    }
    return template("page.html").substitute(
        {name: escape(text) for name, text in words.items()},
        warning=epsilon_warning(guarantee),
        cards="".join(card(*each) for each in _cards(release, guessing)),
        promised=promised(guarantee, not_covered=(first, *page.also_not_covered, *rest)),
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
        k_plus_rows=rows(
            (f"{k:,} or more", f"{profile.k_plus(k):,}", release.k_plus(k).interval)
            for k in _shown_levels(profile, limit)
        ),
        prevalence_rows=rows(
            (f"{r:,} or more" if r == limit else f"{r:,}", f"{profile.prevalence(r):,}", release.prevalence(r).interval)
            for r in profile.counts[:_ROWS].tolist()
        ),
        guessing_table=_guessing_table(release, guessing, limit),
        download=download(release, rows=len(profile), name="release.csv"),
        parameters=folded("Its parameters", f"<p>{escape(parameters_text(release))}</p>"),
        reproduce=reproduce(command, page.again),
    )


def _cards(release: Release, guessing: Guessing) -> list[tuple[str, str]]:
    """Return the numbers that are told first, each with what it is."""
    profile, guarantee = release.profile, release.guarantee
    low, high = guessing.items_interval if release.items is None else interval_of_items(release)
    counted = "" if release.items is None else f", by a number of its own; the profile holds {profile.n:,}"
    limit = guarantee.unit.max_count
    capped = "" if limit is None else f", each label counted at most {limit:,} times"
    reached = with_interval(interval(*release.k_plus(1).interval))
    error = f"items: expected error of the whole profile (sorted ℓ1), and its range{share_of_items(release)}"
    return [
        (f"{profile.num_labels:,}", f"different labels released; {reached}"),
        (f"{release.n:,}", f"items of these labels{capped}{counted}; {with_interval(interval(low, high))}"),
        (f"ε = {short_decimal(guarantee.epsilon)}", f"the whole privacy budget, for {guarantee.unit}"),
        (expected_error(release.error), error),
    ]


def _shown_levels(profile: Profile, limit: int | None) -> list[int]:
    """Return some levels up to the largest released count, and the one where counts were taken together."""
    largest = int(profile.counts[-1]) if len(profile) else 1
    most = largest if limit is None else limit
    return sorted({level for level in (*LEVELS, most if limit else 1) if level <= most})


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
    found = rows(_guessing_rows(guessing), places=2, unit=unit) if len(release.profile) else ""
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

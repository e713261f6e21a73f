"""One self-contained HTML page about one release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anonhist.catalogue import load
from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import RELEASED_BY
from anonhist.lazy import LaterModule
from anonhist.privacy import short_decimal
from anonhist.properties.estimate import Holds
from anonhist.properties.most_frequent import covered_share, round_grid
from anonhist.releases import Release
from anonhist.releases.runs import BY_BOTH, BY_POSTERIOR
from anonhist.report.figures import (
    BAND,
    BLUE,
    Hover,
    Points,
    add_legend,
    canvas,
    inline_svg,
    k_plus_figure,
    mark_shares,
    prevalences_figure,
    say_empty,
    scale_across,
)
from anonhist.report.shown import Sheet, promised, released
from anonhist.report.wording import (
    any_user,
    bars_text,
    expected_error,
    free_arithmetic,
    interval,
    many,
    named_error,
    promise_lines,
    promise_of,
    release_exclusions,
    remarks,
    runs_text,
    share_of_items,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib import figure as matplotlib_figure
    from matplotlib.figure import Figure

    from anonhist.properties.estimate import Estimate
else:
    matplotlib_figure = LaterModule("matplotlib.figure")

_POINTS = 400


@frozen
class Guessing:
    """The guessing curve of a release, with its uncertainty.

    ``share`` is ``λ_β``, the share of the released items that the β most frequent labels cover; ``labels`` are the
    numbers β, ascending and evenly spread on the log scale, including each power of ten. ``band`` has the ends of 95%
    intervals for the share in the data, which are 0 and infinity if nothing is known.
    """

    labels: NDArray[np.int64]
    share: NDArray[np.float64]
    band: tuple[NDArray[np.float64], NDArray[np.float64]]
    is_known: bool

    @classmethod
    def of(cls, release: Release) -> Guessing:
        """Compute the curve from the released profile, and its band from the release: free post-processing.

        See :func:`~anonhist.releases.covered.covered_interval`.
        """
        profile = release.profile
        labels = np.array(round_grid(max(1, profile.num_labels), points=_POINTS), dtype=np.int64)
        share = covered_share(profile, labels)
        error = release.error
        if error.band is None and error.why_unknown:
            return cls(labels, share, (np.zeros(share.shape), np.full(share.shape, np.inf)), is_known=False)
        return cls(labels, share, release.covered_share(labels), is_known=True)

    @property
    def hover(self) -> Hover:
        """The text of the curve at each number of labels."""
        columns, texts = (each.tolist() for each in (self.labels, self.share, *self.band)), []
        for labels, share, low, high in zip(*columns, strict=True):
            ends = f"; 95% interval {interval(100 * low, 100 * high, places=2)}%" if self.is_known else ""
            texts.append(f"the {labels:,} most frequent: {100 * share:.2f}% of the items{ends}")
        return Hover(self.labels.tolist(), texts)


def guessing_figure(release: Release, *, guessing: Guessing | None = None) -> matplotlib_figure.Figure:
    """Draw the share of all items that the β most frequent labels cover, β on a log scale, with a 95% band.

    The 95% are meant for each β by itself, not for the whole curve at once.
    """
    curve = guessing or Guessing.of(release)
    figure, axes = canvas("share of items covered", f"most frequent {release.words.labels} (β)")
    if not len(release.profile):
        say_empty(axes)
        return figure
    if curve.is_known:
        axes.fill_between(curve.labels, *curve.band, color=BAND, linewidth=0, label="95% interval")
    mark = "-" if curve.labels.size > 1 else "o"
    axes.plot(curve.labels, curve.share, mark, color=BLUE, linewidth=1.6, label="released guessing curve")
    mark_shares(axes)
    scale_across(axes, max(2.5, float(curve.labels[-1]) * 1.25))
    add_legend(axes)
    return figure


@dataclass(frozen=True)
class ReleaseView:
    """How releases of one kind are drawn, written as a page and described in a terminal.

    The ``truth`` of ``write`` is what the page shows without any privacy; most kinds refuse it.
    """

    figure: Callable[[Release], Figure]
    write: Callable[[Release, Sheet, Any], None]
    facts: Callable[[Release], list[tuple[str, str]]] = lambda _: []


def view_of(release: Release) -> ReleaseView:
    """Return how a release of this kind is shown."""
    view: ReleaseView = load(RELEASED_BY[release.mechanism.kind.name].view)
    return view


def release_figure(release: Release) -> Figure:
    """Draw a release in the way of its kind."""
    return view_of(release).figure(release)


def write_release(release: Release, sheet: Sheet, truth: Any = None) -> None:
    """Write the page of a release in the way of its kind."""
    view_of(release).write(release, sheet, truth)


def write_profile(
    release: Release,
    sheet: Sheet,
    truth: object,
    *,
    again: str = "",
    also_promised: tuple[str, ...] = (),
    also_not_covered: tuple[str, ...] = (),
) -> None:
    """Write the page of a released profile; its error is computed first if need be.

    ``again`` says what running its command again does, if it does not draw new noise. ``also_promised`` and
    ``also_not_covered`` are sentences about the promise besides those that follow from the unit.
    """
    if truth is not None:
        raise UsageError("`not_private_truth` applies only to releases of degrees; leave it out.")
    guarantee = release.guarantee
    guessing = Guessing.of(release)
    limit = guarantee.unit.max_count
    first, *rest = release_exclusions(release)
    sheet.write_release(
        "anonhist.report/page.html",
        release,
        headline="How often things occur, without saying which things",
        subtitle=f"A differentially private profile: how many {release.words.labels} occur once, twice, and so on.",
        **released(release, noun="counts"),
        cards=_cards(release),
        promise=promised(
            guarantee,
            meaning=[*promise_of(release), *also_promised],
            not_covered=(first, *also_not_covered, *rest),
        ),
        remarks=[told for _, told in remarks(release)],
        k_plus_plot=inline_svg(
            lambda: k_plus_figure(release),
            name="k-plus",
            description="Labels with at least a given count, both on log scales, with a 95% band",
            hover=Points.at_least(release).hover,
        ),
        plot=inline_svg(
            lambda: prevalences_figure(release),
            name="prevalences",
            description="Released prevalences against counts, both on log scales, with 95% intervals",
            hover=Points.exactly(release).hover,
        ),
        words=release.words,
        bars=bars_text(release.error, none=f"that count from one that no {release.words.label} has"),
        # A guessing curve is mostly about the counts that a limit cuts.
        limit="" if limit is None else f"{limit:,}",
        guessing_plot=""
        if limit is not None
        else inline_svg(
            lambda: guessing_figure(release, guessing=guessing),
            name="guessing",
            description="Share of items covered by the most frequent labels, with a 95% band",
            hover=guessing.hover,
        ),
        guessing=list(_guessing_rows(guessing)) if len(release.profile) else [],
        runs=runs_text(release),
        again=again,
    )


def _cards(release: Release) -> list[tuple[str, str]]:
    """Return the numbers that are shown first, each with its meaning."""
    profile, guarantee = release.profile, release.guarantee
    many_items = with_interval(interval(*release.num_items().interval))
    counted = "" if release.items is None else f", released as a number of its own; the profile has {profile.n:,}"
    limit = guarantee.unit.max_count
    capped = "" if limit is None else f", each {release.words.label} counted at most {limit:,} times"
    reached = with_interval(interval(*release.k_plus(1).interval))
    error = f"items: {named_error(release, 'error of the whole profile (sorted ℓ1)')}{share_of_items(release)}"
    return [
        (f"{profile.num_labels:,}", f"different {release.words.labels} released; {reached}"),
        (
            f"{release.n:,}",
            f"items of these {release.words.labels}{capped}{counted}; {many_items}",
        ),
        (f"ε = {short_decimal(guarantee.epsilon)}", f"the whole privacy budget, for {guarantee.unit}"),
        (expected_error(release), error),
    ]


def _guessing_rows(guessing: Guessing) -> Iterable[tuple[str, str, str]]:
    unit = "%" if guessing.is_known else ""
    for power in range(len(str(guessing.labels[-1]))):
        at = int(np.searchsorted(guessing.labels, 10**power))
        low, high = (100 * float(end[at]) for end in guessing.band)
        share = f"{100 * float(guessing.share[at]):.2f}%"
        yield f"{10**power:,}", share, interval(low, high, places=2) + unit


VIEW = ReleaseView(prevalences_figure, write_profile)


_LEVELS = (2, 3, 5, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def facts(release: Release) -> list[tuple[str, str]]:
    """Return names and sentences: what was released, promised and done."""
    profile = release.profile
    unit = release.guarantee.unit
    words = release.words
    runs = release.error.simulations
    found = release.error.sorted_l1
    about = "" if release.error_is_vague else "about "
    told = (
        f"less than {words.error.format('one').removesuffix('s')} expected"
        # It would be written as 0; if only the range is known, that is shown.
        if found is not None and found.value < 0.5 and not release.error_is_vague
        else f"{about}{words.error.format(expected_error(release))} expected{share_of_items(release)}"
    )
    by_runs = f"{runs} simulations"
    methods = {BY_POSTERIOR: "by the noisy values", BY_BOTH: f"{by_runs} and the noisy values"}
    expected = (
        f"{told} (sorted ℓ1, {methods.get(found.method, by_runs)})."
        if found is not None
        else "not simulated (0 simulations), so there is no expected error and no interval based on one."
    )
    items, own, between = words.many_items(profile.n), "", _between(release.num_items())
    if release.items is None:
        items += between
    else:
        own = f" Released on its own: {words.many_items(release.items)}{between}."
    silent = "" if release.zeros is None else f", and {words.many_labels(release.zeros)} without any"
    capped = "" if unit.max_count is None else f", each {words.label} counted at most {many(unit.max_count, 'time')}"
    # If there are few labels, noise makes some: their number is never shown without its interval.
    # For bounded degrees, it is the interval of the remaining degrees, as in the table.
    labels = words.many_labels(profile.num_labels) + _between(release.error.k_plus(profile, 1)) + silent
    return [
        ("Released", f"{items} of {labels}{capped}.{own}"),
        *view_of(release).facts(release),
        *promise_lines(release.guarantee),
        *([("Users", everyone)] if (everyone := any_user(release)) else []),
        ("Error", expected),
        *remarks(release),
        *how_made(release),
    ]


def how_made(release: Release) -> list[tuple[str, str]]:
    """Say which mechanism made a release and why, and what arithmetic costs, to stand below the numbers."""
    return [
        ("Mechanism", f"{release.mechanism.name}. {release.reason}"),
        *([("Arithmetic", f"{clause}.")] if (clause := free_arithmetic(release.guarantee)) else []),
    ]


def _between(found: Estimate) -> str:
    return "" if found.statement.holds is not Holds.BOTH else f" (95% interval {interval(*found.interval)})"


def rows(release: Release) -> list[tuple[str, Estimate]]:
    """Return the numbers that a table shows: how many labels there are, by how often they occur."""
    words, error, profile = release.words, release.error, release.profile
    levels = {level for level in _LEVELS if profile.k_plus(level)}
    if (largest := release.guarantee.unit.max_count) is not None:
        # It is all that is known about larger counts.
        levels = {*levels, largest} - {1}
    # For bounded degrees, these are the remaining degrees, as in the text before the table.
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
        bound, cap, units = release.excess.bound, release.excess.cap, release.guarantee.unit.many
        shown.append((f"{units} with more than {many(bound, 'item')}", release.excess.units))
        shown.append((f"items left out of them, up to {cap:,} each", release.excess.capped_amount))
    return shown

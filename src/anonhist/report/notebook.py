"""The HTML of a cell: it takes its colors from the notebook, light or dark, and has no script."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from anonhist.errors import DataError, spell_out
from anonhist.mechanisms import METRICS, Comparison
from anonhist.mechanisms.comparison import NOT_PRIVATE as COMPARING_IS_NOT_PRIVATE
from anonhist.privacy import Guarantee, short_decimal
from anonhist.properties.estimate import Estimate, Estimates, Holds, format_number, percent
from anonhist.report import comparison as comparison_wording
from anonhist.report import curve as curve_wording
from anonhist.report import page
from anonhist.report.comparison import comparison_figure
from anonhist.report.curve import curve_figure
from anonhist.report.figures import inline_svg
from anonhist.report.groups import active_person, how_added, how_found, names_of, row_of
from anonhist.report.groups import heads_of as heads_of_groups
from anonhist.report.plain import plain_lines
from anonhist.report.shown import render
from anonhist.report.windows import cells_of, heads_of, shown_days, told_of, told_of_groups, windows_figure
from anonhist.report.wording import (
    PROMISE_NAMES,
    bound_of,
    known_ends,
    many,
    method_text,
    no_intervals,
    number_and_ends,
    promise_lines,
    with_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from matplotlib.figure import Figure

    from anonhist.mechanisms import GroupPlan
    from anonhist.mechanisms.bound_planning import BoundPlan, BoundPlanRow
    from anonhist.mechanisms.planning import Plan, PlanRow
    from anonhist.properties.curve import Curve
    from anonhist.releases import Release
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease
    from anonhist.releases.grouped import GroupedRelease


@dataclass(frozen=True)
class Cell:
    """The parts of a value that a notebook shows; all of them are plain text, not yet HTML.

    ``head`` names the columns, or is empty if rows explain themselves; the first text of each row names its subject;
    ``texts`` are the places of columns of words. ``alarms`` must not be missed: they say what is not private, and warn,
    as do warnings in ``told``. Below the table stands ``told``, and behind a click ``folded``. Empty texts are left
    out.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    alarms: Sequence[str] = ()
    told: Sequence[tuple[str, str]] = ()
    folded: Sequence[tuple[str, str]] = ()
    figure: Callable[[], Figure] | None = None
    texts: Collection[int] = (0,)

    def text(self) -> str:
        """Return the whole cell as plain text, to be printed."""
        told = [f"{name}: {text}" for name, text in (*self.told, *self.folded) if text]
        blocks = ([self.title], plain_lines(self.head, self.rows, texts=self.texts), self.alarms, told)
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def html(self) -> str:
        """Return the HTML."""
        alarms = [*(text for name, text in self.told if name == "Warning"), *self.alarms]
        return render("anonhist.report/cell.html", cell=self, alarms=alarms, plot=self._plot())

    def _plot(self) -> str:
        if self.figure is None:
            return ""
        # Parts of two plots in one notebook must not share names.
        said = repr((self.title, self.rows, self.told)).encode("utf-8", "surrogatepass")
        return inline_svg(
            self.figure,
            name=f"ah-{hashlib.sha256(said).hexdigest()[:12]}",
            description=self.title,
            keep_text=True,
        )


NOT_PRIVATE = "Not private: this was computed from the exact data. Make a release and estimate from it."
_FIRST = ("Released", *PROMISE_NAMES, "Users", "Rows", "Bound")


def release_cell(release: Release) -> Cell:
    """Return the cell of a release, whose error is computed first if need be, as for a page."""
    release, why = _with_error(release)
    return Cell(
        title=_title(f"by {release.mechanism.name}", release.guarantee),
        head=("", "released", "95% interval"),
        rows=[(name, *number_and_ends(found)) for name, found in page.rows(release)],
        alarms=[why],
        told=[fact for fact in page.facts(release) if fact[0] in _FIRST],
        folded=[fact for fact in page.facts(release) if fact[0] not in _FIRST],
        figure=lambda: page.release_figure(release),
    )


def _title(what: str, guarantee: Guarantee) -> str:
    return f"Private release {what}, ε = {short_decimal(guarantee.epsilon)}, protecting {guarantee.unit}"


def _with_error(release: Release) -> tuple[Release, str]:
    """Return a release to be shown, and why its errors are not simulated if memory cannot hold its profile."""
    try:
        _ = release.error
    except DataError as error:
        return replace(release, simulations=0), str(error)
    return release, ""


def estimate_cell(estimate: Estimate) -> Cell:
    """Return the cell of one estimate."""
    error = "" if estimate.statement.reason else f" ± {format_number(estimate.standard_error, digits=3)}"
    value = f"{format_number(estimate.value, digits=6)}{error}"
    parts = ", ".join(f"{cause} {format_number(part, digits=3)}" for cause, part in estimate.parts)
    return Cell(
        title=f"Estimate{f', in {estimate.unit}' if estimate.unit else ''}",
        head=("method", "estimate", _heading(estimate)),
        rows=[(method_text("", estimate), value, known_ends(estimate, digits=6))],
        alarms=estimate.warnings,
        told=[*_why([estimate]), *_promise([estimate.guarantee]), *bound_of(estimate)],
        folded=[("Method", estimate.method), ("Assumes", estimate.assumes), ("Standard errors", parts)],
    )


def estimates_cell(found: Estimates) -> Cell:
    """Return the cell of several estimates, with a row for each."""
    estimates = [estimate for _, estimate in found]
    return Cell(
        title="Estimates",
        head=("property", "method", "estimate", "unit", _heading(estimates[0]) if estimates else "interval"),
        rows=[
            (name, method_text("", each), format_number(each.value, digits=5), each.unit, known_ends(each, digits=5))
            for name, each in found
        ],
        told=[*_promise(dict.fromkeys(each.guarantee for each in estimates)), *bound_of(found)],
        folded=[
            *(("Warning", warning) for warning in dict.fromkeys(text for each in estimates for text in each.warnings)),
            *_why(estimates),
        ],
    )


def _heading(estimate: Estimate) -> str:
    return f"{100 * estimate.level:.6g}% interval"


def _why(estimates: Iterable[Estimate]) -> list[tuple[str, str]]:
    """Say why ends are missing, or what intervals leave out, each reason once."""
    said = {each.statement.reason: each.statement.holds for each in estimates if each.statement.reason}
    names = {Holds.BOTH: "Note", Holds.NONE: "No interval"}
    return [(names.get(holds, "One end only"), f"{reason}.") for reason, holds in said.items()]


def _promise(guarantees: Iterable[Guarantee | None]) -> Iterator[tuple[str, str]]:
    """Return what was promised, and warnings, including that nothing was promised."""
    for each in guarantees:
        yield from [("Warning", NOT_PRIVATE)] if each is None else promise_lines(each)


def curve_cell(curve: Curve) -> Cell:
    """Return the cell of a curve."""
    told = curve_wording.facts(curve)
    return Cell(
        title=curve_wording.view_of(curve).title,
        head=(curve.x_name, curve.value_name, curve_wording.band_name(curve)),
        rows=[curve_wording.cells_of(curve, at) for at in curve_wording.shown_points(curve)],
        alarms=[curve_wording.NOT_PRIVATE if curve.guarantee is None else ""],
        told=[
            *(("Note", note) for note in curve_wording.notes(curve)),
            *(fact for fact in told if fact[0] in (*PROMISE_NAMES, "Bound")),
        ],
        folded=[fact for fact in told if fact[0] not in (*PROMISE_NAMES, "Bound")],
        figure=lambda: curve_figure(curve),
    )


def comparison_cell(comparison: Comparison) -> Cell:
    """Return the cell of a comparison: it shows the first metric, and tables have the others."""
    metric = METRICS[0]
    return Cell(
        title=f"{metric.title}, in {comparison_wording.units()[metric.name]}",
        head=("mechanism", *(f"ε = {short_decimal(epsilon)}" for epsilon in comparison.epsilons)),
        rows=[
            (
                name,
                *(comparison_wording.cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons),
            )
            for name in comparison.mechanisms
        ],
        alarms=["" if comparison.of_release else COMPARING_IS_NOT_PRIVATE],
        told=[
            ("What was compared", comparison_wording.basis(comparison)),
            ("How to read it", comparison_wording.HOW_TO_READ),
        ],
        folded=[("Note", spell_out(note)) for note in comparison_wording.notes(comparison)],
        figure=lambda: comparison_figure(comparison),
    )


_ROWS = 20


def groups_cell(release: GroupedRelease) -> Cell:
    """Return the cell of a grouped release: the first groups, whose errors are computed if need be."""
    shown = {group: _with_error(each)[0] for group, each in islice(release.everything.items(), _ROWS)}
    left = len(release.everything) - len(shown)
    more = [("More", f"{many(left, 'more group')}, in the table of to_pandas().")] if left else []
    return Cell(
        title=_title(f"of {many(len(release), 'group')} by {', '.join(release.by)}", release.guarantee),
        head=heads_of_groups(release),
        rows=[row_of(group, release, each) for group, each in shown.items()],
        told=[
            *more,
            *promise_lines(release.guarantee),
            *bound_of(release),
            ("Groups", how_found(release)),
            ("Totals", how_added(release)),
        ],
        folded=[
            ("Mechanism", f"{release.mechanism.name}. {release.reason}"),
            ("Note", no_intervals(next(iter(shown.values())).error)),
            ("Note", active_person(release)),
        ],
    )


_DAYS, _GROUPS = 10, 20


def windows_cell(release: CumulativeRelease) -> Cell:
    """Return the cell of a release of cumulative windows: some days, and the curves."""
    return Cell(
        title=_title(f"of {told_of(release)}", release.guarantee),
        head=heads_of(release),
        rows=[(day, *cells_of(release, day)) for day in shown_days(release, _DAYS)],
        told=[*promise_lines(release.guarantee), *bound_of(release)],
        folded=[("Mechanism", f"{release.mechanism.name}. {release.reason}")],
        figure=lambda: windows_figure(release),
    )


def grouped_windows_cell(release: GroupedCumulativeRelease) -> Cell:
    """Return the cell of a release of cumulative windows by group: the last day of the first groups."""
    last, left = release.days[-1], len(release) - _GROUPS
    more = [("More", f"{many(left, 'more group')}, in the table of to_pandas().")] if left > 0 else []
    return Cell(
        title=f"{_title(f'of {told_of_groups(release)}', release.guarantee)}; here by the end of {last}",
        head=[*release.by, *heads_of(release.first)[1:]],
        rows=[(*names_of(group), *cells_of(each, last)) for group, each in islice(release.items(), _GROUPS)],
        told=[*more, *promise_lines(release.guarantee), *bound_of(release)],
        folded=[("Mechanism", f"{release.mechanism.name}. {release.first.reason}")],
    )


EXPECTED = "expected sorted ℓ1 distance, ± its standard error over the simulations."
PLAN_HEADS = ("mechanism", "epsilon", "items", "expected error in items", "of the items")


def plan_rows(planned: Iterable[PlanRow]) -> list[tuple[str, ...]]:
    """Return the rows of a plan, each for one budget."""
    return [
        (
            row.mechanism,
            short_decimal(row.epsilon),
            f"{row.items:,}",
            with_error(row.sorted_l1.value, row.sorted_l1.standard_error),
            percent(row.relative_error),
        )
        for row in planned
    ]


def plan_cell(planned: Plan) -> Cell:
    """Return the cell of a plan."""
    return Cell(title="Plan of a release", head=PLAN_HEADS, rows=plan_rows(planned), told=[("Error", EXPECTED)])


BOUND_PLAN_HEADS = ("epsilon", "bound", "share of epsilon", "left out", *PLAN_HEADS[3:], "best")


def bound_plan_rows(planned: Iterable[BoundPlanRow]) -> list[tuple[str, ...]]:
    """Return the rows of a plan of bounds: given ones, then chosen ones with their likeliest number."""
    return [
        (
            short_decimal(row.epsilon),
            f"{row.bound:,}" if not row.bound_share else f"auto, {row.bound:,} in {percent(row.probability)}",
            short_decimal(row.bound_share) if row.bound_share else "–",
            f"{row.left_out:,.0f}",
            with_error(row.sorted_l1.value, row.sorted_l1.standard_error),
            percent(row.relative_error),
            "yes" if row.is_best else "",
        )
        for row in planned
    ]


BOUND_PLAN_NOTES = (
    ("Error", f"{EXPECTED[:-1]}, from the data before items were left out."),
    ("Auto", "the likeliest bound, with its probability; the error is the mean over all."),
)


def bound_plan_cell(planned: BoundPlan) -> Cell:
    """Return the cell of a plan of bounds."""
    rows = bound_plan_rows(planned)
    return Cell(title="Plan of a bound", head=BOUND_PLAN_HEADS, rows=rows, told=[*BOUND_PLAN_NOTES])


def group_heads(planned: GroupPlan) -> tuple[str, ...]:
    """Return the headings of a plan for groups."""
    return *planned.by, "items", "expected error in items", "of the items", "mostly noise"


def group_rows(planned: GroupPlan, most: int) -> list[tuple[str, ...]]:
    """Return the rows of a plan for groups, each for one group, at most ``most``."""
    return [
        (
            *names_of(row.group),
            f"{row.items:,}",
            with_error(row.sorted_l1.value, row.sorted_l1.standard_error),
            percent(row.relative_error) if row.items else "–",
            "yes" if row.mostly_noise else "",
        )
        for row in planned.rows[:most]
    ]


def group_plan_title(planned: GroupPlan) -> str:
    """Say what was planned, without a full stop."""
    noisy = sum(row.mostly_noise for row in planned)
    return (
        f"{many(len(planned), 'group')} by {', '.join(planned.by)}, by the {planned.mechanism} mechanism with ε = "
        f"{short_decimal(planned.epsilon)} for {planned.unit}; {noisy:,} mostly noise"
    )


def group_plan_notes(planned: GroupPlan) -> list[tuple[str, str]]:
    """Return names and sentences that say what the numbers rest on."""
    runs = sorted({row.simulations for row in planned})
    number = f"{runs[0]:,} simulations" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,} simulations each"
    near = f"those within a factor of {planned.near:g} were planned as one." if planned.near > 1 else ""
    return [("Error", f"expected sorted ℓ1 distance, ± its standard error over {number}."), ("Sizes", near)]


def group_plan_cell(planned: GroupPlan) -> Cell:
    """Return the cell of a plan for groups: the first groups."""
    left = len(planned) - _GROUPS
    more = [("More", f"{many(left, 'more group')}, in the table of to_pandas().")] if left > 0 else []
    return Cell(
        title=f"Plan of {group_plan_title(planned)}",
        head=group_heads(planned),
        rows=group_rows(planned, _GROUPS),
        told=[*more, *group_plan_notes(planned)],
        texts=range(len(planned.by)),
    )

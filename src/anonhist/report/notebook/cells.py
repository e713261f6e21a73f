"""What a notebook shows of each kind of value, but for local privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError, spell_out
from anonhist.mechanisms import METRICS
from anonhist.mechanisms.comparison import NOT_PRIVATE as COMPARING_IS_NOT_PRIVATE
from anonhist.privacy import short_decimal, warning
from anonhist.properties.estimate import Holds, format_number
from anonhist.report import summary
from anonhist.report.comparison import wording as comparison_wording
from anonhist.report.comparison.figures import comparison_figure
from anonhist.report.curve import wording as curve_wording
from anonhist.report.curve.figures import curve_figure
from anonhist.report.kinds import view_of
from anonhist.report.notebook.cell import Cell
from anonhist.report.remarks import bound_of
from anonhist.report.sketch_wording import labels_text
from anonhist.report.wording import PROMISE_NAMES, interval, known_ends, method_text, promise_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.mechanisms import Comparison
    from anonhist.privacy import Guarantee
    from anonhist.properties.curve import Curve
    from anonhist.properties.estimate import Estimate, Estimates
    from anonhist.releases import Release
    from anonhist.sketches import Sketch

_NOT_PRIVATE = "Not private: this was computed from the exact data. Make a release and estimate from it."
_FIRST = ("Released", "Promise", "Protection", "Toward a party", "Users", "Bound")


def release_cell(release: Release) -> Cell:
    """Return the cell of a release, whose error is computed first if it has not been yet: as a page does."""
    said = warning(release.guarantee.epsilon)
    alarms = [said] if said else []
    try:
        _ = release.error
    except DataError as error:
        # Profiles that no memory holds are not simulated; they are shown all the same.
        release, alarms = replace(release, simulations=0), [*alarms, str(error)]
    told = [fact for fact in summary.facts(release) if fact[0] in _FIRST]
    return Cell(
        title=f"Private release by {release.mechanism.name}, ε = {short_decimal(release.guarantee.epsilon)}, "
        f"protecting {release.guarantee.unit}",
        head=("", "released", "95 % interval"),
        rows=[(name, f"{found.value:,.0f}", interval(*found.interval)) for name, found in summary.rows(release)],
        alarms=alarms,
        told=told,
        folded=[fact for fact in summary.facts(release) if fact[0] not in (*_FIRST, "Warning")],
        figure=lambda: view_of(release).figure(release),
    )


def estimate_cell(estimate: Estimate) -> Cell:
    """Return the cell of one estimate."""
    alarms, told = _promise([estimate.guarantee])
    error = "" if estimate.statement.reason else f" ± {format_number(estimate.standard_error, digits=3)}"
    value = f"{format_number(estimate.value, digits=6)}{error}"
    parts = ", ".join(f"{cause} {format_number(part, digits=3)}" for cause, part in estimate.parts)
    folded = (("Method", estimate.method), ("Assumes", estimate.assumes), ("Standard errors", parts))
    return Cell(
        title=f"Estimate{f', in {estimate.unit}' if estimate.unit else ''}",
        head=("method", "estimate", _heading(estimate)),
        rows=[(method_text("", estimate), value, known_ends(estimate, digits=6))],
        alarms=[*alarms, *estimate.warnings],
        told=[*_why([estimate]), *told, *bound_of(estimate)],
        folded=[(name, text) for name, text in folded if text],
    )


def estimates_cell(found: Estimates) -> Cell:
    """Return the cell of several estimates, a row each."""
    estimates = [estimate for _, estimate in found]
    alarms, told = _promise(dict.fromkeys(each.guarantee for each in estimates))
    return Cell(
        title="Estimates",
        head=("property", "method", "estimate", "unit", _heading(estimates[0]) if estimates else "interval"),
        rows=[
            (name, method_text("", each), format_number(each.value, digits=5), each.unit, known_ends(each, digits=5))
            for name, each in found
        ],
        alarms=alarms,
        told=[*told, *bound_of(found)],
        folded=[
            *(("Warning", warning) for warning in dict.fromkeys(text for each in estimates for text in each.warnings)),
            *_why(estimates),
        ],
    )


def _heading(estimate: Estimate) -> str:
    return f"{100 * estimate.level:.6g} % interval"


def _why(estimates: Iterable[Estimate]) -> list[tuple[str, str]]:
    """Say why ends are missing, or what intervals leave out: each reason once."""
    said = {each.statement.reason: each.statement.holds for each in estimates if each.statement.reason}
    names = {Holds.BOTH: "Note", Holds.NONE: "No interval"}
    return [(names.get(holds, "One end only"), f"{reason}.") for reason, holds in said.items()]


def _promise(guarantees: Iterable[Guarantee | None]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what must not be missed, and what was promised."""
    parts = [([_NOT_PRIVATE], []) if guarantee is None else promise_of(guarantee) for guarantee in guarantees]
    return [alarm for alarms, _ in parts for alarm in alarms], [line for _, lines in parts for line in lines]


def curve_cell(curve: Curve) -> Cell:
    """Return the cell of a curve."""
    alarm = curve_wording.NOT_PRIVATE if curve.guarantee is None else warning(curve.guarantee.epsilon)
    told = curve_wording.facts(curve)
    return Cell(
        title=curve_wording.view_of(curve).title,
        head=(curve.x_name, curve.value_name, curve_wording.band_name(curve)),
        rows=[
            (
                curve_wording.x_text(curve, at),
                curve_wording.value_text(curve, at),
                curve_wording.interval_text(curve, at),
            )
            for at in curve_wording.shown_points(curve)
        ],
        alarms=[alarm] if alarm else [],
        told=[
            *(("Note", note) for note in curve_wording.notes(curve)),
            *(fact for fact in told if fact[0] in (*PROMISE_NAMES[:-1], "Bound")),
        ],
        folded=[fact for fact in told if fact[0] not in (*PROMISE_NAMES, "Bound")],
        figure=lambda: curve_figure(curve),
    )


def comparison_cell(comparison: Comparison) -> Cell:
    """Return the cell of a comparison: its first metric; tables have the others."""
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
        alarms=[] if comparison.of_release else [COMPARING_IS_NOT_PRIVATE],
        told=[
            ("What was compared", comparison_wording.basis(comparison)),
            ("How to read it", comparison_wording.HOW_TO_READ),
        ],
        folded=[("Note", spell_out(note)) for note in comparison_wording.notes(comparison)],
        figure=lambda: comparison_figure(comparison, metric, legend=True),
    )


def sketch_cell(sketch: Sketch) -> Cell:
    """Return the cell of a sketch: what it is and what it promises, nothing of its counters.

    Notebooks are kept and sent around with what they show. Of two states of a sketch anybody can learn what was counted
    in between, so its state is shown only by who asks for it.
    """
    with sketch.turn:
        rows = [
            ("counters", f"{sketch.addresses.size:,}"),
            ("bytes of counters", f"{sketch.counters.nbytes:,}"),
            ("parts of the noise", f"{len(sketch.noise):,}"),
        ]
        told = labels_text(sketch)
        try:
            alarms, lines = promise_of(sketch.guarantee)
        except UsageError as error:
            alarms, lines = [], [("Promise", f"none. {error}")]
    return Cell(
        title=f"Private sketch, protecting {sketch.unit}",
        head=(),
        rows=rows,
        alarms=alarms,
        told=[("Sketch", told), *lines],
    )

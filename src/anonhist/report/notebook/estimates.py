"""What a notebook shows of estimates: the number, the interval, what it assumes, and what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.estimate import format_number
from anonhist.properties.statement import Holds
from anonhist.report.estimate_wording import ends_text, method_text
from anonhist.report.notebook.cell import Cell
from anonhist.report.wording import PROMISE_NAMES, promise_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.privacy import Guarantee
    from anonhist.properties.estimate import Estimate, Estimates

NOT_PRIVATE = "Not private: this was computed from the data, with no noise. Make a release, and estimate from that."


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
        rows=[(method_text("", estimate), value, ends_text(estimate, digits=6))],
        alarms=[*alarms, *estimate.warnings],
        told=[*_why([estimate]), *told],
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
            (name, method_text("", each), format_number(each.value, digits=5), each.unit, ends_text(each, digits=5))
            for name, each in found
        ],
        alarms=alarms,
        told=told,
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
    alarms, told = [], []
    for guarantee in guarantees:
        lines = [] if guarantee is None else promise_lines(guarantee)
        alarms += [sentence for name, sentence in lines if name == PROMISE_NAMES[-1]] if lines else [NOT_PRIVATE]
        told += [line for line in lines if line[0] != PROMISE_NAMES[-1]]
    return alarms, told

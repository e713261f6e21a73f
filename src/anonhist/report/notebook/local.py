"""What a notebook shows of local privacy: a survey, the tally of its reports, and the frequencies estimated from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.privacy import short_decimal, warning
from anonhist.report.local.figures import frequencies_figure
from anonhist.report.local.wording import HEADS, facts, headline, label_text, most_frequent, people, row_texts
from anonhist.report.notebook.cell import Cell
from anonhist.report.wording import PROMISE_NAMES, promise_of

if TYPE_CHECKING:
    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.local.surveys.reports import Tally
    from anonhist.local.surveys.survey import Survey

_ROWS = 10


def survey_cell(survey: Survey) -> Cell:
    """Return the cell of a survey: what everybody who answers knows of it."""
    alarms, lines = promise_of(survey.guarantee)
    alphabet = getattr(survey, "alphabet", None)
    known = "any text" if alphabet is None else f"{alphabet.size:,} values"
    title = f", {label_text(survey.title)}" if survey.title else ""
    return Cell(
        title=f"Survey{title}: {type(survey).__name__}, ε = {short_decimal(survey.epsilon)} a report",
        head=(),
        rows=[
            ("answers", known),
            ("bytes of a report", f"{survey.report_bytes:,}"),
            ("cells of a tally", f"{survey.cells:,}"),
            ("digest", survey.digest),
        ],
        alarms=alarms,
        told=lines,
        folded=[("Caution", each) for each in survey.cautions],
    )


def tally_cell(tally: Tally) -> Cell:
    """Return the cell of a tally: how much was counted; what it says, the survey estimates."""
    return Cell(
        title=f"Tally of the reports of {people(tally.users)}",
        head=(),
        rows=[
            ("cells met", f"{tally.cells.size:,}"),
            ("reports in them", f"{sum(tally.counts.tolist()):,}"),
            ("digest of the survey", tally.survey),
        ],
        told=[("Privacy", "every report was randomized before it was sent; the survey says what that promises.")],
    )


def frequencies_cell(estimate: FrequencyEstimate) -> Cell:
    """Return the cell of an estimate of frequencies: the most frequent values."""
    told, first = facts(estimate), ("Promise", *PROMISE_NAMES[1:-1], "Other", "Note")
    alarm, left = warning(estimate.guarantee.epsilon), len(estimate.labels) - _ROWS
    more = [("More", f"{left:,} less frequent values are in the table of to_pandas().")] if left > 0 else []
    return Cell(
        title=headline(estimate),
        head=HEADS,
        rows=[row_texts(estimate, place) for place in most_frequent(estimate, _ROWS)],
        alarms=[alarm] if alarm else [],
        told=[*more, *(fact for fact in told if fact[0].startswith(first))],
        folded=[fact for fact in told if not fact[0].startswith((*first, PROMISE_NAMES[-1]))],
        figure=lambda: frequencies_figure(estimate),
    )

"""The HTML of a cell: it takes text and paper from the notebook, light or dark, and has no script."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.report.sections import html as text_html
from anonhist.report.sections import table_of
from anonhist.report.svg import inline_svg

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

# Notebooks say in different ways whether they are dark, and some are light where the rest of the screen is dark. So
# nothing here depends on it: ink is theirs, and the other colors are legible on white and on black.
_STYLE = (
    "<style>"
    ".anonhist{--ink:currentColor;--line:rgba(128,128,128,.4);--accent:#2b8ab8;--band:rgba(72,160,205,.45);"
    "--alarm:#e5484d;--series-2:#d9651f;--series-3:#8b5cf6;--series-4:#2a9d56;--series-5:#b07f16;--series-6:#db4a8e;"
    "--series-7:#7c8a9c;--series-8:#c04fd6;max-width:64em}"
    ".anonhist>div{display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 2em}"
    ".anonhist p{margin:.4em 0}"
    ".anonhist table{margin:.4em 0;border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".anonhist th,.anonhist td{text-align:right;padding:.2em .7em;background:none;white-space:nowrap}"
    ".anonhist th:first-child{text-align:left}"
    ".anonhist tbody th{font-weight:normal}"
    ".anonhist thead th,.anonhist tbody tr{border-bottom:1px solid var(--line)}"
    ".anonhist svg{width:26em;max-width:100%;height:auto}"
    ".anonhist .alarm{border-left:4px solid var(--alarm);padding-left:.6em}"
    "</style>"
)


@dataclass(frozen=True)
class Cell:
    """What a notebook shows of a value; all of it is plain text, not yet HTML.

    Attributes
    ----------
    title
        What it is, in a line.
    head
        What the columns of the table are called; empty where rows say it.
    rows
        Its rows; the first of each is what the row is about.
    alarms
        Sentences that must not be missed: what is not private, and warnings.
    told
        Names and sentences below the table.
    folded
        Names and sentences that a click shows.
    figure
        Draws the plot, if there is one.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    alarms: Sequence[str] = ()
    told: Sequence[tuple[str, str]] = ()
    folded: Sequence[tuple[str, str]] = ()
    figure: Callable[[], Figure] | None = None

    def html(self) -> str:
        """Return the HTML."""
        alarms = "".join(f'<p class="alarm">{_html(each)}</p>' for each in self.alarms)
        folded = f"<details><summary>Details</summary>{_lines(self.folded)}</details>" if self.folded else ""
        return (
            f'<div class="anonhist">{_STYLE}<p><b>{_html(self.title)}</b></p>{alarms}'
            f"<div>{table_of(self.head, self.rows, write=_html)}{self._plot()}</div>{_lines(self.told)}{folded}</div>"
        )

    def _plot(self) -> str:
        if self.figure is None:
            return ""
        # Two plots in one notebook must not share names of their parts.
        said = repr((self.title, self.rows, self.told)).encode("utf-8", "surrogatepass")
        return inline_svg(
            self.figure,
            name=f"anonhist-{hashlib.sha256(said).hexdigest()[:12]}",
            description=self.title,
            keep_text=True,
        )


def _lines(told: Sequence[tuple[str, str]]) -> str:
    return "".join(f"<p><b>{_html(name)}:</b> {_html(sentence)}</p>" for name, sentence in told)


def _html(text: str) -> str:
    """Write text as HTML, with nothing that no file can hold."""
    return text_html(text.encode("utf-8", "backslashreplace").decode())

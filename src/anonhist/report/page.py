"""One self-contained HTML page about one release: it opens offline and asks nothing of any network."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.formats import check_free, write_whole
from anonhist.privacy import NeighboringRelation, short_decimal
from anonhist.report.figures import guessing_figure, k_plus_figure, plot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from anonhist.privacy import Guarantee
    from anonhist.releases import Release

_ROWS = 15
_LEVELS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)


def write_report(release: Release, path: str | Path, *, command: str | None = None, overwrite: bool = False) -> None:
    """Write a page that says what was released, what was promised, and how far off it may be.

    Parameters
    ----------
    release
        Its error is computed first if it has not been yet.
    path
        Must end in ``.html``.
    command
        The command that makes such a release again, with new noise.
    overwrite
        Replace an existing file.

    Raises
    ------
    UsageError
        If the path does not end in ``.html`` or exists already.
    OutputError
        If it cannot be written; nothing is left behind.
    """
    check_report_path(path)
    check_free(path, overwrite=overwrite)
    write_whole(path, _page(release, command).encode(), overwrite=overwrite)


def check_report_path(path: str | Path) -> None:
    """Refuse a report path that does not end in ``.html``."""
    if Path(path).suffix.lower() != ".html":
        message = f"A report is an HTML page: end its path in .html, not {str(path)!r}."
        raise UsageError(message)


def _page(release: Release, command: str | None) -> str:
    template = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))
    profile, error = release.profile, release.error
    reproduce = (
        f"<h2>Make one like it</h2><p>The same command draws new noise, and spends the budget again.</p>"
        f"<pre>{escape(command)}</pre>"
        if command
        else ""
    )
    relative = f" ({error.sorted_l1.value / profile.n:.2%} of the released items)" if profile.n else ""
    return template.substitute(
        items=f"{profile.n:,}",
        labels=f"{profile.num_labels:,}",
        distinct=f"{len(profile):,}",
        epsilon=escape(short_decimal(release.guarantee.epsilon)),
        l1=f"{error.sorted_l1.value:,.4g}",
        l1_error=f"{error.sorted_l1.standard_error:,.2g}",
        relative=relative,
        simulations=error.simulations,
        guarantee=escape(str(release.guarantee)),
        promise=_promise(release.guarantee),
        mechanism=escape(release.mechanism.name),
        reason=escape(release.reason),
        parameters=escape(", ".join(f"{name} = {value}" for name, value in release.mechanism.parameters.items())),
        plot=_svg(plot(release), "Released prevalences against counts, log-log, with 95 % intervals"),
        k_plus=_svg(k_plus_figure(release), "Labels with at least a given count, log-log, with a 95 % band"),
        guessing=_svg(guessing_figure(release), "Share of items covered by the most frequent labels"),
        prevalence_rows=_rows(
            (f"{r:,}", release.prevalence(r).value, release.prevalence(r).interval)
            for r in profile.counts[:_ROWS].tolist()
        ),
        more=f"<p class='quiet'>The first {_ROWS} of {len(profile):,} released counts.</p>"
        if len(profile) > _ROWS
        else "",
        k_plus_rows=_rows(
            (f"{k:,} or more", release.k_plus(k).value, release.k_plus(k).interval)
            for k in _LEVELS
            if not len(profile) or k <= int(profile.counts[-1])
        ),
        reproduce=reproduce,
        version=escape(release.library_version),
    )


def _promise(guarantee: Guarantee) -> str:
    change = (
        f"{guarantee.unit} had been added to the data or removed from them"
        if guarantee.relation is NeighboringRelation.ADD_OR_REMOVE
        else f"{guarantee.unit} had been exchanged for another"
    )
    odds = (
        "" if guarantee.epsilon > 10 else f" (a factor of at most {2.718281828459045 ** float(guarantee.epsilon):,.3g})"
    )
    return (
        f"Whatever anyone does with this page, they could conclude nearly the same if {escape(change)}: no conclusion "
        f"becomes more than e<sup>{escape(short_decimal(guarantee.epsilon))}</sup> times as likely or unlikely{odds}."
    )


def _rows(rows: Iterable[tuple[str, float, tuple[float, float]]]) -> str:
    return "".join(
        f"<tr><td>{escape(name)}</td><td>{value:,.0f}</td><td>{low:,.0f} to {high:,.0f}</td></tr>"
        for name, value, (low, high) in rows
    )


def _svg(figure: Figure, description: str) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)
    buffer = io.StringIO()
    # Fixed salt and no date: the same release draws the same bytes.
    with rc_context({"svg.hashsalt": description, "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    svg = text[text.index("<svg") :]
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)

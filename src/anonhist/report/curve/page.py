"""One self-contained HTML page about one curve."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.report.curve.figures import curve_figure
from anonhist.report.curve.wording import (
    NOT_PRIVATE,
    band_name,
    facts,
    interval_text,
    notes,
    parts_text,
    place_text,
    ring_of,
    shown_kinds,
    shown_points,
    value_text,
    view_of,
    x_text,
)
from anonhist.report.frame import Sheet, template
from anonhist.report.hover import Hover
from anonhist.report.sections import (
    card,
    download,
    epsilon_warning,
    html,
    promised,
    reproduce,
    scrolled,
    warning_box,
)
from anonhist.report.svg import inline_svg
from anonhist.report.wording import PROMISE_NAMES

if TYPE_CHECKING:
    from anonhist.properties.curve import Curve


def write_curve(curve: Curve, sheet: Sheet) -> None:
    """Write the page of a curve; where it was not made from a release, it says first that it is not private."""
    sheet.check()
    view = view_of(curve)
    sheet.write(_main(curve, sheet.command), headline=view.title, subtitle=view.subtitle)


def _main(curve: Curve, command: str | None) -> str:
    view = view_of(curve)
    words = {
        "caption": f"{view.value_label}, against {view.x_label}{_band_text(curve)}.".capitalize(),
        "reading": view.reading,
    }
    return template("curve.html").substitute(
        {name: html(text) for name, text in words.items()},
        warning=warning_box(NOT_PRIVATE) if curve.guarantee is None else epsilon_warning(curve.guarantee),
        cards="".join(_card(curve, at) for at in _cards(curve)),
        notes="".join(f"<p><b>Note.</b> {html(each)}</p>" for each in notes(curve)),
        promised="" if curve.guarantee is None else promised(curve.guarantee),
        plot=inline_svg(
            lambda: curve_figure(curve),
            name="curve",
            description=f"{view.title}{_band_text(curve)}",
            hover=Hover(curve.x.tolist(), [_told(curve, at) for at in range(len(curve))]),
        ),
        table=_table(curve),
        download=download(curve, rows=len(curve), name="curve.csv"),
        facts="".join(
            f"<p><b>{escape(name)}:</b> {html(text)}</p>" for name, text in facts(curve) if name not in PROMISE_NAMES
        ),
        reproduce=reproduce(command, "Values stay the same. Bands come from simulations, so they change a little."),
    )


def _band_text(curve: Curve) -> str:
    return "" if curve.why_unknown else f", with the {band_name(curve)} at each"


def _cards(curve: Curve) -> list[int]:
    """Return the points that are told first: what was observed and the last, or those near the x that are wanted."""
    wanted = view_of(curve).first
    if not wanted:
        last = len(curve) - 1
        ring = ring_of(curve)
        return sorted({last if ring is None else ring, last})
    near = [int(abs(curve.x - mark).argmin()) for mark in wanted]
    return sorted({at for at, mark in zip(near, wanted, strict=True) if abs(curve.x[at] - mark) <= 0.1 * mark})


def _card(curve: Curve, at: int) -> str:
    told = view_of(curve).told.format(place_text(curve, at))
    return card(value_text(curve, at), f"{told}{_interval(curve, at)}")


def _told(curve: Curve, at: int) -> str:
    """Say on one line what the curve says at one point."""
    return f"{place_text(curve, at)}: {value_text(curve, at)}{_interval(curve, at)}"


def _interval(curve: Curve, at: int) -> str:
    return "" if curve.why_unknown else f"; {band_name(curve)} {interval_text(curve, at)}"


def _table(curve: Curve) -> str:
    causes = [f"± {cause}" for cause, _ in curve.parts]
    # The short names: a page on paper has room for no more.
    heads = (curve.x_name, curve.value_name, *causes, band_name(curve), *(["kind"] if shown_kinds(curve) else []))
    titles = "".join(f'<th scope="col">{html(head)}</th>' for head in heads)
    rows = "".join(_row(curve, at) for at in shown_points(curve))
    joined = "; they join in squares" if len(curve.parts) > 1 else ""
    said = f"± is one standard error of each cause, without bias{joined}."
    note = f'<p class="quiet">{said}</p>' if curve.parts else ""
    table = f"<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{scrolled(table, label='The numbers')}{note}"


def _row(curve: Curve, at: int) -> str:
    value = value_text(curve, at)
    cells = (value, *parts_text(curve, at), interval_text(curve, at), *shown_kinds(curve)[at : at + 1])
    return f'<tr><th scope="row">{x_text(curve, at)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'

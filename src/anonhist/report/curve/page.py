"""One self-contained HTML page about one curve."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.report import sections
from anonhist.report.curve import wording
from anonhist.report.curve.figures import curve_figure
from anonhist.report.frame import Sheet, template
from anonhist.report.hover import Hover
from anonhist.report.svg import inline_svg
from anonhist.report.wording import PROMISE_NAMES

if TYPE_CHECKING:
    from anonhist.properties.curve import Curve


def write_curve(curve: Curve, sheet: Sheet) -> None:
    """Write the page of a curve; where it was not made from a release, it says first that it is not private."""
    sheet.check()
    view = wording.view_of(curve)
    sheet.write(_main(curve, sheet.command), headline=view.title, subtitle=view.subtitle)


def _main(curve: Curve, command: str | None) -> str:
    view = wording.view_of(curve)
    words = {
        "caption": f"{view.value_label}, against {view.x_label}{_band_text(curve)}.".capitalize(),
        "reading": view.reading,
    }
    return template("curve.html").substitute(
        {name: sections.html(text) for name, text in words.items()},
        warning=sections.warning_box(wording.NOT_PRIVATE)
        if curve.guarantee is None
        else sections.epsilon_warning(curve.guarantee),
        cards="".join(_card(curve, at) for at in _cards(curve)),
        notes=sections.notes_html(wording.notes(curve)),
        promised="" if curve.guarantee is None else sections.promised(curve.guarantee),
        plot=inline_svg(
            lambda: curve_figure(curve),
            name="curve",
            description=f"{view.title}{_band_text(curve)}",
            hover=Hover(curve.x.tolist(), [_told(curve, at) for at in range(len(curve))]),
        ),
        table=_table(curve),
        download=sections.download(curve, rows=len(curve), name="curve.csv"),
        facts="".join(
            f"<p><b>{escape(name)}:</b> {sections.html(text)}</p>"
            for name, text in wording.facts(curve)
            if name not in PROMISE_NAMES
        ),
        reproduce=sections.reproduce(
            command, "Values stay the same. Bands come from simulations, so they change a little."
        ),
    )


def _band_text(curve: Curve) -> str:
    return "" if curve.why_unknown else f", with the {wording.band_name(curve)} at each"


def _cards(curve: Curve) -> list[int]:
    """Return the points that are told first: what was observed and the last, or those near the x that are wanted."""
    wanted = wording.view_of(curve).first
    if not wanted:
        last = len(curve) - 1
        ring = wording.ring_of(curve)
        return sorted({last if ring is None else ring, last})
    near = [int(abs(curve.x - mark).argmin()) for mark in wanted]
    return sorted({at for at, mark in zip(near, wanted, strict=True) if abs(curve.x[at] - mark) <= 0.1 * mark})


def _card(curve: Curve, at: int) -> str:
    told = wording.view_of(curve).told.format(wording.place_text(curve, at))
    return sections.card(wording.value_text(curve, at), f"{told}{_interval(curve, at)}")


def _told(curve: Curve, at: int) -> str:
    """Say on one line what the curve says at one point."""
    return f"{wording.place_text(curve, at)}: {wording.value_text(curve, at)}{_interval(curve, at)}"


def _interval(curve: Curve, at: int) -> str:
    return "" if curve.why_unknown else f"; {wording.band_name(curve)} {wording.interval_text(curve, at)}"


def _table(curve: Curve) -> str:
    causes, kinds = [f"± {cause}" for cause, _ in curve.parts], wording.shown_kinds(curve)
    # The short names: a page on paper has room for no more.
    heads = (curve.x_name, curve.value_name, *causes, wording.band_name(curve), *(["kind"] if kinds else []))
    rows = [
        (
            wording.x_text(curve, at),
            wording.value_text(curve, at),
            *wording.parts_text(curve, at),
            wording.interval_text(curve, at),
            *kinds[at : at + 1],
        )
        for at in wording.shown_points(curve)
    ]
    joined = "; they add in quadrature" if len(curve.parts) > 1 else ""
    said = f"± is one standard error of each cause, without bias{joined}."
    note = f'<p class="quiet">{said}</p>' if curve.parts else ""
    return f"{sections.scrolled(sections.table_of(heads, rows), label='The numbers')}{note}"

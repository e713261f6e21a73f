"""The tables, the figure and the page of a comparison of sites."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.properties.estimate import format_number
from anonhist.report.figures import (
    BAND,
    SERIES,
    add_legend,
    canvas,
    fitting,
    inline_svg,
    name_marks,
    say_empty,
    small_multiples,
)
from anonhist.report.notebook import Cell
from anonhist.report.shown import download

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anonhist.report.shown import Sheet
    from anonhist.species.comparison import SiteComparison
    from anonhist.species.site import Diversity

NOT_PRIVATE = "These numbers are not private: they are computed from the exact data."
_BASES = ("equal coverage", "equal size", "asymptote")
TITLES = {
    "equal coverage": "At equal coverage",
    "equal size": "At equal size",
    "asymptote": "Of the whole community, estimated",
}
# More sites make bands that cover each other, and colors that come again, in which sites could not be told apart.
# The first color is that of texts.
_MOST_BANDS, _MOST_DRAWN = 4, len(SERIES) - 1


def site_rows(comparison: SiteComparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads and the rows of the table of sites."""
    is_incidence = comparison.data == "incidence"
    middle = ("units", "detections") if is_incidence else ("individuals",)
    letter = "Q" if is_incidence else "f"
    heads = ("site", *middle, "species", f"coverage ({100 * comparison.level:g}%)", f"{letter}1", f"{letter}2")
    rows = []
    for site in comparison.sites:
        sizes = (f"{site.size:,}", f"{site.total:,}") if is_incidence else (f"{site.size:,}",)
        covered = f"{site.coverage:.4f} ({site.coverage_low:.4f} to {site.coverage_high:.4f})"
        rows.append((site.name, *sizes, f"{site.num_species:,}", covered, *map(str, site.first[:2])))
    return heads, rows


def diversity_rows(rows: Sequence[Diversity], level: float) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heads and the rows of a table of Hill numbers with one base."""
    has_size = any(math.isfinite(row.size) for row in rows)
    heads = (
        "site",
        "order",
        *(("size", "coverage") if has_size else ()),
        "value",
        "± error",
        f"{100 * level:g}% interval",
    )
    cells = []
    for row in rows:
        where = (_size_text(row.size), f"{row.coverage:.4f}") if has_size else ()
        value, error, low, high = (_number(each) for each in (row.value, row.standard_error, row.low, row.high))
        ends = "none" if math.isnan(row.low) else f"at least {low}" if row.high == math.inf else f"{low} to {high}"
        said = (row.site, str(row.order), *where, value, error, ends)
        cells.append((*said, row.kind) if has_size else said)
    return ((*heads, "kind") if has_size else heads), cells


def _number(value: float) -> str:
    return format_number(value, digits=5)


def _size_text(size: float) -> str:
    return f"{size:,.0f}" if float(size).is_integer() else f"{size:,.1f}"


def bases(comparison: SiteComparison) -> list[str]:
    """Return the bases that have rows, without curves, in the order of tables."""
    return [base for base in _BASES if any(row.base == base for row in comparison.estimates)]


def facts(comparison: SiteComparison) -> list[tuple[str, str]]:
    """Return names and sentences that say what the numbers rest on."""
    alike = (
        "sampling units are alike and independent"
        if comparison.data == "incidence"
        else "individuals are drawn independently"
    )
    return [
        ("Method", "rarefaction, extrapolation and asymptotes of Hill numbers, as in iNEXT 3."),
        ("Assumes", f"{alike}; species not found are about as rare as those found once."),
        (
            "Errors",
            f"from {comparison.bootstraps:,} bootstrap samples; by formulas of Chao (order 0, asymptote) and Esty.",
        ),
    ]


def comparison_figure(comparison: SiteComparison, *, by_coverage: bool = False) -> Figure:
    """Draw the curves of all sites: a panel for each order, solid up to the data, dashed beyond, with bands.

    The horizontal axis is the size of the sample, or its expected coverage.
    """
    curves = [row for row in comparison.estimates if row.base == "curve"]
    orders = sorted({row.order for row in curves})
    x_label = "sample coverage" if by_coverage else f"number of {comparison.drawn}"
    if not curves:
        figure, axes = canvas("effective number of species", x_label)
        say_empty(axes, "no curves were asked for")
        return figure
    names = [site.name for site in comparison.sites][:_MOST_DRAWN]

    def draw(axes: Axes, at: int) -> None:
        of_order = [row for row in curves if row.order == orders[at]]
        for place, name in enumerate(names):
            _draw_site(axes, [row for row in of_order if row.site == name], place, len(names), by_coverage=by_coverage)
        axes.set_ylim(bottom=0)
        if by_coverage:
            axes.set_xlim(right=1)
        else:
            axes.set_xlim(left=0)
            name_marks(axes.xaxis, max(row.size for row in of_order))

    if len(orders) == 1:
        figure, axes = canvas("effective number of species", x_label)
        draw(axes, 0)
        add_legend(axes)
        return figure
    titles = [f"order {order}" for order in orders]
    return small_multiples(titles, draw, y_label="effective number of species", x_label=x_label)


def _draw_site(axes: Axes, rows: Sequence[Diversity], place: int, many: int, *, by_coverage: bool) -> None:
    x = np.array([row.coverage if by_coverage else row.size for row in rows])
    y, low, high = (np.array([getattr(row, name) for row in rows]) for name in ("value", "low", "high"))
    kinds = np.array([row.kind for row in rows])
    color = SERIES[(place + 1) % len(SERIES)]
    # Intervals at a size are too short for a coverage, whose size is not known exactly.
    if many <= _MOST_BANDS and not by_coverage:
        axes.fill_between(
            x, low, high, color=BAND if many == 1 else color, alpha=1.0 if many == 1 else 0.15, linewidth=0
        )
    within = kinds != "extrapolated"
    beyond = kinds != "interpolated"
    name = fitting(rows[0].site, widest=90.0, size=9.5, longest=24).replace("$", "\\$")
    axes.plot(x[within], y[within], "-", color=color, linewidth=1.6, label=name)
    axes.plot(x[beyond], y[beyond], "--", color=color, linewidth=1.6)
    ring = kinds == "observed"
    # Samples that cover nearly everything are at the edge, which would cut the dot.
    axes.plot(x[ring], y[ring], "o", color=color, markersize=5, clip_on=False)


def comparison_cell(comparison: SiteComparison) -> Cell:
    """Return the notebook cell of a comparison: its first table of Hill numbers."""
    base = (bases(comparison) or ["asymptote"])[0]
    heads, rows = diversity_rows(comparison.of(base), comparison.level)  # type: ignore[arg-type]  # it is one of them
    return Cell(
        title=f"{TITLES[base]}: effective numbers of species",
        head=heads,
        rows=rows,
        alarms=[NOT_PRIVATE],
        told=[("Note", note) for note in (*comparison.warnings, _not_drawn(comparison)) if note],
        folded=facts(comparison),
        figure=lambda: comparison_figure(comparison),
        texts=[0, len(heads) - 1] if heads[-1:] == ("kind",) else [0],
    )


def write_comparison(comparison: SiteComparison, sheet: Sheet) -> None:
    """Write the page of a comparison, which says first that it is not private."""
    heads, rows = site_rows(comparison)
    tables = []
    for base in bases(comparison):
        table_heads, table_rows = diversity_rows(comparison.of(base), comparison.level)  # type: ignore[arg-type]
        tables.append({"title": TITLES[base], "heads": table_heads, "rows": table_rows})
    has_curves = bool(comparison.of("curve"))
    sheet.write(
        "anonhist.species/comparison.html",
        headline="How many species, and how diverse",
        subtitle="Hill numbers: the effective number of species, with less weight on rare ones as the order grows.",
        warning=NOT_PRIVATE,
        cards=[(f"{len(comparison.sites):,}", "sites")] if len(comparison.sites) > 1 else [],
        notes=comparison.warnings,
        plots=[
            {
                "plot": inline_svg(
                    lambda by_coverage=by_coverage: comparison_figure(comparison, by_coverage=by_coverage),  # type: ignore[misc]
                    name="coverage" if by_coverage else "size",
                    description=caption,
                    keep_text=True,
                ),
                "caption": caption,
                "reading": reading,
            }
            for by_coverage, caption, reading in _plots(comparison)
        ]
        if has_curves
        else [],
        heads=heads,
        rows=rows,
        tables=tables,
        download=download(comparison, rows=len(comparison.estimates)),
        facts=facts(comparison),
    )


def _not_drawn(comparison: SiteComparison) -> str:
    """Say that not all sites are drawn, if so."""
    many = len(comparison.sites)
    return f"Curves are drawn for the first {_MOST_DRAWN} of {many:,} sites." if many > _MOST_DRAWN else ""


def _plots(comparison: SiteComparison) -> tuple[tuple[bool, str, str], ...]:
    """Return, for the curves by size and by coverage, what they show and how to read them."""
    has_bands = len(comparison.sites) <= _MOST_BANDS
    more = f" {_not_drawn(comparison)}".rstrip()
    band = f", with {100 * comparison.level:g}% intervals" if has_bands else ""
    by_size = (
        "Solid lines are what a part of the data shows on average, dots the data, dashed lines a forecast. Compare "
        "sites at the same size: beside each other, straight up."
    )
    by_coverage = (
        "The coverage is the share of a community, weighted by how frequent its species are, that has been found. "
        "At the same coverage, samples are equally complete: what differs is the community. Tables have intervals."
    )
    return (
        (False, f"Effective number of species against the number of {comparison.drawn}{band}.{more}", by_size),
        (True, f"Effective number of species against the sample coverage.{more}", by_coverage),
    )

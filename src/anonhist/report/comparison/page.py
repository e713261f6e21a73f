"""One self-contained HTML page about mechanisms side by side."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.errors import spell_out
from anonhist.mechanisms import METRICS
from anonhist.mechanisms.comparison import NOT_PRIVATE
from anonhist.privacy import short_decimal
from anonhist.report.comparison.figures import comparison_figure
from anonhist.report.comparison.wording import HOW_TO_READ, MARK, advice, cell, change, notes, ranking, units
from anonhist.report.frame import Sheet, template
from anonhist.report.hover import Hover
from anonhist.report.sections import card, download, folded, reproduce, scrolled, warning_box
from anonhist.report.svg import inline_svg

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.mechanisms import Comparison, Metric


def write_comparison(comparison: Comparison, sheet: Sheet) -> None:
    """Write a page with the errors of each mechanism against ε: what to use, then plots, then numbers.

    It tells of the data as much as the comparison does, and says so first.
    """
    sheet.check()
    subtitle = "Real releases, compared with the data that they were made from."
    sheet.write(_main(comparison, sheet.command), headline="Mechanisms side by side", subtitle=subtitle)


def _main(comparison: Comparison, command: str | None) -> str:
    first, *others = METRICS
    words = {
        "repeats": f"{comparison.repeats:,}",
        "main_caption": _caption(first),
        "how_to_read": HOW_TO_READ,
    }
    return template("comparison.html").substitute(
        {name: escape(text) for name, text in words.items()},
        warning=warning_box("" if comparison.of_release else NOT_PRIVATE),
        advice=f'<h2>What to use</h2><p class="promise">{escape(said)}</p>' if (said := advice(comparison)) else "",
        cards="".join(card(*each) for each in _cards(comparison)),
        notes="".join(f"<li>{escape(spell_out(each, _in_words))}</li>" for each in notes(comparison)),
        main_plot=_plot(comparison, first, legend=True),
        more_plots="".join(_figure(comparison, metric) for metric in others),
        table=_table(comparison, first),
        more_tables=folded("Other errors, and time", "".join(_table(comparison, metric) for metric in others)),
        download=download(comparison, rows=len(comparison.rows), name="compare.csv"),
        reproduce=reproduce(command, "The same command makes new releases, so the numbers change a little."),
    )


def _in_words(name: str, value: str | None) -> str:
    """Write a parameter as words: a reader of the page may have typed it as an option or as a keyword."""
    return name.replace("_", " ") + ("" if value is None else f" {value}")


def _cards(comparison: Comparison) -> list[tuple[str, str]]:
    return [
        (f"{comparison.items:,}", "items in the data"),
        (f"{comparison.labels:,}", "different labels among them"),
        (f"{comparison.repeats:,}", "releases per mechanism and epsilon"),
        (str(comparison.unit), f"protected by each release, {change(comparison)}"),
    ]


def _caption(metric: Metric) -> str:
    return f"{metric.title}: {metric.meaning}."


def _figure(comparison: Comparison, metric: Metric) -> str:
    caption = escape(_caption(metric))
    return f"<figure>{_plot(comparison, metric, legend=False)}<figcaption>{caption}</figcaption></figure>"


def _plot(comparison: Comparison, metric: Metric, *, legend: bool) -> str:
    budgets = sorted(comparison.epsilons)
    return inline_svg(
        lambda: comparison_figure(comparison, metric, legend=legend),
        name=metric.name.replace("_", "-"),
        description=f"{metric.title} against epsilon, both on log scales, a line per mechanism",
        hover=Hover([float(each) for each in budgets], [ranking(comparison, each, metric) for each in budgets]),
    )


def _table(comparison: Comparison, metric: Metric) -> str:
    heads = "".join(f'<th scope="col">ε = {short_decimal(epsilon)}</th>' for epsilon in comparison.epsilons)
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(_cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons)
        + "</tr>"
        for name in comparison.mechanisms
    )
    title = f"{metric.title}, in {units()[metric.name]}"
    head = f'<thead><tr><th scope="col">mechanism</th>{heads}</tr></thead>'
    return f"<h3>{escape(title)}</h3>{scrolled(f'<table>{head}<tbody>{rows}</tbody></table>', label=title)}"


def _cell(comparison: Comparison, mechanism: str, epsilon: Fraction, metric: str) -> str:
    # In a narrow window the error stands below the number.
    text = cell(comparison, mechanism, epsilon, metric)
    best = ' class="best"' if text.endswith(MARK) else ""
    return f"<td{best}>{' <span>± '.join(f'{part}</span>' for part in f'<span>{text}'.split(' ± '))}</td>"

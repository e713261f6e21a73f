"""One self-contained HTML page about mechanisms side by side."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.errors import spell_out
from anonhist.mechanisms import METRICS
from anonhist.mechanisms.comparison.rows import NOT_PRIVATE
from anonhist.privacy import short_decimal
from anonhist.report.comparison.figures import comparison_figure
from anonhist.report.comparison.wording import HOW_TO_READ, MARK, cell, change, notes, units
from anonhist.report.frame import check_page, reproduce, template, write_page
from anonhist.report.svg import inline_svg
from anonhist.version import __version__

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from anonhist.mechanisms import Comparison, Metric


def write_comparison(
    comparison: Comparison, path: str | Path, *, command: str | None = None, overwrite: bool = False
) -> None:
    """Write a page with the errors of each mechanism against epsilon: plots, then numbers.

    It tells of the data as much as the comparison does, and says so first.

    Parameters
    ----------
    comparison
        What :func:`anonhist.compare` returned.
    path
        Must end in ``.html``.
    command
        The command that makes such a comparison again. It stands on the page.
    overwrite
        Replace an existing file.

    Raises
    ------
    UsageError
        If the path does not end in ``.html`` or exists already.
    OutputError
        If it cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from anonhist.mechanisms import compare
    >>> from anonhist.profiles import Profile
    >>> found = compare(Profile.from_counts([8, 8, 3]), epsilons=[1, 2], mechanisms=["auto"], repeats=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "compare.html"
    ...     write_comparison(found, page)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_page(path, overwrite=overwrite)
    write_page(path, _main(comparison, command), title="Mechanisms compared by anonhist", overwrite=overwrite)


def _main(comparison: Comparison, command: str | None) -> str:
    first, *others = METRICS
    words = {
        "warning": NOT_PRIVATE,
        "items": f"{comparison.items:,}",
        "labels": f"{comparison.labels:,}",
        "repeats": f"{comparison.repeats:,}",
        "unit": str(comparison.unit),
        "change": change(comparison),
        "main_caption": _caption(first),
        "how_to_read": HOW_TO_READ,
        "version": __version__,
    }
    return template("comparison.html").substitute(
        {name: escape(text) for name, text in words.items()},
        notes="".join(f"<li>{escape(spell_out(each))}</li>" for each in notes(comparison)),
        main_plot=_plot(comparison, first, legend=True),
        more_plots="".join(_figure(comparison, metric) for metric in others),
        tables="".join(_table(comparison, metric) for metric in METRICS),
        reproduce=reproduce(command, "The same command makes new releases, so the numbers change a little."),
    )


def _caption(metric: Metric) -> str:
    return f"{metric.title}: {metric.meaning}."


def _figure(comparison: Comparison, metric: Metric) -> str:
    caption = escape(_caption(metric))
    return f"<figure>{_plot(comparison, metric, legend=False)}<figcaption>{caption}</figcaption></figure>"


def _plot(comparison: Comparison, metric: Metric, *, legend: bool) -> str:
    return inline_svg(
        lambda: comparison_figure(comparison, metric, legend=legend),
        name=metric.name.replace("_", "-"),
        description=f"{metric.title} against epsilon, both on log scales, a line per mechanism",
    )


def _table(comparison: Comparison, metric: Metric) -> str:
    heads = "".join(f'<th scope="col">ε = {short_decimal(epsilon)}</th>' for epsilon in comparison.epsilons)
    rows = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(_cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons)
        + "</tr>"
        for name in comparison.mechanisms
    )
    title = escape(f"{metric.title}, in {units()[metric.name]}")
    return (
        f'<h3>{title}</h3><div class="compared" tabindex="0" role="region" aria-label="{title}"><table>'
        f'<thead><tr><th scope="col">mechanism</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cell(comparison: Comparison, mechanism: str, epsilon: Fraction, metric: str) -> str:
    # In a narrow window the error stands below the number.
    text = cell(comparison, mechanism, epsilon, metric)
    best = ' class="best"' if text.endswith(MARK) else ""
    return f"<td{best}>{' <span>± '.join(f'{part}</span>' for part in f'<span>{text}'.split(' ± '))}</td>"

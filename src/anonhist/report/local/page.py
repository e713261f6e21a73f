"""One self-contained HTML page about one estimate of frequencies."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.privacy import short_decimal, warning
from anonhist.report.frame import check_page, reproduce, template, warning_box, write_page
from anonhist.report.local.figures import MOST, frequencies_figure
from anonhist.report.local.wording import (
    HEADS,
    exclusions,
    facts,
    headline,
    most_frequent,
    other_text,
    promise,
    row_texts,
)
from anonhist.report.svg import inline_svg
from anonhist.report.wording import PROMISE_NAMES
from anonhist.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

# So many rows of a table are read by people; files hold the others.
_MOST_ROWS = 100


def write_frequencies(
    estimate: FrequencyEstimate,
    path: str | Path,
    *,
    command: str | None = None,
    overwrite: bool = False,
    shuffled: Guarantee | None = None,
) -> None:
    """Write the page of an estimate; ``shuffled`` is what is promised besides where reports are shuffled."""
    check_page(path, overwrite=overwrite)
    write_page(path, _main(estimate, command, shuffled), title=headline(estimate), overwrite=overwrite)


def _main(estimate: FrequencyEstimate, command: str | None, shuffled: Guarantee | None) -> str:
    shown = min(MOST, len(estimate.labels))
    words = {
        "title": headline(estimate),
        "guarantee": estimate.guarantee.sentence,
        "promise": promise(estimate.guarantee),
        "caption": f"The {shown:,} most frequent of {len(estimate.labels):,} values.",
        "version": __version__,
        "level": f"{100 * estimate.level:g}",
    }
    told = [fact for fact in facts(estimate) if not fact[0].startswith((*PROMISE_NAMES, "Note"))]
    return template("local.html").substitute(
        {name: _html(text) for name, text in words.items()},
        cards="".join(_card(*each) for each in _cards(estimate)),
        warning=warning_box(warning(estimate.guarantee.epsilon)),
        notes=f"<p><b>Note.</b> {_html(estimate.note)}</p>" if estimate.note else "",
        shuffled=_shuffling(shuffled),
        not_covered="".join(f"<li>{_html(each)}</li>" for each in exclusions()),
        plot=inline_svg(
            lambda: frequencies_figure(estimate),
            name="shares",
            description="Shares of the most frequent values",
            keep_text=True,
        ),
        table=_table(estimate),
        facts="".join(f"<p><b>{_html(name)}:</b> {_html(text)}</p>" for name, text in told),
        reproduce=reproduce(command, "The same tally gives the same page."),
    )


def _html(text: str) -> str:
    """Write text as HTML, no percent sign apart from its number."""
    return escape(text).replace(" %", "&nbsp;%")


def _shuffling(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return ""
    return f'<p>Where reports are shuffled, besides:</p><p class="promise">{_html(str(guarantee))}</p>'


def _cards(estimate: FrequencyEstimate) -> list[tuple[str, str]]:
    found = int(estimate.significant.sum())
    cards = [
        (f"{estimate.users:,}", "people reported" if estimate.users != 1 else "person reported"),
        (f"{found:,} of {len(estimate.labels):,}", "values significantly above zero"),
        (f"ε = {short_decimal(estimate.guarantee.epsilon)}", "what a report cost the person who sent it, at most"),
    ]
    if estimate.other or estimate.other_standard_error:
        cards.append((other_text(estimate), "of the people have another value than these"))
    return cards


def _card(number: str, told: str) -> str:
    return f"<div><b>{_html(number)}</b><span>{_html(told)}</span></div>"


def _table(estimate: FrequencyEstimate) -> str:
    heads = "".join(f'<th scope="col">{_html(head)}</th>' for head in HEADS)
    rows = "".join(_row(row_texts(estimate, place)) for place in most_frequent(estimate, _MOST_ROWS))
    left = len(estimate.labels) - _MOST_ROWS
    more = f'<p class="quiet">{left:,} less frequent values are left out here.</p>' if left > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _row(texts: tuple[str, ...]) -> str:
    label, *cells = texts
    return f'<tr><th scope="row">{escape(label)}</th>{"".join(f"<td>{_html(cell)}</td>" for cell in cells)}</tr>'

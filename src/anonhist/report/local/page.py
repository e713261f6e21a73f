"""One self-contained HTML page about one estimate of frequencies."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from anonhist.privacy import short_decimal
from anonhist.report.frame import Sheet, template
from anonhist.report.hover import Hover
from anonhist.report.local.figures import drawn, frequencies_figure
from anonhist.report.local.wording import (
    HEADS,
    exclusions,
    facts,
    headline,
    meaning,
    most_frequent,
    other_text,
    promise,
    row_texts,
    shuffled_promise,
)
from anonhist.report.sections import (
    card,
    download,
    epsilon_warning,
    folded,
    html,
    long_class,
    promised,
    reproduce,
    scrolled,
)
from anonhist.report.svg import inline_svg
from anonhist.report.wording import PROMISE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

# Rows of a table on the page; files have all of them.
_MOST_ROWS = 100


def write_frequencies(estimate: FrequencyEstimate, sheet: Sheet, *, shuffled: Guarantee | None = None) -> None:
    """Write the page of an estimate; ``shuffled`` is the additional guarantee if reports are shuffled."""
    sheet.check()
    subtitle = "Made from randomized reports. If devices randomized their own values, nobody else saw the true ones."
    sheet.write(_main(estimate, sheet.command, shuffled), headline=headline(estimate), subtitle=subtitle)


def _main(estimate: FrequencyEstimate, command: str | None, shuffled: Guarantee | None) -> str:
    guarantee, shown = estimate.guarantee, drawn(estimate)
    told = [fact for fact in facts(estimate) if not fact[0].startswith((*PROMISE_NAMES, "Note"))]
    return template("local.html").substitute(
        cards="".join(card(*each) for each in _cards(estimate)),
        warning=epsilon_warning(guarantee),
        notes=f"<p><b>Note.</b> {html(estimate.note)}</p>" if estimate.note else "",
        promised=promised(
            guarantee,
            sentence=promise(guarantee),
            meaning=meaning(guarantee),
            not_covered=exclusions(),
            whom="person",
            also=_shuffling(shuffled),
        ),
        caption=f"{len(shown):,} of {len(estimate.labels):,} values, those significantly above zero first.",
        level=f"{100 * estimate.level:g}",
        plot=inline_svg(
            lambda: frequencies_figure(estimate),
            name="shares",
            description="Shares of the most frequent values",
            keep_text=True,
            hover=Hover(range(len(shown)), [_told(estimate, place) for place in shown], axis="y"),
        ),
        table=_tables(estimate),
        download=download(estimate, rows=len(estimate.labels), name="estimate.csv"),
        facts="".join(f"<p><b>{html(name)}:</b> {html(text)}</p>" for name, text in told),
        reproduce=reproduce(command, "The same tally gives the same numbers."),
    )


def _shuffling(guarantee: Guarantee | None) -> str:
    if guarantee is None:
        return ""
    return f"<h3>If reports are shuffled</h3><p>{html(shuffled_promise(guarantee))}</p>" + folded(
        "The exact statement for shuffled reports", f"<p>{html(str(guarantee))}</p>"
    )


def _cards(estimate: FrequencyEstimate) -> list[tuple[str, str]]:
    found = int(estimate.significant.sum())
    cards = [
        (f"{estimate.users:,}", "people reported" if estimate.users != 1 else "person reported"),
        (f"{found:,} of {len(estimate.labels):,}", "values significantly above zero"),
        (f"ε = {short_decimal(estimate.guarantee.epsilon)}", "privacy cost of one report for its sender, at most"),
    ]
    if estimate.other or estimate.other_standard_error:
        cards.append((other_text(estimate), "of the people have other values"))
    return cards


def _told(estimate: FrequencyEstimate, place: int) -> str:
    label, share, interval, *_ = row_texts(estimate, place)
    return f"{label}: {share}; {100 * estimate.level:g} % interval {interval}"


def _tables(estimate: FrequencyEstimate) -> str:
    """Return the table of values significantly above zero, and a folded one of the others, which are mostly noise."""
    ordered = most_frequent(estimate, len(estimate.labels))
    found = int(estimate.significant.sum())
    first, others = ordered[:found], ordered[found:]
    if not found:
        first_table = "<p>No value is significantly above zero.</p>"
    else:
        first_table = _table(estimate, first, "Values significantly above zero")
    name = f"{len(others):,} other values, each perhaps zero" if len(others) > 1 else "1 other value, perhaps zero"
    return first_table + folded(name, _table(estimate, others, "Values that may be zero") if others else "")


def _table(estimate: FrequencyEstimate, places: Sequence[int], label: str) -> str:
    heads = "".join(f'<th scope="col">{html(head)}</th>' for head in HEADS)
    rows = "".join(_row(row_texts(estimate, place)) for place in places[:_MOST_ROWS])
    left = len(places) - _MOST_ROWS
    more = f'<p class="quiet">{left:,} less frequent values are not shown.</p>' if left > 0 else ""
    return scrolled(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>", label=label) + more


def _row(texts: tuple[str, ...]) -> str:
    label, *cells = texts
    told = "".join(f"<td>{html(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row"{long_class(label)}>{escape(label)}</th>{told}</tr>'

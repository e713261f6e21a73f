"""One self-contained HTML page about one estimate of frequencies."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.privacy import Guarantee, short_decimal, warning
from anonhist.properties.estimate import format_number
from anonhist.report.figures import BAND, BLUE, GRID, INK, Hover, add_legend, canvas, fitting, inline_svg, say_empty
from anonhist.report.notebook import Cell
from anonhist.report.shown import Sheet, download, promised
from anonhist.report.wording import PROMISE_NAMES, at_most, promise_lines, worth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from anonhist.local.estimate import FrequencyEstimate
    from anonhist.local.mechanisms import Recommendation
    from anonhist.local.reports import Tally
    from anonhist.local.survey import Survey

# Questions of somebody who sees a report.
DOUBT = "which of two answers a person gave"
HEADS = ("value", "share", "interval", "decoded", "above zero")
_LONGEST_LABEL = 60

DECODERS = {
    "projected": "the distribution nearest to the shares, so that none is below zero and they add up to one",
    "normalized": "the shares, those below zero set to zero and the rest scaled to add up to one",
    "unbiased": "the unbiased shares, unchanged, of which some are below zero and which need not add up to one",
    "least-squares": "the distribution whose expected counts are nearest to the counted reports",
    "mle": "the distribution that makes the counted reports most likely",
    "em": "a distribution between equal shares and the most likely one, stopped before it fits the noise",
}
CORRECTIONS = {
    "holm": "Holm: chance of any false finding at most",
    "bonferroni": "Bonferroni: chance of any false finding at most",
    "benjamini-hochberg": "Benjamini–Hochberg: expected share of false findings at most",
}


def headline(estimate: FrequencyEstimate) -> str:
    """Return the title of an estimate, one line."""
    values = f"{len(estimate.labels):,} value{'s are' if len(estimate.labels) != 1 else ' is'}"
    return f"How frequent {values} among {people(estimate.users)}"


def people(users: int) -> str:
    """Return the number of people in words."""
    return f"{users:,} {'person' if users == 1 else 'people'}"


def most_frequent(estimate: FrequencyEstimate, most: int) -> list[int]:
    """Return the positions of the values: significantly positive ones first, then by raw estimate, then by position."""
    return [int(place) for place in np.lexsort((-estimate.raw, ~estimate.significant))[:most]]


def row_texts(estimate: FrequencyEstimate, place: int) -> tuple[str, ...]:
    """Return the cells of a value in a table, in the order of :data:`HEADS`."""
    error = float(estimate.standard_errors[place])
    low, high = estimate.intervals[place].tolist()
    return (
        label_text(estimate.labels[place]),
        share(float(np.clip(estimate.raw[place], 0, 1)), error),
        interval_text(low, high, error),
        share(float(estimate.frequencies[place]), error),
        "yes" if estimate.significant[place] else "",
    )


def share(value: float, error: float) -> str:
    """Return a share in percent, with enough digits that its error has two."""
    return f"{100 * value:,.{_places(error)}f}%"


def interval_text(low: float, high: float, error: float) -> str:
    """Return an interval of shares in percent, its ends rounded outward."""
    places = _places(error)
    scale = 10**places
    # A tolerance keeps ends that need no rounding.
    below, above = math.floor(100 * low * scale + 1e-9) / scale, math.ceil(100 * high * scale - 1e-9) / scale
    return f"{below:,.{places}f} to {above:,.{places}f}%"


def _places(error: float) -> int:
    """Return the number of decimals of a percentage for which its error has two digits."""
    return min(12, max(0, 1 - math.floor(math.log10(100 * error)))) if error > 0 else 2


def label_text(label: str) -> str:
    """Return a label that is safe to show: on one line, at most 60 characters, without control characters."""
    plain = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in label)
    return plain if len(plain) <= _LONGEST_LABEL else plain[: _LONGEST_LABEL - 1] + "…"


def facts(estimate: FrequencyEstimate, central: Guarantee | None = None) -> list[tuple[str, str]]:
    """Return the facts behind an estimate: a name and a sentence for each."""
    level = f"{100 * estimate.level:g}%"
    alpha = f"{100 * (1 - estimate.level):.4g}%"
    decoder = DECODERS.get(estimate.decoder, "")
    found = int(np.count_nonzero(estimate.significant))
    shares = (
        "each value by itself: the unbiased estimate, or 0 if that is negative, and an interval that contains the "
        f"share with probability {level}. Both are about the people who reported."
    )
    decoded = (
        f"all values together{': ' if decoder else ''}{decoder} ({estimate.decoder}). Its total error is lower; "
        "the intervals do not refer to it."
    )
    significance = (
        f"{found:,} of {len(estimate.labels):,} values are significantly above zero "
        f"({CORRECTIONS.get(estimate.correction, f'{estimate.correction}: chance of an error at most')} {alpha})."
    )
    (_, sure), (_, promised), *warned = promise_lines(estimate.guarantee, doubt=DOUBT)
    told = [
        ("Protection", sure),
        ("Promise to everybody who sent one report", promised),
        *warned,
        ("Share and interval", shares),
        ("Decoded", decoded),
        ("Above zero", significance),
    ]
    if central is not None:
        told.insert(2 + len(warned), ("Promise if reports are shuffled", str(central)))
    if estimate.other or estimate.other_standard_error:
        told.append(("Other values together", f"{other_text(estimate)} of the people have none of these."))
    if estimate.note:
        told.append(("Note", estimate.note))
    return told


def other_text(estimate: FrequencyEstimate) -> str:
    """Return the share of all other values with its interval, a normal one because it is a sum of many errors."""
    error, found = estimate.other_standard_error, estimate.raw_other
    half = NormalDist().inv_cdf((1 + estimate.level) / 2) * error
    low, high = (min(1.0, max(0.0, end)) for end in (found - half, found + half))
    shown = share(min(1.0, max(0.0, found)), error)
    return f"{shown} ({interval_text(low, high, error)})" if error else shown


def promise(guarantee: Guarantee) -> str:
    """Return the guarantee of a report in one sentence."""
    return (
        "Replacing the true answer of a person by any other changes the probability of the report they send by "
        f"{at_most(guarantee)}."
    )


def shuffled_promise(guarantee: Guarantee) -> str:
    """Return the additional guarantee if somebody shuffles the reports."""
    return (
        "Toward those who see only the shuffled reports of everybody, replacing the true answer of a person by any "
        f"other changes the probability of any result by {at_most(guarantee)}."
    )


def lead(guarantee: Guarantee) -> str:
    """Return what the guarantee means to the sender of a report."""
    return worth(guarantee.epsilon, doubt=DOUBT, delta=guarantee.delta)


def meaning(guarantee: Guarantee) -> list[str]:
    """Return the meaning of the guarantee, and against whom it holds."""
    return [
        promise(guarantee),
        "This holds against everybody, including the collector, whatever is done with the reports.",
    ]


def exclusions() -> list[str]:
    """Return what the guarantee of a report does not cover."""
    return [
        "Anyone who answers more than once: budgets add up, unless devices remember their answers (RAPPOR).",
        "Changes of a remembered answer, and the linking of its reports across periods.",
        "The fact that somebody took part, and when and from where a report was sent.",
        "What many people have in common: the survey exists to measure it.",
        "Devices that do not follow the survey, or that send the true answer elsewhere.",
    ]


_MOST = 30
# This many values that may be zero are drawn beside others: they show how large the noise is.
_MOST_PERHAPS_ZERO = 5
# Inches: the height of a row, the minimum for all rows, and the space below them.
_ROW, _LEAST, _BELOW = 0.24, 1.2, 0.45
_LONGEST_NAME = 24
# Points: the largest width of a name, of the figure's 331.
_WIDEST_NAME = 125
_NAME_SIZE = 9


def drawn(estimate: FrequencyEstimate) -> list[int]:
    """Return the positions of the values to draw: at most 30; if some are significant, at most 5 of the others."""
    found = int(estimate.significant.sum())
    return most_frequent(estimate, min(_MOST, found + _MOST_PERHAPS_ZERO) if found else _MOST)


def frequencies_figure(estimate: FrequencyEstimate) -> Figure:
    """Draw the most frequent values, those significantly above zero first: shares as bars, intervals as lines."""
    places = np.array(drawn(estimate), dtype=np.int64)
    tall = max(_LEAST, _ROW * places.size)
    figure, axes = canvas("", "share of the people", size=(4.6, tall + _BELOW))
    if not places.size:
        say_empty(axes, "there are no values")
        return figure
    # A few bars are no thicker than many bars.
    thick = 0.62 * _ROW * places.size / tall
    rows, shares = np.arange(places.size), 100 * np.clip(estimate.raw, 0, 1)[places]
    # Ink over a bar is seen where the bar is paler than a line.
    bars = ((True, BLUE, 0.65, "significantly above zero"), (False, BAND, 1.0, "perhaps zero"))
    for is_found, color, alpha, name in bars:
        at = estimate.significant[places] == is_found
        if at.any():
            axes.barh(rows[at], shares[at], height=thick, color=color, alpha=alpha, label=name)
    low, high = 100 * estimate.intervals[places].T
    name = f"{100 * estimate.level:g}% interval"
    axes.hlines(rows, low, high, color=INK, linewidth=1.3, label=name)
    axes.plot(np.concatenate((low, high)), np.tile(rows, 2), "|", color=INK, markersize=4, markeredgewidth=1.3)
    names = [label_text(estimate.labels[place]) for place in places.tolist()]
    # Labels may contain dollar signs, which do not mark formulas here.
    axes.set_yticks(
        rows,
        [fitting(each, widest=_WIDEST_NAME, size=_NAME_SIZE, longest=_LONGEST_NAME) for each in names],
        fontsize=_NAME_SIZE,
        parse_math=False,
    )
    axes.set_ylim(places.size - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=GRID, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.04 * max(float(high.max()), float(shares.max()), 1e-9))
    axes.xaxis.set_major_formatter(lambda value, _: f"{format_number(value, digits=6)}%")
    add_legend(axes)
    return figure


# Rows of a table on the page; files have all rows.
_MOST_ROWS = 100


def write_frequencies(estimate: FrequencyEstimate, sheet: Sheet, *, shuffled: Guarantee | None = None) -> None:
    """Write the page of an estimate; ``shuffled`` is the additional guarantee if reports are shuffled."""
    subtitle = (
        "It was made from randomized reports. If devices randomized their own values, nobody else saw the true ones."
    )
    guarantee, shown = estimate.guarantee, drawn(estimate)
    ordered = most_frequent(estimate, len(estimate.labels))
    found = int(estimate.significant.sum())
    others = len(ordered) - found
    sheet.write(
        "anonhist.local/frequencies.html",
        headline=headline(estimate),
        subtitle=subtitle,
        warning=warning(estimate.guarantee.epsilon),
        cards=_cards(estimate),
        notes=[estimate.note] if estimate.note else [],
        promise=promised(
            guarantee,
            sentence=lead(guarantee),
            meaning=meaning(guarantee),
            not_covered=exclusions(),
        ),
        shuffled=shuffled and {"sentence": shuffled_promise(shuffled), "exact": shuffled},
        plot=inline_svg(
            lambda: frequencies_figure(estimate),
            name="shares",
            description="Shares of the most frequent values",
            keep_text=True,
            hover=Hover(range(len(shown)), [_told(estimate, place) for place in shown], axis="y"),
        ),
        caption=f"{len(shown):,} of {len(estimate.labels):,} values, those significantly above zero first.",
        level=f"{100 * estimate.level:g}",
        heads=HEADS,
        found=_listed(estimate, ordered[:found]),
        # These are mostly noise.
        others=_listed(estimate, ordered[found:]),
        others_name=f"{others:,} other values, each perhaps zero" if others > 1 else "1 other value, perhaps zero",
        download=download(estimate, rows=len(estimate.labels)),
        facts=[fact for fact in facts(estimate) if not fact[0].startswith((*PROMISE_NAMES, "Note"))],
    )


def _listed(estimate: FrequencyEstimate, places: Sequence[int]) -> dict[str, Any]:
    """Return rows of a table, and how many more there are."""
    left = len(places) - _MOST_ROWS
    return {
        "rows": [row_texts(estimate, place) for place in places[:_MOST_ROWS]],
        "left": f"{left:,}" if left > 0 else "",
    }


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
    return f"{label}: {share}; {100 * estimate.level:g}% interval {interval}"


_ROWS = 10


def survey_cell(survey: Survey) -> Cell:
    """Return the notebook cell of a survey: the facts known to everybody who answers."""
    alphabet = getattr(survey, "alphabet", None)
    known = "any text" if alphabet is None else f"{alphabet.size:,} values"
    title = f", {label_text(survey.title)}" if survey.title else ""
    return Cell(
        title=f"Survey{title}: {type(survey).__name__}, ε = {short_decimal(survey.epsilon)} per report",
        head=(),
        rows=[
            ("answers", known),
            ("bytes of a report", f"{survey.report_bytes:,}"),
            ("cells of a tally", f"{survey.cells:,}"),
            ("digest", survey.digest),
        ],
        told=promise_lines(survey.guarantee, doubt=DOUBT),
        folded=[("Caution", each) for each in survey.cautions],
    )


def tally_cell(tally: Tally) -> Cell:
    """Return the notebook cell of a tally: how much was counted; the survey makes the estimates."""
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
    """Return the notebook cell of an estimate of frequencies: the most frequent values."""
    told, first = facts(estimate), (*PROMISE_NAMES, "Other", "Note")
    left = len(estimate.labels) - _ROWS
    more = [("More", f"{left:,} less frequent values are in the table of to_pandas().")] if left > 0 else []
    return Cell(
        title=headline(estimate),
        head=HEADS,
        rows=[row_texts(estimate, place) for place in most_frequent(estimate, _ROWS)],
        told=[*more, *(fact for fact in told if fact[0].startswith(first))],
        folded=[fact for fact in told if not fact[0].startswith(first)],
        figure=lambda: frequencies_figure(estimate),
    )


_USED = "*"


def recommended_heads(found: Recommendation) -> tuple[str, ...]:
    """Return the column names of a recommendation; notes get a column if there are any."""
    heads = ("mechanism", "± of a share", "bytes", "decoding", "note")
    return heads if any(row.note for row in found.rows) else heads[:-1]


def recommended_rows(found: Recommendation) -> list[tuple[str, ...]]:
    """Return a row for each mechanism, the recommended one marked."""
    shown = len(recommended_heads(found))
    rows = []
    for row in found.rows:
        mark = _USED if row.mechanism == found.best else ""
        cells = (
            f"{row.mechanism}{mark}",
            f"{format_number(100 * row.standard_error, digits=3)}%",
            f"{row.report_bytes:,}",
            row.decode_cost,
        )
        rows.append((*cells, row.note)[:shown])
    return rows


def recommendation_cell(found: Recommendation) -> Cell:
    """Return the notebook cell of a recommendation: the mechanisms, the lowest error first."""
    heads = recommended_heads(found)
    return Cell(
        title=f"Use {found.best}.",
        head=heads,
        rows=recommended_rows(found),
        told=[("Reason", found.reason), (_USED, "recommended.")],
        texts=[0, 3, 4][: len(heads) - 2],
    )

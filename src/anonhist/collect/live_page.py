"""The page on which everybody sees a collection: what is asked and promised, and estimates as they grow.

The server renders it; its one script asks for a newer one and replaces the figures (docs/decisions/0015).
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.collect.looks import ERROR, LEVEL, LOOKS, estimate_at_look, next_look, reached
from anonhist.errors import DataError, UsageError
from anonhist.formats.tables import csv_text
from anonhist.formats.untrusted import document_text
from anonhist.frozen import frozen
from anonhist.local.collection import Batches, Invited, Once
from anonhist.local.files import estimate_document
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.page import DOUBT, interval_text, label_text, most_frequent, other_text, share
from anonhist.local.randomizers.rappor import RAPPOR
from anonhist.local.reports import Tally
from anonhist.privacy import short_decimal, warning
from anonhist.privacy.parameters import with_power
from anonhist.report.shown import render
from anonhist.report.wording import factor, many, worth
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anonhist.local.collection import Collection
    from anonhist.local.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

# Rows of the page, and values named in the question; files and the description have all.
_MOST_ROWS = 30
_CSV_HEAD = "label,raw,standard_error,low,high,simultaneous_low,simultaneous_high,p_value,significant,frequency,count\n"
_NOT_COVERED = (
    (
        "That you answered. This server does not keep when, or from which address, but those who run it, or the "
        "network, could."
    ),
    (
        "A client that was changed. Whoever serves the page that asks could serve another client. It must name the "
        "digest that stands below."
    ),
    "Other scripts on that page, which can read an answer as it is given.",
)
# What the server sends with the page, its style and its script.
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_STATIC = {"style.css": "text/css", "live.js": "text/javascript", "live.svg": "image/svg+xml"}


def static_files() -> dict[str, tuple[str, bytes]]:
    """Return what the page loads from the root of the server: the type and content of each file, by its name."""
    folder = files("anonhist.collect").joinpath("live")
    return {name: (f"{kind}; charset=utf-8", folder.joinpath(name).read_bytes()) for name, kind in _STATIC.items()}


@frozen
class ShownState:
    """What is known to everybody about a collection.

    Attributes
    ----------
    reports
        How many reports were counted. Before the collection is closed, nothing shown depends on it, because whoever
        asks again and again would learn when each report came.
    tally
        The tally at the last look; of batches, whole ones only. None before the first look.
    closed
        Whether the collection has ended; then the tally is that of all reports that may be shown.
    """

    reports: int
    tally: Tally | None
    closed: bool

    def __post_init__(self) -> None:
        if self.tally is not None and self.tally.users > self.reports:
            raise UsageError("A tally cannot have more reports than there are.")


@frozen
class Rendered:
    """The same look as a page, as JSON and as CSV, all in UTF-8; the tag changes when one of them does."""

    html: bytes
    json: bytes
    csv: bytes
    etag: str


def rendered(collection: Collection, state: ShownState) -> Rendered:
    """Return everything that the server answers about a look.

    Raises
    ------
    UsageError
        If there is a tally before the first look, or with a part of a batch.
    """
    tally = state.tally if state.tally is not None and state.tally.users else None
    if tally is not None and not state.closed and reached(tally.users) is None:
        raise UsageError("Nothing may be shown before the first look.")
    estimate: FrequencyEstimate | None = None
    failure: list[str] = []
    try:
        estimate = None if tally is None else estimate_at_look(collection, tally)
    except DataError as error:
        # Of few reports, or forged ones, some surveys have no estimate.
        failure = [str(error)]
    shown = 0 if tally is None else tally.users
    following = None if state.closed else next_look(collection, shown)
    document = {
        "collection": collection.digest,
        "reports": shown,
        "dropped": state.reports - shown if state.closed else None,
        "closed": state.closed,
        "next_look": following,
        "looks": LOOKS,
        "level": LEVEL,
        "estimate": None if estimate is None else estimate_document(estimate),
    }
    json = _encoded(document_text(document))
    etag = f'"{hashlib.sha256(json + __version__.encode()).hexdigest()[:32]}"'
    page = render(
        "anonhist.collect/live.html",
        title=collection.survey.title or "A survey without a title",
        last_day=f"{collection.last_day:%d %B %Y}".lstrip("0"),
        answered=[*_answered(collection, state, shown, following), *failure],
        figures=None if estimate is None else _figures(estimate),
        noun="people who had answered" if _noun(collection) == "people" else "reports",
        asked=_asked(collection),
        promise=_promise(collection),
        often=_often(collection),
        forged=_forged(collection),
        closed=state.closed,
        digest=collection.digest,
        etag=etag,
        version=__version__,
    )
    return Rendered(page.encode(), json, _encoded(_CSV_HEAD if estimate is None else csv_text(estimate)), etag)


def _encoded(text: str) -> bytes:
    # Half a surrogate pair is escaped, as JSON writes it.
    return text.encode("utf-8", "backslashreplace")


def _noun(collection: Collection) -> str:
    return "people" if isinstance(collection.answers, Once) else "reports"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number != 1 else noun.replace('people', 'person').removesuffix('s')}"


def _answered(collection: Collection, state: ShownState, shown: int, following: int | None) -> list[str]:
    """Say how many answered, and when there is more to see."""
    noun, batches = _noun(collection), isinstance(collection.shown, Batches)
    answered = "answered" if noun == "people" else "arrived"
    if state.closed:
        dropped = state.reports - shown
        said = ["This collection is closed."]
        said.append(f"{_counted(shown, noun)} {answered}." if shown else "There are no answers to be shown.")
        if dropped:
            left = many(dropped, "report")
            said.append(f"{left} of a batch that was never whole {'was' if dropped == 1 else 'were'} dropped.")
        return said
    whole = " in whole batches" if batches else ""
    if not shown:
        first = f"The first estimates appear when {following:,} {noun} have {answered}{whole}"
        return ["Nothing is shown yet.", f"{first}: with fewer, they would be little but noise."]
    after = "when the collection closes" if following is None else f"at {following:,}"
    return [f"{_counted(shown, noun)} had {answered} at the last look. The next one is {after}."]


def _figures(estimate: FrequencyEstimate) -> dict[str, Any]:
    """Return the bars and their numbers; places on bars are in thousandths of the longest."""
    places = most_frequent(estimate, _MOST_ROWS)
    low, high = estimate.intervals[places].T
    shares, longest = np.clip(estimate.raw, 0, 1)[places], max(float(high.max(initial=0)), 1e-9)
    # A share may exceed the end of its interval, if it is rare and the interval is exact.
    bars = np.rint(1000 * np.minimum(np.stack((shares, low, high), axis=1) / longest, 1)).astype(int).tolist()
    # All numbers have as many digits as the largest error allows.
    error = float(estimate.standard_errors[places].max(initial=0))
    rows = [
        {
            "label": label_text(estimate.labels[place]),
            "bar": bar,
            "share": share(value, error),
            "interval": interval_text(lower, upper, error),
            "perhaps_zero": not estimate.significant[place],
        }
        for place, bar, value, lower, upper in zip(
            places, bars, shares.tolist(), low.tolist(), high.tolist(), strict=True
        )
    ]
    left = len(estimate.labels) - len(rows)
    has_others = bool(estimate.other or estimate.other_standard_error)
    return {
        "rows": rows,
        "left": f"{many(left, 'less frequent value')} {'is' if left == 1 else 'are'} in the files." if left else "",
        "others": f"{other_text(estimate)} of them have other values." if has_others else "",
        "note": estimate.note,
        "level": f"{100 * (1 - ERROR):g}%",
    }


def _asked(collection: Collection) -> dict[str, Any]:
    """Return what may be answered."""
    survey, alphabet = collection.survey, getattr(collection.survey, "alphabet", None)
    values: Sequence[str] = alphabet.names() if alphabet is not None else collection.candidates or ()
    if alphabet is not None:
        told = f"One of {many(alphabet.size, 'value')}:"
    elif isinstance(survey, HeavyHitters):
        told = f"Any text of up to {many(survey.max_bytes, 'byte')}. Frequent ones are found without a list."
    else:
        told = f"Any text. How frequent {'these are' if len(values) > 1 else 'this one is'} was asked beforehand:"
    left = len(values) - _MOST_ROWS
    return {
        "told": told,
        "values": [label_text(each) for each in values[:_MOST_ROWS]],
        "left": f"and {left:,} more" if left > 0 else "",
    }


def _promise(collection: Collection) -> dict[str, Any]:
    """Return what is promised, against whom, and what is not."""
    guarantee, several = collection.guarantee, collection.answers.times > 1
    answers = "all answers of a person by any others" if several else "the answer of a person by any other"
    meaning = (
        f"Replacing {answers} changes the probability of whatever that person's device sends by at most a factor of "
        f"{factor(guarantee.epsilon)}. It holds against everybody, those who run this server included, and whatever "
        "is done with reports, as long as the device runs the published client."
    )
    provided = f"This holds provided that {', and that '.join(guarantee.conditions)}." if guarantee.conditions else ""
    return {
        "warning": warning(guarantee.epsilon),
        "lead": worth(guarantee.epsilon, doubt=DOUBT, delta=guarantee.delta),
        "meaning": list(filter(None, (meaning, provided, _of_batches(collection)))),
        "exact": guarantee.for_people,
        "not_covered": [*_NOT_COVERED, *collection.cautions],
    }


def _of_batches(collection: Collection) -> str:
    """Say what is promised toward those who see only this page, if all follow the survey, and if only some do."""
    shown = collection.shown
    if not isinstance(shown, Batches):
        return ""
    everybody = replace(collection, shown=replace(shown, honest=shown.users)).shown_guarantee
    said = f"if all of them follow the survey, the factor is at most {_toward(everybody)}"
    if shown.honest < shown.users:
        said += f"; if only {shown.honest:,} do, {_toward(collection.shown_guarantee)}"
    return (
        f"Reports are shown only as sums over batches of {shown.users:,}. Toward those who see no more than this page, "
        f"{said}."
    )


def _toward(guarantee: Guarantee) -> str:
    # No line breaks within a number.
    delta = f", δ\u00a0≤\u00a0{with_power(guarantee.delta)}" if guarantee.delta else ""
    return f"{factor(guarantee.epsilon)} (ε\u00a0=\u00a0{short_decimal(guarantee.epsilon)}{delta})"


def _often(collection: Collection) -> str:
    """Say how often somebody may be asked."""
    if isinstance(collection.answers, Once):
        return "Once. The first answer stands: a device that is asked again sends the same report."
    times = collection.answers.times
    if isinstance(collection.survey, RAPPOR):
        return (
            f"Up to {times:,} times; all reports are drawn from the first answer, which stands. They share noise, so "
            "intervals are too narrow where one person sends several."
        )
    return f"Up to {times:,} times. The promise is for all answers together; each one costs its share of it."


def _forged(collection: Collection) -> str:
    """Say how far forged reports move a bar: each of them adds ``weight.each`` people to it at most, either way."""
    weight = collection.survey.forged_weight
    anybody = "Anybody can send reports that were never drawn."
    if isinstance(collection.open_to, Invited):
        anybody = "Only invited people can report, once with each invitation, but may report what was never drawn."
    if weight is None:
        return f"{anybody} How far they move a bar depends on all other reports; no bound is known."
    points = math.ceil(10 * weight.each) / 10
    most = f"up to {points:g} percentage points" if points < 100 else "to any length"
    condition = f", {weight.condition}" if weight.condition else ""
    return f"{anybody} If 1% of all reports are forged, they lengthen or shorten a bar by {most}{condition}."

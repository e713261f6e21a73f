"""The sentences and numbers that pages and terminals show of an estimate of frequencies, as plain text."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from anonhist.report.promise import at_most, worth
from anonhist.report.wording import promise_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.privacy import Guarantee

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
    """Return the title of an estimate, one line.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> headline(survey.estimate(survey.tally(survey.randomize([0, 1, 1]))))
    'How frequent 3 values are among 3 people'
    """
    values = f"{len(estimate.labels):,} value{'s are' if len(estimate.labels) != 1 else ' is'}"
    return f"How frequent {values} among {people(estimate.users)}"


def people(users: int) -> str:
    """Return the number of people in words."""
    return f"{users:,} {'person' if users == 1 else 'people'}"


def most_frequent(estimate: FrequencyEstimate, most: int) -> list[int]:
    """Return the places of the values: those significantly above zero first, then by raw estimate, then by place."""
    return [int(place) for place in np.lexsort((-estimate.raw, ~estimate.significant))[:most]]


def shown_shares(estimate: FrequencyEstimate) -> NDArray[np.float64]:
    """Return the raw estimates, clipped to [0, 1]: the most likely share of each value by itself."""
    return np.clip(estimate.raw, 0, 1)


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
    """Return a share in percent, with the digits at which its error has two digits.

    Examples
    --------
    >>> share(0.123456, 0.0021), share(0.5, 0.2), share(0.000012345, 0.0000003)
    ('12.35 %', '50 %', '0.001234 %')
    """
    return f"{100 * value:,.{_places(error)}f} %"


def interval_text(low: float, high: float, error: float) -> str:
    """Return an interval of shares in percent, its ends rounded outward.

    Examples
    --------
    >>> interval_text(0.29216, 0.30784, 0.004)
    '29.21 to 30.79 %'
    """
    places = _places(error)
    scale = 10**places
    # With a tolerance, so that ends that need no rounding stay.
    below, above = math.floor(100 * low * scale + 1e-9) / scale, math.ceil(100 * high * scale - 1e-9) / scale
    return f"{below:,.{places}f} to {above:,.{places}f} %"


def _places(error: float) -> int:
    """Return the number of decimals of a percentage at which its error has two digits."""
    return min(12, max(0, 1 - math.floor(math.log10(100 * error)))) if error > 0 else 2


def label_text(label: str) -> str:
    r"""Return a label that is safe to show: on one line, at most 60 characters, without control characters.

    Examples
    --------
    >>> print(label_text("cat"), label_text("a\x07"), len(label_text("x" * 99)))
    cat a\x07 60
    """
    plain = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in label)
    return plain if len(plain) <= _LONGEST_LABEL else plain[: _LONGEST_LABEL - 1] + "…"


def facts(estimate: FrequencyEstimate, central: Guarantee | None = None) -> list[tuple[str, str]]:
    """Return the facts behind an estimate: a name and a sentence for each."""
    level = f"{100 * estimate.level:g} %"
    alpha = f"{100 * (1 - estimate.level):.4g} %"
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
    (_, promised), *worth = promise_lines(estimate.guarantee)
    told = [
        ("Promise to everybody who sent one report", promised),
        *worth,
        ("Share and interval", shares),
        ("Decoded", decoded),
        ("Above zero", significance),
    ]
    if central is not None:
        told.insert(1 + len(worth), ("Promise if reports are shuffled", str(central)))
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
    """Return the guarantee of a report in one sentence.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> print(promise(KRR(alphabet=2, epsilon=2).guarantee))
    Replacing the true answer of a person by any other changes the probability of the report they send by at most a
    factor of 7.39.
    """
    return (
        "Replacing the true answer of a person by any other changes the probability of the report they send by "
        f"{at_most(guarantee)}."
    )


def shuffled_promise(guarantee: Guarantee) -> str:
    """Return what holds in addition if somebody shuffles the reports.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> print(shuffled_promise(KRR(alphabet=2, epsilon=1).shuffled_guarantee(users=10_000, delta="1e-6")))
    Toward those who see only the shuffled reports of everybody, replacing the true answer of a person by any other
    changes the probability of any result by at most a factor of 1.0442 (plus δ ≤ 1.0e-6).
    """
    return (
        "Toward those who see only the shuffled reports of everybody, replacing the true answer of a person by any "
        f"other changes the probability of any result by {at_most(guarantee)}."
    )


def meaning(guarantee: Guarantee) -> list[str]:
    """Return what the guarantee means for the sender of a report."""
    worst = worth(guarantee.epsilon, doubt="two answers of a person equally likely", delta=guarantee.delta)
    return [f"{worst} This holds against everybody, including the collector, whatever is done with the reports."]


def exclusions() -> list[str]:
    """Return what the guarantee of a report does not cover."""
    return [
        "Anyone who answers more than once: budgets add up, unless devices remember their answers (RAPPOR).",
        "Changes of a remembered answer, and the linking of its reports across periods.",
        "The fact that somebody took part, and when and from where a report was sent.",
        "What many people have in common: the survey exists to measure it.",
        "Devices that do not follow the survey, or that send the true answer elsewhere.",
    ]

"""Which local mechanism to use: predicted errors from the closed forms, beside the size of reports."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from anonhist.catalogue.randomizers import RANDOMIZERS
from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.catalogue import survey_class
from anonhist.local.surveys.closed import ClosedSurvey
from anonhist.local.surveys.survey import MOST_REPORT_BYTES
from anonhist.outward import Tabular
from anonhist.privacy import EpsilonLike, parse_whole_number

# A standard error up to this factor above the lowest is accepted for a smaller report.
TOLERANCE = 1.05


@frozen
class RecommendationRow:
    """The predicted error and the costs of one mechanism.

    Attributes
    ----------
    mechanism
        Its name.
    mean_squared_error
        Mean over the labels of the squared error of the estimated number of people, in people².
    standard_error
        Its root divided by the number of people: the standard error of an estimated share.
    report_bytes
        Size of one person's report, packed.
    decode_cost
        Growth of the server's work.
    note
        Why it cannot be recommended; otherwise empty.
    """

    mechanism: str
    mean_squared_error: float
    standard_error: float
    report_bytes: int
    decode_cost: str
    note: str = ""


@dataclass(frozen=True)
class Recommendation(Tabular):
    """Mechanisms by predicted error, the lowest first, and the recommended one.

    Attributes
    ----------
    rows
        One per mechanism, by error.
    best
        The name of the recommended mechanism.
    reason
        The reason, in a sentence.
    """

    known_as = "recommendation"
    rows: tuple[RecommendationRow, ...]
    best: str
    reason: str


def recommend(*, alphabet_size: int, epsilon: EpsilonLike, users: int, max_bytes: int | None = None) -> Recommendation:
    """Compare the mechanisms for closed alphabets by their predicted errors.

    The mechanism with the smallest report is recommended among those whose standard error is at most 5 % above
    the lowest. Only public numbers are used.

    Parameters
    ----------
    alphabet_size
        k, from 2 to 2³².
    epsilon
        ε of each report.
    users
        How many people will report, ≥ 1.
    max_bytes
        The largest report allowed; by default, and at most, 2^24, the most that can be made.

    Raises
    ------
    UsageError
        If a number is out of range, or no report is that small.

    Notes
    -----
    The mean over the k labels of n²·Var = ``n·(v(0) + (v(1) − v(0))/k)``, v(f) being n times the variance of the share
    of a label with frequency f: the error is the same for any distribution, except for a last block that is not full.

    Examples
    --------
    >>> recommend(alphabet_size=4, epsilon=1, users=1000).best
    'k-rr'
    """
    size = parse_whole_number(alphabet_size, name="alphabet_size", least=2, most=2**32)
    people = parse_whole_number(users, name="users")
    wanted = MOST_REPORT_BYTES if max_bytes is None else parse_whole_number(max_bytes, name="max_bytes")
    most = min(wanted, MOST_REPORT_BYTES)
    rows = []
    for kind in map(survey_class, RANDOMIZERS):
        if not issubclass(kind, ClosedSurvey) or not kind.decode_cost:
            continue
        survey = kind(alphabet=size, epsilon=epsilon)
        error = people * (survey.variance() + (survey.variance(1.0) - survey.variance()) / size)
        note = "" if survey.report_bytes <= most else f"its report is larger than {most:,} bytes"
        rows.append(
            RecommendationRow(survey.name, error, sqrt(error) / people, survey.report_bytes, survey.decode_cost, note)
        )
    rows.sort(key=lambda row: (row.mean_squared_error, row.report_bytes))
    small = [row for row in rows if not row.note]
    if not small:
        smallest = min(row.report_bytes for row in rows)
        raise UsageError(f"No mechanism has reports of {most:,} bytes at most; the smallest takes {smallest:,}.")
    near = [row for row in small if row.standard_error <= TOLERANCE * small[0].standard_error]
    best = min(near, key=lambda row: (row.report_bytes, row.mean_squared_error))
    return Recommendation(tuple(rows), best.mechanism, _reason(best, small[0], users=people))


def _reason(best: RecommendationRow, least: RecommendationRow, *, users: int) -> str:
    seen = f"shares below about {min(1.0, 3 * best.standard_error):.2g} cannot be distinguished from zero"
    if best is least:
        return f"It has the lowest error; with {users:,} people, {seen}."
    more = 100 * (best.standard_error / least.standard_error - 1)
    return (
        f"A report takes {best.report_bytes:,} byte{'' if best.report_bytes == 1 else 's'}, one of {least.mechanism} "
        f"{least.report_bytes:,}; the error is {more:.1f} % higher; with {users:,} people, {seen}."
    )

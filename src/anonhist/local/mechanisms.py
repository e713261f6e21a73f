"""Local mechanisms by name: surveys made from files, charged when they are declared, and recommended by error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from math import sqrt
from typing import Any, TypeVar

from anonhist.accounting import Ledger, Released
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.catalogue import RANDOMIZERS, load
from anonhist.errors import AnonhistError, UsageError, kind_of
from anonhist.frozen import frozen
from anonhist.kinds import Printed, Tabular
from anonhist.local.alphabet import Alphabet
from anonhist.local.randomizers.closed import ClosedSurvey
from anonhist.local.survey import COMMON, MOST_REPORT_BYTES, Survey
from anonhist.privacy import EpsilonLike, parse_whole_number
from anonhist.properties.estimate import percent
from anonhist.releases.content import digest_of, receipt_content


def survey_class(name: str) -> type[Survey]:
    """Return the mechanism with this name."""
    if not isinstance(name, str) or name not in RANDOMIZERS:
        raise UsageError(f"There is no local mechanism {name!r:.80}; there are {', '.join(RANDOMIZERS)}.")
    found: type[Survey] = load(RANDOMIZERS[name])
    return found


def parameter_names(name: str) -> dict[str, bool]:
    """Return the parameters of a mechanism besides epsilon and a title, and which of them are required."""
    given = (each for each in fields(survey_class(name)) if each.init and each.name not in COMMON)
    return {each.name: each.default is MISSING for each in given}


def takes_epsilon(name: str) -> bool:
    """Return whether a mechanism takes epsilon, rather than deriving it from its parameters."""
    return any(each.init and each.name == "epsilon" for each in fields(survey_class(name)))


def survey_from(name: str, *, epsilon: str, title: str, parameters: Mapping[str, Any]) -> Survey:
    """Make a survey from its own description, :attr:`Survey.parameters` as JSON values, or refuse any other."""
    kind = survey_class(name)
    if not isinstance(epsilon, str) or not isinstance(title, str):
        raise UsageError("The epsilon and the title of a survey must be text.")
    known = {kind.in_files.get(each, each): each for each in parameter_names(name)}
    if not isinstance(parameters, dict) or not set(parameters) <= set(known):
        raise UsageError(f"The parameters of {name} must be among {', '.join(known)}, and nothing else.")
    try:
        described = _canonical(parameters)
        arguments: dict[str, Any] = {
            known[key]: _alphabet(value) if key == "alphabet" else value for key, value in parameters.items()
        }
        if takes_epsilon(name):
            arguments["epsilon"] = epsilon
        survey = kind(title=title, **arguments)
    except AnonhistError as error:
        raise UsageError(str(error)) from None
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError):
        raise UsageError(f"The parameters do not have the types that {name} takes.") from None
    if str(survey.epsilon) != epsilon or _canonical(survey.parameters) != described:
        raise UsageError(f"Epsilon or the parameters are incomplete, or not written as {name} writes them.")
    return survey


def _alphabet(value: Any) -> Alphabet | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) not in ({"size"}, {"labels"}, {"labels", "other"}):
        raise UsageError(
            "An alphabet is described by its size, or by its labels and, optionally, the label for other values."
        )
    labels = value.get("size", value.get("labels"))
    if not isinstance(labels, int if "size" in value else list):
        raise UsageError("The size of an alphabet must be a whole number, and its labels a list of strings.")
    return Alphabet(labels, other=value.get("other"))


def _canonical(parameters: Mapping[str, Any]) -> str:
    """Write parameters so that 1, 1.0 and true, which are equal in Python, become different texts."""
    return json.dumps(parameters, sort_keys=True, allow_nan=False)


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
        The root of that divided by the number of people: the standard error of an estimated share.
    report_bytes
        Size of one person's report, packed.
    decode_cost
        Growth of the server's work.
    note
        The reason why it cannot be recommended; otherwise empty.
    """

    mechanism: str
    mean_squared_error: float
    standard_error: float
    report_bytes: int
    decode_cost: str
    note: str = ""


@dataclass(frozen=True, repr=False)
class Recommendation(Printed, Tabular):
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

    The mechanism with the smallest report is recommended among those whose standard error is at most 5% above
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
        The largest report allowed; by default, and at most, 2^24, the largest possible report.

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
        raise UsageError(f"No mechanism has reports of at most {most:,} bytes; the smallest report takes {smallest:,}.")
    near = [row for row in small if row.standard_error <= TOLERANCE * small[0].standard_error]
    best = min(near, key=lambda row: (row.report_bytes, row.mean_squared_error))
    return Recommendation(tuple(rows), best.mechanism, _reason(best, small[0], users=people))


def _reason(best: RecommendationRow, least: RecommendationRow, *, users: int) -> str:
    seen = f"shares below about {percent(min(1.0, 3 * best.standard_error))} cannot be distinguished from zero"
    if best is least:
        return f"It has the lowest error; with {users:,} people, {seen}."
    more = 100 * (best.standard_error / least.standard_error - 1)
    return (
        f"A report takes {best.report_bytes:,} byte{'' if best.report_bytes == 1 else 's'}, one of {least.mechanism} "
        f"{least.report_bytes:,}; the error is {more:.1f}% higher; with {users:,} people, {seen}."
    )


AnySurvey = TypeVar("AnySurvey", bound=Survey)


def declare(
    survey: AnySurvey,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> AnySurvey:
    """Charge a survey to the people it will ask, before any device reports.

    The charge is the guarantee of the survey, for one report of each person; with RAPPOR, for all reports of one answer
    that never changes. Estimates from the reports cost nothing more. Declare a survey again whenever the same people
    are asked again.

    Parameters
    ----------
    survey
        The survey.
    ledger, dataset, purpose, run_id
        The ledger to charge, as for :func:`~anonhist.mechanisms.release`. The budget must be for users who are
        replaced, because a survey does not hide who takes part.

    Returns
    -------
    Survey
        The same survey with its receipt; unchanged if there is no ledger.

    Raises
    ------
    UsageError
        If there is no such data set, its budget is for other units, or too little is left (``BudgetError``).

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.accounting import Ledger
    >>> from anonhist.local import KRR
    >>> from anonhist.privacy import NeighboringRelation
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger(f"{folder.name}/budget.db") as ledger:
    ...     budget = ledger.create("members", "user", epsilon=3, relation=NeighboringRelation.SUBSTITUTE)
    ...     survey = declare(KRR(alphabet=["bus", "car"], epsilon=1), ledger=ledger, dataset="members")
    ...     print(ledger.balance("members").left.epsilon, survey.receipt.entry)
    2 2
    >>> folder.cleanup()
    """
    if not isinstance(survey, Survey):
        raise UsageError(f"Only surveys can be declared, not {kind_of(survey)}.")
    with recording(account_of(ledger, dataset, purpose, run_id), lambda: price_of(survey)) as recorded:
        if recorded.receipt is None:
            return survey
        declared = replace(survey, receipt=recorded.receipt)
        recorded.complete(lambda: survey_digest(declared))
    return declared


def price_of(survey: Survey) -> Price:
    """Return the cost of a survey to each person who reports."""
    return Price(survey.guarantee, survey.name, {"survey": survey.digest, "title": survey.title})


def survey_digest(survey: Survey) -> str:
    """Return the SHA-256 digest of the content of a survey, including its receipt."""
    return digest_of(
        {
            "mechanism": survey.name,
            "epsilon": str(survey.epsilon),
            "title": survey.title,
            "parameters": survey.parameters,
            "receipt": receipt_content(survey.receipt),
        }
    )


def released(survey: Survey, name: str) -> Released:
    """Return the receipt of a survey, and its digest, as a ledger stores them."""
    return Released(name, survey.receipt, survey_digest(survey))

"""A survey and the ledger: what it costs the people whom it asks, charged when it is declared."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from anonhist.accounting import Ledger, Released
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.errors import UsageError, kind_of
from anonhist.local.surveys.survey import Survey
from anonhist.releases.content import digest_of, receipt_content

AnySurvey = TypeVar("AnySurvey", bound=Survey)


def declare(
    survey: AnySurvey,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> AnySurvey:
    """Charge a survey to the people whom it will ask, before any device reports.

    The charge is the guarantee of the survey, for one report of each person: with RAPPOR, for all reports of one answer
    that never changes. Estimates from the reports cost no more. Declare a survey again whenever the same people are
    asked again.

    Parameters
    ----------
    survey
        The survey.
    ledger, dataset, purpose, run_id
        The ledger to charge, as for :func:`~anonhist.mechanisms.release`. The budget must be for users replaced, since
        a survey does not hide who takes part.

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
    """Return what a survey costs each person whom it asks."""
    return Price(survey.guarantee, survey.name, {"survey": survey.digest, "title": survey.title})


def survey_digest(survey: Survey) -> str:
    """Return the SHA-256 digest of all that a survey says, its receipt included."""
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
    """Return the receipt of a survey, and its digest, as a ledger has them."""
    return Released(name, survey.receipt, survey_digest(survey))

"""The tally of a survey from a collector's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.collect.databases import storage_at
from anonhist.errors import DataError

if TYPE_CHECKING:
    from anonhist.local.reports import Tally
    from anonhist.local.survey import Survey


def read_collected(survey: Survey, address: str) -> Tally:
    """Return the tally of everything that was counted for a survey, in all collections of a database that asked it."""
    storage = storage_at(address)
    total = survey.empty_tally()
    with storage.seen() as ours:
        numbers = ours.of_survey(survey.digest)
        if not numbers:
            raise DataError(f"No collection of this survey is in {storage.shown!r}.")
        for number in numbers:
            total += ours.tally(number, survey.digest, shown=False)
    return total

"""The tally of a survey from a collector's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.collect.databases import storage_at
from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from anonhist.local.reports import Tally
    from anonhist.local.survey import Survey


_SHOWN_DIGITS, _MOST_SHOWN = 12, 4


def read_collected(survey: Survey, address: str, collection: str | None = None) -> Tally:
    """Return the tally of everything that was counted in the one collection of a database that asked a survey.

    ``collection`` is the digest of one, or how it begins: where several asked the survey, they may have asked different
    people or the same, so nobody adds them up unasked.
    """
    storage = storage_at(address)
    with storage.seen() as ours:
        every = ours.of_survey(survey.digest)
        found = [each for each in every if each.startswith((collection or "").lower())]
        if not found:
            which = "" if collection is None or not every else f" whose digest begins with {collection!r}"
            raise DataError(f"No collection of this survey{which} is in {storage.shown!r}.")
        if len(found) > 1:
            some = ", ".join(each[:_SHOWN_DIGITS] for each in found[:_MOST_SHOWN])
            more = ", …" if len(found) > _MOST_SHOWN else ""
            raise UsageError(
                f"{len(found)} collections of this survey are in {storage.shown!r} ({some}{more}): choose one by its "
                "digest, `collection`."
            )
        return ours.tally(every[found[0]], survey.digest, shown=False)

"""Files of collections: written whole, and refused unless every value is one that a collection can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import FileKind, as_text
from anonhist.formats.untrusted import check_version, document_text, mapping, text
from anonhist.local.collection import Anybody, Batches, Collection, Invited, Looks
from anonhist.local.mechanisms import survey_from

if TYPE_CHECKING:
    from collections.abc import Iterable

COLLECTION_FORMAT = "anonhist/collection"
_SURVEY_FIELDS = {"mechanism", "epsilon", "title", "parameters", "digest"}
_FIELDS = {"format", "version", "survey", "answers", "candidates", "shown", "last_day", "keep_ids", "open_to"}
_FIELDS |= {"guarantee", "cautions", "digest"}


def collection_document(collection: Collection) -> dict[str, Any]:
    """Return the content of a collection as JSON values; the digest covers all but the format and its version."""
    head = {"format": COLLECTION_FORMAT, "version": 1}
    return head | collection.description | {"digest": collection.digest}


def collection_text(collection: Collection) -> str:
    """Return the file content of a collection, or refuse a label that no file can hold."""
    written = document_text(collection_document(collection))
    try:
        written.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "A text of the collection contains half a surrogate pair, which no file can hold; correct it."
        ) from None
    return written


def collection_from_document(document: object) -> Collection:
    """Rebuild a collection, refusing every value that a collection cannot have."""
    check_version(document, COLLECTION_FORMAT)
    top = mapping(document, _FIELDS, "a collection")
    own = mapping(top["survey"], _SURVEY_FIELDS, "the survey of a collection")
    survey = survey_from(
        text(own["mechanism"], "the mechanism"),
        epsilon=text(own["epsilon"], "epsilon"),
        title=text(own["title"], "the title"),
        parameters=own["parameters"],
    )
    if own["digest"] != survey.digest:
        raise DataError("the digest of the survey is not that of its survey; it was changed later")
    if top["answers"] != "once" and (type(top["answers"]) is not int or top["answers"] < 2):
        raise DataError("answers must be once, or a whole number from 2")
    if type(top["keep_ids"]) is not int:
        raise DataError("`keep_ids` must be a whole number")
    if top["open_to"] not in ("anybody", "invited"):
        raise DataError("`open_to` must be anybody or invited")
    collection = Collection(
        survey=survey,
        answers=top["answers"],
        candidates=_candidates(top["candidates"]),
        shown=_shown(top["shown"]),
        last_day=text(top["last_day"], "the last day"),
        keep_ids=top["keep_ids"],
        open_to=Invited() if top["open_to"] == "invited" else Anybody(),
    )
    if {**collection_document(collection), "digest": None} != {**top, "digest": None}:
        raise DataError("the collection is not written as this program writes it; it was changed later")
    if top["digest"] != collection.digest:
        raise DataError("its digest is not that of its content; it was changed later")
    return collection


def _candidates(given: object) -> Iterable[str] | None:
    if given is not None and not isinstance(given, list):
        raise DataError("candidates must be a list of texts, or null")
    return given


def _shown(given: object) -> Looks | Batches:
    if given == "looks":
        return Looks()
    own = mapping(given, {"users", "honest", "delta"}, "batches")
    if type(own["users"]) is not int or type(own["honest"]) is not int:
        raise DataError("the people of a batch must be whole numbers")
    return Batches(users=own["users"], honest=own["honest"], delta=text(own["delta"], "delta"))


COLLECTION_FILES = FileKind("collection", {".json": as_text(collection_text)}, {".json": collection_from_document})

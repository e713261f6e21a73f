"""The JSON document of a survey: what everybody shares, checked when it is read.

Version 2 has the receipt of a survey that was charged to a ledger; others are written as version 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.formats.fields import check_version, file_wording, mapping, text
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import document_text
from anonhist.formats.release_fields import receipt_document, receipt_from
from anonhist.local.catalogue import survey_from

if TYPE_CHECKING:
    from anonhist.local.surveys.survey import Survey

FORMAT, OLDEST, VERSION = "anonhist.survey", 1, 2
_FIELDS = {"format", "version", "library_version", "mechanism", "epsilon", "title", "parameters", "digest", "guarantee"}
_FIELDS_SINCE_2 = {"receipt"}


def survey_document(survey: Survey) -> dict[str, Any]:
    """Return everything a survey says of itself, as JSON values.

    The digest stands for the rest: whoever changes a survey has another one. The guarantee is a sentence for people.
    """
    from anonhist.version import __version__

    return {
        "format": FORMAT,
        "version": OLDEST if survey.receipt is None else VERSION,
        "library_version": __version__,
        "mechanism": survey.name,
        "epsilon": str(survey.epsilon),
        "title": survey.title,
        "parameters": survey.parameters,
        "digest": survey.digest,
        "guarantee": file_wording(survey.guarantee.sentence),
        **({} if survey.receipt is None else {"receipt": receipt_document(survey.receipt)}),
    }


def survey_text(survey: Survey) -> str:
    """Return the file of a survey.

    Raises
    ------
    UsageError
        If a label cannot be written down.
    """
    written = document_text(survey_document(survey))
    try:
        written.encode()
    except UnicodeEncodeError:
        raise UsageError("A text of the survey holds half a character, which no file can; write it anew.") from None
    return written


def survey_from_document(document: object) -> Survey:
    """Rebuild a survey, refusing whatever a survey cannot be.

    Raises
    ------
    DataError, UsageError
        With what is wrong.
    """
    version = check_version(document, FORMAT, VERSION, oldest=OLDEST)
    top = mapping(document, _FIELDS | (_FIELDS_SINCE_2 if version > OLDEST else set()), "a survey")
    text(top["library_version"], "the library version")
    survey = survey_from(
        text(top["mechanism"], "the mechanism"),
        epsilon=text(top["epsilon"], "epsilon"),
        title=text(top["title"], "the title"),
        parameters=top["parameters"],
    )
    if top["digest"] != survey.digest:
        raise DataError("its digest is not that of the survey it describes; it was changed later")
    if top["guarantee"] != file_wording(survey.guarantee.sentence):
        raise DataError("the guarantee is not what such a survey promises")
    return replace(survey, receipt=receipt_from(top["receipt"])) if version > OLDEST else survey


FILES = FileKind("survey", {".json": survey_from_document})
read_survey = FILES.read

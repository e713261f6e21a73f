"""How surveys, reports, tallies and estimates are written: by type, then by ending."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.formats.estimates import estimate_json
from anonhist.formats.reports import ENDINGS, write_reports
from anonhist.formats.surveys import survey_text
from anonhist.formats.tables import csv_text, write_parquet
from anonhist.formats.tallies import tally_text
from anonhist.local.surveys.estimate import FrequencyEstimate
from anonhist.local.surveys.reports import Reports
from anonhist.local.surveys.survey import Survey
from anonhist.local.surveys.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    Encoders = Mapping[str, Callable[[Any, BinaryIO], None]]


def encoders_of(written: object) -> tuple[str, Encoders]:
    """Return how a sentence about it begins, and by ending what writes it.

    Raises
    ------
    UsageError
        If it is nothing that is written.
    """
    for kind, what, encoders in _KINDS:
        if isinstance(written, kind):
            return what, encoders
    message = (
        "Only releases, sketches, surveys, reports, tallies and estimates of frequencies can be written, not a "
        f"{type(written).__name__}. A profile is private: release it first."
    )
    raise UsageError(message)


def _as(encode: Callable[[Any], str]) -> Callable[[Any, BinaryIO], None]:
    """Write all at once what becomes one text."""

    def write(written: Any, file: BinaryIO) -> None:
        file.write(encode(written).encode())

    return write


def _write_reports(reports: Reports, file: BinaryIO, *, ending: str) -> None:
    write_reports(reports, ending, file)


_KINDS: tuple[tuple[type[Any], str, Encoders], ...] = (
    (Survey, "A survey is", {".json": _as(survey_text)}),
    (Tally, "A tally is", {".json": _as(tally_text), ".parquet": write_parquet}),
    (Reports, "Reports are", {ending: partial(_write_reports, ending=ending) for ending in ENDINGS}),
    (FrequencyEstimate, "An estimate is", {".csv": _as(csv_text), ".json": _as(estimate_json)}),
)

"""Files of local privacy: surveys, reports, tallies, and estimates of frequencies."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Never

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import receipt_document, receipt_from
from anonhist.formats.files import FileKind, as_text
from anonhist.formats.tables import Table, csv_text, table_of_rows, write_parquet
from anonhist.formats.untrusted import (
    batches,
    check_codecs,
    check_version,
    document_text,
    mapping,
    open_parquet,
    optional,
    parse_json,
    refuse_damage,
    text,
    whole,
)
from anonhist.local.mechanisms import survey_from
from anonhist.local.reports import Reports, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from anonhist.formats.tables import Columns
    from anonhist.local.estimate import FrequencyEstimate
    from anonhist.local.survey import Survey

SURVEY_FORMAT = "anonhist/survey"
_SURVEY_FIELDS = {
    "format",
    "version",
    "library_version",
    "mechanism",
    "epsilon",
    "title",
    "parameters",
    "digest",
    "guarantee",
    "receipt",
}


def survey_document(survey: Survey) -> dict[str, Any]:
    """Return a survey's content as JSON values.

    The digest covers the rest: a changed survey has another digest. The guarantee is a sentence for people.
    """
    from anonhist.version import __version__

    return {
        "format": SURVEY_FORMAT,
        "version": 1,
        "library_version": __version__,
        "mechanism": survey.name,
        "epsilon": str(survey.epsilon),
        "title": survey.title,
        "parameters": survey.parameters,
        "digest": survey.digest,
        "guarantee": survey.guarantee.sentence,
        "receipt": optional(receipt_document, survey.receipt),
    }


def survey_text(survey: Survey) -> str:
    """Return the file content of a survey, or refuse a label that no file can hold."""
    written = document_text(survey_document(survey))
    try:
        written.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "A text of the survey contains half a surrogate pair, which no file can hold; correct it."
        ) from None
    return written


def survey_from_document(document: object) -> Survey:
    """Rebuild a survey, refusing every value that a survey cannot have."""
    check_version(document, SURVEY_FORMAT)
    top = mapping(document, _SURVEY_FIELDS, "a survey")
    text(top["library_version"], "the library version")
    survey = survey_from(
        text(top["mechanism"], "the mechanism"),
        epsilon=text(top["epsilon"], "epsilon"),
        title=text(top["title"], "the title"),
        parameters=top["parameters"],
    )
    if top["digest"] != survey.digest:
        raise DataError("its digest is not that of its survey; it was changed later")
    if top["guarantee"] != survey.guarantee.sentence:
        raise DataError("the guarantee is not that of the survey")
    return replace(survey, receipt=optional(receipt_from, top["receipt"]))


SURVEY_FILES = FileKind("survey", {".json": as_text(survey_text)}, {".json": survey_from_document})
read_survey = SURVEY_FILES.read


TALLY_FORMAT = "anonhist/tally"
TALLY_METADATA_KEY = TALLY_FORMAT.encode()
# A file of any size may declare this many cells; for more, it needs a byte per cell. Cells are distinct numbers, so
# this program's files have several bytes for each.
_FEW_CELLS = 1 << 20
_TALLY_FIELDS = {"format", "version", "survey", "users"}
_DIGEST = re.compile(r"[0-9a-f]{32}")


def tally_text(tally: Tally) -> str:
    """Return the JSON file of a tally."""
    return document_text(_head(tally) | {"cells": tally.cells.tolist(), "counts": tally.counts.tolist()})


def _head(tally: Tally) -> dict[str, Any]:
    return {"format": TALLY_FORMAT, "version": 1, "survey": tally.survey, "users": tally.users}


TALLY_TABLE = Table(
    lambda tally: {"cell": tally.cells, "count": tally.counts},
    metadata=lambda tally: {TALLY_METADATA_KEY: json.dumps(_head(tally))},
)


def is_tally_file(path: str | Path) -> bool:
    """Return whether a file holds a tally, not reports, judged by its ending and, in Parquet, by its metadata."""
    ending = Path(path).suffix.lower()
    if ending != ".parquet":
        return ending == ".json"
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return TALLY_METADATA_KEY in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False  # The function that reads the file reports the problem.


def tally_from_document(document: object) -> Tally:
    """Rebuild a tally, refusing every value that a tally cannot have."""
    check_version(document, TALLY_FORMAT)
    top = mapping(document, _TALLY_FIELDS | {"cells", "counts"}, "a tally")
    return _tally(top, whole(top["cells"], "cells"), whole(top["counts"], "counts"))


def _tally(top: Mapping[str, Any], cells: NDArray[np.int64], counts: NDArray[np.int64]) -> Tally:
    if not _DIGEST.fullmatch(text(top["survey"], "the digest of the survey")):
        raise DataError("the digest of the survey must be 32 hexadecimal digits")
    return Tally(top["survey"], top["users"], cells, counts)


def _from_parquet(content: bytes) -> Tally:
    import pyarrow as pa

    with refuse_damage():
        file = open_parquet(content)
        schema = file.schema_arrow
        document = (schema.metadata or {}).get(TALLY_METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a tally")
        # Everything else is checked before any cell is read, because a few bytes can stand for any number of cells.
        head = parse_json(document)
        check_version(head, TALLY_FORMAT)
        mapping(head, _TALLY_FIELDS, "a tally")
        wrong = "its columns must be cell and count, whole numbers all of them"
        if schema.names != ["cell", "count"] or any(kind != pa.int64() for kind in schema.types):
            raise DataError(wrong)
        if file.metadata.num_rows > max(_FEW_CELLS, len(content)):
            raise DataError("it declares more cells than a file of its size can hold")
        check_codecs(content)
        table = pa.Table.from_batches(batches(file, schema.names), schema)
    if any(each.null_count for each in table.columns):
        raise DataError(wrong)
    cells, counts = (table.column(name).to_numpy() for name in ("cell", "count"))
    return _tally(mapping(head, _TALLY_FIELDS, "a tally"), cells, counts)


TALLY_FILES = FileKind(
    "tally",
    {".json": as_text(tally_text), ".parquet": write_parquet},
    {".json": tally_from_document, ".parquet": _from_parquet},
)
read_tally = TALLY_FILES.read


ENDINGS = (".csv", ".jsonl", ".ndjson", ".parquet")
# This many bytes of reports are written at a time: texts beyond 2^31 bytes would not fit an array.
_PART_BYTES = 1 << 26
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)], dtype="S2").view(np.uint16)


def reports_writer(ending: str, file: BinaryIO) -> closing[_Lines | _Parquet]:
    """Give a writer of reports for files with this ending; at the end of the block, the file is complete.

    In Parquet, whole numbers are INT64 and bytes BINARY. In CSV and JSON lines, bytes are lower-case hexadecimal text.
    """
    # Closed also after a failure: a writer left open would write to a closed file when it is deleted.
    return closing(_Parquet(file) if ending == ".parquet" else _Lines(file, is_csv=ending == ".csv"))


def _reports_columns(reports: Reports) -> Columns:
    """Return all rows at once, as CSV holds them."""
    columns: dict[str, Any] = {"survey": [reports.survey] * len(reports)}
    for name, column in reports.columns.items():
        columns[name] = [bytes(row).hex() for row in column] if column.ndim == 2 else column
    return columns


REPORTS_TABLE = Table(_reports_columns)


def write_reports(reports: Reports, file: BinaryIO, ending: str) -> None:
    """Write all reports."""
    with reports_writer(ending, file) as writer:
        writer.write(reports)


REPORTS_FILES: FileKind[Never] = FileKind(
    "reports", {ending: partial(write_reports, ending=ending) for ending in ENDINGS}
)


class _Parquet:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, reports: Reports) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        for rows in _parts(reports):
            columns: dict[str, Any] = {"survey": pa.repeat(reports.survey, rows.stop - rows.start)}
            for name, column in reports.columns.items():
                columns[name] = _bytes(column[rows]) if column.ndim == 2 else pa.array(column[rows], pa.int64())
            table = pa.table(columns)
            if self._writer is None:
                # Bytes of reports look random: neither a dictionary nor a codec makes them shorter.
                few = [name for name, column in columns.items() if column.type != pa.binary()]
                self._writer = pq.ParquetWriter(self._file, table.schema, use_dictionary=few)
            self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Lines:
    """CSV, or JSON lines: pieces of text around the columns of each row."""

    def __init__(self, file: BinaryIO, *, is_csv: bool) -> None:
        self._file, self._is_csv, self._begun = file, is_csv, False

    def write(self, reports: Reports) -> None:
        if self._is_csv and not self._begun:
            self._file.write(",".join(("survey", *reports.columns)).encode() + b"\n")
        self._begun = True
        for rows in _parts(reports):
            pieces: list[Any] = [reports.survey if self._is_csv else f'{{"survey":"{reports.survey}"']
            for name, column in reports.columns.items():
                quote = '"' if column.ndim == 2 and not self._is_csv else ""
                pieces += ["," if self._is_csv else f',"{name}":{quote}', _texts(column[rows]), quote]
            _write_lines(self._file, [*pieces, "\n" if self._is_csv else "}\n"])

    def close(self) -> None:
        """Do nothing: all lines are already written."""


def _parts(reports: Reports) -> list[slice]:
    """Return the rows in parts of about this many bytes; one empty part if there are no rows."""
    width = sum(column[:1].nbytes for column in reports.columns.values()) or 1
    step = max(1, _PART_BYTES // (3 * width + 64))
    return [slice(start, min(start + step, len(reports))) for start in range(0, len(reports) or 1, step)]


def _bytes(column: NDArray[Any]) -> pa.Array:
    """Return rows of bytes as values of an Arrow array, without looping over them."""
    import pyarrow as pa

    rows, width = column.shape
    data = pa.py_buffer(np.ascontiguousarray(column))
    offsets = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(width))
    return pa.Array.from_buffers(pa.binary(), rows, [None, offsets, data])


def _texts(column: NDArray[Any]) -> pa.Array:
    import pyarrow as pa

    if column.ndim == 2:
        return _bytes(_HEX[column].view(np.uint8).reshape(len(column), 2 * column.shape[1])).cast(pa.string())
    return pa.array(column).cast(pa.string())


def _write_lines(file: BinaryIO, pieces: list[Any]) -> None:
    """Join the pieces of every row; the texts of one array are contiguous, so they already form the file."""
    import pyarrow.compute as pc

    lines = pc.binary_join_element_wise(*pieces, "")
    if len(lines):
        _, offsets, data = lines.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[lines.offset : lines.offset + len(lines) + 1]
        file.write(memoryview(data)[ends[0] : ends[-1]])


FREQUENCIES_FORMAT = "anonhist/frequencies"


def _frequencies_columns(estimate: FrequencyEstimate) -> Columns:
    """Return one row per label, in the order of the estimate; the rows do not carry the guarantee.

    ``raw`` is the unbiased estimate, to which the standard error, the intervals and the p-value belong; ``frequency``
    and ``count`` are decoded jointly for all labels, without errors of their own.
    """
    low, high = estimate.intervals.T
    simultaneous_low, simultaneous_high = estimate.simultaneous_intervals.T
    return {
        "label": estimate.labels,
        "raw": estimate.raw,
        "standard_error": estimate.standard_errors,
        "low": low,
        "high": high,
        "simultaneous_low": simultaneous_low,
        "simultaneous_high": simultaneous_high,
        "p_value": estimate.p_values,
        "significant": estimate.significant,
        "frequency": estimate.frequencies,
        "count": estimate.counts,
    }


FREQUENCIES_TABLE = Table(_frequencies_columns)
_TOLD = ("users", "level", "decoder", "correction", "note", "other", "raw_other", "other_standard_error")
_TOLD_OF_LABELS = (
    *("frequencies", "raw", "standard_errors", "intervals", "simultaneous_intervals"),
    *("p_values", "significant"),
)


def estimate_document(estimate: FrequencyEstimate) -> dict[str, Any]:
    """Return the content of an estimate as JSON values; lists are aligned with ``labels``."""
    from anonhist.version import __version__

    return {
        "format": FREQUENCIES_FORMAT,
        "version": 1,
        "library_version": __version__,
        "guarantee": str(estimate.guarantee),
        **{name: getattr(estimate, name) for name in _TOLD},
        "labels": list(estimate.labels),
        **{name: getattr(estimate, name).tolist() for name in _TOLD_OF_LABELS},
    }


FREQUENCIES_FILES: FileKind[Never] = FileKind(
    "frequencies",
    {".csv": as_text(csv_text), ".json": as_text(lambda estimate: document_text(estimate_document(estimate)))},
)
RECOMMENDATION_TABLE = table_of_rows(
    mechanism="mechanism",
    standard_error="standard_error",
    mean_squared_error="mean_squared_error",
    report_bytes="report_bytes",
    decode_cost="decode_cost",
    note="note",
)

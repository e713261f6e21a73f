"""Files of tallies, version 1: a JSON document, or a Parquet table where there are many cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.formats.fields import check_version, mapping, text, whole
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import document_text, parse_json
from anonhist.formats.parquet_content import batches, check_codecs, open_parquet, refuse_damage
from anonhist.formats.tables import Table
from anonhist.local.surveys.reports import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

FORMAT, VERSION = "anonhist.tally", 1
METADATA_KEY = b"anonhist.tally"
# A file of any size may declare this many cells; more only if it has a byte for each. Cells are distinct numbers, so
# files of this program have several bytes for each.
_FEW_CELLS = 1 << 20
_FIELDS = {"format", "version", "survey", "users"}
_DIGEST = re.compile(r"[0-9a-f]{32}")


def tally_text(tally: Tally) -> str:
    """Return the JSON file of a tally."""
    return document_text(_head(tally) | {"cells": tally.cells.tolist(), "counts": tally.counts.tolist()})


def _head(tally: Tally) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "survey": tally.survey, "users": tally.users}


TABLE = Table(
    lambda tally: {"cell": tally.cells, "count": tally.counts},
    metadata=lambda tally: {METADATA_KEY: json.dumps(_head(tally))},
)


def is_tally_file(path: str | Path) -> bool:
    """Say whether a file is one of a tally rather than of reports, by its ending and, in Parquet, by its metadata."""
    ending = Path(path).suffix.lower()
    if ending != ".parquet":
        return ending == ".json"
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return METADATA_KEY in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False  # whoever reads it says what is wrong with it


def tally_from_document(document: object) -> Tally:
    """Rebuild a tally, refusing whatever a tally cannot be.

    Raises
    ------
    DataError, UsageError
        With what is wrong.
    """
    check_version(document, FORMAT, VERSION)
    top = mapping(document, _FIELDS | {"cells", "counts"}, "a tally")
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
        document = (schema.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a tally")
        # All that can be known is checked before any cell is read: a few bytes can stand for any number of them.
        head = parse_json(document)
        check_version(head, FORMAT, VERSION)
        mapping(head, _FIELDS, "a tally")
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
    return _tally(mapping(head, _FIELDS, "a tally"), cells, counts)


FILES = FileKind("tally", {".json": tally_from_document, ".parquet": _from_parquet})
read_tally = FILES.read

"""Reading releases back, refusing what is not one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.formats.document import from_document
from anonhist.formats.file_kind import FileKind
from anonhist.formats.json_text import parse_json
from anonhist.formats.parquet_content import batches, check_codecs, open_parquet, refuse_damage
from anonhist.formats.release_table import METADATA_KEY, counts_and_prevalences

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from anonhist.releases import Release

_COLUMNS = ("count", "prevalence")


def _from_parquet(content: bytes) -> Release:
    with refuse_damage():
        file = open_parquet(content)
        document = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
        if document is None:
            raise DataError("it is a Parquet file, but not one of a release")
        release = from_document(parse_json(document))
        check_codecs(content)
        # Tools that filter a table keep its metadata: the two must still say the same.
        is_same = _holds(file, dict(zip(_COLUMNS, counts_and_prevalences(release), strict=True)))
    if not is_same:
        raise DataError("its rows are not those that were released; they were changed later")
    return release


def _holds(file: pq.ParquetFile, expected: dict[str, NDArray[np.int64]]) -> bool:
    """Return whether these columns are in the file; of others, or of more rows, nothing is unpacked."""
    import pyarrow as pa

    schema, rows = file.schema_arrow, len(expected[_COLUMNS[0]])
    if any(schema.names.count(name) != 1 or schema.field(name).type != pa.int64() for name in expected):
        return False
    if file.metadata.num_rows != rows:
        return False
    seen = 0
    for batch in batches(file, list(expected)):
        end = seen + batch.num_rows
        for name, column in expected.items():
            found = batch.column(name)
            if found.null_count or not np.array_equal(found.to_numpy(), column[seen:end]):
                return False
        seen = end
    return True


FILES = FileKind("release", {".json": from_document, ".parquet": _from_parquet})
read_release = FILES.read

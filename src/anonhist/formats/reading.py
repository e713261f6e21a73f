"""Reading releases back, refusing what is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document

if TYPE_CHECKING:
    from anonhist.releases import Release


def read_release(path: str | Path) -> Release:
    """Read a release from a ``.json`` or ``.parquet`` file and check everything it says.

    Raises
    ------
    DataError
        If the file is missing or unreadable, of an unknown version, or describes something a release cannot be.
    UsageError
        If the ending is neither of the two.
    """
    source = Path(path)
    ending = source.suffix.lower()
    if ending not in (".json", ".parquet"):
        message = f"A release is read from a .json or .parquet file; {str(path)!r} is neither."
        raise UsageError(message)
    try:
        text = source.read_bytes() if ending == ".json" else _parquet_document(source)
    except OSError as error:
        message = f"The file {str(path)!r} cannot be read: {error.strerror or 'the system gave no reason'}."
        raise DataError(message) from None
    try:
        document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        message = f"The file {str(path)!r} is not valid JSON."
        raise DataError(message) from None
    return from_document(document)


def _parquet_document(source: Path) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    source.open("rb").close()
    try:
        metadata = pq.read_schema(source).metadata or {}
    except pa.ArrowInvalid:
        message = f"The file {str(source)!r} is not a Parquet file."
        raise DataError(message) from None
    if b"anonhist.release" not in metadata:
        message = f"The file {str(source)!r} is a Parquet file, but not one of a release."
        raise DataError(message)
    return bytes(metadata[b"anonhist.release"])


def _no_constant(name: str) -> NoReturn:
    message = f"A release file holds numbers, not {name}."
    raise DataError(message)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DataError("The release file names a field twice.")
    return fields

"""Reading releases back, refusing what is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document
from anonhist.formats.tables import METADATA_KEY

if TYPE_CHECKING:
    import pyarrow as pa

    from anonhist.releases import Release

# A Parquet reader's own limit of 10^8 is passed by profiles of a million counts.
_LARGEST_METADATA = 2**31 - 1


def read_release(path: str | Path) -> Release:
    """Read a release from a ``.json`` or ``.parquet`` file and check everything it says.

    Parameters
    ----------
    path
        A file that :func:`write` made, of this or an older version of the format.

    Returns
    -------
    Release
        The same release, its error recorded.

    Raises
    ------
    DataError
        If the file is missing or unreadable, of an unknown version, or describes something a release cannot be.
    UsageError
        If the ending is neither of the two. A CSV file has lost its guarantee, so it is no release.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.writing import write
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> released = release(Profile.from_labels("abracadabra"), epsilon=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(released, f"{folder}/release.json")
    ...     read_release(f"{folder}/release.json").profile == released.profile
    True
    """
    source = Path(path)
    ending = source.suffix.lower()
    if ending not in (".json", ".parquet"):
        message = f"A release is read from a .json or .parquet file; {str(path)!r} is neither."
        raise UsageError(message)
    try:
        content = source.read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the system does not take such a name"
        message = f"The file {str(path)!r} cannot be read: {reason}."
        raise DataError(message) from None
    try:
        return from_document(_parsed(content)) if ending == ".json" else _from_parquet(content)
    except DataError as error:
        message = f"{str(path)!r} is not a release that can be read: {str(error).removesuffix('.')}."
        raise DataError(message) from None


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_unique)
    except DataError:
        raise
    except (ValueError, RecursionError):  # besides bad syntax: bad UTF-8, endless numbers, endless nesting
        raise DataError("it is not valid JSON") from None


def _no_constant(name: str) -> NoReturn:
    message = f"it holds {name} where a number must be"
    raise DataError(message)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise DataError("it names a field twice")
    return fields


def _from_parquet(content: bytes) -> Release:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(
            pa.BufferReader(content),
            thrift_string_size_limit=_LARGEST_METADATA,
            thrift_container_size_limit=_LARGEST_METADATA,
        )
        document = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
        names = [name for name in ("count", "prevalence") if name in file.schema_arrow.names]
        table = file.read(columns=names)
    except (pa.ArrowException, OSError):
        raise DataError("it is not a Parquet file, or a damaged one") from None
    if document is None:
        raise DataError("it is a Parquet file, but not one of a release")
    release = from_document(_parsed(document))
    # Tools that filter a table keep its metadata: the two must still say the same.
    if not (
        _holds(table, "count", release.profile.counts) and _holds(table, "prevalence", release.profile.prevalences)
    ):
        raise DataError("its rows are not those that were released; they were changed later")
    return release


def _holds(table: pa.Table, name: str, expected: np.ndarray) -> bool:
    import pyarrow as pa

    if name not in table.column_names:
        return False
    column = table.column(name)
    return column.type == pa.int64() and not column.null_count and np.array_equal(column.to_numpy(), expected)

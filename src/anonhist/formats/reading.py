"""Reading releases back, refusing what is not one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import from_document
from anonhist.formats.json_text import content_of, parsed
from anonhist.formats.tables import METADATA_KEY, counts_and_prevalences

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
    content = content_of(source)
    try:
        return from_document(parsed(content)) if ending == ".json" else _from_parquet(content)
    except DataError as error:
        message = f"{str(path)!r} is not a release that can be read: {str(error).removesuffix('.')}."
        raise DataError(message) from None


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
    release = from_document(parsed(document))
    # Tools that filter a table keep its metadata: the two must still say the same.
    counts, prevalences = counts_and_prevalences(release)
    if not (_holds(table, "count", counts) and _holds(table, "prevalence", prevalences)):
        raise DataError("its rows are not those that were released; they were changed later")
    return release


def _holds(table: pa.Table, name: str, expected: np.ndarray) -> bool:
    import pyarrow as pa

    if name not in table.column_names:
        return False
    column = table.column(name)
    return column.type == pa.int64() and not column.null_count and np.array_equal(column.to_numpy(), expected)

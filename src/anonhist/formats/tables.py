"""Values as tables: as CSV for programs of all kinds, as Arrow for libraries of data frames; one line a kind."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from anonhist.catalogue import load
from anonhist.errors import MissingExtraError, UsageError, kind_of
from anonhist.lazy import LaterModule
from anonhist.outward import Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    # By name, all of one length: arrays, of which NaN is a number that is not known, or texts.
    Columns = Mapping[str, NDArray[Any] | Sequence[str]]
else:
    pd, pl, pa = map(LaterModule, ("pandas", "polars", "pyarrow"))

LEFT_OUT_KEY = b"anonhist.left_out"
# Where the table of each kind of value is, by the name it is known as: loaded on first use.
TABLES = {
    "release": ".formats.reading:TABLE",
    "groups": ".formats.grouped_releases:TABLE",
    "windows": ".formats.cumulative_releases:TABLE",
    "windows of groups": ".formats.grouped_cumulative_releases:TABLE",
    "estimate": ".formats.property_tables:ESTIMATE_TABLE",
    "estimates": ".formats.property_tables:ESTIMATES_TABLE",
    "curve": ".formats.property_tables:CURVE_TABLE",
    "comparison": ".formats.row_tables:COMPARISON_TABLE",
    "degree statistics": ".formats.property_tables:DEGREES_TABLE",
    "plan": ".formats.row_tables:PLAN_TABLE",
    "group plan": ".formats.row_tables:GROUP_PLAN_TABLE",
    "recommendation": ".formats.row_tables:SURVEYS_TABLE",
    "buckets": ".formats.row_tables:BUCKETS_TABLE",
    "frequencies": ".formats.estimates:TABLE",
    "tally": ".formats.tallies:TABLE",
    "reports": ".formats.reports:TABLE",
}


@dataclass(frozen=True)
class Table:
    """How one kind of value is made a table.

    Attributes
    ----------
    columns
        Returns its columns.
    texts
        Returns, by column, how CSV has numbers that it does not have with ten digits. Arrow has all digits.
    metadata
        Returns what Arrow has besides the columns.
    """

    columns: Callable[[Any], Columns]
    texts: Callable[[Any], Mapping[str, Callable[[float], str]]] = lambda _: {}
    metadata: Callable[[Any], dict[bytes, str]] = lambda _: {}


def ten_digits(number: float) -> str:
    """Write a number with ten digits at most; NaN, which is a number not known, as nothing."""
    return "" if math.isnan(number) else f"{number:.10g}"


def csv_text(value: Tabular) -> str:
    """Return the table of a value as CSV text: a header line, then a line a row.

    Of a release, a line per released count, ascending. Counts, prevalences and k+ counts are exact; errors and the ends
    of intervals are rounded to four decimals, and empty where none was kept. It does not carry the guarantee, nor
    :attr:`Release.items` and :attr:`Release.excess`: CSV has no place for them that other programs would leave alone.

    Parameters
    ----------
    value
        Whatever has :meth:`~anonhist.outward.Tabular.to_arrow`, such as a release, a curve or a comparison.

    Raises
    ------
    UsageError
        If it is no such value, such as a profile, which is private.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> csv_text(release(Profile.from_counts([8, 8, 3]), epsilon=1)).splitlines()[0]
    'count,prevalence,prevalence_standard_error,prevalence_low,prevalence_high,k_plus,k_plus_standard_error,k_plus_low,k_plus_high'
    """
    table = _table_of(value)
    columns, texts = table.columns(value), table.texts(value)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_texts(column, texts.get(name)) for name, column in columns.items()), strict=True))
    return text.getvalue()


def to_arrow(value: Tabular) -> pa.Table:
    """Return the table of a value as an Arrow table: the columns of :func:`csv_text`, no digit lost.

    Of a release, guarantee included, everything is JSON in the schema's metadata under ``anonhist.release``; what
    intervals leave out, where units were bounded, is a sentence under ``anonhist.left_out``.

    Raises
    ------
    UsageError
        If it is no such value, such as a profile, which is private.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> table = to_arrow(release(Profile.from_counts([8, 8, 3]), epsilon=1))
    >>> table.column_names[:2], list(table.schema.metadata)
    (['count', 'prevalence'], [b'anonhist.release'])
    """
    import pyarrow as pa

    table = _table_of(value)
    columns = {name: pa.array(column, from_pandas=True) for name, column in table.columns(value).items()}
    told = {LEFT_OUT_KEY: value.left_out} if value.left_out else {}
    return pa.table(columns).replace_schema_metadata({**table.metadata(value), **told} or None)


def write_parquet(value: Tabular, file: BinaryIO) -> None:
    """Write the table of a value as a Parquet file."""
    import pyarrow.parquet as pq

    # By way of memory: a library may go back in what it writes.
    buffer = io.BytesIO()
    pq.write_table(to_arrow(value), buffer)
    file.write(buffer.getvalue())


def to_pandas(value: Tabular) -> pd.DataFrame:
    """Return the table of a value as a pandas data frame.

    Raises
    ------
    MissingExtraError
        If pandas is not installed.
    """
    table = to_arrow(value)
    try:
        return table.to_pandas()
    except ModuleNotFoundError:
        raise _missing("pandas") from None


def to_polars(value: Tabular) -> pl.DataFrame:
    """Return the table of a value as a Polars data frame.

    Raises
    ------
    MissingExtraError
        If Polars is not installed.
    """
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise _missing("polars") from None
    return pl.DataFrame(to_arrow(value))


def _missing(library: str) -> MissingExtraError:
    message = f"A {library} data frame needs {library}, which is not installed: pip install {library}."
    return MissingExtraError(message)


def _table_of(value: Tabular) -> Table:
    if not isinstance(value, Tabular):
        raise UsageError(
            f"A Release is needed, as release(profile, epsilon=…) makes it, or another result, not {kind_of(value)}."
        )
    table: Table = load(TABLES[value.known_as])
    return table


def _texts(column: NDArray[Any] | Sequence[str], text: Callable[[float], str] | None) -> Sequence[Any]:
    """Return what CSV has in the rows of a column."""
    if not isinstance(column, np.ndarray):
        return column
    if column.dtype.kind == "f":
        return list(map(text or ten_digits, column.tolist()))
    return ["true" if each else "false" for each in column.tolist()] if column.dtype.kind == "b" else column.tolist()

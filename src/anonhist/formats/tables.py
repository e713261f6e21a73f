"""Values as tables: CSV for programs of all kinds, Arrow for data frame libraries."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Never, TypeVar

import numpy as np

from anonhist.errors import UsageError, kind_of
from anonhist.formats.files import FileKind, as_text
from anonhist.formats.untrusted import document_text, whole_parquet
from anonhist.kinds import Tabular, kind_of_value
from anonhist.lazy import LaterModule
from anonhist.privacy import short_decimal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pyarrow as pa
    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from anonhist.properties.curve import Curve
    from anonhist.properties.estimate import Estimate

    Columns = Mapping[str, NDArray[Any] | Sequence[str]]
else:
    pa = LaterModule("pyarrow")

T = TypeVar("T")
LEFT_OUT_KEY, WHERE_KEY = b"anonhist.left_out", b"anonhist.where"


def document_files(
    kind: str,
    what: str,
    to_document: Callable[[Any], Mapping[str, Any]],
    from_document: Callable[[object], T],
    is_same: Callable[[pq.ParquetFile, T], bool],
) -> FileKind[T]:
    """Return how values are written: as a JSON document of a format, as a table with it in its metadata, and as CSV.

    ``is_same`` says whether a file's table still matches its document.
    """
    return FileKind(
        kind.removeprefix("anonhist/"),
        {
            ".csv": as_text(csv_text),
            ".json": as_text(lambda value: document_text(to_document(value))),
            ".parquet": write_parquet,
        },
        {
            ".json": from_document,
            ".parquet": lambda content: whole_parquet(content, kind, what, from_document, is_same),
        },
    )


@dataclass(frozen=True)
class Table:
    """How one kind of value becomes a table.

    ``texts`` returns, by column, how CSV writes numbers that it does not write with ten digits; Arrow has all digits,
    and ``metadata`` besides the columns.
    """

    columns: Callable[[Any], Columns]
    texts: Callable[[Any], Mapping[str, Callable[[float], str]]] = lambda _: {}
    metadata: Callable[[Any], dict[bytes, str]] = lambda _: {}


def ten_digits(number: float) -> str:
    """Write a number with at most ten digits; NaN, an unknown number, becomes empty text."""
    return "" if math.isnan(number) else f"{number:.10g}"


def csv_text(value: Tabular) -> str:
    """Return a value's table as CSV text: a header line, then one line per row.

    A release has one line per released count, ascending. Counts, prevalences and k+ counts are exact; errors and the
    ends of intervals are rounded to four decimals, and empty if none was kept. The text does not carry the guarantee,
    :attr:`Release.items` or :attr:`Release.excess`: CSV has no place for them that other programs would leave alone.

    Parameters
    ----------
    value
        Any value with :meth:`~anonhist.kinds.Tabular.to_arrow`, such as a release, a curve or a comparison.

    Raises
    ------
    UsageError
        If it is another value, such as a profile, which is private.

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
    """Return a value's table as an Arrow table: the columns of :func:`csv_text`, with all digits.

    For a release, everything, including the guarantee, is JSON in the schema's metadata under ``anonhist/release``. If
    units were bounded, a sentence about what intervals leave out is under ``anonhist.left_out``; if not all rows
    counted, their condition is under ``anonhist.where``.

    Raises
    ------
    UsageError
        If it is another value, such as a profile, which is private.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> from anonhist.profiles import Profile
    >>> table = to_arrow(release(Profile.from_counts([8, 8, 3]), epsilon=1))
    >>> table.column_names[:2], list(table.schema.metadata)
    (['count', 'prevalence'], [b'anonhist/release'])
    """
    import pyarrow as pa

    table = _table_of(value)
    columns = {name: pa.array(column, from_pandas=True) for name, column in table.columns(value).items()}
    said = {LEFT_OUT_KEY: value.left_out, WHERE_KEY: getattr(value, "where", None)}
    told = {key: text for key, text in said.items() if text}
    return pa.table(columns).replace_schema_metadata({**table.metadata(value), **told} or None)


def write_parquet(value: Tabular, file: BinaryIO) -> None:
    """Write the table of a value as a Parquet file."""
    import pyarrow.parquet as pq

    # Written in memory first: a library may seek back in its output.
    buffer = io.BytesIO()
    pq.write_table(to_arrow(value), buffer)
    file.write(buffer.getvalue())


def _table_of(value: Tabular) -> Table:
    if not isinstance(value, Tabular):
        raise UsageError(
            f"A Release is needed, as release(profile, epsilon=…) makes it, or another result, not {kind_of(value)}."
        )
    table: Table = kind_of_value(value).load("table")
    return table


def _texts(column: NDArray[Any] | Sequence[str], text: Callable[[float], str] | None) -> Sequence[Any]:
    """Return a column's texts in CSV."""
    if not isinstance(column, np.ndarray):
        return column
    if column.dtype.kind == "f":
        return list(map(text or ten_digits, column.tolist()))
    return ["true" if each else "false" for each in column.tolist()] if column.dtype.kind == "b" else column.tolist()


def _estimates(found: Sequence[Estimate]) -> Columns:
    """Return one row per estimate; value ± error is given only if no bias is left out."""
    return {
        "value": np.array([each.value for each in found], float),
        "standard_error": np.array([np.nan if each.statement.reason else each.standard_error for each in found], float),
        "low": np.array([each.interval[0] for each in found], float),
        "high": np.array([each.interval[1] for each in found], float),
        "level": np.array([each.level for each in found], float),
        "says": [each.statement.holds.value for each in found],
        "reason": [each.statement.reason for each in found],
        "unit": [each.unit for each in found],
        "method": [each.method for each in found],
        "assumes": [each.assumes for each in found],
        "parts": ["; ".join(f"{cause}: {error:.6g}" for cause, error in each.parts) for each in found],
        "warnings": [" ".join(each.warnings) for each in found],
        "guarantee": ["none: not private" if each.guarantee is None else str(each.guarantee) for each in found],
    }


def named_estimates(column: str, found: Iterable[tuple[str, Estimate]]) -> Columns:
    """Return a row for each estimate, with its name in this column."""
    names, estimates = zip(*found, strict=True)
    return {column: names, **_estimates(estimates)}


def _points(curve: Curve) -> Columns:
    """Return every point, its bounds, and its error by cause; for data, the error is of sampling alone."""
    says, reason = "chance alone" if curve.bias else "interval", curve.bias
    if curve.why_unknown:
        says, reason = "no interval", curve.why_unknown
    parts, unknown = dict(curve.parts), np.full(len(curve), np.nan)
    # Data have no privacy noise; for a release that was not simulated, its amount is unknown.
    noise = np.zeros(len(curve)) if curve.guarantee is None else unknown
    return {
        curve.x_name: curve.x,
        curve.value_name: curve.value,
        "low": curve.low,
        "high": curve.high,
        "kind": curve.kinds,
        "says": [says] * len(curve),
        "reason": [reason] * len(curve),
        # If nothing is known, an error due to chance would be mistaken for the whole error.
        "standard_error": unknown if curve.why_unknown else curve.standard_error,
        "sampling_error": parts.get("sampling", curve.standard_error),
        "privacy_noise_error": parts.get("privacy noise", noise),
    }


def _whole(x: float) -> str:
    return f"{x:.0f}" if x.is_integer() else ten_digits(x)


ESTIMATE_TABLE = Table(lambda estimate: _estimates([estimate]))
ESTIMATES_TABLE = Table(lambda found: named_estimates("property", found))
CURVE_TABLE = Table(_points, lambda curve: {curve.x_name: _whole})


def table_of_rows(
    texts: Callable[[Any], Mapping[str, Callable[[float], str]]] = lambda _: {}, /, **attributes: str
) -> Table:
    """Return the table of values with ``rows``: one column for each of these attributes of a row."""

    def columns(value: Any) -> Columns:
        return {name: _column(list(map(attrgetter(attribute), value.rows))) for name, attribute in attributes.items()}

    return Table(columns, texts)


def _column(values: list[Any]) -> Any:
    if values and isinstance(values[0], str):
        return values
    return np.array([float(each) if isinstance(each, Fraction) else each for each in values])


def _exact_epsilons(value: Any) -> Mapping[str, Callable[[float], str]]:
    return {"epsilon": {float(row.epsilon): short_decimal(row.epsilon) for row in value.rows}.__getitem__}


COMPARISON_TABLE = table_of_rows(
    lambda comparison: {**_exact_epsilons(comparison), "standard_error": "{:.6g}".format},
    mechanism="mechanism",
    epsilon="epsilon",
    metric="metric",
    mean="mean",
    standard_error="standard_error",
    repeats="repeats",
)
_NUMBERS = {"items": "items", "sorted_l1": "sorted_l1.value", "standard_error": "sorted_l1.standard_error"}
_NUMBERS |= {"relative_error": "relative_error"}
PLAN_TABLE = table_of_rows(_exact_epsilons, epsilon="epsilon", mechanism="mechanism", **_NUMBERS)
_OF_BOUNDS = ("epsilon", "bound_share", "bound", "probability", "mechanism", "left_out")
BOUND_PLAN_TABLE = table_of_rows(_exact_epsilons, **{name: name for name in _OF_BOUNDS}, **_NUMBERS, is_best="is_best")


def _group_plan_columns(planned: Any) -> Columns:
    """Return a column for each grouping column, then the numbers."""
    names = {column: [row.group[at] or "" for row in planned.rows] for at, column in enumerate(planned.by)}
    numbers = _PLANNED.columns(planned)
    if taken := names.keys() & numbers.keys():
        raise UsageError(f"A grouping column has the name of a column of the table, {min(taken)}: rename it.")
    return {**names, **numbers}


_PLANNED = table_of_rows(**_NUMBERS, mostly_noise="mostly_noise")
GROUP_PLAN_TABLE = Table(_group_plan_columns)
FILES: FileKind[Never] = FileKind("table", {".csv": as_text(csv_text)})

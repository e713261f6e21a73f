"""Columns of types that engines write differently, or as their session says, made such that all name them alike.

Times with a zone become the same times of UTC: a session's zone writes the two instants of an hour that is repeated in
autumn alike. Durations become numbers of seconds, which are equal if the durations are; months have 30 days, as they
have where an engine compares them. PostgreSQL's numeric NaN is missing, as that of floats is.

This is for engines of SQL. pandas names value by value (:func:`~anonhist.numeric.value_name.value_name`), and Polars
has functions for both (:func:`~anonhist.ingest.naming.as_text`).
"""

from __future__ import annotations

from typing import Any

from anonhist.errors import DataError
from anonhist.ingest.warehouses import plain_types_of_ibis

_NO_NAMES = "A column of lists or structures holds no names: choose one of text or whole numbers."
_NO_DURATIONS = "Durations have no names on this engine: make a column of their seconds, and choose that."
# Braces stand for the column.
_OF_DUCKDB = {
    "TIMESTAMP WITH TIME ZONE": (
        "CASE WHEN isinf({0}) THEN CAST(CAST({0} AS VARCHAR) AS TIMESTAMP) ELSE make_timestamp(epoch_us({0})) END"
    ),
    "TIMESTAMPTZ_NS": "make_timestamp_ns(epoch_ns({0}))",
    "INTERVAL": "CAST(epoch_us({0}) AS DECIMAL(19, 0)) * 0.000001",
}
_SECONDS = " + ".join(
    f"extract({unit} FROM CAST({{0}} AS INTERVAL DAY TO SECOND)) * {seconds}"
    for unit, seconds in (("DAY", "CAST(86400 AS DECIMAL(11, 0))"), ("HOUR", 3600), ("MINUTE", 60), ("SECOND", 1))
)
_OF_SPARK = {
    "timestamp": (
        "TIMESTAMP_NTZ'1970-01-01 00:00:00' "
        "+ make_dt_interval(0, 0, 0, CAST(unix_micros({0}) AS DECIMAL(18, 0)) * 0.000001)"
    ),
    "daytimeinterval": _SECONDS,
}


def with_plain_types(table: Any) -> Any:
    """Return a Narwhals table whose times with a zone are those of UTC, and whose durations are seconds, in SQL.

    Names of columns of Spark must be such that it reads them.
    """
    import narwhals as nw

    native = table.to_native()
    if table.implementation.is_ibis():
        return plain_types_of_ibis(table)
    if table.implementation.is_duckdb():
        held = {name: _OF_DUCKDB.get(str(kind)) for name, kind in zip(native.columns, native.types, strict=True)}
        quoted = {name: '"' + name.replace('"', '""') + '"' for name in held}
        changed = [f"{made.format(quoted[name])} AS {quoted[name]}" for name, made in held.items() if made]
        return nw.from_native(native.project(f"* REPLACE ({', '.join(changed)})")) if changed else table
    if _is_spark(table):
        formulas = {field.name: _OF_SPARK.get(_kind_of_spark(field.dataType), "") for field in native.schema.fields}
        return replaced_in_spark(table, {name: made for name, made in formulas.items() if made})
    return table


def _is_spark(table: Any) -> bool:
    return bool(table.implementation.is_pyspark() or table.implementation.is_pyspark_connect())


def _kind_of_spark(kind: Any) -> str:
    return type(kind).__name__.removesuffix("Type").lower()


def replaced_in_spark(table: Any, formulas: dict[str, str]) -> Any:
    """Return a table of Spark whose columns are replaced by formulas, in which braces stand for the name."""
    import narwhals as nw

    if not formulas:
        return table
    native = table.to_native()
    quoted = {name: "`" + name.replace("`", "``") + "`" for name in native.columns}
    chosen = (f"{formulas.get(name, '{0}').format(each)} AS {each}" for name, each in quoted.items())
    return nw.from_native(native.selectExpr(*chosen))


def _arrow_type(table: Any, name: str) -> Any:
    """Return the type of a column that pandas has Arrow hold, None for all others."""
    dtypes = getattr(table.to_native(), "dtypes", None) if table.implementation.is_pandas_like() else None
    return None if dtypes is None else getattr(dtypes[name], "pyarrow_dtype", None)


def with_known_texts(source: Any) -> Any:
    """Return a table or series of pandas without texts that Arrow holds as views: pandas can do little with these."""
    if type(source).__module__.partition(".")[0] != "pandas" or not hasattr(source, "dtypes"):
        return source
    if not hasattr(source, "columns"):
        return _known(source) if _is_view(source.dtype) else source
    views = [at for at, kind in enumerate(source.dtypes) if _is_view(kind)]
    table = source.copy(deep=False) if views else source
    for at in views:
        table.isetitem(at, _known(source.iloc[:, at]))
    return table


def _is_view(kind: Any) -> bool:
    return str(getattr(kind, "pyarrow_dtype", "")) == "string_view"


def _known(views: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    texts = pd.arrays.ArrowExtensionArray(pa.array(views.array).cast(pa.large_string()))
    return pd.Series(texts, index=views.index, name=views.name)


def is_nameless_in_pandas(table: Any, name: str) -> bool:
    """Return whether pandas has Arrow hold lists, structures or intervals of a calendar in a column."""
    held = _arrow_type(table, name)
    if held is None:
        return False
    import pyarrow as pa

    return bool(pa.types.is_nested(held) or pa.types.is_interval(held))


def check_holds_names(table: Any, name: str, *, only_whole: bool) -> None:
    """Refuse a column by a type whose values have no names: lists and structures, and durations of some engines.

    DuckDB and Spark write lists and structures out, each in one way, so these are names where fractions are, too.

    Raises
    ------
    DataError
        If so.
    """
    import narwhals as nw

    kind = table.collect_schema()[name]
    is_sql = table.implementation.is_duckdb() or table.implementation.is_ibis() or _is_spark(table)
    if kind.is_nested() and (only_whole or not is_sql):
        raise DataError(_NO_NAMES)
    if isinstance(kind, nw.Duration) and table.implementation.is_ibis():
        raise DataError(_NO_DURATIONS)
    if is_nameless_in_pandas(table, name):
        import pyarrow as pa

        raise DataError(_NO_DURATIONS if pa.types.is_interval(_arrow_type(table, name)) else _NO_NAMES)

"""Parquet files as one table: where their columns have different types, each value has the name it has in its own file.

A program that writes whole numbers makes floats of them where one is missing, and a column without a type where all
are. So the types of a column may differ between the files of one pattern because of single rows, and DuckDB, which
casts all files to the types of the first, would call 7 in one file 7.0 because of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.ingest.by_value import FRACTION, LARGE, TEXT, WHOLE, Declared
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    import duckdb

_DIFFER = "The Parquet files do not all have the same columns of the same types."
_NO_VALUES = '"NULL"'
_WHOLE = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_FLOATS = {"FLOAT", "DOUBLE"}
# Their texts depend on nothing but the value.
_TEXTS = {"VARCHAR", "BOOLEAN", "DATE"}


def parquet_relation(connection: duckdb.DuckDBPyConnection, patterns: list[str]) -> Any:
    """Return the rows of Parquet files, whose columns may stand in any order.

    A column that has one type in some files and none in others has that type. One that holds numbers of several types,
    or numbers here and text, dates or truth values there, is named value by value, in the types of each file. The name
    of a folder, such as ``day=1``, does not become a column here, nor replace one.

    Raises
    ------
    DataError
        If the files have different columns, or a column has types that do not go together.
    """
    if len(patterns) == 1:
        return _read(connection, patterns)
    # Files of equal types are read together.
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for pattern in patterns:
        relation = _read(connection, [pattern])
        schema = tuple(sorted(zip(relation.columns, map(str, relation.types), strict=True)))
        groups.setdefault(schema, []).append(pattern)
    if len(groups) == 1:
        return _read(connection, patterns)
    if len({tuple(name for name, _ in schema) for schema in groups}) > 1:
        raise DataError(_DIFFER)
    types: dict[str, set[str]] = {}
    for schema in groups:
        for name, kind in schema:
            types.setdefault(name, set()).add(kind)
    rows = None
    for schema, files in groups.items():
        columns = [column for name, kind in schema for column in _columns(name, kind, types[name] - {_NO_VALUES})]
        part = _read(connection, files).project(", ".join(columns))
        rows = part if rows is None else rows.union(part)
    return rows


def _read(connection: duckdb.DuckDBPyConnection, patterns: list[str]) -> Any:
    return connection.read_parquet(patterns, hive_partitioning=False)


def _columns(name: str, kind: str, types: set[str]) -> list[str]:
    """Return a column of a file as all files have it: as it is, or the names of its values, and their kinds."""
    quoted = _quoted(name)
    if not types:
        return [quoted]
    if len(types) == 1:
        return [quoted if kind != _NO_VALUES else f"CAST(NULL AS {next(iter(types))}) AS {quoted}"]
    if not all(_is_number(each) or each in _TEXTS for each in types):
        raise DataError(_DIFFER)
    held = Declared.NUMBERS if all(map(_is_number, types)) else Declared.ANYTHING
    names, kinds = _named(quoted, kind)
    return [f"{names} AS {quoted}", f"{kinds} AS {_quoted(held.column(name))}"]


def _named(column: str, kind: str) -> tuple[str, str]:
    """Return the names of a column's values and their kinds, each null where there is no value."""
    text, is_value = f"CAST({column} AS VARCHAR)", f"{column} IS NOT NULL"
    if kind == _NO_VALUES:
        return "CAST(NULL AS VARCHAR)", "CAST(NULL AS VARCHAR)"
    if kind in _FLOATS:
        # NaN is no value. Where numbers are asked whether they are finite, each is looked at.
        is_value = f"{is_value} AND (isfinite({column}) OR {column} IN ('inf', '-inf'))"
        is_small = f"abs({column}) < {LARGEST_NAMED}"
        is_whole = f"{is_small} AND {column} = trunc({column})"
        # Engines may cast rows of which they are not asked.
        digits = f"CAST(CAST(CASE WHEN {is_whole} THEN {column} END AS BIGINT) AS VARCHAR)"
        name = f"CASE WHEN {is_whole} THEN {digits} ELSE {text} END"
        held = f"WHEN {is_whole} THEN '{WHOLE}' WHEN {is_small} THEN '{FRACTION}' ELSE '{LARGE}'"
    elif _is_number(kind):
        name = text if kind in _WHOLE or kind.endswith(",0)") else f"regexp_replace({text}, '[.]?0+$', '')"
        held = f"WHEN contains({name}, '.') THEN '{FRACTION}' ELSE '{WHOLE}'"
    else:
        name, held = text, f"WHEN true THEN '{TEXT}'"
    return f"CASE WHEN {is_value} THEN {name} END", f"CASE WHEN {is_value} THEN CASE {held} END END"


def _is_number(kind: str) -> bool:
    return kind in _WHOLE or kind in _FLOATS or kind.startswith("DECIMAL")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

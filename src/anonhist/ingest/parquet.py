"""Parquet files: the schema is theirs, and the same in all files of a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError

if TYPE_CHECKING:
    import duckdb


def parquet_relation(connection: duckdb.DuckDBPyConnection, patterns: list[str]) -> Any:
    """Return the rows of Parquet files.

    The engine casts all files to the types of the first, so that 7 would become 7.0, or 1.5 would become 2, because of
    what another file holds. Nor does the name of a folder, such as ``day=1``, become a column here, or replace one.

    Raises
    ------
    DataError
        If the files do not have the same columns of the same types, in whatever order.
    """
    relation = connection.read_parquet(patterns, hive_partitioning=False)
    if len(patterns) > 1:
        schemas = {_schema(connection.read_parquet(pattern, hive_partitioning=False)) for pattern in patterns}
        if len(schemas) > 1:
            raise DataError("The Parquet files do not all have the same columns of the same types.")
    return relation


def _schema(relation: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(zip(relation.columns, map(str, relation.types), strict=True)))

"""JSON lines: the keys to read are said, and each row is read for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb


def json_relation(connection: duckdb.DuckDBPyConnection, paths: Any, keys: Iterable[str | None]) -> Any:
    """Return the values of some keys, every column as text.

    Nothing depends on the keys, or on the types of values, that other rows have. A key that a row lacks is null there,
    as is a row ``null``; keys are compared exactly, with regard to case. Numbers come in their shortest form that still
    tells 1 from 1.0, truth values as words, lists and objects as JSON without spaces.

    Raises
    ------
    UsageError
        If no key is said, or two differ in nothing but case.
    """
    names = list(dict.fromkeys(key for key in keys if key))
    if not names:
        raise UsageError("JSON lines have no header: say which keys to read.")
    if len({name.casefold() for name in names}) < len(names):
        raise UsageError("Two keys that differ only in case cannot be read together; rename one of them.")
    columns = dict.fromkeys(names, "VARCHAR")
    return connection.read_json(
        paths, format="newline_delimited", records="true", columns=columns, hive_partitioning=False
    )

"""JSON lines: the keys to read are said, and each row is read for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

# What the engine says of a row, in our words.
LARGE_FLOAT = "floats of 2^53 and more"
_TEXT = "({value} ->> '$')"
_FLOAT = f"TRY_CAST({_TEXT} AS DOUBLE)"
# The engine takes whole numbers beyond 64 bits for floats, too, but keeps all their digits.
_NAME = (
    f"CASE WHEN json_type({{value}}) IS DISTINCT FROM 'DOUBLE' OR NOT regexp_matches({_TEXT}, '[.eE]') THEN {_TEXT} "
    f"WHEN coalesce(abs({_FLOAT}), 'inf') >= {LARGEST_NAMED} THEN error('{LARGE_FLOAT}') "
    f"WHEN {_FLOAT} = trunc({_FLOAT}) THEN CAST(CAST({_FLOAT} AS BIGINT) AS VARCHAR) "
    f"ELSE {_TEXT} END"
)


def json_relation(connection: duckdb.DuckDBPyConnection, paths: Any, keys: Iterable[str | None]) -> Any:
    """Return the values of some keys, every column as text.

    Nothing depends on the keys, or on the types of values, that other rows have. A key that a row lacks is null there,
    as is a row ``null``; keys are compared exactly, with regard to case.

    Strings come as they are. A number that is whole is named as that whole number, 7.0 like 7: programs write whole
    numbers as floats once a value is missing. Floats of 2^53 and more no longer tell whole numbers apart, so the engine
    refuses them. Fractions come in their shortest form, truth values as words, lists and objects as JSON without
    spaces.

    Raises
    ------
    UsageError
        If no key is said, or two differ in nothing but case.
    """
    names = keys_to_read(keys)
    columns = dict.fromkeys(names, "JSON")
    relation = connection.read_json(
        paths, format="newline_delimited", records="true", columns=columns, hive_partitioning=False
    )
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    return relation.project(", ".join(f"{_NAME.format(value=each)} AS {each}" for each in quoted))


def keys_to_read(keys: Iterable[str | None]) -> list[str]:
    """Return the keys to read, each once.

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
    return names

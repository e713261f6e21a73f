"""Files with typed values, JSON lines and Parquet, as tables: each value is read separately.

For JSON lines, the keys to read are given. In Parquet files, each column keeps the name, and each value the type, of
its own file: DuckDB treats columns that differ only in case as one name, and calls the second ``id_1``, which may be
the name of another column. And it casts all files to the types of the first: programs write whole numbers as floats if
one is missing, and as a column without a type if all are, so one row would decide whether 7 is called 7.0 in another
file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError, public_error
from anonhist.ingest.columns import Opened, Schema, distinct_names, literal, opened_as, opened_relation, quoted
from anonhist.ingest.locations import folder_keys, keys_of_path, value_in_folder
from anonhist.ingest.naming import FRACTION, LARGE, TEXT, WHOLE, Declared
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

# The engine's message about a row, in our words.
LARGE_FLOAT = "floats of 2^53 and more"
_TEXT = "({value} ->> '$')"
_FLOAT = f"TRY_CAST({_TEXT} AS DOUBLE)"
# To the engine, whole numbers beyond 64 bits are floats, too, but keep all their digits; so are NaN and Infinity, which
# programs write although JSON lacks them.
_NAME = (
    f"CASE WHEN json_type({{value}}) IS DISTINCT FROM 'DOUBLE' OR regexp_full_match({_TEXT}, '-?[0-9]+') THEN {_TEXT} "
    f"WHEN isnan({_FLOAT}) THEN NULL "
    f"WHEN coalesce(abs({_FLOAT}), 'inf') >= {LARGEST_NAMED} THEN {{large}} "
    f"WHEN {_FLOAT} = trunc({_FLOAT}) THEN CAST(CAST({_FLOAT} AS BIGINT) AS VARCHAR) "
    f"ELSE {_TEXT} END"
)


class Malformed(Enum):
    """What a line that is not a JSON object is."""

    #: An error of the file.
    REFUSED = "refused"
    #: A row without any value. Large floats stay as in the engine.
    MISSING = "missing"


class ComparedKey(str):
    """A key of JSON lines that is only compared: values need no names, and large floats stay as in the engine."""

    __slots__ = ()


def json_table(
    connection: duckdb.DuckDBPyConnection,
    patterns: list[str],
    paths: Sequence[str],
    keys: Iterable[str | None],
    malformed: Malformed = Malformed.REFUSED,
) -> Opened:
    """Return the values of some keys, at least one, with every column as text.

    Nothing depends on the keys, or on the types of values, in other rows. A missing key is null, and so is a row
    ``null``; keys are compared exactly, including case. If a row has no value, but a folder of its file has the key,
    the row gets the folder's value.

    Strings stay unchanged, and whole numbers are written as such, 7.0 like 7: programs write whole numbers as floats
    once a value is missing. Floats of 2^53 and more, including infinity, no longer distinguish whole numbers: the
    engine refuses them, except for a :class:`ComparedKey`. NaN is null. Fractions have their shortest form, booleans
    are words, lists and objects are JSON without spaces.
    """
    names = keys_to_read(keys)
    spelled = [{spelling for path in paths if (spelling := keys_of_path(path).get(name))} for name in names]
    # This is the engine's name of the column with the file name.
    file, *held = distinct_names(["filename", *names])
    is_plain = held == names
    columns = dict.fromkeys(names, "JSON") if is_plain else {"keys": "MAP(VARCHAR, JSON)"}
    rows = connection.read_json(
        patterns,
        format="newline_delimited",
        records="true" if is_plain else "false",
        columns=columns,
        hive_partitioning=False,
        filename=any(spelled),
        ignore_errors=malformed is Malformed.MISSING,
    )
    if not is_plain:
        # Columns are distinguished without regard to case, but keys with it.
        picked = [f"keys[{literal(name)}] AS {quoted(each)}" for name, each in zip(names, held, strict=True)]
        rows = rows.project(", ".join(picked + ([file] if any(spelled) else [])))
    texts = []
    for key, name, spellings in zip(names, held, spelled, strict=True):
        value = quoted(name)
        is_kept = isinstance(key, ComparedKey) or malformed is Malformed.MISSING
        large = _TEXT.format(value=value) if is_kept else f"error('{LARGE_FLOAT}')"
        values = (_NAME.format(value=value, large=large), *(value_in_folder(file, each) for each in sorted(spellings)))
        texts.append(f"coalesce({', '.join(values)}) AS {quoted(name)}")
    return opened_relation(rows.project(", ".join(texts)), Schema.FOUND, names)


def keys_to_read(keys: Iterable[str | None]) -> list[str]:
    """Return the keys to read, at least one, each once: the first of those that are equal."""
    names = list(dict.fromkeys(key for key in keys if key))
    if not names:
        raise UsageError("JSON lines have no header: name the keys to read.")
    return names


# For columns in which all values are missing.
NO_TYPE = '"NULL"'
_WHOLE = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_FLOATS = {"FLOAT", "DOUBLE"}
# Types whose texts depend only on the value.
_TEXTS = {"VARCHAR", "BOOLEAN", "DATE"}


@dataclass(frozen=True)
class _Columns:
    """The columns of a file, by position."""

    names: tuple[str, ...]
    types: tuple[str, ...]


def parquet_table(connection: duckdb.DuckDBPyConnection, patterns: list[str], paths: list[str]) -> Opened:
    """Return the rows of Parquet files, whose columns may be in any order, and the keys of their folders.

    A column with one type in some files and none in others has that type. If it has numbers of several types, or
    numbers in some files and text, dates or booleans in others, it is named value by value, in the types of each file.
    Other mixtures of types, and files with different columns, are refused.
    """
    import narwhals as nw

    columns = [_columns_of(connection, pattern) for pattern in patterns]
    names = columns[0].names
    if any(sorted(each.names) != sorted(names) for each in columns):
        raise public_error("The Parquet files do not all have the same columns.")
    if len(set(names)) < len(names) and any(each.names != names for each in columns):
        raise public_error("The Parquet files have columns with the same name in different orders: rename them.")
    keys = {key: spelled for key, spelled in folder_keys(paths).items() if key not in names}
    held = distinct_names((*names, *keys))
    # Files with equal columns are read together.
    groups: dict[_Columns, list[str]] = {}
    for pattern, each in zip(patterns, columns, strict=True):
        groups.setdefault(each, []).append(pattern)
    places = {each: _places(each.names, names) for each in groups}
    types = [{each.types[places[each][at]] for each in groups} - {NO_TYPE} for at in range(len(names))]
    rows = None
    for each, files in groups.items():
        read = _read(connection, files, with_names=bool(keys))
        # The name of the file follows.
        file = f"#{len(names) + 1}"
        chosen = [
            column
            for at, place in enumerate(places[each])
            for column in _selected(f"#{place + 1}", held[at], each.types[place], types[at])
        ]
        in_folder = zip(held[len(names) :], keys.values(), strict=True)
        chosen += [f"{value_in_folder(file, spelled)} AS {quoted(key)}" for key, spelled in in_folder]
        part = read.project(", ".join(chosen))
        rows = part if rows is None else rows.union(part)
    return opened_as(nw.from_native(rows), Schema.DECLARED, names, held, tuple(keys))


def _columns_of(connection: duckdb.DuckDBPyConnection, pattern: str) -> _Columns:
    relation = connection.read_parquet(pattern, hive_partitioning=False)
    names, types = tuple(relation.columns), tuple(map(str, relation.types))
    return _Columns(_own_names(connection, pattern) if _may_be_renamed(names) else names, types)


def _may_be_renamed(names: Sequence[str]) -> bool:
    """Return whether the engine may have made one of these names by appending a number to another."""
    folded = {name.casefold() for name in names}
    return any(end.isdecimal() and start in folded for start, _, end in (name.rpartition("_") for name in folded))


def _own_names(connection: duckdb.DuckDBPyConnection, pattern: str) -> tuple[str, ...]:
    """Return a file's own column names."""
    query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema($1) ORDER BY column_id"
    # The first is the root, and each is followed by its fields.
    (_, _), *fields = connection.execute(query, [pattern]).fetchall()
    names, inside = [], 0
    for name, children in fields:
        if not inside:
            names.append(name)
        inside += int(children) - bool(inside)
    return tuple(names)


def _places(own: tuple[str, ...], names: tuple[str, ...]) -> list[int]:
    """Return the positions of the columns with these names in a file; equal names have equal positions everywhere."""
    return list(range(len(own))) if own == names else [own.index(name) for name in names]


def _read(connection: duckdb.DuckDBPyConnection, patterns: list[str], *, with_names: bool) -> Any:
    """Return the rows of files with equal columns, optionally followed by a column with each row's file name."""
    if not with_names:
        return connection.read_parquet(patterns, hive_partitioning=False)
    # Only in SQL can this column get a name that no column of the files can have.
    listed = ", ".join(map(literal, patterns))
    return connection.sql(f"FROM read_parquet([{listed}], hive_partitioning = false, filename = 'file\x1f')")


def _selected(column: str, name: str, kind: str, types: set[str]) -> list[str]:
    """Return a file's column in the form common to all files: unchanged, or as names of its values with their kinds."""
    if len(types) < 2:
        is_typed = not types or kind != NO_TYPE
        return [f"{column if is_typed else f'CAST(NULL AS {next(iter(types))})'} AS {quoted(name)}"]
    if not all(_is_number(each) or each in _TEXTS for each in types):
        raise DataError("The Parquet files do not all have the same columns of the same types.")
    held = Declared.NUMBERS if all(map(_is_number, types)) else Declared.ANYTHING
    names, kinds = _named(column, kind)
    return [f"{names} AS {quoted(name)}", f"{kinds} AS {quoted(held.column(name))}"]


def _named(column: str, kind: str) -> tuple[str, str]:
    """Return the names of a column's values and their kinds, both null if the value is missing."""
    text, is_value = f"CAST({column} AS VARCHAR)", f"{column} IS NOT NULL"
    if kind == NO_TYPE:
        return "CAST(NULL AS VARCHAR)", "CAST(NULL AS VARCHAR)"
    if kind in _FLOATS:
        # NaN is not a value. To test whether numbers are finite, the engine reads each.
        is_value = f"{is_value} AND (isfinite({column}) OR {column} IN ('inf', '-inf'))"
        is_small = f"abs({column}) < {LARGEST_NAMED}"
        is_whole = f"{is_small} AND {column} = trunc({column})"
        # Engines may also cast rows that are not selected.
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

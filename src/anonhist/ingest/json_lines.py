"""JSON lines: the keys to read are said, and each row is read for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.ingest.column_names import NamedTable, distinct_names, named_relation, quoted
from anonhist.ingest.hive_folders import keys_of_path, value_in_folder
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

# What the engine says of a row, in our words.
LARGE_FLOAT = "floats of 2^53 and more"
_TEXT = "({value} ->> '$')"
_FLOAT = f"TRY_CAST({_TEXT} AS DOUBLE)"
# The engine takes whole numbers beyond 64 bits for floats, too, but keeps all their digits; and NaN and Infinity, which
# programs write although JSON has none.
_NAME = (
    f"CASE WHEN json_type({{value}}) IS DISTINCT FROM 'DOUBLE' OR regexp_full_match({_TEXT}, '-?[0-9]+') THEN {_TEXT} "
    f"WHEN isnan({_FLOAT}) THEN NULL "
    f"WHEN coalesce(abs({_FLOAT}), 'inf') >= {LARGEST_NAMED} THEN error('{LARGE_FLOAT}') "
    f"WHEN {_FLOAT} = trunc({_FLOAT}) THEN CAST(CAST({_FLOAT} AS BIGINT) AS VARCHAR) "
    f"ELSE {_TEXT} END"
)


def json_table(
    connection: duckdb.DuckDBPyConnection, patterns: list[str], paths: Sequence[str], keys: Iterable[str | None]
) -> NamedTable:
    """Return the values of some keys, every column as text.

    Nothing depends on the keys, or on the types of values, that other rows have. A key that a row lacks is null there,
    as is a row ``null``; keys are compared exactly, with regard to case. Where a row has no value, but a folder of its
    file is named for the key, it has the value of the folder.

    Strings come as they are. A number that is whole is named as that whole number, 7.0 like 7: programs write whole
    numbers as floats once a value is missing. Floats of 2^53 and more no longer tell whole numbers apart, so the engine
    refuses them; infinity is one of them, and NaN is null. Fractions come in their shortest form, truth values as
    words, lists and objects as JSON without spaces.

    Parameters
    ----------
    connection
        The engine.
    patterns, paths
        What the engine is to read: as patterns, and as paths.
    keys
        The keys.

    Raises
    ------
    UsageError
        If no key is said.
    """
    names = keys_to_read(keys)
    spelled = [{spelling for path in paths if (spelling := keys_of_path(path).get(name))} for name in names]
    # The engine calls the column with the name of the file so.
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
    )
    if not is_plain:
        # Columns are told apart without regard to case, and keys are not.
        picked = [f"keys[{_literal(name)}] AS {quoted(each)}" for name, each in zip(names, held, strict=True)]
        rows = rows.project(", ".join(picked + ([file] if any(spelled) else [])))
    texts = []
    for name, spellings in zip(held, spelled, strict=True):
        values = (_NAME.format(value=quoted(name)), *(value_in_folder(file, each) for each in sorted(spellings)))
        texts.append(f"coalesce({', '.join(values)}) AS {quoted(name)}")
    return named_relation(rows.project(", ".join(texts)), names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def keys_to_read(keys: Iterable[str | None]) -> list[str]:
    """Return the keys to read, each once.

    Raises
    ------
    UsageError
        If no key is said.
    """
    names = list(dict.fromkeys(key for key in keys if key))
    if not names:
        raise UsageError("JSON lines have no header: say which keys to read.")
    return names

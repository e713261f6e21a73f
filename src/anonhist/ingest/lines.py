"""Lines of text as the engine reads them: each is one value, and none is taken for anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

# U+FEFF, as the engine writes it.
_MARK = "chr(65279)"


def lines_relation(connection: duckdb.DuckDBPyConnection, paths: Any, **options: Any) -> Any:
    """Return each line of files as one value (label), null where it is empty.

    Lines end in a line feed, in a carriage return or in both, alike in the whole file. Byte order marks are skipped at
    the beginning of every line, not the first alone: another row before it must not change how one is read.
    """
    # Every option is given: on a pipe, detection would swallow the rows it looked at.
    lines = connection.read_csv(
        paths,
        header=False,
        columns={"label": "VARCHAR"},
        # What ends a line cannot be met inside of one. Every other character can.
        sep="\n",
        quotechar="",
        escapechar="",
        auto_detect=False,
        hive_partitioning=False,
        **options,
    )
    return lines.project(without_marks("label"))


def without_marks(column: str) -> str:
    """Return SQL for a column of text without the byte order marks that it begins with, null where nothing is left."""
    name = '"' + column.replace('"', '""') + '"'
    # Few lines begin with one, and looking for it is cheap.
    return f"CASE WHEN starts_with({name}, {_MARK}) THEN nullif(ltrim({name}, {_MARK}), '') ELSE {name} END AS {name}"

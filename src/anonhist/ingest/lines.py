"""Lines of text as the engine reads them: each is one value, and none is taken for anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


def lines_relation(connection: duckdb.DuckDBPyConnection, paths: Any, **options: Any) -> Any:
    """Return each line of files as one value (label), null where it is empty.

    Lines end in a line feed, in a carriage return or in both, alike in the whole file. A byte order mark at its
    beginning is skipped.
    """
    # Every option is given: on a pipe, detection would swallow the rows it looked at.
    return connection.read_csv(
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

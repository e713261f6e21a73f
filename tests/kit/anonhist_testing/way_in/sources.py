"""Sources of rows: files and tables in memory, each with the values that it can hold."""

from __future__ import annotations

import csv
import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from anonhist_testing.way_in.values import LARGEST, Kind, as_kind, name_of, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np

Rows = list[tuple[Any, ...]]
#: A source, and its options.
Held = tuple[Any, dict[str, Any]]
# The number of files into which a table is split.
_FILES = 4
_CHUNK = 50


@dataclass(frozen=True)
class Source:
    """Something that holds rows.

    Parameters
    ----------
    name
        What people call it.
    hold
        Opens a table of columns, each with its declaration, and rows, in an empty folder.
    fit
        Returns a value as a column of that declaration holds it, or None if it cannot: a function of both alone.
    kinds
        The declared types that its columns may have, None if a column may hold values of any types.
    binds
        Whether the declaration is the type of the whole column, for all to see: only then may it be refused.
    declarations
        The possible declarations of a column that may hold values of any types.
    is_slow
        Whether it needs a server or a virtual machine.
    has_address
        Whether it is a path or a URL, which the command line takes.
    infers
        Whether types of columns follow from all of their rows, which its holder decides.
    of_edges
        Whether it holds nothing but edges, in a format of its own.
    """

    name: str
    hold: Callable[[dict[str, str], Rows, Path], AbstractContextManager[Held]]
    fit: Callable[[Any, str], Any]
    kinds: tuple[Kind, ...] | None = None
    binds: bool = False
    declarations: tuple[str, ...] = ("",)
    is_slow: bool = False
    has_address: bool = False
    infers: bool = False
    of_edges: bool = False

    def declare(self, kinds: tuple[Kind, ...], rng: np.random.Generator) -> str:
        """Return the declaration of a column that can be of any of these types."""
        declared = self.declarations if self.kinds is None else [kind.value for kind in kinds]
        return declared[int(rng.integers(len(declared)))]

    def listed(self, value: Any, declared: str) -> Any:
        """Return how a person lists the group of a value, or None if it cannot be listed."""
        if value is None:
            return None
        if declared in _NUMBERS:
            return int(value) if _is_whole(value) else None
        if self.kinds is not None:
            return value
        return written(value).lower() if isinstance(value, bool) else name_of(value)


_NUMBERS = {*(kind.value for kind in (Kind.WHOLE, Kind.FLOATS, Kind.DECIMALS)), "INTEGER", "REAL", "v + 0"}


def _is_whole(value: Any) -> bool:
    return not isinstance(value, str) and value % 1 == 0 and abs(value) < LARGEST


def _typed(value: Any, declared: str) -> Any:
    return as_kind(value, Kind(declared))


def _typed_or_float(value: Any, declared: str) -> Any:
    """Return a value that stays the same if whole numbers become floats beside a missing value."""
    held = _typed(value, declared)
    return None if isinstance(held, int) and abs(held) >= LARGEST else held


def _as_is(value: Any, _: str) -> Any:
    return value


def _as_is_or_float(value: Any, _: str) -> Any:
    return None if isinstance(value, int) and abs(value) >= LARGEST else value


def _in_text(value: Any, _: str) -> str | None:
    return None if value is None else written(value) or None


def _in_json(value: Any, _: str) -> Any:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else written(value)


def by_columns(names: Iterable[str], rows: Rows) -> dict[str, list[Any]]:
    """Return rows as columns, which may be empty."""
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def arrow_table(columns: dict[str, str], rows: Rows) -> Any:
    """Return rows as an Arrow table with the declared types."""
    import pyarrow as pa

    types = {
        Kind.TEXT: pa.string(),
        Kind.WHOLE: pa.int64(),
        Kind.FLOATS: pa.float64(),
        Kind.DECIMALS: pa.decimal128(20, 4),
        Kind.TRUTH: pa.bool_(),
        Kind.DATES: pa.date32(),
        Kind.TIMES: pa.timestamp("us"),
    }
    held = by_columns(columns, rows)
    return pa.table({name: pa.array(held[name], types[Kind(declared)]) for name, declared in columns.items()})


def _in_memory(make: Callable[[dict[str, str], Rows], Any]) -> Callable[..., AbstractContextManager[Held]]:
    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, _: Path) -> Iterator[Held]:
        yield make(columns, rows), {}

    return hold


def _in_files(
    write: Callable[[Path, dict[str, str], Rows], None], ending: str, *, files: int = 1
) -> Callable[..., AbstractContextManager[Held]]:
    @contextmanager
    def hold(columns: dict[str, str], rows: Rows, folder: Path) -> Iterator[Held]:
        for number, part in enumerate(_parts(rows, files)):
            write(folder / f"part-{number}.{ending}", columns, part)
        yield str(folder / (f"part-0.{ending}" if files == 1 else f"*.{ending}")), {}

    return hold


def _parts(rows: Rows, files: int) -> list[Rows]:
    size = -(-len(rows) // files)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _write_delimited(delimiter: str) -> Callable[[Path, dict[str, str], Rows], None]:
    def write(path: Path, columns: dict[str, str], rows: Rows) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows([list(columns), *rows])

    return write


def _write_json(path: Path, columns: dict[str, str], rows: Rows) -> None:
    # Every second missing value is a missing key.
    lines = (
        {name: value for name, value in zip(columns, row, strict=True) if value is not None or number % 2}
        for number, row in enumerate(rows)
    )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def _write_parquet(path: Path, columns: dict[str, str], rows: Rows) -> None:
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(columns, rows), path)


def _write_inferred_parquet(path: Path, columns: dict[str, str], rows: Rows) -> None:
    """Write a file whose types are those that pandas finds in its rows: other files of the table may have others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def inferred(name: str, values: list[Any]) -> Any:
        if all(value is None for value in values):
            return pa.array(values, pa.null())
        if columns[name] == Kind.WHOLE.value and None in values:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        return arrow_table({name: columns[name]}, [(value,) for value in values])[name]

    held = by_columns(columns, rows)
    pq.write_table(pa.table({name: inferred(name, values) for name, values in held.items()}), path)


def _pandas(columns: dict[str, str], rows: Rows) -> Any:
    import pandas as pd

    return pd.DataFrame(by_columns(columns, rows))


def _pandas_objects(columns: dict[str, str], rows: Rows) -> Any:
    import pandas as pd

    return pd.DataFrame(by_columns(columns, rows), dtype=object)


def _pandas_in_chunks(columns: dict[str, str], rows: Rows) -> Any:
    """Return a table whose chunks had types of their own, as ``read_csv`` and ``concat`` leave them."""
    import pandas as pd

    chunks = [_pandas(columns, rows[start : start + _CHUNK]) for start in range(0, len(rows), _CHUNK)]
    # To put together chunks without a value and others is deprecated, and whole numbers become what they are.
    whole = {name: [value for chunk in chunks for value in chunk[name].astype(object)] for name in columns}
    kinds = {name: {str(chunk[name].dtype) for chunk in chunks} for name in columns}
    return pd.DataFrame(
        {name: pd.Series(whole[name], dtype=object if len(kinds[name]) > 1 else None) for name in columns}
    )


def _pandas_arrow(columns: dict[str, str], rows: Rows) -> Any:
    import pandas as pd

    return arrow_table(columns, rows).to_pandas(types_mapper=pd.ArrowDtype)


def _polars(columns: dict[str, str], rows: Rows) -> Any:
    import polars as pl

    return pl.DataFrame(arrow_table(columns, rows))


@cache
def callers_engine() -> Any:
    """Open DuckDB once in this process, as a caller who passes a relation has it."""
    return duckdb.connect()


@cache
def _sqlframe_session() -> Any:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession(duckdb.connect())


def _sqlframe(columns: dict[str, str], rows: Rows) -> Any:
    # To make a table from Python's values, it would write them all into a query.
    session = _sqlframe_session()
    session._conn.register("rows_in_memory", arrow_table(columns, rows))
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT {names} FROM rows_in_memory"  # noqa: S608  # names of roles
    # In its own dialect, names in double quotes are texts.
    return session.sql(query, dialect="duckdb", qualify=False)


def _ibis_memtable(columns: dict[str, str], rows: Rows) -> Any:
    import ibis

    return ibis.memtable(arrow_table(columns, rows))


_KINDS = tuple(Kind)
IN_FILES = (
    Source("csv", _in_files(_write_delimited(","), "csv"), _in_text, has_address=True),
    Source("tsv", _in_files(_write_delimited("\t"), "tsv"), _in_text, has_address=True),
    Source("csv files", _in_files(_write_delimited(","), "csv", files=_FILES), _in_text, has_address=True),
    Source("json lines", _in_files(_write_json, "jsonl"), _in_json, has_address=True),
    Source("parquet", _in_files(_write_parquet, "parquet"), _typed, _KINDS, binds=True, has_address=True),
    Source(
        "parquet files of several types",
        _in_files(_write_inferred_parquet, "parquet", files=_FILES),
        _typed_or_float,
        _KINDS,
        has_address=True,
    ),
)
IN_MEMORY = (
    Source("pandas", _in_memory(_pandas), _typed_or_float, _KINDS, infers=True),
    Source("pandas objects", _in_memory(_pandas_objects), _as_is),
    Source("pandas in chunks", _in_memory(_pandas_in_chunks), _as_is_or_float, infers=True),
    Source("pandas of arrow", _in_memory(_pandas_arrow), _typed, _KINDS, binds=True),
    Source("polars", _in_memory(_polars), _typed, _KINDS, binds=True),
    Source("polars lazy", _in_memory(lambda columns, rows: _polars(columns, rows).lazy()), _typed, _KINDS, binds=True),
    Source("arrow", _in_memory(arrow_table), _typed, _KINDS, binds=True),
    Source(
        "duckdb relation",
        _in_memory(lambda columns, rows: callers_engine().from_arrow(arrow_table(columns, rows))),
        _typed,
        _KINDS,
        binds=True,
    ),
    Source("ibis memtable", _in_memory(_ibis_memtable), _typed, _KINDS, binds=True),
    Source(
        "sqlframe",
        _in_memory(_sqlframe),
        _typed,
        _KINDS,
        binds=True,
    ),
)

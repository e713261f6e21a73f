"""Tables of SQLite, whose types do not bind: every value is named for itself, whatever its column is declared to hold.

SQLite says of each value what it is; nothing depends on Ibis, which types an undeclared column by its first row. Only
columns declared as truth values are called by their type: there 1 is true and 0 is false, as on other engines.
"""

from __future__ import annotations

import warnings
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from itertools import count
from threading import get_ident
from typing import TYPE_CHECKING, Any

from anonhist.ingest.naming import BYTES, FRACTION, LARGE, ORDER, TEXT, WHOLE, Declared, is_sqlite
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

# Whichever is found first in what is declared.
_TYPES = {
    "BOOL": "boolean",
    "INT": "float64",
    "CHAR": "string",
    "CLOB": "string",
    "TEXT": "string",
    "REAL": "float64",
    "FLOA": "float64",
    "DOUB": "float64",
    "NUMERIC": "float64",
    "DECIMAL": "float64",
    "TIME": "timestamp",
    "DATE": "date",
}
_COLUMNS = "SELECT name, type FROM pragma_table_xinfo(?, ?) WHERE hidden <> ?"
# Of virtual tables: columns that no query gets unless it names them.
_HIDDEN = 1


def sqlite_table(connection: Any, name: str, database: str | None = None) -> Any:
    """Return a table or view by what is declared of its columns, generated ones too; no row is read."""
    from ibis import schema
    from ibis.expr import operations

    # Without a schema it is looked for in all.
    columns = connection.con.execute(_COLUMNS, (name, database, _HIDDEN)).fetchall()
    types = {column: _type_of_ibis(declared.upper()) for column, declared in columns}
    space = operations.Namespace(catalog=None, database=database)
    return operations.DatabaseTable(name, schema=schema(types), source=connection, namespace=space).to_expr()


def _type_of_ibis(declared: str) -> str:
    """Return a type that stands for a declared one, by SQLite's own rules and by names for what it has no types for."""
    return next((kind for part, kind in _TYPES.items() if part in declared), "binary")


def as_declared(table: Any) -> Any:
    """Return a Narwhals table of SQLite, if it is no formula, without what Ibis found in its first row."""
    import narwhals as nw
    from ibis.expr import operations

    opened = table.to_native().op()
    if not isinstance(opened, operations.DatabaseTable):
        return table
    return nw.from_native(sqlite_table(opened.source, opened.name, opened.namespace.database))


def with_names_of_values(table: Any, *, bytes_in_hexadecimal: bool = False) -> Any:
    """Return a Narwhals table of SQLite with values named one by one, and their kinds in columns beside them.

    Reports may hold bytes, whose names are hexadecimal then.
    """
    import narwhals as nw
    from ibis.expr import operations

    native = table.to_native()
    is_table = isinstance(native.op(), operations.DatabaseTable)
    columns: dict[str, Any] = {}
    for name in native.columns:
        kinds = _declared(native[name].type(), is_table=is_table).column(name)
        columns[name], columns[kinds] = _named(native[name], _in_python(in_hexadecimal=bytes_in_hexadecimal))
        columns[name + ORDER] = _ordered(native[name])
    return nw.from_native(native.select(**columns))


def with_used_columns(query: Any) -> Any:
    """Return a query of Narwhals on Ibis that names the values of used columns of SQLite only: its text is shorter."""
    import narwhals as nw
    from ibis.expr import operations

    if not is_sqlite(query):
        return query
    whole = query.to_native().op()
    used: dict[Any, set[str]] = {}
    for field in whole.find(operations.Field):
        rows = field.rel
        # Filters have the columns of what they filter.
        while isinstance(rows, operations.Filter):
            rows = rows.parent
        used.setdefault(rows, set()).add(field.name)
    fewer = {
        rows: operations.Project(rows.parent, {name: rows.values[name] for name in rows.values if name in names})
        for rows, names in used.items()
        if isinstance(rows, operations.Project) and any(name.endswith(ORDER) for name in rows.values)
    }
    return nw.from_native(whole.replace(fewer).to_expr())


# By the connection of an open source of SQLite and the thread that reads it, what opens DuckDB beside it: several times
# where a caller's connection holds several open sources.
_BESIDE: dict[tuple[int, int], list[Callable[[], Any]]] = {}
_NUMBERS = count()
# With so few rows at hand, Python does not look for garbage among them, which took as long as to read them; the engine
# takes more at once.
_ROWS, _AT_ONCE = 2**8, 2**16


@contextmanager
def beside_sqlite(table: Any, opened: AbstractContextManager[Any]) -> Iterator[None]:
    """Let :func:`in_duckdb` have the rows of a Narwhals table of SQLite while the block runs: DuckDB is opened then."""
    held = id(table.to_native().get_backend().con), get_ident()
    with ExitStack() as stack:
        beside = cache(lambda: stack.enter_context(opened))
        _BESIDE.setdefault(held, []).append(beside)
        try:
            yield
        finally:
            # Sources need not be closed in the order in which they were opened.
            _BESIDE[held].remove(beside)
            if not _BESIDE[held]:
                del _BESIDE[held]


def in_duckdb(query: Any) -> Any | None:
    """Return the rows of a query of texts and whole numbers as a relation of DuckDB; None if no source is open.

    They are read once, by one query, in this thread, and stay in this process: SQLite has no hash, and takes many times
    as long for windows. A text that is not UTF-8 is refused.
    """
    import pyarrow as pa

    native = with_used_columns(query).to_native()
    backend = native.get_backend()
    beside = _BESIDE.get((id(backend.con), get_ident()))
    if not beside:
        return None
    from ibis import to_sql

    with warnings.catch_warnings():
        # It takes rows through parts of pandas that are going away.
        warnings.simplefilter("ignore", DeprecationWarning)
        # Ibis gives SQLite the functions of Python that a query calls when it runs one.
        native.limit(0).to_pyarrow()
    kinds = {name: pa.string() if kind.is_string() else pa.int64() for name, kind in native.schema().items()}
    schema, table, connection = pa.schema(kinds), f"of_sqlite_{next(_NUMBERS)}", beside[-1]()
    connection.from_arrow(schema.empty_table()).create(table)
    # A query that was not read to its end would keep the caller's database locked as long as its error is kept.
    with closing(backend.con.execute(str(to_sql(native, dialect="sqlite")))) as cursor:
        for batch in _batches(cursor, schema):
            connection.from_arrow(batch).insert_into(table)
    return connection.table(table)


def _batches(cursor: Any, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    columns: list[list[Any]] = [[] for _ in schema.types]
    while rows := cursor.fetchmany(_ROWS):
        for column, values in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(columns[0]) >= _AT_ONCE:
            yield pa.table(list(map(pa.array, columns, schema.types)), schema=schema)
            columns = [[] for _ in schema.types]
    if columns[0]:
        yield pa.table(list(map(pa.array, columns, schema.types)), schema=schema)


def _declared(kind: Any, *, is_table: bool) -> Declared:
    """Return what a column is declared to hold; a first row can make Ibis say of a formula that it is numbers or text.

    Times are what their text is, which programs write in many ways.
    """
    if kind.is_boolean():
        return Declared.TRUTH
    if kind.is_date():
        return Declared.DATES
    if is_table and kind.is_numeric():
        return Declared.NUMBERS
    return Declared.TEXT if is_table and kind.is_string() else Declared.ANYTHING


def _named(column: Any, written_by_python: Any) -> tuple[Any, Any]:
    """Return the names of a column's values and their kinds, each null where there is no value."""
    import ibis

    held = column.typeof()
    # Whatever Ibis takes the column for, these are the values as they are.
    text, number = (_unchanged(column, kind) for kind in ("string", "float64"))
    whole = number.cast("int64")
    is_whole = (held == "real") & (number.abs() < LARGEST_NAMED) & (number == whole)
    # As a count, the first number without a name is one.
    is_written_whole = (held == "real") & (number.abs() <= LARGEST_NAMED) & (number == whole)
    # What most columns of a type hold comes first.
    first = slice(None, None, -1 if column.type().is_string() else 1)
    name = ibis.cases(
        *[(held == "integer", text + ""), (held == "text", text)][first],
        (is_written_whole, whole.cast("string")),
        (held != "null", written_by_python(text)),
    )
    kind = ibis.cases(
        *[(held == "integer", WHOLE), (held == "text", TEXT)][first],
        (is_whole, WHOLE),
        (held == "blob", BYTES),
        (number.abs() < LARGEST_NAMED, FRACTION),
        (held == "real", LARGE),
    )
    if column.type().is_boolean():
        is_truth = (held == "integer") & number.isin([0, 1])
        name, kind = is_truth.ifelse((number == 1).ifelse("true", "false"), name), is_truth.ifelse(TEXT, kind)
    return name, kind


def _ordered(column: Any) -> Any:
    """Return values as SQLite orders them: numbers, which are compared as floats, then texts, then bytes."""
    held, as_float = column.typeof(), _unchanged(_unchanged(column, "float64") + 0.0, "string")
    return (held == "integer").ifelse(as_float, _unchanged(column, "string"))


def _unchanged(column: Any, kind: str) -> Any:
    """Return the same values of a column, which Ibis takes for another type; in a formula they lose its collation."""
    from ibis import udf

    signature = ((column.type(),), kind)
    return udf.scalar.builtin(lambda value: value, name="likely", signature=signature)(column)


@cache
def _in_python(*, in_hexadecimal: bool) -> Any:
    """Return the function of SQLite that writes fractions in their shortest form, and bytes as Python or Arrow does."""
    from ibis import udf

    # By now the value is bytes or a float; Ibis asks for one type.
    name = "anonhist_hexadecimal" if in_hexadecimal else "anonhist_name"
    return udf.scalar.python(
        _in_hexadecimal if in_hexadecimal else _written, name=name, signature=(("string",), "string")
    )


def _written(value: object) -> str:
    # What is too large for a name is a number all the same.
    return str(value).replace("inf", "9e999")


def _in_hexadecimal(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)

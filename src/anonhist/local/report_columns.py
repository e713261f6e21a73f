"""Where DuckDB finds the values of reports in a table: in a column each, or in lists, as in the lines of devices.

The lines, and tables made of them, have a column ``reports``: an object with a list of hexadecimal texts for each
column of the survey, as JSON or as a structure of lists. Each line becomes as many rows as it has reports, or a single
bad one if its lists do not belong together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError
from anonhist.ingest.columns import Opened, Schema, quoted
from anonhist.ingest.typed_files import NO_TYPE
from anonhist.local.report_rows import FOREIGN, LENGTH, PLACE, REPORTS, UNIQUE, has_lines, names_of
from anonhist.local.reports import BytesColumn, WholeColumn
from anonhist.local.wire import digits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.local.survey import Survey

_WHOLE_TYPES = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_FLOATS = ("FLOAT", "DOUBLE")


def keys_of(survey: Survey, unique: str | None) -> list[str]:
    """Return the keys of JSON lines that are read."""
    return [*names_of(survey), REPORTS, *([] if unique is None else [unique])]


def report_query(survey: Survey, named: Opened, what: str, *, unique: str | None, is_json: bool) -> Any:
    """Return the query for the engine: every column of the reports, and whether a row answers another survey.

    With a unique column, it also returns that one as text, and the place of a report in its line. JSON lines may be
    lines of devices or rows with a value for each column, line by line.
    """
    # Column names of reports are not data, whatever contains them.
    header, relation = replace(named.header, schema=Schema.DECLARED), named.table.to_native()
    in_lines = is_json or has_lines(survey, (*header.names, *header.folders), what)
    needed = [*([] if in_lines and not is_json else names_of(survey)), *([REPORTS] if in_lines else [])]
    for name in (*needed, *([] if unique is None else [unique])):
        header.require(column=name)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    found = {name: (quoted(header.in_table(name)), types[header.in_table(name)]) for name in needed}
    columns: dict[str, str] = {}
    if unique is not None:
        place = header.in_table(unique)
        columns = {UNIQUE: _identifying(quoted(place), types[place], unique, what)}
    if in_lines:
        return _of_lines(survey, relation, columns, found, what)
    columns |= {} if unique is None else {PLACE: "0", LENGTH: "1"}
    columns |= {column.name: _value(column, *found[column.name], what) for column in survey.columns}
    columns[FOREIGN] = f"CAST({found['survey'][0]} AS VARCHAR) IS DISTINCT FROM '{survey.digest}'"
    return _project(relation, columns)


def _project(relation: Any, columns: Mapping[str, str]) -> Any:
    return relation.project(", ".join(f"{expression} AS {quoted(name)}" for name, expression in columns.items()))


def _of_lines(
    survey: Survey, relation: Any, unique: Mapping[str, str], found: Mapping[str, tuple[str, str]], what: str
) -> Any:
    """Return a row for each report in the lines, whose other columns come first."""
    columns = {f"own_{name}": place for name, (place, _) in found.items() if name != REPORTS}
    body = _object(*found[REPORTS], what)
    rows = _project(relation, {**unique, **columns, "body": f"CASE WHEN json_valid({body}) THEN {body} END"})
    kept = {name: quoted(name) for name in (*unique, *columns, "body")}
    lists = {column.name: f"list_{column.name}" for column in survey.columns}
    rows = _project(rows, kept | {each: f"json_extract(body, '$.{name}[*]')" for name, each in lists.items()})
    first, *others = lists.values()
    together = " AND ".join((f"len({first}) > 0", *(f"len({each}) = len({first})" for each in others)))
    length = f"CASE WHEN {together} THEN len({first}) ELSE 1 END"
    values = {each: f"unnest(CASE WHEN {together} THEN {each} ELSE [NULL] END)" for each in lists.values()}
    at = {PLACE: f"CAST(unnest(range({length})) AS INTEGER)", LENGTH: f"CAST({length} AS INTEGER)"} if unique else {}
    rows = _project(rows, kept | at | values)
    final = {name: quoted(name) for name in (*unique, *at)}
    has_own = "survey" in found
    for column in survey.columns:
        value = _in_line(column, lists[column.name])
        if has_own:
            own = _value(column, quoted(f"own_{column.name}"), found[column.name][1], what)
            value = f"CASE WHEN body IS NULL AND own_survey = '{survey.digest}' THEN {own} ELSE {value} END"
        final[column.name] = value
    final[FOREIGN] = f"coalesce(body IS NULL AND own_survey <> '{survey.digest}', false)" if has_own else "false"
    return _project(rows, final)


def _object(name: str, kind: str, what: str) -> str:
    """Return JSON text for the column of lists."""
    if kind in ("VARCHAR", "JSON", NO_TYPE):
        return f"CAST({name} AS VARCHAR)"
    if kind.startswith(("STRUCT(", "MAP(")):
        return f"CAST(to_json({name}) AS VARCHAR)"
    raise DataError(f"{what} must hold lists of texts for each column of a report in its column {REPORTS!r}.")


def _in_line(column: WholeColumn | BytesColumn, name: str) -> str:
    """Return the engine's expression for a value in a line, as JSON: −1 or null for an invalid one."""
    many = digits(column)
    text = f"CASE WHEN length({name}) = {many + 2} AND regexp_full_match({name}, '\"[0-9a-f]*\"') THEN "
    if isinstance(column, WholeColumn):
        return f"coalesce({text}TRY_CAST('0x' || substr({name}, 2, {many}) AS BIGINT) END, -1)"
    return f"{text}unhex(substr({name}, 2, {many})) END"


def _value(column: WholeColumn | BytesColumn, name: str, kind: str, what: str) -> str:
    """Return the engine's expression for a value of this type in a column: −1 or null for an invalid report."""
    if isinstance(column, WholeColumn):
        is_whole = {
            # A cast alone would round fractions. Programs write floats beside a missing number.
            "VARCHAR": f"regexp_full_match({name}, '0|[1-9][0-9]{{0,18}}')",
            **dict.fromkeys(_WHOLE_TYPES, "true"),
            **dict.fromkeys(_FLOATS, f"{name} = trunc({name})"),
            NO_TYPE: "false",
        }
        if kind in is_whole:
            return f"coalesce(CASE WHEN {is_whole[kind]} THEN TRY_CAST({name} AS BIGINT) END, -1)"
        raise DataError(f"{what} must hold whole numbers in its column {column.name!r}.")
    in_bytes = {
        "VARCHAR": (
            f"CASE WHEN length({name}) = {2 * column.width} AND regexp_full_match({name}, '[0-9a-f]*') "
            f"THEN unhex({name}) END"
        ),
        "BLOB": f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END",
        NO_TYPE: "CAST(NULL AS BLOB)",
    }
    if kind in in_bytes:
        return in_bytes[kind]
    raise DataError(f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}.")


def _identifying(name: str, kind: str, unique: str, what: str) -> str:
    """Return the engine's expression for the text of a unique value."""
    if kind == "BLOB":
        return f"lower(hex({name}))"
    if kind in ("VARCHAR", "UUID", NO_TYPE, *_WHOLE_TYPES) or kind.startswith("ENUM("):
        return f"CAST({name} AS VARCHAR)"
    if kind in _FLOATS:
        # So programs write whole numbers beside a missing one.
        return f"CASE WHEN {name} = trunc({name}) THEN CAST(TRY_CAST({name} AS BIGINT) AS VARCHAR) END"
    raise DataError(f"{what} must hold texts, whole numbers or bytes in its unique column {unique!r}.")

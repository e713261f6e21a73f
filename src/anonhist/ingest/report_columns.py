"""Columns of reports on the engine: what is not exactly a report becomes one that no survey makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError
from anonhist.local.surveys.reports import BytesColumn, Reports, WholeColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.surveys.survey import Survey

# Whether a row answers another survey.
FOREIGN = "is_foreign"
_WHOLE_TYPES = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}


def names_of(survey: Survey) -> list[str]:
    """Return the columns, or keys of JSON lines, that reports of a survey have."""
    return ["survey", *(column.name for column in survey.columns)]


def expressions(survey: Survey, relation: Any, what: str) -> dict[str, str]:
    """Return by name what the engine is to compute: every column of the reports, and whether a row is foreign.

    Raises
    ------
    DataError
        If a column is missing or of another type.
    """
    names = names_of(survey)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if not set(names) <= set(types):
        message = f"{what} does not hold reports of this survey, which have the columns {', '.join(names)}."
        raise DataError(message)
    columns = {column.name: _expression(column, types[column.name], what) for column in survey.columns}
    return columns | {FOREIGN: f"CAST(\"survey\" AS VARCHAR) IS DISTINCT FROM '{survey.digest}'"}


def _expression(column: WholeColumn | BytesColumn, kind: str, what: str) -> str:
    name = f'"{column.name}"'
    if isinstance(column, WholeColumn):
        if kind == "VARCHAR":
            # A cast alone would round fractions.
            return (
                f"coalesce(CASE WHEN regexp_full_match({name}, '0|[1-9][0-9]{{0,18}}') "
                f"THEN TRY_CAST({name} AS BIGINT) END, -1)"
            )
        if kind in _WHOLE_TYPES:
            return f"coalesce(TRY_CAST({name} AS BIGINT), -1)"
        message = f"{what} must hold whole numbers in its column {column.name!r}."
        raise DataError(message)
    if kind == "VARCHAR":
        return (
            f"CASE WHEN length({name}) = {2 * column.width} AND regexp_full_match({name}, '[0-9a-f]*') "
            f"THEN unhex({name}) END"
        )
    if kind == "BLOB":
        return f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END"
    message = f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}."
    raise DataError(message)


def sound_rows(survey: Survey, batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it is a report of this survey that a device can have sent, shape (n,)."""
    sound = ~foreign_rows(batch)
    for column in survey.columns:
        sound &= batch.column(column.name).is_valid().to_numpy(zero_copy_only=False)
    sound[sound] = survey.possible(reports_of(survey, batch, sound))
    return sound


def foreign_rows(batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it answers another survey, or none that it names, shape (n,)."""
    return np.array(batch.column(FOREIGN).to_numpy(zero_copy_only=False))


def reports_of(survey: Survey, batch: Any, rows: NDArray[np.bool_]) -> Reports:
    """Return some rows of a record batch as reports; bytes of theirs are of the right length."""
    chosen = batch if rows.all() else batch.filter(rows)
    return Reports(survey.digest, {each.name: _array(each, chosen.column(each.name)) for each in survey.columns})


def _array(column: WholeColumn | BytesColumn, values: Any) -> NDArray[Any]:
    if isinstance(column, WholeColumn):
        return np.asarray(values.to_numpy())
    rows = len(values)
    if not rows:
        return column.empty(0)
    _, offsets, data = values.buffers()
    start = np.frombuffer(offsets, dtype=np.int32)[values.offset]
    return np.frombuffer(data, dtype=np.uint8)[start : start + rows * column.width].reshape(rows, column.width)

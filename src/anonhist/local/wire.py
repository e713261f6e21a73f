"""Reports as devices send them: one line of JSON each, and all lines of a survey have the same number of bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from anonhist.errors import DataError
from anonhist.local.reports import BytesColumn, Reports, WholeColumn
from anonhist.local.survey import Survey

_ID = re.compile(r"[0-9a-f]{32}")


def wire_lines(survey: Survey, reports: Reports, ids: Iterable[str]) -> list[str]:
    """Return the reports as devices send them, with an identifier each: lines of JSON of equal length.

    Numbers are padded with spaces to the length of the largest, so that the length of a line says nothing about a
    report, even if it is encrypted. A retry sends the same line, and its identifier lets a collector count it once.

    Parameters
    ----------
    survey, reports
        A survey and reports of it.
    ids
        32 hexadecimal digits for each report, drawn at random on the device.

    Raises
    ------
    UsageError, DataError
        If the reports are of another survey, or an identifier is missing or malformed.

    Examples
    --------
    >>> import numpy as np
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=200, epsilon=1)
    >>> reports = Reports(survey.digest, {"report": np.array([7, 199])})
    >>> print(*wire_lines(survey, reports, ["0" * 32, "1" * 32]), sep="")  # doctest: +NORMALIZE_WHITESPACE
    {"survey":"3edd0a977e39d7dcb00fea5f47dc8764","id":"00000000000000000000000000000000","report":  7}
    {"survey":"3edd0a977e39d7dcb00fea5f47dc8764","id":"11111111111111111111111111111111","report":199}
    """
    columns = reports.checked(survey.digest, survey.columns)
    named = list(ids)
    if len(named) != len(reports) or not all(isinstance(each, str) and _ID.fullmatch(each) for each in named):
        raise DataError("Each report needs an identifier of 32 hexadecimal digits.")
    rows = zip(*(columns[column.name] for column in survey.columns), strict=True)
    return [_line(survey, identifier, row) for identifier, row in zip(named, rows, strict=True)]


def reports_of_wire(survey: Survey, lines: Iterable[str]) -> tuple[Reports, list[str]]:
    """Return the reports in lines of :func:`wire_lines`, and their identifiers, in the same order.

    Raises
    ------
    DataError
        If a line is not one that a client writes for this survey; the message says which, counted from 1.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> lines = wire_lines(survey, survey.randomize([0, 2]), ["0" * 32, "1" * 32])
    >>> reports_of_wire(survey, lines)[1] == ["0" * 32, "1" * 32]
    True
    """
    rows, ids = [], []
    for number, line in enumerate(lines, 1):
        if (found := _parsed(survey, line)) is None:
            raise DataError(f"Line {number:,} is not a report of this survey as a client writes it.")
        ids.append(found[0])
        rows.append(found[1])
    return _reports(survey, rows), ids


def collected_reports(survey: Survey, lines: Iterable[str]) -> tuple[Reports, int]:
    """Return each report in what a collector received once, and how many lines are not reports of this survey.

    A report that was sent again has the same identifier; the first line with it counts.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> lines = wire_lines(survey, survey.randomize([0, 2]), ["0" * 32, "1" * 32])
    >>> reports, bad = collected_reports(survey, [*lines, lines[0], "anything else"])
    >>> len(reports), bad
    (2, 1)
    """
    rows: dict[str, Sequence[Any]] = {}
    bad = 0
    for line in lines:
        if (found := _parsed(survey, line)) is None:
            bad += 1
        else:
            rows.setdefault(*found)
    return _reports(survey, list(rows.values())), bad


def _parsed(survey: Survey, line: str) -> tuple[str, Sequence[Any]] | None:
    """Return the identifier and the columns in a line, or None if no client writes it."""
    try:
        said = json.loads(line)
        identifier, row = said["id"], [_value(column, said[column.name]) for column in survey.columns]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    # A line has one form, so that equal reports are equal lines.
    is_plain = isinstance(identifier, str) and _ID.fullmatch(identifier) and line == _line(survey, identifier, row)
    return (identifier, row) if is_plain else None


def _line(survey: Survey, identifier: str, row: Sequence[Any]) -> str:
    texts = (f'"{column.name}":{_text(column, each)}' for column, each in zip(survey.columns, row, strict=True))
    return f'{{"survey":"{survey.digest}","id":"{identifier}",{",".join(texts)}}}\n'


def _text(column: WholeColumn | BytesColumn, value: Any) -> str:
    if isinstance(column, BytesColumn):
        return f'"{bytes(value).hex()}"'
    return str(int(value)).rjust(len(str(column.size - 1)))


def _value(column: WholeColumn | BytesColumn, said: Any) -> Any:
    if isinstance(column, BytesColumn):
        value = bytes.fromhex(said)
        if len(value) != column.width:
            raise ValueError
        return value
    if type(said) is not int or not 0 <= said < column.size:
        raise ValueError
    return said


def _reports(survey: Survey, rows: Sequence[Sequence[Any]]) -> Reports:
    columns = {}
    for place, column in enumerate(survey.columns):
        values = [row[place] for row in rows]
        empty = column.empty(len(rows))
        if isinstance(column, BytesColumn):
            columns[column.name] = np.frombuffer(b"".join(values), dtype=np.uint8).reshape(empty.shape)
        else:
            columns[column.name] = np.array(values, dtype=empty.dtype)
    return Reports(survey.digest, columns)

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
    texts = [[f'"{column.name}":{_text(column, each)}' for each in columns[column.name]] for column in survey.columns]
    heads = (f'{{"survey":"{survey.digest}","id":"{each}",' for each in named)
    return [f"{head}{','.join(parts)}}}\n" for head, parts in zip(heads, zip(*texts, strict=True), strict=True)]


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
    given, ids = list(lines), []
    values: dict[str, list[Any]] = {column.name: [] for column in survey.columns}
    for number, line in enumerate(given, 1):
        try:
            said = json.loads(line)
            ids.append(said["id"])
            for column in survey.columns:
                values[column.name].append(_value(column, said[column.name]))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise _bad(number) from None
    reports = Reports(survey.digest, {column.name: _column(column, values[column.name]) for column in survey.columns})
    if not all(each is not None and _ID.fullmatch(str(each)) for each in ids):
        raise DataError("An identifier is not 32 hexadecimal digits.")
    # A line has one form, so that equal reports are equal lines.
    for number, (line, expected) in enumerate(zip(given, wire_lines(survey, reports, ids), strict=True), 1):
        if line != expected:
            raise _bad(number)
    return reports, ids


def _bad(number: int) -> DataError:
    return DataError(f"Line {number:,} is not a report of this survey as a client writes it.")


def _text(column: WholeColumn | BytesColumn, value: Any) -> str:
    if isinstance(column, BytesColumn):
        return f'"{bytes(value).hex()}"'
    return str(int(value)).rjust(len(str(column.size - 1)))


def _value(column: WholeColumn | BytesColumn, said: Any) -> Any:
    if isinstance(column, BytesColumn):
        value = bytes.fromhex(said)
        if len(value) != column.width:
            raise ValueError
        return list(value)
    if type(said) is not int or not 0 <= said < column.size:
        raise ValueError
    return said


def _column(column: WholeColumn | BytesColumn, values: Sequence[Any]) -> Any:
    empty = column.empty(len(values))
    return np.array(values, dtype=empty.dtype).reshape(empty.shape)

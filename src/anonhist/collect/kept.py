"""Reports that are stored: on request for good, or until their batch is whole; under random keys, without identifiers.

The key is the order in the table, so nothing in it says when a report came, or with which request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from anonhist.collect.served import Served
from anonhist.collect.storage import Transaction
from anonhist.local.reports import BytesColumn, Reports, Tally
from anonhist.local.wire import digits, read_texts
from anonhist.randomness import SystemSource

_KEY_WORDS = 2
# Batches are counted in pieces, so that a large one needs little memory.
_AT_ONCE = 10_000


def keep(ours: Transaction, served: Served, reports: Reports, *, waiting: bool) -> None:
    """Store reports, for good or until their batch is whole."""
    keys = _keys(len(reports))
    for key, text in zip(keys, report_texts(served, reports), strict=True):
        ours.run("INSERT INTO anonhist_reports VALUES (?, ?, ?, ?)", served.number, int(waiting), key, text)


def batch(ours: Transaction, served: Served, size: int, *, keeps: bool) -> Tally:
    """Count so many waiting reports, chosen at random, and delete them or keep them for good."""
    survey = served.collection.survey
    total = survey.empty_tally()
    for texts in _pieces(ours, served, size, keeps=keeps):
        reports, _, _ = read_texts(survey, texts)
        total += survey.tally(reports)
    return total


def drop_waiting(ours: Transaction, served: Served) -> None:
    """Delete the reports whose batch will never be whole."""
    ours.run("DELETE FROM anonhist_reports WHERE collection = ? AND waiting = 1", served.number)


def _pieces(ours: Transaction, served: Served, size: int, *, keeps: bool) -> Iterator[dict[str, list[Any]]]:
    query = "SELECT key, report FROM anonhist_reports WHERE collection = ? AND waiting = 1 ORDER BY key LIMIT ?"
    which = "WHERE collection = ? AND waiting = 1 AND key <= ?"
    for start in range(0, size, _AT_ONCE):
        rows = ours.run(query, served.number, min(_AT_ONCE, size - start)).fetchall()
        change = "UPDATE anonhist_reports SET waiting = 0" if keeps else "DELETE FROM anonhist_reports"
        ours.run(f"{change} {which}", served.number, rows[-1][0])
        read = [json.loads(report) for _, report in rows]
        names = [column.name for column in served.collection.survey.columns]
        yield {name: [each[name][0] for each in read] for name in names}


def report_texts(served: Served, reports: Reports) -> Iterator[str]:
    """Yield each report as JSON, as ``anonhist local tally`` reads it in a column ``reports``."""
    columns = {}
    for column in served.collection.survey.columns:
        values, many = reports.columns[column.name], digits(column)
        columns[column.name] = (
            [row.tobytes().hex() for row in values]
            if isinstance(column, BytesColumn)
            else [f"{value:0{many}x}" for value in values.tolist()]
        )
    for row in zip(*columns.values(), strict=True):
        yield json.dumps({name: [value] for name, value in zip(columns, row, strict=True)}, separators=(",", ":"))


def _keys(many: int) -> list[bytes]:
    content, width = SystemSource().words(_KEY_WORDS * many).tobytes(), 8 * _KEY_WORDS
    return [content[start : start + width] for start in range(0, len(content), width)]

"""The reports in requests: of lines of JSON, and of Arrow streams, which gateways may send instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.collect.storage import Identifier
from anonhist.local.reports import Reports
from anonhist.local.survey import Survey
from anonhist.local.wire import read_texts
from anonhist.local.wire_stream import StreamRows, read_rows

STREAM_TYPE = "application/vnd.apache.arrow.stream"
_STREAM = STREAM_TYPE.encode()
# What Python takes for a text in a list, beside its letters.
_TEXT_BYTES = 64


@dataclass(frozen=True)
class Line:
    """A request: its identifier, how many rows it has, and its values as they stand: texts by column, or a stream's."""

    identifier: Identifier
    values: dict[str, list[str]] | StreamRows
    rows: int

    @property
    def more_bytes(self) -> int:
        """How many bytes its values take at most, beyond those of the body."""
        return 0 if isinstance(self.values, StreamRows) else _TEXT_BYTES * self.rows * len(self.values)


def is_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request says that its body is an Arrow stream."""
    for name, value in headers:
        if name == b"content-type":
            return value.partition(b";")[0].strip().lower() == _STREAM
    return False


def read_lines(survey: Survey, lines: Sequence[Line]) -> tuple[Reports, NDArray[np.bool_], dict[int, str]]:
    """Return the good reports of all lines, which rows they are, and what is wrong with the others, from 1."""
    streams = [each.values for each in lines if isinstance(each.values, StreamRows)]
    texts: dict[str, list[Any]] = {column.name: [] for column in survey.columns}
    for each in lines:
        if not isinstance(each.values, StreamRows):
            for name, values in texts.items():
                values.extend(each.values[name])
    if not streams:
        return read_texts(survey, texts)
    if len(streams) == len(lines):
        return read_rows(survey, streams)
    is_text = np.repeat([not isinstance(each.values, StreamRows) for each in lines], [each.rows for each in lines])
    return _in_order(survey, is_text, read_texts(survey, texts), read_rows(survey, streams))


_Read = tuple[Reports, NDArray[np.bool_], dict[int, str]]


def _in_order(survey: Survey, is_first: NDArray[np.bool_], first: _Read, second: _Read) -> _Read:
    """Return the rows of two kinds in the order in which they came."""
    places = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    good = np.empty(is_first.size, dtype=np.bool_)
    bad: dict[int, str] = {}
    for own, (_, are_good, wrong) in zip(places, (first, second), strict=True):
        good[own] = are_good
        bad |= {int(own[row - 1]) + 1: what for row, what in wrong.items()}
    kept = [own[are_good] for own, (_, are_good, _) in zip(places, (first, second), strict=True)]
    order = np.argsort(np.concatenate(kept))
    columns = {
        name: np.concatenate([reports.columns[name] for reports in (first[0], second[0])])[order]
        for name in first[0].columns
    }
    return Reports(survey.digest, columns), good, dict(sorted(bad.items()))

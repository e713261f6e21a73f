"""Reports as gateways may send them: an Arrow stream with one identifier, for reports that are in arrays already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError
from anonhist.local.arrow_messages import read_stream
from anonhist.local.reports import BytesColumn, Reports
from anonhist.local.survey import Survey
from anonhist.local.wire import Received, is_identifier, possible_rows, sendable

_ID = b"id"
_NO_STREAM = "This is not an Arrow stream of reports of this survey."


class StreamRows(NamedTuple):
    """The values of each column as they stand, mostly without a copy, and which rows have all of them."""

    columns: dict[str, NDArray[np.generic]]
    present: NDArray[np.bool_]


def wire_stream(survey: Survey, reports: Reports, identifier: str) -> bytes:
    r"""Return reports as a gateway sends them in one request: an Arrow stream with an identifier for all of them.

    The schema has the survey's columns: unsigned numbers of a fixed width, and fixed-size binary. Its metadata have the
    identifier as ``id``. So the length says only how many reports there are. A retry sends the same bytes. The media
    type is ``application/vnd.apache.arrow.stream``.

    Parameters
    ----------
    survey, reports
        A survey, and at least one report of it.
    identifier
        32 hexadecimal digits: :func:`new_identifier`.

    Raises
    ------
    UsageError, DataError
        If the reports are of another survey, there are none, or the identifier is malformed.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=200, epsilon=1)
    >>> stream = wire_stream(survey, survey.randomize([7, 199]), "0" * 32)
    >>> len(read_wire_stream(survey, stream).reports)
    2
    """
    import pyarrow as pa

    columns = sendable(survey, reports, identifier)
    arrays, fields = [], []
    for column in survey.columns:
        values = columns[column.name]
        if isinstance(column, BytesColumn):
            kind = pa.binary(column.width)
            content = pa.py_buffer(np.ascontiguousarray(values))
            arrays.append(pa.FixedSizeBinaryArray.from_buffers(kind, len(reports), [None, content]))
        else:
            dtype = np.min_scalar_type(column.size - 1)
            arrays.append(pa.array(values.astype(dtype)))
            kind = pa.from_numpy_dtype(dtype)
        fields.append(pa.field(column.name, kind, nullable=False))
    schema, sink = pa.schema(fields, metadata={_ID: identifier.encode()}), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))
    content = sink.getvalue().to_pybytes()
    assert isinstance(content, bytes)  # noqa: S101  # Arrow has no types
    return content


def read_wire_stream(survey: Survey, stream: bytes) -> Received:
    """Return the reports in a stream of :func:`wire_stream`, or of any other program; bad ones are named one by one.

    Whole numbers may have 8 to 64 bits and a sign. The stream has at most 100 batches, is not compressed, and ends with
    its end marker.

    Raises
    ------
    DataError
        If it is not a stream for reports of this survey; the message contains no value.

    Examples
    --------
    >>> import numpy as np
    >>> from anonhist.local import KRR
    >>> few, many = KRR(alphabet=3, epsilon=1), KRR(alphabet=200, epsilon=1)
    >>> reports = Reports(many.digest, {"report": np.array([2, 199])})
    >>> received = read_wire_stream(few, wire_stream(many, reports, "0" * 32))
    >>> received.reports.columns["report"].tolist(), dict(received.bad)
    ([2], {2: 'No device that follows the survey sends this report.'})
    """
    identifier, rows = parsed_stream(survey, stream)
    reports, _, bad = read_rows(survey, [rows])
    return Received(identifier, reports, bad)


def parsed_stream(survey: Survey, stream: bytes) -> tuple[str, StreamRows]:
    """Return the identifier and the rows as they stand, at least one, or refuse the stream."""
    found = read_stream(stream, [column.name for column in survey.columns], _ID)
    identifier = found.text.decode("ascii", "replace")
    if not is_identifier(identifier) or not found.present.size:
        raise DataError(_NO_STREAM)
    if any(found.columns[column.name].shape[1:] != column.empty(0).shape[1:] for column in survey.columns):
        raise DataError(_NO_STREAM)
    return identifier, StreamRows(found.columns, found.present)


def read_rows(survey: Survey, streams: Sequence[StreamRows]) -> tuple[Reports, NDArray[np.bool_], dict[int, str]]:
    """Return the good reports of streams, which rows they are, and what is wrong with the others, from 1."""
    # Unsigned numbers from 2⁶³ become negative, so they are out of range.
    columns = {
        column.name: np.concatenate([each.columns[column.name].astype(column.empty(0).dtype) for each in streams])
        for column in survey.columns
    }
    present = np.concatenate([each.present for each in streams])
    bad = {row + 1: "A value is missing." for row in np.flatnonzero(~present).tolist()}
    return possible_rows(survey, columns, present, bad)

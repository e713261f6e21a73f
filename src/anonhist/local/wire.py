"""Reports as devices send them: a line of JSON for each request, whose length says nothing about the answers in it.

A line is ``{"id":"<32 digits>","reports":{"<column>":["<digits>",…],…}}``, without spaces, for one report or several.
All digits are hexadecimal, in lowercase. A value has as many as the largest value of its column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError
from anonhist.frozen import frozen
from anonhist.local.reports import BytesColumn, Reports, WholeColumn
from anonhist.local.survey import SYSTEM, Survey
from anonhist.randomness import RandomSource

# A fullmatch, because $ would allow the end of a line.
IDENTIFIER = "[0-9a-f]{32}"
_ID = re.compile(IDENTIFIER)
_DIGITS = re.compile("[0-9a-f]*")
# Days have two bytes.
FIRST_DAY = date(1970, 1, 1)
LAST_DAY = date(2149, 6, 6)


@frozen
class Received:
    """What a line of devices holds.

    Attributes
    ----------
    identifier
        32 hexadecimal digits. A line that is sent again has the same.
    reports
        The reports that a device can have sent, in their order.
    bad
        For each of the others its row, from 1, and a sentence that says what is wrong and contains no value.
    """

    identifier: str
    reports: Reports
    bad: Mapping[int, str]


def new_identifier(day: date | None = None, *, source: RandomSource | None = None) -> str:
    """Return an identifier: two bytes for the day, then 14 random ones, as 32 hexadecimal digits.

    Parameters
    ----------
    day
        The day in UTC as the collector says it, until 2149-06-06: never by the device's own clock, which would tell
        devices apart. None, the day 0, if no collector says one.
    source
        The source of random words; by default, the operating system.

    Examples
    --------
    >>> from datetime import date
    >>> new_identifier(date(2026, 12, 1))[:4], new_identifier()[:4], len(new_identifier())
    ('5134', '0000', 32)
    """
    number = 0 if day is None else (day - FIRST_DAY).days
    if not 0 <= number <= (LAST_DAY - FIRST_DAY).days:
        raise DataError(f"The day of an identifier must be from {FIRST_DAY} to {LAST_DAY}.")
    words = (SYSTEM if source is None else source).words(2)
    return f"{number:04x}{words.astype('<u8').tobytes().hex()[4:]}"


def wire_line(survey: Survey, reports: Reports, identifier: str) -> str:
    r"""Return reports as a device or gateway sends them in one request, with one identifier for all of them.

    A value has a fixed number of digits, so that the length of a line says only how many reports it holds, even if it
    is encrypted. A retry sends the same line, and its identifier lets a collector count it once.

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
    >>> import numpy as np
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=200, epsilon=1)
    >>> reports = Reports(survey.digest, {"report": np.array([7, 199])})
    >>> wire_line(survey, reports, "0" * 32)
    '{"id":"00000000000000000000000000000000","reports":{"report":["07","c7"]}}\n'
    """
    columns = sendable(survey, reports, identifier)
    texts = {column.name: _texts(column, columns[column.name]) for column in survey.columns}
    return _plain({"id": identifier, "reports": texts})


def sendable(survey: Survey, reports: Reports, identifier: str) -> dict[str, NDArray[Any]]:
    """Return the columns of reports that may be sent in one request, or refuse them."""
    columns = reports.checked(survey.digest, survey.columns)
    if not is_identifier(identifier):
        raise DataError("Reports are sent with an identifier of 32 hexadecimal digits in lowercase.")
    if not len(reports):
        raise DataError("A line holds at least one report.")
    return columns


def is_identifier(text: object) -> bool:
    """Return whether a text is an identifier."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def read_wire_line(survey: Survey, line: str) -> Received:
    """Return the reports in a line of :func:`wire_line`, with or without its end; bad ones are named one by one.

    Raises
    ------
    DataError
        If it is not a line for reports of this survey, as a client writes it; the message contains no value.

    Examples
    --------
    >>> import numpy as np
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=200, epsilon=1)
    >>> received = read_wire_line(survey, '{"id":"%032x","reports":{"report":["07","c8","7"]}}' % 1)
    >>> received.reports.columns["report"].tolist()
    [7]
    >>> for row, what in received.bad.items():
    ...     print(row, what)
    2 No device that follows the survey sends this report.
    3 The value of 'report' must have 2 hexadecimal digits in lowercase.
    """
    identifier, texts = parsed_line(survey, line)
    reports, _, bad = read_texts(survey, texts)
    return Received(identifier, reports, bad)


def read_texts(survey: Survey, texts: Mapping[str, list[Any]]) -> tuple[Reports, NDArray[np.bool_], dict[int, str]]:
    """Return the good reports in lists of values, which rows they are, and what is wrong with the others, from 1."""
    rows = len(texts[survey.columns[0].name])
    columns, sound = {}, np.ones(rows, dtype=np.bool_)
    bad: dict[int, str] = {}
    for column in survey.columns:
        columns[column.name], formed = _values(column, texts[column.name])
        for row in np.flatnonzero(sound & ~formed).tolist():
            bad[row + 1] = f"The value of {column.name!r} must have {digits(column)} hexadecimal digits in lowercase."
        sound &= formed
    return possible_rows(survey, columns, sound, bad)


def possible_rows(
    survey: Survey, columns: dict[str, NDArray[Any]], sound: NDArray[np.bool_], bad: dict[int, str]
) -> tuple[Reports, NDArray[np.bool_], dict[int, str]]:
    """Return the reports among sound rows that a device can have sent, which rows they are, and what is wrong."""
    reports = Reports(survey.digest, columns)
    reports = reports if sound.all() else reports.rows(sound)
    possible = survey.possible(reports)
    for row in np.flatnonzero(sound)[~possible].tolist():
        bad[row + 1] = "No device that follows the survey sends this report."
    good = sound.copy()
    good[sound] = possible
    return reports if possible.all() else reports.rows(possible), good, dict(sorted(bad.items()))


def collected_reports(survey: Survey, lines: Iterable[str]) -> tuple[Reports, int]:
    """Return the reports in what a collector received, each line once, and the number of bad lines and reports.

    A line that was sent again counts once. If different lines have one identifier, someone forged one of them: none of
    them counts, in whatever order they came, and each is bad. Days are not checked: end a collection by what you keep.
    ``anonhist local tally --unique id`` does the same with files, and counts lines with any ``id`` or more keys, too.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> lines = [wire_line(survey, survey.randomize([value]), new_identifier()) for value in (0, 2)]
    >>> reports, bad = collected_reports(survey, [*lines, lines[0], "anything else"])
    >>> len(reports), bad
    (2, 1)
    """
    found: dict[str, dict[str, Mapping[str, list[Any]]]] = {}
    bad = 0
    for line in lines:
        try:
            identifier, texts = parsed_line(survey, line)
        except DataError:
            bad += 1
        else:
            found.setdefault(identifier, {}).setdefault(line.removesuffix("\n"), texts)
    together: dict[str, list[Any]] = {column.name: [] for column in survey.columns}
    for different in found.values():
        if len(different) > 1:
            bad += len(different)
            continue
        (texts,) = different.values()
        for name, values in together.items():
            values.extend(texts[name])
    reports, _, wrong = read_texts(survey, together)
    return reports, bad + len(wrong)


def digits(column: WholeColumn | BytesColumn) -> int:
    """Return how many digits a value of a column has."""
    return 2 * column.width if isinstance(column, BytesColumn) else len(f"{column.size - 1:x}")


def _plain(said: object) -> str:
    return json.dumps(said, separators=(",", ":")) + "\n"


def _texts(column: WholeColumn | BytesColumn, values: NDArray[Any]) -> list[str]:
    if isinstance(column, BytesColumn):
        return [row.tobytes().hex() for row in values]
    return [f"{value:0{digits(column)}x}" for value in values.tolist()]


def parsed_line(survey: Survey, line: str) -> tuple[str, Mapping[str, list[Any]]]:
    """Return the identifier and the values of each column as they stand, at least one, or refuse the line."""
    try:
        said = json.loads(line)
        identifier, texts = said["id"], said["reports"]
        # Lines have one form, so that equal reports are equal lines.
        is_plain = _plain({"id": identifier, "reports": {column.name: texts[column.name] for column in survey.columns}})
        if is_plain.removesuffix("\n") == line.removesuffix("\n") and _ID.fullmatch(identifier):
            lengths = {len(each) if isinstance(each, list) else 0 for each in texts.values()}
            if len(lengths) == 1 and min(lengths):
                return identifier, texts
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise DataError("This is not a line of reports of this survey as a client writes it.")


def _values(column: WholeColumn | BytesColumn, texts: list[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of a column, and which of them have the right form."""
    many = digits(column)
    # Nearly always, all are good, and one look at all of them is fast.
    if set(map(type, texts)) <= {str} and set(map(len, texts)) <= {many} and _DIGITS.fullmatch("".join(texts)):
        formed = np.ones(len(texts), dtype=np.bool_)
    else:
        formed = np.array([_is_formed(each, many) for each in texts], dtype=np.bool_)
        texts = [each if is_so else "0" * many for each, is_so in zip(texts, formed, strict=True)]
    values = column.empty(len(texts))
    if isinstance(column, BytesColumn):
        values[:] = np.frombuffer(bytes.fromhex("".join(texts)), dtype=np.uint8).reshape(values.shape)
    else:
        values[:] = [int(each, 16) for each in texts]
    return values, formed


def _is_formed(text: Any, many: int) -> bool:
    return isinstance(text, str) and len(text) == many and _DIGITS.fullmatch(text) is not None

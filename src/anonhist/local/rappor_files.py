"""Reading the CSV files of google/rappor: parameters, counts and the map of candidates."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.formats.atomic import content_of
from anonhist.local.randomizers.rappor import parse_probability
from anonhist.local.rappor_counts import RapporCounts, RapporMap, RapporParameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_NAMES = ["k", "h", "m", "p", "q", "f"]
# What a candidate is called whose text is empty.
_EMPTY = "Empty"


def read_rappor(params: str | Path, counts: str | Path, candidates: str | Path) -> tuple[RapporCounts, RapporMap]:
    r"""Read what google/rappor collected, to be decoded without it.

    Parameters
    ----------
    params
        One line of names, ``k,h,m,p,q,f``, and one of numbers.
    counts
        One line for each of the m cohorts, no names: how many reports, then in how many of them each of the k bits
        is set.
    candidates
        The map: one line for each candidate, no names: its text, then h bits for each cohort, cohort after cohort;
        bit j, from 1, of cohort c, from 0, is the number c·k + j. An empty text is called "Empty". Where k = 1
        (booleans), there is one candidate, which sets the bit, such as TRUE; whoever has the other value sets none.

    Returns
    -------
    RapporCounts, RapporMap
        ``counts.estimate(map)`` decodes them.

    Raises
    ------
    DataError
        If a file is missing or not as said; the message says in which line, if it is about one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder, name) for name in ("params.csv", "counts.csv", "map.csv")]
    ...     _ = paths[0].write_text("k,h,m,p,q,f\n2,1,1,0.25,0.75,0\n")
    ...     _ = paths[1].write_text("1000,700,310\n")
    ...     _ = paths[2].write_text("cat,1\ndog,2\n")
    ...     counts, candidates = read_rappor(*paths)
    >>> counts.estimate(candidates).raw.round(2).tolist()
    [0.9, 0.12]
    """
    given = _parameters(params)
    return _counts(counts, given), _map(candidates, given)


def _parameters(path: str | Path) -> RapporParameters:
    rows = [row for _, row in _rows(path)]
    if len(rows) != 2 or [name.strip() for name in rows[0]] != _NAMES or len(rows[1]) != len(_NAMES):
        raise _error(path, f"it needs a line of the names {','.join(_NAMES)} and one of six numbers")
    try:
        k, h, m = (int(text) for text in rows[1][:3])
        # Not every text: a few letters may write a number that fills the memory.
        p, q, f = (parse_probability(text, name="p, q and f") for text in rows[1][3:])
    except (ValueError, UsageError):
        raise _error(path, "k, h and m must be whole numbers, p, q and f decimals of a reasonable length") from None
    try:
        return RapporParameters(k, h, m, p, q, f)
    except AnonhistError as error:
        raise _error(path, str(error).removesuffix(".")) from None


def _counts(path: str | Path, given: RapporParameters) -> RapporCounts:
    table: list[list[int]] = []
    for line, row in _rows(path):
        if len(table) == given.m:
            raise _error(path, f"it has more lines than the {given.m:,} cohorts of the parameters")
        table.append(_numbers(path, line, row, 1 + given.k))
    try:
        numbers = np.array(table, dtype=np.int64).reshape(len(table), 1 + given.k)
        return RapporCounts(given, numbers[:, 0], numbers[:, 1:])
    except OverflowError:
        raise _error(path, "a count is 2^63 or more") from None
    except DataError as error:
        raise _error(path, str(error).removesuffix(".")) from None


def _map(path: str | Path, given: RapporParameters) -> RapporMap:
    names, columns = [], []
    lowest = [cohort * given.k + 1 for cohort in range(given.m) for _ in range(given.h)]
    for line, row in _rows(path):
        names.append(row[0] or _EMPTY)
        numbers = _numbers(path, line, row[1:], given.m * given.h)
        bits = [number - first for number, first in zip(numbers, lowest, strict=True)]
        if not all(0 <= bit < given.k for bit in bits):
            raise _error(path, f"in line {line} a bit is not one of the k of its cohort")
        columns.append(np.array(bits, dtype=np.int32))
    try:
        listed = RapporMap(names, _stack(columns))
        given.check_candidates(listed)
    except AnonhistError as error:
        raise _error(path, str(error).removesuffix(".")) from None
    return listed


def _stack(columns: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.array(columns, dtype=np.int32).T if columns else np.empty((0, 0), dtype=np.int32)


def _numbers(path: str | Path, line: int, row: list[str], count: int) -> list[int]:
    if len(row) != count:
        raise _error(path, f"line {line} has {len(row):,} numbers where {count:,} are needed")
    try:
        return [int(text) for text in row]
    except ValueError:
        raise _error(path, f"line {line} has something that is no whole number") from None


def _rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, with their numbers."""
    try:
        text = content_of(path).decode("utf-8-sig")
        reader = csv.reader(StringIO(text, newline=""), strict=True)
        for row in reader:
            if row:
                yield reader.line_num, row
    except (UnicodeDecodeError, csv.Error):
        raise _error(path, "it is no CSV file in UTF-8") from None


def _error(path: str | Path, reason: str) -> DataError:
    return DataError(f"{str(path)!r} is not such a file as RAPPOR writes: {reason}.")

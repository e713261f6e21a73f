from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.local.reports import MOST_USERS, Tally, count_cells, nonzero_cells
from anonhist_testing.cases import each_of


def tally(counts: dict[int, int], users: int | None = None, survey: str = "s") -> Tally:
    cells = sorted(counts)
    total = sum(counts.values()) if users is None else users
    return Tally(survey, total, np.array(cells, dtype=np.int64), np.array([counts[c] for c in cells], dtype=np.int64))


TALLIES = st.dictionaries(st.integers(0, 2**54), st.integers(1, 2**50), max_size=6).map(tally)


@pytest.mark.slow
@given(TALLIES, TALLIES, TALLIES)
def test_adding_is_associative_and_commutative(a: Tally, b: Tally, c: Tally) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)
    assert (a + b).users == a.users + b.users


@pytest.mark.slow
@given(TALLIES, TALLIES)
def test_adding_adds_each_cell(a: Tally, b: Tally) -> None:
    cells = np.union1d(a.cells, b.cells)
    assert (a + b).at(cells).tolist() == [
        x + y for x, y in zip(a.at(cells).tolist(), b.at(cells).tolist(), strict=True)
    ]


@pytest.mark.slow
@given(st.lists(st.integers(0, 50)), st.booleans())
def test_counting_cells(cells: list[int], sparse: bool) -> None:  # noqa: FBT001  # drawn
    found, counts = count_cells(np.array(cells, dtype=np.int64), size=2**40 if sparse else 51)
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == {c: cells.count(c) for c in set(cells)}
    assert found.tolist() == sorted(set(cells))


def test_dense_counts_hold_zeros() -> None:
    assert tally({1: 5, 3: 2}).dense(5).tolist() == [0, 5, 0, 2, 0]
    assert tally({}).at(np.array([1, 2])).tolist() == [0, 0]
    assert nonzero_cells(np.array([0, 3, 0, 1]))[0].tolist() == [1, 3]


@each_of(
    ("users", "cells", "counts"),
    [
        (-1, [], []),
        (1.0, [], []),
        (MOST_USERS + 1, [], []),
        (5, [1, 1], [1, 1]),
        (5, [2, 1], [1, 1]),
        (5, [-1], [1]),
        (5, [1], [0]),
        (5, [1], [6]),
        (5, [1, 2], [1]),
        (5, [[1]], [[1]]),
    ],
)
def test_impossible_tallies_are_refused(users: Any, cells: Any, counts: Any) -> None:
    with pytest.raises(DataError):
        Tally("s", users, np.array(cells, dtype=np.int64), np.array(counts, dtype=np.int64))


def test_tallies_of_different_surveys_are_not_added() -> None:
    with pytest.raises(UsageError, match="different surveys"):
        tally({1: 1}) + tally({1: 1}, survey="t")
    with pytest.raises(TypeError):
        tally({1: 1}) + 3  # type: ignore[operator]  # refusing it is the point
    assert tally({1: 1}) != 3


def test_more_people_than_can_be_counted_are_refused() -> None:
    half = tally({0: 1}, users=MOST_USERS)
    with pytest.raises(UsageError, match="2\\^62"):
        half + tally({0: 1})


def test_the_most_people_are_as_many_as_two_of_them_fit_an_integer() -> None:
    assert MOST_USERS == 2**62
    quarter = tally({0: 2**61}, users=2**61)
    assert (quarter + quarter).counts.tolist() == [2**62]


def test_tallies_do_not_change() -> None:
    cells, counts = np.array([1, 2]), np.array([1, 1])
    made = Tally("s", 2, cells, counts)
    cells[0] = 0
    assert made.cells.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        made.counts[0] = 7

"""Python values in memory: each is read by itself, whatever the others are and wherever it stands."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.graphs.node_names import node_names
from anonhist.graphs.release import as_graph
from anonhist.ingest import read_profile
from anonhist.ingest.parts import write_part
from anonhist.ingest.plain_types import whole_count
from anonhist.local.alphabet import Alphabet
from anonhist.numeric.value_name import value_name
from anonhist.profiles import Profile, sorted_l1
from anonhist.sketches.changes import whole_counts
from anonhist_testing.cases import each_of

# What beginnings hold: from such a type, something that looks at the first rows only would take that of all.
BEGINNINGS: list[Any] = [None, "text", 7, 7.0, 0.5, True, Decimal("1.50"), Fraction(1, 2), date(2026, 11, 26), b"x"]
WHOLE = [3, 3.0, "3", Decimal("3.00"), np.int8(3), np.float32(3), 2**53 + 1, str(2**53 + 1), 10**30, "a"]
MIXED = [*WHOLE, 1.5, "1.5", Decimal("1.5"), Decimal("1.500"), Fraction(3, 2), True, "True", 0.1, np.float32(0.1), None]
EXTRA = [None, "999", 999, 999.0, 999.5, Decimal("999.50"), True, np.float64("nan"), b"999", date(2026, 1, 1)]


def tables() -> Iterator[tuple[list[Any], list[Any], Any]]:
    """Yield lists of 150 to 400 values whose beginnings are uniform, and the same with one value more."""
    for number, first in enumerate(BEGINNINGS):
        rows = [first] * (100 + 25 * number) + MIXED * (2 + number % 3)
        extra, place = EXTRA[number], (0, len(rows) // 2, len(rows))[number % 3]
        yield rows, [*rows[:place], extra, *rows[place:]], extra


def of_part(values: Any, folder: Path) -> Profile:
    path = folder / f"{len([*folder.iterdir()])}.counts"
    write_part(values, path)
    return read_profile(path)


@pytest.mark.full
@each_of(
    "read",
    [
        lambda values, _: read_profile(values),
        lambda values, _: read_profile(iter(values)),
        lambda values, _: read_profile(np.array(values, dtype=object)),
        lambda values, _: Profile.from_labels(values),
        of_part,
    ],
)
def test_one_value_more_changes_one_count_by_one(read: Callable[[Any, Path], Profile], tmp_path: Path) -> None:
    for rows, more, extra in tables():
        first, second = read(rows, tmp_path), read(more, tmp_path)
        change = int(value_name(extra) is not None)
        assert (second.n - first.n, sorted_l1(first, second)) == (change, change)


def test_one_value_more_renames_no_node() -> None:
    whole = [row for row in MIXED if not isinstance(row, float | np.floating | Decimal | Fraction)]
    for beginning, extra in ((None, 999.0), ("text", 7.0), (7, "7"), (7.0, True), (Decimal("7.00"), b"x")):
        rows = [beginning] * 150 + whole * 5
        before, after = (set(node_names(each).to_pylist()) for each in (rows, [*rows, extra]))
        assert after == before | {value_name(extra, only_whole=True)}


def test_one_edge_more_renames_no_node() -> None:
    texts = [(f"a{number}", f"b{number}") for number in range(20)]
    numbers = [(3, 3.0), (4.0, Decimal("5.00")), (np.int8(6), 2**53 + 1), (10**30, "a1")]
    for beginning in ((7, 8), (7.0, 8.0), ("7", "8"), (Decimal("7.0"), 8)):
        rows = [beginning] * 150 + texts * 5 + numbers * 20
        for extra in ((999.0, 9), ("999", "9"), (Decimal("999.0"), 9)):
            for pairs in ([*rows, extra], np.array([*rows, extra], dtype=object)):
                before, after = as_graph(rows), as_graph(pairs)
                assert set(before.identities.tolist()) < set(after.identities.tolist())
                assert (after.num_nodes - before.num_nodes, after.num_edges - before.num_edges) == (2, 1)


COUNTS = [3, 3.0, "3", " 3 ", Decimal("3.00"), Decimal("3E0"), Fraction(3), np.uint8(3), np.float32(3), np.float64(3)]
NO_COUNTS = [-3, 0.5, 2.0**53, 2**63, 10**5000, True, np.True_, None, float("nan"), float("inf"), Decimal("3.5")]
NO_COUNTS += [Decimal("sNaN"), Decimal("Infinity"), Fraction(1, 2), "3.0", "+3", "", "9" * 19, b"3", [3], pd.NA, pd.NaT]
NO_COUNTS += [np.timedelta64(3, "s"), timedelta(seconds=3), np.datetime64(3, "s"), 3 + 0j]


def test_counts_of_a_mapping_are_read_each_by_itself() -> None:
    for many in (0, 1, 2**53 + 1, 2**63 - 1, np.uint64(2**63 - 1), Decimal(2**63 - 1), *COUNTS):
        assert whole_count(many) == int(many)
    # A float beside 2^53 + 1 would make floats of both, or have both refused.
    counts = {f"a{number}": count for number, count in enumerate([*COUNTS, 2**53 + 1] * 20)}
    assert read_profile(counts, format="counts") == Profile.from_prevalences({3: 200, 2**53 + 1: 20})
    prevalences = {2**53 + 1: 3.0, 3.0: "2", Decimal("4.0"): 2**53 + 1, "5": Decimal("1E+1")}
    assert read_profile(prevalences, format="prevalences") == Profile.from_prevalences(
        {2**53 + 1: 3, 3: 2, 4: 2**53 + 1, 5: 10}
    )


@each_of("many", NO_COUNTS)
def test_what_is_no_count_is_refused_alone_and_beside_any(many: Any, refuse: Callable[..., str]) -> None:
    for others in ([], [3] * 200, [3.0] * 200, ["3"] * 200, [Decimal(3)] * 200):
        counts = {f"a{number}": count for number, count in enumerate(others)} | {"b": many}
        assert "must be whole numbers from 0" in refuse(DataError, counts, format="counts")


def test_a_count_among_others_is_whole_by_itself() -> None:
    for wrong in (True, np.True_, 1.0, "1"):
        with pytest.raises(DataError):
            whole_counts([1] * 200 + [wrong])
    # A short float that may be rounded is refused beside longer ones, too.
    for others in ([], [1.0], [1]):
        with pytest.raises(DataError, match="not exact as a float"):
            Profile.from_counts([*others, np.float32(2**25)])
    assert Profile.from_counts([2**53 + 1, 3.0, np.float32(3), np.int8(3)]) == Profile.from_counts([2**53 + 1, 3, 3, 3])


@each_of("value", [True, np.True_, b"3", 3.0, None, "3.0", Decimal(3), [3], np.timedelta64(3, "s")])
def test_an_answer_is_a_whole_number_by_itself(value: Any) -> None:
    for others in ([], [1] * 200, ["1"] * 200):
        assert Alphabet(10).codes(others).tolist() == [1] * len(others)
        with pytest.raises(DataError):
            Alphabet(10).codes([*others, value])
    assert Alphabet(10).codes([1, "2", np.int8(3), np.str_("4")]).tolist() == [1, 2, 3, 4]


class Compared:
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hunter2")

    def __hash__(self) -> int:
        return 1


def test_what_cannot_be_compared_or_written_is_refused_without_it(refuse: Callable[..., str]) -> None:
    with pytest.raises(DataError, match="must be hashable"):
        as_graph([(Compared("a"), Compared("b"))])
    # Names are compared, not values.
    assert read_profile([Compared("a"), Compared("a"), Compared("b")]) == Profile.from_counts([2, 1])
    surrogate = "hunter2\ud800"
    assert "surrogate" in refuse(DataError, {surrogate: 3}, format="counts", secret="hunter2")  # noqa: S106
    with pytest.raises(DataError, match="A text contains a lone surrogate") as caught:
        node_names([surrogate])
    assert "hunter2" not in str(caught.value)


def test_tables_and_arrays_of_derived_types_are_read_as_such() -> None:
    class Frame(pd.DataFrame):
        pass

    class Column(pd.Series):
        pass

    class Array(np.ndarray[Any, Any]):
        pass

    # Iterating over a table gives the names of its columns.
    assert read_profile(Frame({"pet": ["cat", "cat", "dog"]})) == Profile.from_counts([2, 1])
    assert read_profile(Column(["cat", "cat", "dog"])) == Profile.from_counts([2, 1])
    with pytest.raises(UsageError, match="format='counts'"):
        read_profile(Column([2, 1], index=["cat", "dog"]))
    with pytest.raises(UsageError, match="one-dimensional"):
        read_profile(np.zeros((2, 2)).view(Array))

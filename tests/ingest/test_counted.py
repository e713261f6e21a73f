"""Data that are counted already: recognised by their header, parsed strictly, equal ones added up."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import narwhals.stable.v1 as nw_v1
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.parts import write_part
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Read = Callable[..., Profile]
Refused = Callable[..., str]
# One engine of each way to add and to parse; which columns are read is tested on all of them elsewhere.
some_engines = pytest.mark.parametrize(
    "engine", ["csv", "pandas", "pandas pyarrow", "polars", "arrow", "sqlite", "postgresql"], indirect=True
)
some_typed_engines = pytest.mark.parametrize(
    "typed_engine",
    ["pandas", "pandas pyarrow", "polars lazy", "arrow", "ibis duckdb", "sqlite", "postgresql"],
    indirect=True,
)
BAD_COUNT = "The column {!r} must hold whole numbers from 0 to 2^63 − 1 and nothing else."
LARGEST = 2**63 - 1

# Text that is no count; none is a value of the message.
BAD_TEXT = [
    "-41",
    "-0", "+41", "41.5", "41.0", "41.", ".41", "4e1", "0x41", "NaN", "nan", "inf", "Infinity", "hunter2", "41x",
    "4 1", "4,1", "4_1", "٤١", "²", "9223372036854775808", "18446744073709551617", "99999999999999999999999", "",
    "null", "true", "'41'", "\t41",
]  # fmt: skip


def as_dict(profile: Profile) -> dict[int, int]:
    return dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True))


def text(*numbers: object) -> list[str]:
    return [str(number) for number in numbers]


@some_engines
@each_of("written", [text, lambda *numbers: list(numbers)])
def test_prevalences(engine: Read, written: Callable[..., list[Any]]) -> None:
    notes: list[str] = []
    profile = engine({"count": written(8, 3), "prevalence": written(2, 1)}, notify=notes.append)
    assert as_dict(profile) == {3: 1, 8: 2}
    assert profile.unit == PrivacyUnit.item()
    assert notes == []


@some_engines
@pytest.mark.parametrize("written", [text, lambda *numbers: list(numbers)], ids=["text", "numbers"])
def test_equal_counts_are_added_up_and_told(engine: Read, written: Callable[..., list[Any]]) -> None:
    notes: list[str] = []
    profile = engine({"count": written(8, 3, 8), "prevalence": written(2, 1, 40)}, notify=notes.append)
    assert as_dict(profile) == {3: 1, 8: 42}
    assert len(notes) == 1
    assert "were summed" in notes[0]


@some_engines
@each_of("written", [text, lambda *numbers: list(numbers)])
@each_of("keep_null", [False, True])
def test_counts(engine: Read, written: Callable[..., list[Any]], keep_null: bool) -> None:  # noqa: FBT001
    notes: list[str] = []
    table = {"label": ["a", "b", None, "a", None, "007", "7"], "count": written(3, 7, 5, 4, 1, 7, 1)}
    profile = engine(table, keep_null=keep_null, notify=notes.append)
    assert as_dict(profile) == ({1: 1, 6: 1, 7: 3} if keep_null else {1: 1, 7: 3})
    assert len(notes) == (not keep_null)
    assert keep_null or "6 items without a label" in notes[0]


@each_of(
    ("names", "options", "expected"),
    [
        (("count", "prevalence"), {}, {3: 1, 8: 2}),
        (("count", "prevalence"), {"label": "count"}, {1: 2}),
        (("count", "prevalence"), {"format": "events", "label": "count"}, {1: 2}),
        (("prevalence", "count"), {"format": "prevalences"}, {1: 3, 2: 8}),
        (("label", "count"), {}, {1: 1, 2: 1}),
        (("label", "count"), {"label": "label"}, {1: 1, 2: 1}),
        (("label", "count"), {"label": "count"}, {1: 2}),
        (("label", "count"), {"format": "events", "label": "label"}, {1: 2}),
        (("count", "label"), {"format": "counts"}, {3: 1, 8: 1}),
    ],
)
def test_the_header_decides(
    tmp_path: Path, names: tuple[str, str], options: dict[str, Any], expected: dict[int, int]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{names[0]},{names[1]}\n8,2\n3,1\n")
    assert as_dict(read_profile(path, **options)) == expected


@each_of("names", ["count,label", "Count,Prevalence", "label,count,x", "prevalence,count"])
def test_other_headers_need_a_label(tmp_path: Path, refuse: Refused, names: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{names}\n")
    assert "(label)" in refuse(UsageError, path)


@pytest.mark.parametrize(("format", "missing"), [("prevalences", "prevalence"), ("counts", "label")])
def test_a_format_needs_its_columns(tmp_path: Path, refuse: Refused, format: str, missing: str) -> None:  # noqa: A002
    path = tmp_path / "a.csv"
    path.write_text("count,x\n1,2\n")
    message = refuse(DataError, path, format=format)
    assert f"no column {missing!r}" in message
    assert "there are 2 columns" in message
    assert "'x'" not in message


# Every column is parsed alike, so each value stands in one of them: every third in the same.
@pytest.mark.slow
@each_of(("place", "value"), list(enumerate(BAD_TEXT)))
def test_bad_text_is_refused(tmp_path: Path, refuse: Refused, place: int, value: str) -> None:
    path = tmp_path / "a.csv"
    text, bad = (
        (f'count,prevalence\n1,2\n"{value}",3\n', "count"),
        (f'count,prevalence\n1,2\n3,"{value}"\n', "prevalence"),
        (f'label,count\na,2\n,"{value}"\n', "count"),
    )[place % 3]
    path.write_text(text)
    assert refuse(DataError, path) == BAD_COUNT.format(bad)


@some_engines
@each_of(
    ("table", "bad"),
    # Every column is parsed alike, so each value stands in one of them.
    [
        ({"count": ["3", "hunter2"], "prevalence": ["1", "1"]}, "count"),
        ({"count": ["3", "4"], "prevalence": ["9223372036854775808", "1"]}, "prevalence"),
        ({"label": ["a", None], "count": ["3", None]}, "count"),
    ],
)
def test_bad_text_is_refused_by_every_engine(engine: Read, table: dict[str, list[str | None]], bad: str) -> None:
    with pytest.raises(DataError) as caught:
        engine(table)
    assert str(caught.value) == BAD_COUNT.format(bad)


@pytest.mark.first(8)
@some_typed_engines
@pytest.mark.parametrize(
    ("table", "bad"),
    [
        ({"count": [3, -1], "prevalence": [1, 1]}, "count"),
        ({"label": ["a", "b"], "count": [3, None]}, "count"),
        ({"count": [1, 2], "prevalence": [3.0, 1.5]}, "prevalence"),
        ({"label": ["a", "b"], "count": [1.0, 2.0**53 + 2]}, "count"),
    ],
    ids=["negative", "missing", "fraction", "too large"],
)
def test_bad_numbers_are_refused_by_every_engine(typed_engine: Read, table: dict[str, list[Any]], bad: str) -> None:
    with pytest.raises(DataError) as caught:
        typed_engine(table)
    assert str(caught.value) == BAD_COUNT.format(bad)


@pytest.mark.first(8)
@some_typed_engines
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300])
def test_no_number_is_refused(typed_engine: Read, value: float) -> None:
    with pytest.raises(DataError) as caught:
        typed_engine({"label": ["a", "b"], "count": [3.0, value]})
    assert str(caught.value) == BAD_COUNT.format("count")


@some_typed_engines
def test_whole_floats_are_counts(typed_engine: Read) -> None:
    table = {"label": ["a", "b"], "count": [3.0, 2.0**53]}
    assert as_dict(typed_engine(table)) == {3: 1, 2**53: 1}


@each_of(("value", "count"), [("0041", 41), (" 41", 41), ("41 ", 41), (str(LARGEST), LARGEST)])
def test_text_of_a_whole_number(tmp_path: Path, value: str, count: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"label,count\na,{value}\n")
    assert as_dict(read_profile(path)) == {count: 1}


@pytest.mark.slow
@some_engines
@pytest.mark.parametrize("written", [text, lambda *numbers: list(numbers)], ids=["text", "numbers"])
def test_the_largest_counts(engine: Read, written: Callable[..., list[Any]]) -> None:
    assert as_dict(engine({"label": ["a"], "count": written(LARGEST)})) == {LARGEST: 1}
    assert as_dict(engine({"count": written(LARGEST), "prevalence": written(1)})) == {LARGEST: 1}
    two = {"label": ["a", "a", "b"], "count": written(2**62, 2**62 - 8, 7)}
    assert as_dict(engine(two)) == {7: 1, LARGEST - 7: 1}
    shared = {"count": written(1, 1), "prevalence": written(2**62, 2**62 - 1)}
    assert as_dict(engine(shared)) == {1: LARGEST}


@some_engines
@each_of("written", [text, lambda *numbers: list(numbers)])
@each_of("numbers", [(2**62, 2**62), (LARGEST, LARGEST, 5)])
def test_sums_beyond_the_largest_are_refused(
    engine: Read, written: Callable[..., list[Any]], numbers: tuple[int, ...]
) -> None:
    # Two such sums wrap to a negative number, three to a small one. Each pair of a way to write them, of how they wrap,
    # and of which column they are in, is there once.
    values, ones = written(*numbers), written(*[1] * len(numbers))
    is_labelled = (written is text) == (len(numbers) == 2)
    table = {"label": ["a"] * len(numbers), "count": values} if is_labelled else {"count": ones, "prevalence": values}
    with pytest.raises(DataError) as caught:
        engine(table)
    assert "more than 2^63 − 1 items" in str(caught.value)


@pytest.mark.full
@each_of("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
@each_of("dtype", [pa.uint8(), pa.int16(), pa.uint64()])
def test_every_kind_of_whole_number(make: Callable[..., Any], dtype: pa.DataType) -> None:
    numbers = pa.array([3, 200 if dtype != pa.uint64() else 2**62], type=dtype).to_numpy()
    table = {"label": ["a", "b"], "count": pa.array(numbers) if make is pa.table else numbers}
    assert as_dict(read_profile(make(table))) == {3: 1, int(numbers[1]): 1}


@pytest.mark.full
@each_of("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_whole_numbers_beyond_int64(make: Callable[..., Any]) -> None:
    numbers = pa.array([3, 2**63], type=pa.uint64())
    values = numbers if make is pa.table else numbers.to_numpy()
    with pytest.raises(DataError, match="must hold whole numbers"):
        read_profile(make({"label": ["a", "b"], "count": values}))


def test_huge_numbers_of_duckdb() -> None:
    with duckdb.connect() as connection:
        rows = "(VALUES ('a', {}::HUGEINT)) AS t(label, count)"
        assert read_profile(connection.sql(f"FROM {rows.format(5)}")).n == 5  # numbers only
        with pytest.raises(DataError, match="must hold whole numbers"):
            read_profile(connection.sql(f"FROM {rows.format(2**63)}"))


def test_truth_values_are_no_counts() -> None:
    with pytest.raises(DataError, match="must hold whole numbers"):
        read_profile(pl.DataFrame({"label": ["a"], "count": [True]}))


def test_counted_data_have_no_users(tmp_path: Path, refuse: Refused) -> None:
    path = tmp_path / "a.csv"
    for header in ("label,count", "count,prevalence"):
        path.write_text(f"{header}\nhunter2,-1\n")
        message = refuse(UsageError, path, user="user", max_per_user=1)
        assert "which user" in message


def test_the_unit_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label,count\na,3\n")
    unit = PrivacyUnit.label(max_count=4)
    assert read_profile(path, unit=unit).unit == unit


def test_only_distinct_counts_are_fetched_and_only_once(engine: Read, rows_fetched: list[int]) -> None:
    counts = [1 + number % 3 for number in range(30)]
    engine({"label": text(*range(30)), "count": counts})
    engine({"count": counts, "prevalence": counts})
    assert rows_fetched == [3, 3]


COUNTS = Counter({"a": 3, "b": 1, "c": 1})
EXPECTED = Profile.from_counts([3, 1, 1])


@each_of(
    "source",
    [
        COUNTS,
        dict(COUNTS),
        pd.Series([*COUNTS.elements()]).value_counts(),
        pd.Series([*COUNTS.elements()], name="pet", dtype=pd.ArrowDtype(pa.string())).value_counts(),
        pd.Series([*COUNTS.elements()], dtype="category").value_counts(),
        pd.DataFrame({"pet": [*COUNTS.elements()]}).groupby("pet").size(),
        pd.Series(COUNTS),
    ],
)
def test_counts_in_memory_are_counts_where_that_is_said(source: Any) -> None:
    with pytest.raises(UsageError, match="format='counts'"):
        read_profile(source)
    assert read_profile(source, format="counts") == EXPECTED


@pytest.mark.full
@each_of(
    "source", [pd.Series([7, 7, 7, 8, 9]), pd.Series([7, 7, 7, 8, 9], name="pet"), pd.Series([0, 7, 7, 7, 8, 9])[1:]]
)
def test_counts_of_numbers_are_told_from_numbers(source: pd.Series) -> None:
    assert read_profile(source) == read_profile(source.value_counts(), format="counts") == EXPECTED
    with pytest.raises(UsageError, match="format='counts'"):
        read_profile(source.value_counts())
    with pytest.raises(UsageError, match="format='counts'"):
        read_profile(source.value_counts(normalize=True))


class Series:
    """A Series of another package with the interface of pandas, as Modin has."""

    __module__ = "modin.pandas.series"

    def __init__(self, held: pd.Series) -> None:
        self.held = held

    def __getattr__(self, name: str) -> Any:
        return getattr(self.held, name)


@pytest.mark.full
@each_of(
    "wrapped", [Series, partial(nw.from_native, series_only=True), lambda s: nw_v1.from_native(s, series_only=True)]
)
def test_counts_are_told_from_labels_whoever_holds_them(wrapped: Callable[[pd.Series], Any]) -> None:
    labels = pd.Series([*COUNTS.elements()])
    for counts in (labels.value_counts(), pd.DataFrame({"pet": labels}).groupby("pet").size()):
        with pytest.raises(UsageError, match="format='counts'"):
            read_profile(wrapped(counts))
        assert read_profile(wrapped(counts), format="counts") == EXPECTED
        with pytest.raises(UsageError, match="format='counts'"):
            write_part(wrapped(counts), "never.counts")


@each_of("wrapped", [lambda given: given, partial(nw.from_native, series_only=True)])
def test_numbers_of_polars_that_are_called_counts_are_asked_for(wrapped: Callable[[pl.Series], Any]) -> None:
    counted = pl.Series("label", [*COUNTS.elements()]).value_counts()
    for name in ("count", "proportion"):
        with pytest.raises(UsageError, match="format='labels'"):
            read_profile(wrapped(counted["count"].alias(name)))
    assert read_profile(wrapped(counted["count"]), format="labels") == Profile.from_counts([2, 1])
    assert read_profile(wrapped(counted["count"].alias("age"))) == Profile.from_counts([2, 1])
    assert read_profile(wrapped(pl.Series("count", ["a", "a", "b"]))) == Profile.from_counts([2, 1])
    # Its table has the columns of counts if the labels are called so, and else it is asked which they are.
    assert read_profile(counted) == EXPECTED
    with pytest.raises(UsageError, match="Name the column that holds the labels"):
        read_profile(pl.Series("pet", [*COUNTS.elements()]).value_counts())
    with pytest.raises(UsageError, match="structures"):
        read_profile(wrapped(counted.to_struct("label")))


def test_a_series_with_names_holds_labels_where_that_is_said() -> None:
    labels = pd.Series([7, 7, 8], index=["x", "y", "z"], name="count")
    assert read_profile(labels, format="labels") == Profile.from_counts([2, 1])
    # Text is no count.
    assert read_profile(pd.Series(["a", "a", "b"], index=["x", "y", "z"], name="count")) == Profile.from_counts([2, 1])


def test_prevalences_in_memory_are_so_where_that_is_said() -> None:
    found = Counter(COUNTS.values())
    for source in (found, pd.Series([*COUNTS.values()]).value_counts()):
        assert read_profile(source, format="prevalences") == EXPECTED


@each_of(
    ("source", "format", "says"),
    [
        ({"a": 1.5}, "counts", "whole numbers"),
        ({"a": -1}, "counts", "whole numbers"),
        ({"a": "hunter2"}, "counts", "whole numbers"),
        ({"a": [1]}, "counts", "whole numbers"),
        ({"a": 2**70}, "counts", "whole numbers"),
        ({"hunter2": 3}, "prevalences", "whole numbers"),
        (pd.Series([1.5], index=["a"]), "counts", "whole numbers"),
    ],
)
def test_what_is_no_count_in_memory_is_refused(source: Any, format: str, says: str, refuse: Refused) -> None:  # noqa: A002
    assert says in refuse(DataError, source, format=format, secret="hunter2")  # noqa: S106


def test_counts_with_several_names_each_are_refused(refuse: Refused) -> None:
    counts = pd.DataFrame({"a": [1, 1], "b": [2, 2]}).value_counts()
    assert "several levels" in refuse(UsageError, counts, format="counts")
    assert "format='counts'" in refuse(UsageError, counts)


def test_names_of_counts_are_those_of_labels() -> None:
    # As read_profile names values of a list: 7 and 7.0 are one label, and None is none.
    mixed = {7: 1, 7.5: 1, "7": 2, None: 5}
    assert read_profile(mixed, format="counts") == Profile.from_counts([3, 1])
    assert read_profile(mixed, format="counts", keep_null=True) == Profile.from_counts([3, 1, 5])


@each_of("source", [pa.array(["a", "b"]).value_counts(), pl.Series(["a", "b"]).value_counts().to_struct("x")])
def test_structures_are_no_labels(source: Any, refuse: Refused) -> None:
    assert "structures" in refuse(UsageError, source)


@pytest.mark.full
@each_of("names", [("pet", "count"), ("count", "pet"), ("count", "label"), ("Label", "count")])
def test_a_column_of_counts_is_not_left_aside_in_silence(names: tuple[str, str], refuse: Refused) -> None:
    # As value_counts() of Polars makes it, and pandas with reset_index().
    label = next(name for name in names if name != "count")
    columns = {label: ["a", "b"], "count": [2, 1]}
    table = pl.DataFrame({name: columns[name] for name in names})
    for held in (table, table.with_columns(at=1)):
        told = refuse(UsageError, held, label=label)
        assert told.endswith("give count='count' if so, or count='none' if each row is one item.")
        assert read_profile(held, label=label, format="events") == Profile.from_counts([1, 1])
        assert read_profile(held, label=label, count="none") == Profile.from_counts([1, 1])
        assert read_profile(held, label=label, count="count") == Profile.from_counts([2, 1])
        assert read_profile(held, label="count") == Profile.from_counts([1, 1])

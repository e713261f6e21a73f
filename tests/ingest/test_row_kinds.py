"""What a row stands for: said by the format and by the column of counts, and asked where a name suggests it."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest import read_profile, write_part
from anonhist.ingest.columns import MissingColumnError
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.parts import count_into
from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.local.reading import opened_values
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.sketches import HashedSketch
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]
KEY = "0123456789abcdef" * 2
LARGEST = 2**63 - 1
NAMES = ["count", "counts", "freq", "frequency", "n", "num", "abundance", "reads", "N", "Freq", "COUNT", " Reads "]
# Site, day, word, count: a label of several rows, one that counts nothing anywhere, one that does so in some groups,
# and rows without a label.
ROWS = [
    ("x", "2026-11-01", "a", 3),
    ("x", "2026-11-01", "b", 1),
    ("y", "2026-11-02", "a", 2),
    ("y", "2026-11-02", None, 4),
    ("x", "2026-11-02", "a", 1),
    ("x", "2026-11-03", "never", 0),
    ("y", "2026-11-03", "b", 0),
    ("y", "2026-11-03", "c", 7),
    ("x", "2026-11-03", None, 0),
]
DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"]
WINDOWS: dict[str, Any] = {"days": DAYS, "thresholds": [1, 3, 5]}
COLUMNS = ("site", "day", "word", "Reads")


def counted() -> Table:
    return {name: [row[at] for row in ROWS] for at, name in enumerate(COLUMNS)}


def events() -> pl.DataFrame:
    rows = [row[:3] for row in ROWS for _ in range(row[3])]
    return pl.DataFrame(rows, schema=COLUMNS[:3], orient="row")


def of_labels(most: int) -> dict[str, Any]:
    return {"unit": PrivacyUnit.label(max_count=5), "max_groups_per_label": most, "order_key": KEY}


@pytest.mark.full
@pytest.mark.first(2)
@each_of("keep_null", [False, True])
def test_counts_are_read_as_their_events(hold_grouped: Held, keep_null: bool) -> None:  # noqa: FBT001
    said: dict[str, Any] = {"label": "word", "keep_null": keep_null}
    by: dict[str, Any] = {"by": "site", "groups": ["x", "y"]}
    with hold_grouped(counted()) as (source, own):
        both = ((source, own | said | {"count": "Reads"}), (events(), said))
        profile, told = (read_profile(held, **given) for held, given in both)
        assert profile == told
        assert profile.n == (18 if keep_null else 14)
        for bounds in ({}, of_labels(1), of_labels(2)):
            read, told = (read_groups(held, **by, **bounds, **given) for held, given in both)
            assert dict(read) == dict(told)
        windows, told = (read_cumulative(held, by="day(day)", **WINDOWS, **given) for held, given in both)
        assert windows == told
        asked = {"cumulative_by": "day(day)"} | by | WINDOWS | of_labels(1)
        of_sites, told = (read_cumulative_groups(held, **asked, **given) for held, given in both)
        assert dict(of_sites) == dict(told)


@pytest.mark.first(4)
def test_counts_are_kept_in_parts(hold_grouped: Held, tmp_path: Path) -> None:
    total = tmp_path / "total.counts"
    with hold_grouped(counted()) as (source, own):
        write_part(source, total, label="word", count="Reads", part="monday", overwrite=True, **own)
        count_into(source, total, label="word", count="Reads", part="tuesday", **own)
        write_part(source, tmp_path / "hashed.counts", label="word", count="Reads", hash_labels=True, **own)
    assert read_profile(total) == Profile.from_counts([12, 2, 14])
    assert read_profile(tmp_path / "hashed.counts") == Profile.from_counts([6, 1, 7])


def test_counts_are_counted_in_sketches(hold_grouped: Held) -> None:
    sketch = HashedSketch(buckets=100, epsilon=1, key=b"k")
    before = sketch.counters.copy()
    with hold_grouped(counted()) as (source, own):
        update_sketch(sketch, source, label="word", count="Reads", **own)
    assert sorted((sketch.counters - before)[sketch.counters != before].tolist()) == [1, 6, 7]


@pytest.mark.first(4)
def test_a_column_that_may_hold_counts_is_asked_about(hold: Held) -> None:
    with hold(counted()) as (source, own):
        for read in (
            read_profile,
            lambda source, **said: read_groups(source, by="site", groups=["x"], **said)["x"],
            lambda source, **said: read_cumulative(source, by="day(day)", **WINDOWS, **said),
            lambda source, **said: update_sketch(HashedSketch(buckets=10, epsilon=1, key=b"k"), source, **said),
            lambda source, **said: write_part(source, "never.counts", **said),
        ):
            with pytest.raises(UsageError) as caught:
                read(source, label="word", **own)
            assert caught.value.sentence == (
                "Column 'Reads' may hold the number of items of each row: give `count='Reads'` if so, or "
                "`count='none'` if each row is one item."
            )
        assert read_profile(source, label="word", count="none", **own) == Profile.from_counts([3, 2, 1, 1])
        assert read_profile(source, label="word", format="events", **own) == Profile.from_counts([3, 2, 1, 1])
        in_sites = {"by": "site", "groups": ["x", "y"], "label": "word"}
        for said in ({"count": "none"}, {"format": "events"}):
            assert read_groups(source, **in_sites, **said, **own)["x"] == Profile.from_counts([2, 1, 1])
        windows = read_cumulative(source, label="word", count="none", by="day(day)", **WINDOWS, **own)
        assert windows.k_plus[:, -1].tolist() == [4, 1, 0]


@each_of("name", NAMES)
def test_names_of_counts(name: str) -> None:
    table = pl.DataFrame({"word": ["a", "b"], name: [3, 1], "at": [0, 0]})
    with pytest.raises(UsageError, match=f"Column {name!r} may hold"):
        read_profile(table, label="word")
    assert read_profile(table, label="word", count=name) == Profile.from_counts([3, 1])
    # What is read for something else is no column of counts.
    assert read_profile(table, label=name) == Profile.from_counts([1, 1])
    assert read_groups(table, label="word", by=name, groups=[3])["3"].n == 1
    users = {"user": "at", "max_per_user": 1}
    assert read_profile(table, label="word", order_by=name, **users).n == 1
    assert read_profile(table, label="word", count="none", **users).n == 1
    with pytest.raises(UsageError, match=f"Column {name!r} may hold .* give count='none' if each row is one item; "):
        read_profile(table, label="word", **users)


@each_of("name", ["cnt", "total", "counted", "no", "recount", "frequencies", "size"])
def test_other_names_are_not_asked_about(name: str) -> None:
    assert read_profile(pl.DataFrame({"word": ["a", "b"], name: [3, 1]}), label="word").n == 2


def test_several_columns_that_may_hold_counts(tmp_path: Path) -> None:
    # As VDJtools writes it.
    (tmp_path / "a.tsv").write_text("count\tfreq\tcdr3nt\n1176\t.9\tTGTGCC\n97\t.07\tTGTAAA\n1\t.01\tTGTTTT\n")
    with pytest.raises(UsageError, match=r"Column 'count' or 'freq' may hold .* give its name") as caught:
        read_profile(tmp_path / "a.tsv", label="cdr3nt")
    # A header line is public.
    assert not caught.value.may_tell_rows
    assert read_profile(tmp_path / "a.tsv", label="cdr3nt", count="count") == Profile.from_counts([1176, 97, 1])


def test_groups_and_profiles_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("site,label,count\nX,a,3\nX,b,1\nY,a,2\n")
    for count, whole, parts in (("count", [5, 1], [[3, 1], [2]]), ("none", [2, 1], [[1, 1], [1]])):
        assert read_profile(path, label="label", count=count) == Profile.from_counts(whole)
        read = read_groups(path, label="label", count=count, by="site", groups=["X", "Y"])
        assert list(read.values()) == [Profile.from_counts(part) for part in parts]
    with pytest.raises(UsageError, match="Column 'count' may hold"):
        read_profile(path, label="label")


@each_of("wrong", [-1, 2.5, None, float("nan"), 2.0**53 + 2])
def test_what_is_no_count_is_refused(wrong: Any) -> None:
    table = pl.DataFrame({"g": ["a", "b", "c"], "word": ["x"] * 3, "day": DAYS, "n": [wrong, 1.0, 1.0]}, strict=False)
    by: dict[str, Any] = {"by": "g", "groups": ["a", "b", "c"]}
    windows = {"cumulative_by": "day(day)"} | WINDOWS
    for read in (
        lambda **said: read_profile(table, **said),
        lambda **said: read_groups(table, **by, **said),
        lambda **said: read_groups(table, **by, **of_labels(1), **said),
        lambda **said: read_cumulative(table, by="day(day)", **WINDOWS, **said),
        lambda **said: read_cumulative_groups(table, **by, **windows, **said),
        lambda **said: read_cumulative_groups(table, **by, **windows, **of_labels(1), **said),
        lambda **said: update_sketch(HashedSketch(buckets=10, epsilon=1, key=b"k"), table, **said),
        lambda **said: write_part(table, "never.counts", **said),
    ):
        with pytest.raises(DataError, match=r"The column 'n' must hold whole numbers from 0 to 2\^63"):
            read(label="word", count="n")


@pytest.mark.full
@pytest.mark.first(2)
def test_sums_that_wrap_are_refused_in_windows(hold_grouped: Held) -> None:
    for many in (2, 3, 4, 5):
        # Beside another label, whose sums are in order.
        days, words = (DAYS * 2)[:many] * 2, ["x"] * many + ["y"] * many
        table = {"day": days, "word": words, "reads": [2**62] * many + [1] * many}
        with hold_grouped(table) as (source, own), pytest.raises(DataError, match=r"more than 2\^63"):
            read_cumulative(source, by="day(day)", label="word", count="reads", **WINDOWS, **own)
    table = {"day": DAYS, "word": ["x"] * 3, "reads": [LARGEST - 2, 1, 1]}
    with hold_grouped(table) as (source, own):
        read = read_cumulative(source, by="day(day)", label="word", count="reads", **WINDOWS, **own)
    assert read.k_plus.tolist() == [[1, 1, 1]] * 3


def test_a_label_that_counts_nothing_takes_no_group() -> None:
    # However the groups of a label are drawn, "a" counts in the one where it has items.
    rows = [("a", f"g{number}", 0) for number in range(20)] + [("a", "g20", 4)]
    table = pl.DataFrame(rows, schema=["word", "g", "n"], orient="row").with_columns(day=pl.lit(DAYS[0]))
    by: dict[str, Any] = {"by": "g", "groups": [f"g{number}" for number in range(21)], "label": "word", "count": "n"}
    windows: dict[str, Any] = {"cumulative_by": "day(day)", "days": DAYS, "thresholds": [4]}
    for key in range(8):
        bounds = of_labels(1) | {"order_key": f"{key:032x}"}
        assert read_groups(table, **by, **bounds)["g20"].counts.tolist() == [4]
        assert read_cumulative_groups(table, **by, **bounds, **windows)["g20"].k_plus.tolist() == [[1, 1, 1]]


@each_of(
    ("said", "told"),
    [
        ({"user": "who", "max_per_user": 1, "count": "n"}, "Counted data do not say which user"),
        ({"user": "who", "max_per_user": 1, "format": "counts"}, "Counted data do not say which user"),
        ({"format": "events", "count": "n"}, "leave one of the two out"),
        ({"format": "counts", "count": "none"}, "leave one of the two out"),
        ({"format": "prevalences", "count": "none", "label": None}, "leave one of the two out"),
        ({"format": "labels", "label": None, "count": "n"}, "have no columns"),
        ({"format": "uniq", "label": None, "count": "n"}, "have no columns"),
        ({"count": "n", "label": "n"}, "cannot hold both"),
        ({"count": "nowhere"}, "no column 'nowhere' to use as count"),
        ({"count": "n", "label": "nowhere"}, "no column 'nowhere' to use as label"),
    ],
)
def test_what_contradicts_itself_is_refused(said: dict[str, Any], told: str) -> None:
    table = pl.DataFrame({"word": ["a"], "n": [3], "who": ["u"]})
    with pytest.raises(AnonhistError, match=told):
        read_profile(table, **({"label": "word"} | said))


@each_of("source", [["a", "b"], np.array(["a", "b"])])
def test_labels_alone_have_no_counts(source: Any) -> None:
    with pytest.raises(UsageError, match="A list of labels has no columns"):
        read_profile(source, count="n")


@each_of(
    ("text", "said", "counts"),
    [
        ("HASH:3\nOTHER:10\n", {"delimiter": ":", "format": "counts"}, [3, 10]),
        ("a,3\nb,1\na,2\n", {"format": "counts"}, [5, 1]),
        ("3,a\n1,b\n", {"format": "counts", "label": "column1"}, [3, 1]),
        ("3,a\n1,b\n", {"format": "counts", "count": "column0"}, [3, 1]),
        ("3,a\n1,b\n", {"format": "counts", "label": "column1", "count": "column0"}, [3, 1]),
        ("3,a\n1,b\n", {"label": "column1", "count": "column0"}, [3, 1]),
        ("3,a\n1,b\n", {"count": "column0"}, [3, 1]),
        ("x,a,3\ny,a,1\n", {"label": "column1", "count": "column2"}, [4]),
        ("x,a,3\ny,a,1\n", {"format": "counts", "label": "column1", "count": "column2"}, [4]),
        # Names that suggest something are data there.
        ("n,count\nn,7\n", {"label": "column0"}, [2]),
        ("1,3\n2,1\n0,9\n5,0\n", {"format": "prevalences"}, [1, 1, 1, 2]),
        ("3,1\n1,2\n", {"format": "prevalences", "count": "column1"}, [1, 1, 1, 2]),
        ("a,0\nb,2\n", {"format": "counts"}, [2]),
    ],
)
def test_columns_without_names(tmp_path: Path, text: str, said: dict[str, Any], counts: list[int]) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert read_profile(tmp_path / "a.csv", header=False, **said) == Profile.from_counts(counts)


@each_of("format", ["counts", "prevalences"])
@each_of("row", ["3", "a,3,1"])
def test_other_numbers_of_columns_are_refused(tmp_path: Path, format: str, row: str) -> None:  # noqa: A002
    (tmp_path / "a.csv").write_text(f"{row}\n")
    with pytest.raises(DataError, match=f"Without a header line, data of format {format} have the two columns"):
        read_profile(tmp_path / "a.csv", header=False, format=format)


@each_of(
    ("names", "said"),
    [
        (("word", "times"), {"format": "counts", "label": "word", "count": "times"}),
        (("label", "times"), {"format": "counts", "count": "times"}),
        (("word", "count"), {"format": "counts", "label": "word"}),
        (("word", "times"), {"count": "times"}),
        (("times", "word"), {"count": "times", "label": "word"}),
        (("label", "count"), {}),
    ],
)
def test_columns_with_other_names(names: tuple[str, str], said: dict[str, Any]) -> None:
    held = {name: [3, 1, 0] if name in ("times", "count") else ["a", "b", "c"] for name in names}
    assert read_profile(pl.DataFrame(held), **said) == Profile.from_counts([3, 1])


def test_prevalences_with_other_names() -> None:
    table = pl.DataFrame({"species": [2, 1], "individuals": [1, 3]})
    assert read_profile(table, format="prevalences", count="individuals") == Profile.from_counts([1, 1, 3])
    with pytest.raises(DataError, match="no column 'count' to use as count"):
        read_profile(table, format="prevalences")


def test_histograms_of_preseq(tmp_path: Path) -> None:
    (tmp_path / "sample.hist").write_text("1\t2762699\n2\t666512\n3\t0\n")
    read = read_profile(tmp_path / "sample.hist", header=False, format="prevalences")
    assert read == Profile.from_prevalences({1: 2762699, 2: 666512})


@pytest.mark.full
@pytest.mark.first(2)
def test_zeros_count_nothing(hold: Held) -> None:
    for table in (
        {"label": ["a", "b", None, "a"], "count": [3, 0, 0, 0]},
        {"label": ["a", "b", None, "a"], "count": ["3", "0", "00", " 0 "]},
        {"count": [3, 0, 4], "prevalence": [1, 7, 0]},
        {"count": ["3", "0", "4"], "prevalence": ["1", "7", "0"]},
    ):
        with hold(table) as (source, own):
            for keep_null in (False, True):
                assert read_profile(source, keep_null=keep_null, **own) == Profile.from_counts([3])
    assert read_profile({"a": 3, "b": 0}, format="counts") == Profile.from_counts([3])
    assert read_profile({3: 1, 0: 7, 4: 0}, format="prevalences") == Profile.from_counts([3])


@pytest.mark.first(4)
def test_zeros_of_prevalences_in_groups(hold_grouped: Held) -> None:
    table = {"g": ["a", "a", "a", "b"], "count": [3, 0, 4, 0], "prevalence": [1, 7, 0, 1]}
    with hold_grouped(table) as (source, own):
        for keep_null in (False, True):
            read = read_groups(source, by="g", groups=["a", "b"], format="prevalences", keep_null=keep_null, **own)
            assert list(read.values()) == [Profile.from_counts([3]), Profile.from_counts([])]


LINES = ["kiwi fruit", "", "  two  spaces ", "12 3", "é", "'quo\"ted", "a,b;c\td", "7"]


def _uniq(lines: list[str]) -> str:
    """Write lines as ``uniq -c`` of GNU does."""
    return "".join(f"{len(list(same)):7d} {line}\n" for line, same in groupby(lines))


@pytest.mark.full
@each_of("name", ["a.txt", "a.log", "a.txt.gz"])
@each_of("keep_null", [False, True])
def test_lines_of_uniq(tmp_path: Path, compress: Callable[[Path, bytes], None], name: str, keep_null: bool) -> None:  # noqa: FBT001
    lines = sorted(line for number, line in enumerate(LINES * 3, start=1) for _ in range(number))
    # Not sorted, some lines come again.
    again = [*lines, *LINES]
    path = tmp_path / name
    data = _uniq(again).encode()
    compress(path, data) if name.endswith(".gz") else path.write_bytes(data)
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in again))
    read = read_profile(path, format="uniq", keep_null=keep_null)
    assert read == read_profile(tmp_path / "lines.txt", format="labels", keep_null=keep_null)
    assert read == Profile.from_counts(list(Counter(line for line in again if line or keep_null).values()))
    write_part(path, tmp_path / "a.counts", format="uniq", keep_null=keep_null, overwrite=True)
    assert read_profile(tmp_path / "a.counts") == read


def test_lines_of_uniq_in_sketches(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("      3 kiwi fruit\n      2 \n     12 b\n")
    sketch = HashedSketch(buckets=100, epsilon=1, key=b"k")
    before = sketch.counters.copy()
    update_sketch(sketch, tmp_path / "a.txt", format="uniq")
    assert sorted((sketch.counters - before)[sketch.counters != before].tolist()) == [3, 12]


@pytest.mark.full
@each_of("line", ["hunter2", "3", "      3", "x 3 a", "-3 a", "3.5 a", "3\ta", "", " 3", "99999999999999999999 a"])
def test_other_lines_are_none_of_uniq(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text(f"      3 a\n{line}\n      1 b\n")
    with pytest.raises(DataError, match=r"is not output of uniq -c|must hold whole numbers") as caught:
        read_profile(tmp_path / "a.txt", format="uniq")
    assert "hunter2" not in str(caught.value)


def test_one_item_more_is_a_count_one_higher() -> None:
    table = pl.DataFrame(counted())
    said: dict[str, Any] = {"label": "word", "count": "Reads"}
    for at in range(table.height):
        if table["word"][at] is None:
            continue
        more = table.with_columns(Reads=pl.col("Reads") + (pl.int_range(pl.len()) == at))
        few, many = read_profile(table, **said), read_profile(more, **said)
        assert many.n == few.n + 1
        by: dict[str, Any] = {"by": "site", "groups": ["x", "y"]}
        changed = [
            group
            for group, profile in read_groups(more, **by, **said).items()
            if profile != read_groups(table, **by, **said)[group]
        ]
        assert changed == [(table["site"][at],)]


def test_what_a_bound_on_groups_leaves_out_is_told_of_counts() -> None:
    table = pl.DataFrame({"site": [*"ababc"], "word": [*"xxyzx"], "reads": [3, 1, 0, 2, 5]})
    unit = PrivacyUnit.label(max_count=9)
    said: dict[str, Any] = {"by": "site", "groups": [*"abc"], "unit": unit, "max_groups_per_label": 2}
    units = read_groups(table, label="word", count="reads", count_units=True, **said).units
    # The word x is in three groups, z in one, and y counts nothing.
    assert units is not None
    assert units.numbers == Profile.from_prevalences({1: 1, 3: 1})


def test_a_single_column_that_may_hold_counts_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n3\n3\n5\n")
    with pytest.raises(UsageError, match="Column 'n' may hold the number of items"):
        read_profile(tmp_path / "a.csv")
    assert read_profile(tmp_path / "a.csv", label="n") == read_profile(tmp_path / "a.csv", count="none")


def test_a_column_is_not_counts_and_prevalences(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,prevalence\n1,3,5\n2,3,6\n")
    with pytest.raises(UsageError, match="cannot hold both counts and prevalences"):
        read_profile(tmp_path / "a.csv", format="prevalences", count="prevalence")


def test_persons_are_no_counts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word,n\na,3\nb,1\n")

    def values(**said: Any) -> list[str]:
        with opened_values(str(tmp_path / "a.csv"), "word", **said) as batches:
            return sorted(value for batch in batches for value in batch)

    with pytest.raises(UsageError, match="Column 'n' may hold the number of items of each row: write a row for each"):
        values()
    assert values(format="events") == ["a", "b"]


def test_columns_of_pandas_whose_names_are_not_text() -> None:
    frame = pd.DataFrame({5: [1, 2], "l": ["a", "b"]})
    assert read_profile(frame, label="l").n == 2
    with pytest.raises(MissingColumnError, match="''"):
        read_profile(pd.DataFrame({"email": ["a"]}), label="")

"""Parts: exact counts in private files, which together give the profile of all their events."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import md5, sha256
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from anonhist.errors import AnonhistError, DataError
from anonhist.ingest import read_profile
from anonhist.ingest.parts import count_into, write_part
from anonhist.ingest.parts.files import added, merged, side_by_side
from anonhist.ingest.parts.rows import Rows, bounded, lower_bound
from anonhist.ingest.parts.write import name_of
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of
from anonhist_testing.parts import KEY, ROWS, Row, read_both_ways, table_of

pytestmark = pytest.mark.usefixtures("lent_duckdb", "small_batches")

LABELS = ["b", None, "a", "ä", "b", "", "d ", "b" * 40, "a", None, "b"]
USERS = ["u", "v", "u", "u", "w", "v", "u", None, "u", "w", "w"]


def _of_labels(labels: Iterable[str | None], *, keep_null: bool) -> Profile:
    return Profile.from_counts(Counter(each for each in labels if keep_null or each is not None).values())


def _kept(parts: dict[str, list[Row]], bound: int, *, keep_null: bool = False) -> Profile:
    """Hash all rows of all parts at once, and keep the smallest of each user: what parts must add up to."""
    of_user: dict[str, list[tuple[str, str | None]]] = {}
    for name, rows in parts.items():
        key = sha256(f"{KEY} part {name}".encode()).hexdigest()[:32]
        numbers: Counter[Row] = Counter()
        for user, label in rows:
            if user is None or (label is None and not keep_null):
                continue
            numbers[user, label] += 1
            text = f"{key}{numbers[user, label]} {user}\n" + ("" if label is None else f"={label}")
            hashed = md5(text.encode(), usedforsecurity=False).hexdigest()
            of_user.setdefault(user, []).append((hashed, label))
    kept = Counter(label for own in of_user.values() for _, label in sorted(own, key=lambda row: row[0])[:bound])
    return Profile.from_prevalences(Counter(kept.values()), unit=PrivacyUnit.user(max_items=bound))


@pytest.mark.first(12)
@pytest.mark.parametrize(("hash_labels", "keep_null"), [(False, True), (True, False), (True, True)])
def test_parts_on_every_engine_give_the_profile_of_all_events(
    hold: Any, tmp_path: Path, *, hash_labels: bool, keep_null: bool
) -> None:
    options: dict[str, Any] = {"hash_labels": hash_labels, "keep_null": keep_null}
    options |= {"order_key": KEY} if hash_labels else {}
    events = {"user": ["x"] * len(LABELS), "label": LABELS}
    with hold(events) as (source, said):
        write_part(source, tmp_path / "first.counts", label="label", **said, **options)
        with hold(events) as (same, also):
            count_into(same, tmp_path / "first.counts", output=tmp_path / "t.counts", part="2", label="label", **also)
    write_part(table_of([]), tmp_path / "second.counts", label="label", **options)
    # Text files have no missing texts: there they are empty.
    labels = LABELS if not str(source).endswith(".csv") else [each or "" for each in LABELS]
    if str(source).endswith(".csv"):
        labels = [each or None for each in labels]
    once = read_profile(tmp_path / "first.counts")
    assert once == _of_labels(labels, keep_null=keep_null)
    assert read_both_ways(str(tmp_path / "[fs]*.counts")) == once
    assert read_both_ways(tmp_path / "t.counts") == _of_labels(labels * 2, keep_null=keep_null)
    assert read_both_ways([tmp_path / "first.counts", tmp_path / "second.counts"]) == once


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize(("hash_labels", "keep_null"), [(False, True), (True, False), (True, True)])
def test_users_on_every_engine(hold: Any, tmp_path: Path, *, hash_labels: bool, keep_null: bool) -> None:
    rows = list(zip(USERS, LABELS, strict=True))
    options: dict[str, Any] = {"user": "user", "max_per_user": 2, "label": "label", "keep_null": keep_null}
    options |= {"order_key": KEY, "hash_labels": hash_labels}
    # Without empty texts, which text files do not tell from missing ones.
    rows = [(user, label or None) for user, label in rows]
    parts = {"one": rows, "two": rows[3:] + rows[:2]}
    for name, own in parts.items():
        with hold({"user": [user for user, _ in own], "label": [label for _, label in own]}) as (source, said):
            write_part(source, tmp_path / f"{name}.counts", **said, **options)
    paths = [tmp_path / "one.counts", tmp_path / "two.counts"]
    count_into(paths[1:], paths[0], output=tmp_path / "total.counts")
    for bound in (1, 2):
        wanted = _kept(parts, bound, keep_null=keep_null)
        assert read_both_ways(paths, max_per_user=bound) == wanted
        assert read_both_ways(tmp_path / "total.counts", max_per_user=bound) == wanted
    assert read_both_ways(paths).order_key == KEY


def _splits(rows: list[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    for sides in product([False, True], repeat=len(rows)):
        yield (
            [row for row, side in zip(rows, sides, strict=True) if side],
            [row for row, side in zip(rows, sides, strict=True) if not side],
        )


@pytest.mark.slow
@each_of("split", _splits(ROWS))
def test_every_split_is_the_whole_under_the_same_hashes(tmp_path: Path, split: tuple[list[Row], list[Row]]) -> None:
    for name, rows in zip(("p", "q"), split, strict=True):
        write_part(table_of(rows), tmp_path / f"{name}.counts", label="label")
        options: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_key": KEY, "part": name}
        write_part(table_of(rows), tmp_path / f"u{name}.counts", label="label", **options)
    whole = Profile.from_labels([label for _, label in ROWS])
    assert read_both_ways([tmp_path / "p.counts", tmp_path / "q.counts"]) == whole
    count_into([tmp_path / "q.counts"], tmp_path / "p.counts")
    assert read_both_ways(tmp_path / "p.counts") == whole
    wanted = _kept(dict(zip(("p", "q"), split, strict=True)), 2)
    assert read_both_ways([tmp_path / "up.counts", tmp_path / "uq.counts"]) == wanted
    count_into(table_of(split[1]), tmp_path / "up.counts", part="q", user="user", label="label")
    assert read_both_ways(tmp_path / "up.counts") == wanted


def _partition(profile: Profile, size: int) -> list[int]:
    counts = np.repeat(profile.counts, profile.prevalences).tolist()[::-1]
    return [*counts, *[0] * (size - len(counts))]


def test_a_user_changes_at_most_the_bound_however_their_rows_are_spread() -> None:
    # All rows of two users over three labels and two parts, but for their order; one user has all, some or no rows.
    worst = 0
    others: list[tuple[str, Row]] = [("p", ("v", "a")), ("q", ("v", "b")), ("q", ("v", "a"))]
    own: list[tuple[str, Row]] = [(part, ("u", label)) for part in "pq" for label in "abc"]
    for size in range(len(own) + 1):
        for rows in combinations(own, size):
            parts = {name: [row for part, row in (*others, *rows) if part == name] for name in "pq"}
            less = {name: [row for row in held if row[0] != "u"] for name, held in parts.items()}
            with_them, without = (_partition(_kept(each, 2), 9) for each in (parts, less))
            distance = sum(abs(one - other) for one, other in zip(with_them, without, strict=True))
            assert distance == min(2, size)
            worst = max(worst, distance)
    assert worst == 2


@each_of("seed", range(30))
def test_a_merge_in_batches_is_that_of_sorted_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)

    def run(most: int) -> dict[str, int]:
        return {f"{rng.integers(60)}": int(rng.integers(1, 9)) for _ in range(rng.integers(0, most))}

    def batches(held: list[tuple[str, int]]) -> Iterator[Rows]:
        while held:
            size = int(rng.integers(1, 5))
            some, held = held[:size], held[size:]
            yield Rows(pa.array([key for key, _ in some], pa.string()), pa.array([value for _, value in some]))

    def listed(rows: Iterator[Rows]) -> list[tuple[str, int]]:
        return [pair for each in rows for pair in zip(each.keys.to_pylist(), each.values.to_pylist(), strict=True)]

    first, second = run(40), run(12)
    pairs = (sorted(first.items()), sorted(second.items()))
    assert listed(merged(*map(batches, pairs), added)) == sorted((Counter(first) + Counter(second)).items())
    woven = listed(merged(*map(batches, pairs), side_by_side))
    assert [key for key, _ in woven] == sorted([*first, *second])
    assert Counter(woven) == Counter([*first.items(), *second.items()])


def test_the_first_rows_of_each_user_are_kept_across_batches() -> None:
    keys = [
        bytes([user]) * 16 + bytes([item]) * 16 for user, items in ((0, 4), (1, 1), (3, 7)) for item in range(items)
    ]
    for size in range(1, 13):
        rows = Rows(pa.array(keys, pa.binary(32)), pa.array([f"{key[0]}{key[-1]}" for key in keys]))
        batches = (rows.between(start, min(start + size, 12)) for start in range(0, 12, size))
        kept = [value for each in bounded(batches, 2) for value in each.values.to_pylist()]
        assert kept == ["00", "01", "10", "30", "31"]


def test_the_binary_search_is_that_of_numpy() -> None:
    keys = np.arange(0, 40, 2)
    for size in range(1, 20):
        wanted = np.arange(-1, 42)
        assert (
            lower_bound(pa.array(keys[:size]), pa.array(wanted)).tolist()
            == np.searchsorted(keys[:size], wanted).tolist()
        )


def test_the_search_among_hashes_looks_beyond_their_first_eight_bytes() -> None:
    # Two bytes that count as much as eight: 0x0100 is above 0x00ff.
    ends = [bytes([0] * 6 + [high, low]) for high, low in ((0, 0), (0, 255), (1, 0), (255, 255))]
    keys = sorted(head + tail for head in ends for tail in ends)
    held = pa.array(keys, pa.binary(16))
    for start in range(len(keys)):
        some = held.slice(start, 7)
        assert lower_bound(some, held).tolist() == [bisect_left(keys[start : start + 7], key) for key in keys]
        upper = [bisect_right(keys[start : start + 7], key) for key in keys]
        assert lower_bound(some, held, pc.less_equal).tolist() == upper


@pytest.mark.full
def test_counts_and_other_formats(tmp_path: Path) -> None:
    counted = tmp_path / "c.csv"
    counted.write_text("label,count\na,3\nb,2\na,1\n")
    write_part(str(counted), tmp_path / "c.counts")
    assert read_both_ways(tmp_path / "c.counts") == Profile.from_counts([4, 2])
    write_part({"a": 3, "b": 1}, tmp_path / "m.counts", format="counts")
    assert read_both_ways(tmp_path / "m.counts") == Profile.from_counts([3, 1])
    count_into(str(counted), tmp_path / "m.counts")
    assert read_both_ways(tmp_path / "m.counts") == Profile.from_counts([7, 3])
    for text, sentence in (
        ("label,count\na,-1\n", "whole numbers from 0"),
        ("label,count\na,1.5\n", "whole numbers from 0"),
        (f"label,count\na,{2**62}\na,{2**62}\n", r"2\^63"),
        ("count,prevalence\n1,2\n", "count the events"),
    ):
        counted.write_text(text)
        with pytest.raises(AnonhistError, match=sentence):
            write_part(str(counted), tmp_path / "x.counts")
        assert not (tmp_path / "x.counts").exists()
    for many in (2, 4, 5):
        # Sums of Polars wrap, to a negative number, to zero, and to one that looks right.
        with pytest.raises(DataError, match=r"2\^63"):
            write_part(pl.DataFrame({"label": ["a"] * many, "count": [2**62] * many}), tmp_path / "x.counts")
    lines = tmp_path / "lines.txt"
    lines.write_text("a\nb\na\n")
    write_part(str(lines), tmp_path / "l.counts", format="labels")
    assert read_both_ways(tmp_path / "l.counts") == Profile.from_counts([2, 1])
    with pytest.raises(DataError, match=r"2\^53"):
        write_part(pa.table({"l": [1.0, 2.0**53]}), tmp_path / "y.counts")
    said: list[str] = []
    write_part(["a", None], tmp_path / "n.counts", notify=said.append)
    assert said == ["1 item without a label was left out (`keep_null=True` counts them as one label)."]


def test_names_of_sources() -> None:
    assert [name_of(Path("a/b.csv.gz")), name_of("c.parquet"), name_of(["a"])] == ["b", "c", None]
    assert [name_of("duckdb:///a.db"), name_of("-"), name_of("day-?.csv")] == [None] * 3

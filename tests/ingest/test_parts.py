"""Parts: exact counts in private files, which together give the profile of all their events."""

import os
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import md5, sha256
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import AnonhistError, DataError, OutputError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.parts import count_into, files, profile, query, write_part
from anonhist.ingest.parts.document import FORMAT, PartDocument
from anonhist.ingest.parts.merge import added, merged, side_by_side
from anonhist.ingest.parts.private_file import private_file, remove_parts
from anonhist.ingest.parts.rows import Rows, bounded, lower_bound
from anonhist.ingest.parts.write import name_of
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

Row = tuple[str | None, str | None]

pytestmark = pytest.mark.usefixtures("lent_duckdb")

KEY = "0123456789abcdef" * 2
LABELS = ["b", None, "a", "ä", "b", "", "d ", "b" * 40, "a", None, "b"]
USERS = ["u", "v", "u", "u", "w", "v", "u", None, "u", "w", "w"]


def _table(rows: Iterable[Row]) -> pa.Table:
    held = list(rows)
    columns = {"user": [user for user, _ in held], "label": [label for _, label in held]}
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have rows come a few at a time, as those of large files do."""
    for module in (files, query):
        monkeypatch.setattr(module, "AT_ONCE", 3)


def _read(source: Any, **options: Any) -> Profile:
    """Read parts by a merge, as few are, and by the engine, as many are: both give the same."""
    by_merge = read_profile(source, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "FEW", 0)
        assert read_profile(source, **options) == by_merge
    return by_merge


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
    write_part(_table([]), tmp_path / "second.counts", label="label", **options)
    # Text files have no missing texts: there they are empty.
    labels = LABELS if not str(source).endswith(".csv") else [each or "" for each in LABELS]
    if str(source).endswith(".csv"):
        labels = [each or None for each in labels]
    once = read_profile(tmp_path / "first.counts")
    assert once == _of_labels(labels, keep_null=keep_null)
    assert _read(str(tmp_path / "[fs]*.counts")) == once
    assert _read(tmp_path / "t.counts") == _of_labels(labels * 2, keep_null=keep_null)
    assert _read([tmp_path / "first.counts", tmp_path / "second.counts"]) == once


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
        assert _read(paths, max_per_user=bound) == wanted
        assert _read(tmp_path / "total.counts", max_per_user=bound) == wanted
    assert _read(paths).order_key == KEY


def _splits(rows: list[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    for sides in product([False, True], repeat=len(rows)):
        yield (
            [row for row, side in zip(rows, sides, strict=True) if side],
            [row for row, side in zip(rows, sides, strict=True) if not side],
        )


ROWS: list[Row] = [("u", "a"), ("u", "a"), ("u", "b"), ("v", "a"), ("v", "b")]


@each_of("split", _splits(ROWS))
def test_every_split_is_the_whole_under_the_same_hashes(tmp_path: Path, split: tuple[list[Row], list[Row]]) -> None:
    for name, rows in zip(("p", "q"), split, strict=True):
        write_part(_table(rows), tmp_path / f"{name}.counts", label="label")
        options: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_key": KEY, "part": name}
        write_part(_table(rows), tmp_path / f"u{name}.counts", label="label", **options)
    whole = Profile.from_labels([label for _, label in ROWS])
    assert _read([tmp_path / "p.counts", tmp_path / "q.counts"]) == whole
    count_into([tmp_path / "q.counts"], tmp_path / "p.counts")
    assert _read(tmp_path / "p.counts") == whole
    wanted = _kept(dict(zip(("p", "q"), split, strict=True)), 2)
    assert _read([tmp_path / "up.counts", tmp_path / "uq.counts"]) == wanted
    count_into(_table(split[1]), tmp_path / "up.counts", part="q", user="user", label="label")
    assert _read(tmp_path / "up.counts") == wanted


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


def test_a_part_is_private_from_its_first_byte_and_whole_or_not_there(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = tmp_path / "a.counts"
        with suppress(KeyboardInterrupt), private_file(path, overwrite=False) as file:
            (folder,) = tmp_path.iterdir()
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert stat.S_IMODE(Path(file.name if isinstance(file.name, str) else folder / "part").stat().st_mode) == (
                0o600
            )
            raise KeyboardInterrupt
        assert not list(tmp_path.iterdir())
        write_part(["a"], path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(UsageError, match="exists already"):
        write_part(["b"], path)
    write_part(["b", "c"], path, overwrite=True)
    assert read_profile(path).n == 2
    held = pq.read_schema(path).metadata[FORMAT.encode()]
    assert b'"private": true' in held


def test_a_total_stays_as_it_was_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total = tmp_path / "total.counts"
    write_part(["a", "b"], total, part="1")
    old = total.read_bytes()
    for failing in (KeyboardInterrupt(), OSError(28, "No space left on device")):

        def fail(*_: object, error: BaseException = failing) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(pq.ParquetWriter, "close", fail)
            with pytest.raises((KeyboardInterrupt, OutputError)):
                count_into(["c"], total, part="2")
        assert list(tmp_path.iterdir()) == [total]
        assert total.read_bytes() == old

    def replace_it(_: object) -> None:
        total.unlink()
        total.write_bytes(old)

    with monkeypatch.context() as patch:
        close = pq.ParquetWriter.close
        patch.setattr(pq.ParquetWriter, "close", lambda self: (close(self), replace_it(self)))
        with pytest.raises(OutputError, match="replaced"):
            count_into(["c"], total, part="2")
    link = tmp_path / "link.counts"
    link.symlink_to(total)
    count_into(["c"], link, part="2")
    assert link.is_symlink()
    assert read_profile(total).n == 3


def test_a_process_that_is_killed_leaves_the_total_and_nothing_that_others_can_read(tmp_path: Path) -> None:
    total = tmp_path / "total.counts"
    write_part(["a", "b"], total, part="1")
    old = total.read_bytes()
    program = f"""
import os, signal
from anonhist.ingest.parts import count_into, files
files.PartWriter.__exit__ = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
count_into(["c"], {str(total)!r}, part="2")
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    assert total.read_bytes() == old
    (left,) = (path for path in tmp_path.iterdir() if path != total)
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in left.iterdir()] == [0o600]
    # The lock went with the process.
    count_into(["c"], total, part="2")
    assert read_profile(total).n == 3


def test_what_is_being_written_is_removed_at_once(tmp_path: Path) -> None:
    def lose() -> None:
        with private_file(tmp_path / "a.counts", overwrite=False) as file:
            file.write(b"rows")
            remove_parts()
            assert not list(tmp_path.iterdir())

    with pytest.raises(OutputError, match="nothing was left behind"):
        lose()
    assert not list(tmp_path.iterdir())


def test_who_adds_to_a_total_waits(tmp_path: Path) -> None:
    total = tmp_path / "total.counts"
    write_part(["a"], total, part="0")
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(count_into, ["a", "b"], total, part=f"{number}") for number in range(1, 9)]
        for each in done:
            each.result()
    assert read_profile(total) == Profile.from_counts([9, 8])
    assert list(tmp_path.iterdir()) == [total]


def test_the_same_part_counts_once(tmp_path: Path) -> None:
    for name in ("mon", "tue"):
        write_part(["a", "b"], tmp_path / f"{name}.counts")
    paths = [tmp_path / "mon.counts", tmp_path / "tue.counts"]
    (tmp_path / "copy.counts").write_bytes(paths[0].read_bytes())
    (tmp_path / "hard.counts").hardlink_to(paths[0])
    (tmp_path / "soft.counts").symlink_to(paths[0])
    total = tmp_path / "total.counts"
    count_into(paths[1:], paths[0], output=total)
    refused = {
        "'mon' is there twice": [
            [paths[0], tmp_path / "copy.counts"],
            [total, paths[0]],
            [total, total.parent / "copy.counts"],
        ],
        "named twice": [[paths[0], tmp_path / "hard.counts"], [tmp_path / "soft.counts", *paths], [paths[0], paths[0]]],
        "'tue' is there twice": [[total, paths[1]]],
    }
    for sentence, sources in refused.items():
        for source in sources:
            with pytest.raises(UsageError, match=sentence):
                read_profile(source)
    for again in (["a"], paths[:1]):
        options = {} if again == paths[:1] else {"part": "mon"}
        with pytest.raises(UsageError, match="'mon' is there twice"):
            count_into(again, total, **options)
    with pytest.raises(UsageError, match="no name of their own"):
        count_into(["a"], total)
    # A pattern names a file once, however many links to it there are.
    for extra in ("copy", "total", "soft"):
        (tmp_path / f"{extra}.counts").unlink()
    assert read_profile(str(tmp_path / "*.counts")).n == 4


def test_parts_that_do_not_go_together(tmp_path: Path) -> None:
    rows, own = _table(ROWS), iter(range(99))

    def part(**options: Any) -> Path:
        path = tmp_path / f"{next(own)}.counts"
        write_part(rows, path, label="label", **options)
        return path

    users: dict[str, Any] = {"user": "user", "max_per_user": 2, "order_key": KEY}
    of_users, plain = part(**users), part()
    hashed, null = part(hash_labels=True), part(keep_null=True)
    wider, other = part(**(users | {"max_per_user": 3})), part(**(users | {"order_key": "f" * 32}))
    for first, second, sentence in (
        (of_users, plain, "hold items of users, and some only counts"),
        (plain, hashed, "labels as text and some as hashes"),
        (plain, null, "count rows without a label"),
        (of_users, other, "different keys, so that a user"),
        (hashed, part(hash_labels=True), "different keys, so that a label"),
        (of_users, wider, "different numbers of items of each user: give max_per_user, at most 2"),
    ):
        with pytest.raises(UsageError, match=sentence):
            _read([first, second])
    assert _read([of_users, wider], max_per_user=2).unit == PrivacyUnit.user(max_items=2)
    with pytest.raises(UsageError, match="The total keeps 3 items of each user, and one of the others fewer"):
        count_into([of_users], wider)
    with pytest.raises(UsageError, match="at most 2"):
        read_profile(of_users, max_per_user=3)
    with pytest.raises(UsageError, match="no users"):
        read_profile(plain, max_per_user=3)
    with pytest.raises(UsageError, match="protects less"):
        read_profile(of_users, unit=PrivacyUnit.item())
    assert read_profile(plain, unit=PrivacyUnit.label(max_count=3)).unit == PrivacyUnit.label(max_count=3)
    for options in ({"label": "label"}, {"header": False}, {"keep_null": True}, {"count_users": True}, {"user": "u"}):
        with pytest.raises(UsageError, match=f"{next(iter(options))} applies to events"):
            read_profile(plain, **options)
    like = part(user="user", like=of_users)
    assert _read([of_users, like]).n == 4
    for options, sentence in (
        ({"like": of_users}, "name the column of users"),
        ({"like": plain, **users}, "sets the key"),
        ({"like": plain, "user": "user", "max_per_user": 2}, "leave user and max_per_user out"),
        ({"like": of_users, "user": "user", "max_per_user": 1}, "keeps 2 items"),
        ({"like": plain, "hash_labels": True}, "leave hash_labels out"),
        ({"like": plain, "keep_null": True}, "leave keep_null out"),
        ({"order_key": KEY}, "requires user or hash_labels"),
        ({"part": "a\nb"}, "printable"),
    ):
        with pytest.raises(UsageError, match=sentence):
            part(**options)
    with pytest.raises(UsageError, match=r"end in \.counts"):
        write_part(["a"], tmp_path / "a.parquet")


def _file(path: Path, columns: dict[str, Any], document: dict[str, Any] | bytes | None = None, **fields: Any) -> Path:
    """Write a file as a stranger might."""
    import json

    made = PartDocument((path.stem,), "labels", "text", None, None, keep_null=True)
    said = json.loads(made.to_json()) | fields if document is None else document
    text = said if isinstance(said, bytes) else json.dumps(said).encode()
    types = {"label": pa.string(), "count": pa.int64(), "user_item": pa.binary(32)}
    schema = pa.schema([pa.field(name, types[name], nullable=name == "label") for name in columns])
    arrays = [pa.array(values, types[name]) for name, values in columns.items()]
    # Tables do not check what they say of missing values.
    table = pa.Table.from_arrays(arrays, schema=schema.with_metadata({FORMAT.encode(): text}))
    pq.write_table(table, path)
    return path


GOOD = {"label": ["a", "b"], "count": [1, 2]}
DAMAGED = [
    ({"label": ["b", "a"], "count": [1, 2]}, {}, "damaged"),
    ({"label": ["a", "a"], "count": [1, 2]}, {}, "damaged"),
    ({"label": ["a", "b", "c", "c"], "count": [1, 2, 3, 4]}, {}, "damaged"),
    ({"label": ["a", "b", "c", "a", "b", "c"], "count": [1] * 6}, {}, "damaged"),
    ({"label": ["a", "b", "c", None], "count": [1] * 4}, {}, "damaged"),
    ({"label": ["a", None], "count": [1, 2]}, {}, "damaged"),
    ({"label": [None, None], "count": [1, 2]}, {}, "damaged"),
    ({"label": [None, "a"], "count": [1, 2]}, {"keep_null": False}, "damaged"),
    ({"label": ["a", "b"], "count": [0, 2]}, {}, "damaged"),
    ({"label": ["a", "b"], "count": [1, -2]}, {}, "damaged"),
    ({"label": ["a"]}, {}, "damaged"),
    ({"count": [1], "label": ["a"]}, {}, "damaged"),
    (GOOD, {"version": 2}, "newer version of anonhist: update anonhist"),
    (GOOD, {"version": "1"}, "damaged"),
    (GOOD, {"version": 0}, "damaged"),
    (GOOD, {"holds": "everything"}, "damaged"),
    (GOOD, {"holds": "users"}, "damaged"),
    (GOOD, {"parts": []}, "damaged"),
    (GOOD, {"parts": ["a", "a"]}, "damaged"),
    (GOOD, {"parts": 5}, "damaged"),
    (GOOD, {"key": "no key", "labels": "hashes"}, "damaged"),
    (GOOD, {"max_per_user": 5}, "damaged"),
    (GOOD, {"document": b"{"}, "damaged"),
    (GOOD, {"document": b"[1]"}, "damaged"),
    (GOOD, {"document": b'{"format": "x", "version": 1}'}, "damaged"),
]


@each_of(("columns", "fields", "sentence"), DAMAGED)
def test_damaged_parts_are_refused(
    tmp_path: Path, columns: dict[str, Any], fields: dict[str, Any], sentence: str
) -> None:
    path = _file(tmp_path / "bad.counts", columns, **fields)
    total = tmp_path / "total.counts"
    write_part(["q"], total, keep_null=fields.get("keep_null", True))
    with pytest.raises(DataError, match=sentence):
        read_profile(path)
    with pytest.raises(DataError, match=sentence):
        count_into([path], total)
    assert read_profile(total).n == 1


def test_the_engine_refuses_counts_below_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "FEW", 0)
    for counts in ([0, 2], [1, -1]):
        bad = _file(tmp_path / "bad.counts", {"label": ["a", "b"], "count": counts})
        good = _file(tmp_path / "good.counts", {"label": ["a", "b"], "count": [5, 5]})
        with pytest.raises(DataError, match="damaged"):
            read_profile([good, bad])
    # Each label is there once for the engine, too, wherever a file has it.
    twice = _file(tmp_path / "bad.counts", {"label": ["b", "a", "b"], "count": [1, 2, 3]})
    assert read_profile([good, twice]) == Profile.from_counts([7, 9])


def test_files_that_are_no_parts(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    path.write_bytes(b"label,count\n")
    with pytest.raises(DataError, match="is not a part, or a damaged one"):
        read_profile(path)
    pq.write_table(pa.table({"label": ["a"]}), path)
    with pytest.raises(DataError, match="despite its ending"):
        read_profile(path)
    with pytest.raises(DataError, match="There is no file"):
        read_profile(tmp_path / "b.counts")
    write_part([f"{each}" for each in range(5000)], path, overwrite=True)
    whole = path.read_bytes()
    path.write_bytes(whole[:1000] + bytes(200) + whole[1200:])
    with pytest.raises(DataError, match="damaged"):
        read_profile(path)
    for remote in ("https://example.org/a.counts", "s3://bucket/*.counts"):
        with pytest.raises(UsageError, match="copy them here first"):
            read_profile(remote)
    # Texts are labels, whatever they end in.
    assert _read(["a.counts", "a.counts"]) == Profile.from_counts([2])


@pytest.mark.parametrize("few", [0, 3])
def test_more_items_than_can_be_counted_are_refused(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [_file(tmp_path / f"{name}.counts", {"label": ["a"], "count": [2**63 - 1]}) for name in "pq"]
    assert read_profile(paths[0]).n == 2**63 - 1
    monkeypatch.setattr(profile, "FEW", few)
    for attempt in (lambda: read_profile(paths), lambda: count_into(paths[1:], paths[0])):
        with pytest.raises(DataError, match=r"2\^63"):
            attempt()
    missing = [_file(tmp_path / f"{name}.counts", {"label": [None], "count": [2**63 - 1]}) for name in "rs"]
    with pytest.raises(DataError, match=r"2\^63"):
        count_into(missing[1:], missing[0])


def test_more_rows_of_a_user_than_a_part_says_do_not_count(tmp_path: Path) -> None:
    keys = [b"u" * 16 + bytes([item]) * 16 for item in range(5)]
    fields = {"holds": "users", "key": KEY, "max_per_user": 2}
    path = _file(tmp_path / "a.counts", {"user_item": keys, "label": list("abcde")}, **fields)
    assert read_profile(path).n == 2
    again = _file(tmp_path / "b.counts", {"user_item": keys, "label": list("abcde")}, **fields)
    assert _read([path, again]).n == 2
    count_into([again], path)
    assert len(pq.read_table(path)) == 2
    unsorted = _file(tmp_path / "c.counts", {"user_item": keys[::-1], "label": list("abcde")}, **fields)
    with pytest.raises(DataError, match="damaged"):
        read_profile(unsorted)


def test_counts_and_other_formats(tmp_path: Path) -> None:
    counted = tmp_path / "c.csv"
    counted.write_text("label,count\na,3\nb,2\na,1\n")
    write_part(str(counted), tmp_path / "c.counts")
    assert _read(tmp_path / "c.counts") == Profile.from_counts([4, 2])
    write_part({"a": 3, "b": 1}, tmp_path / "m.counts", format="counts")
    assert _read(tmp_path / "m.counts") == Profile.from_counts([3, 1])
    count_into(str(counted), tmp_path / "m.counts")
    assert _read(tmp_path / "m.counts") == Profile.from_counts([7, 3])
    for text, sentence in (
        ("label,count\na,0\n", "whole numbers from 1"),
        ("label,count\na,1.5\n", "whole numbers from 1"),
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
    assert _read(tmp_path / "l.counts") == Profile.from_counts([2, 1])
    with pytest.raises(DataError, match=r"2\^53"):
        write_part(pa.table({"l": [1.0, 2.0**53]}), tmp_path / "y.counts")
    said: list[str] = []
    write_part(["a", None], tmp_path / "n.counts", notify=said.append)
    assert said == ["1 item without a label was left out (`keep_null=True` counts them as one label)."]


def test_names_of_sources() -> None:
    assert [name_of(Path("a/b.csv.gz")), name_of("c.parquet"), name_of(["a"])] == ["b", "c", None]
    assert [name_of("duckdb:///a.db"), name_of("-"), name_of("day-?.csv")] == [None] * 3

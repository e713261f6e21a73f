"""Files of parts: private, whole or not there, refused where they are damaged or do not go together."""

import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, OutputError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.parts import count_into, files, write_part
from anonhist.ingest.parts.rows import FORMAT, PartDocument
from anonhist.ingest.parts.write import private_file, remove_unfinished
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of
from anonhist_testing.parts import KEY, ROWS, read_both_ways, table_of

pytestmark = pytest.mark.usefixtures("lent_duckdb", "small_batches")


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


@pytest.mark.full
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
            remove_unfinished()
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
        "'mon' is given twice": [
            [paths[0], tmp_path / "copy.counts"],
            [total, paths[0]],
            [total, total.parent / "copy.counts"],
        ],
        "named twice": [[paths[0], tmp_path / "hard.counts"], [tmp_path / "soft.counts", *paths], [paths[0], paths[0]]],
        "'tue' is given twice": [[total, paths[1]]],
    }
    for sentence, sources in refused.items():
        for source in sources:
            with pytest.raises(UsageError, match=sentence):
                read_profile(source)
    for again in (["a"], paths[:1]):
        options = {} if again == paths[:1] else {"part": "mon"}
        with pytest.raises(UsageError, match="'mon' is given twice"):
            count_into(again, total, **options)
    with pytest.raises(UsageError, match="events have no name"):
        count_into(["a"], total)
    # A pattern names a file once, however many links to it there are.
    for extra in ("copy", "total", "soft"):
        (tmp_path / f"{extra}.counts").unlink()
    assert read_profile(str(tmp_path / "*.counts")).n == 4


def test_parts_that_do_not_go_together(tmp_path: Path) -> None:
    rows, own = table_of(ROWS), iter(range(99))

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
            read_both_ways([first, second])
    assert read_both_ways([of_users, wider], max_per_user=2).unit == PrivacyUnit.user(max_items=2)
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
    assert read_both_ways([of_users, like]).n == 4
    for options, sentence in (
        ({"like": of_users}, "name the column of users"),
        ({"like": of_users, **users}, "sets the key"),
        ({"like": plain, "user": "user", "max_per_user": 2}, "leave user and max_per_user out"),
        ({"like": of_users, "user": "user", "max_per_user": 1}, "2 as its bound"),
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


@pytest.mark.full
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
    monkeypatch.setattr(files, "FEW", 0)
    for counts in ([0, 2], [1, -1]):
        bad = _file(tmp_path / "bad.counts", {"label": ["a", "b"], "count": counts})
        good = _file(tmp_path / "good.counts", {"label": ["a", "b"], "count": [5, 5]})
        with pytest.raises(DataError, match="damaged"):
            read_profile([good, bad])
    # Each label is there once for the engine, too, wherever a file has it.
    twice = _file(tmp_path / "bad.counts", {"label": ["b", "a", "b"], "count": [1, 2, 3]})
    assert read_profile([good, twice]) == Profile.from_counts([7, 9])


@pytest.mark.full
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
        with pytest.raises(UsageError, match="copy them to this machine first"):
            read_profile(remote)
    # Texts are labels, whatever they end in.
    assert read_both_ways(["a.counts", "a.counts"]) == Profile.from_counts([2])


@pytest.mark.parametrize("few", [0, 3])
def test_more_items_than_can_be_counted_are_refused(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [_file(tmp_path / f"{name}.counts", {"label": ["a"], "count": [2**63 - 1]}) for name in "pq"]
    assert read_profile(paths[0]).n == 2**63 - 1
    monkeypatch.setattr(files, "FEW", few)
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
    assert read_both_ways([path, again]).n == 2
    count_into([again], path)
    assert len(pq.read_table(path)) == 2
    unsorted = _file(tmp_path / "c.counts", {"user_item": keys[::-1], "label": list("abcde")}, **fields)
    with pytest.raises(DataError, match="damaged"):
        read_profile(unsorted)

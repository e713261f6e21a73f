"""Files of sketches: what is written is read, and a file any byte of which has changed is refused."""

import gc
import hashlib
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.sketches import HashedSketch, NoiseShare, Sketch, UsersIn
from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
from anonhist.sketches.files import read_sketch
from anonhist.sketches.noise import NoiseComponent
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden"
ABSENT = object()
_SESSION = ("Wahl Nr. 1 „\\“", 3)
LABELS = ("cat", "Käfer", "", "dog,\n", "emu", "newt")


def _identity(number: int) -> str:
    return f"{number:032x}"


def _sketch(addresses: HashedAddresses | DomainAddresses, *noise: NoiseComponent, **given: Any) -> Sketch:
    counters = np.arange(addresses.size, dtype=np.int64) ** 3 - 20
    parts = {
        "unit": PrivacyUnit.item(),
        "relation": NeighboringRelation.ADD_OR_REMOVE,
        "noise": noise or (NoiseComponent(_identity(7), Fraction(1, 3)),),
        "counters": counters,
    }
    return Sketch.from_parts(addresses, **(parts | given))


SKETCHES = {
    "hashed": _sketch(HashedAddresses(9, b"week 47")),
    "merged": _sketch(
        HashedAddresses(2, bytes(range(16)), Fraction(1, 10)),
        NoiseComponent(_identity(2**128 - 1), Fraction(1, 6)),
        NoiseComponent(_identity(1), Fraction(1, 10)),
        unit=PrivacyUnit.user(max_items=5),
        relation=NeighboringRelation.SUBSTITUTE,
        counters=np.array([2**62, -(2**62)]),
    ),
    "shares": _sketch(
        HashedAddresses(1, b"k"),
        NoiseComponent(_identity(5), Fraction(1), Fraction(1, 3), "Wahl Nr. 1 „\\“", 3),
        NoiseComponent(_identity(4), Fraction(1), Fraction(1, 3), "Wahl Nr. 1 „\\“", 3),
    ),
    "clipped": _sketch(HashedAddresses(3, b"k"), counters=np.array([0, 255, 3]), clipped=255),
    "domain": _sketch(DomainAddresses.of(LABELS)),
    "sample": _sketch(DomainAddresses.of(LABELS, key=b"sample", sampling_rate=Fraction(1, 2))),
    "parties": _sketch(
        HashedAddresses(1, b"k"),
        NoiseComponent(_identity(5), Fraction(1), Fraction(1, 2), "week 47", 3),
        unit=PrivacyUnit.user(max_items=2),
        users_in=UsersIn.ONE_SKETCH,
    ),
}


@each_of("name", SKETCHES)
def test_a_sketch_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    write(SKETCHES[name], tmp_path / "a.sketch")
    read = read_sketch(tmp_path / "a.sketch")
    assert read == SKETCHES[name]
    assert type(read) is type(SKETCHES[name])
    write(read, tmp_path / "b.SKETCH")
    assert (tmp_path / "b.SKETCH").read_bytes() == (tmp_path / "a.sketch").read_bytes()


def test_the_name_of_a_unit_stays_with_it(tmp_path: Path) -> None:
    setting: dict[str, Any] = {"buckets": 9, "epsilon": 1, "key": b"k"}
    first, second = (HashedSketch(**setting, unit=PrivacyUnit.user(max_items=3, name="patient")) for _ in range(2))
    for made in (first, first + second):
        write(made, tmp_path / "a.sketch", overwrite=True)
        read = read_sketch(tmp_path / "a.sketch")
        assert read.guarantee.unit.name == "patient"
        write(read.reconstruct("three-tap", simulations=2), tmp_path / "a.json", overwrite=True)
        released = read_release(tmp_path / "a.json")
        assert "one patient with all their items" in released.guarantee.sentence
    assert read_sketch(GOLDEN / "sketch-parties.sketch").unit.name == ""


@each_of("name", SKETCHES)
def test_golden_files_stay_readable(name: str) -> None:
    # Written when the format was made; never to be written anew.
    assert read_sketch(GOLDEN / f"sketch-{name}.sketch") == SKETCHES[name]


def test_others_can_read_it_as_arrow(tmp_path: Path) -> None:
    write(SKETCHES["domain"], tmp_path / "a.sketch")
    table = pa.ipc.open_file(tmp_path / "a.sketch").read_all()
    assert table.column("counter").to_pylist() == SKETCHES["domain"].counters.tolist()
    assert table.column("label").to_pylist() == list(LABELS)


@pytest.mark.slow
def test_the_file_stays_while_what_was_read_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.sketch"
    write(SKETCHES["hashed"], path)
    before = path.read_bytes()
    read = read_sketch(path)
    # They lie in the file, which must not be written to.
    assert not read.counters.flags.owndata
    assert not read.counters.flags.writeable
    read.update(["cat"] * 5)
    assert int((read.counters - SKETCHES["hashed"].counters).sum()) == 5
    assert path.read_bytes() == before
    # Whatever becomes of the name, what was read stays.
    write(SKETCHES["merged"], path, overwrite=True)
    path.unlink()
    gc.collect()
    assert int((read.counters - SKETCHES["hashed"].counters).sum()) == 5


def _assert_refused(path: Path, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        read_sketch(path)
    assert str(caught.value).startswith(f"'{path}' is not a sketch that can be read: ")
    assert str(caught.value).count(".") <= 2 + str(path).count(".")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("hashed", 3), ("domain", 5)])
def test_a_file_with_one_bit_changed_is_refused(tmp_path: Path, name: str, step: int) -> None:
    path = tmp_path / "a.sketch"
    write(SKETCHES[name], path)
    whole = path.read_bytes()
    for place in range(0, len(whole), step):
        bad = bytearray(whole)
        bad[place] ^= 1 << (place * 5 % 8)
        path.write_bytes(bad)
        with pytest.raises(DataError, match="is not a sketch that can be read"):
            read_sketch(path)


def test_a_file_that_is_cut_off_or_goes_on_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sketch"
    write(SKETCHES["domain"], path)
    whole = path.read_bytes()
    for content in (*(whole[:length] for length in range(0, len(whole), 23)), whole + b"\0", whole + whole):
        path.write_bytes(content)
        with pytest.raises(DataError, match="is not a sketch that can be read"):
            read_sketch(path)


def test_a_file_whose_parts_are_of_two_states_is_refused(tmp_path: Path) -> None:
    sketch = _sketch(HashedAddresses(4000, b"k"))
    write(sketch, tmp_path / "a.sketch")
    sketch.update(["cat"])
    write(sketch, tmp_path / "b.sketch")
    one, two = ((tmp_path / name).read_bytes() for name in ("a.sketch", "b.sketch"))
    (tmp_path / "a.sketch").write_bytes(one[:9000] + two[9000:])
    _assert_refused(tmp_path / "a.sketch", "damaged")


def _forge(
    path: Path, head: Any, columns: dict[str, Any], *, batches: int = 1, nullable: bool = False, key: str = ""
) -> None:
    """Write a file as the format says, by other means: with a right digest, whatever it holds."""
    arrays = [pa.array(values) for values in columns.values()]
    fields = [pa.field(name, array.type, nullable) for name, array in zip(columns, arrays, strict=True)]
    zeros = "0" * 64
    text = json.dumps(head | {"sha256": zeros} if "sha256" in head else head)
    schema = pa.schema(fields, metadata={key or "anonhist/sketch": text})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        for _ in range(batches):
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    content = sink.getvalue().to_pybytes()
    path.write_bytes(content.replace(zeros.encode(), hashlib.sha256(content).hexdigest().encode()))


def _parts(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the head and the columns of a good file."""
    write(SKETCHES[name], folder / "good.sketch")
    table = pa.ipc.open_file(folder / "good.sketch").read_all()
    columns = {"counter": table.column("counter").combine_chunks()}
    if "label" in table.column_names:
        columns["label"] = table.column("label").combine_chunks()
    return json.loads(table.schema.metadata[b"anonhist/sketch"]), columns


@each_of("name", SKETCHES)
def test_a_file_made_by_others_as_the_format_says_is_read(tmp_path: Path, name: str) -> None:
    head, columns = _parts(name, tmp_path)
    _forge(tmp_path / "a.sketch", head, columns)
    assert read_sketch(tmp_path / "a.sketch") == SKETCHES[name]


_PART = {"identity": _identity(7), "gamma": "1/3", "shape": "1", "session": "", "participants": 1}
BAD: list[tuple[str, Any, str]] = [
    ("format", "anonhist/tally", "not one of a sketch"),
    ("format", "anonhist.sketch", "written by a version before 1.0"),
    ("version", 2, "version is not 1, .* newer"),
    ("version", 10, "version is not 1, .* newer"),
    ("version", 0, "version is not 1, .* newer"),
    ("version", "1", "not one of a sketch"),
    ("version", None, "not one of a sketch"),
    ("sha256", ABSENT, "not one of a sketch"),
    ("library_version", None, "library version"),
    ("library_version", ABSENT, "exactly the fields"),
    ("extra", 1, "exactly the fields"),
    ("kind", "sampled", "kind"),
    ("kind", "domain", "columns"),
    ("kind", None, "kind"),
    ("key", "", "hexadecimal"),
    ("key", "a", "hexadecimal"),
    ("key", "AB", "hexadecimal"),
    ("key", "ab\n", "hexadecimal"),
    ("key", 12, "hexadecimal"),
    ("sample_share", "2", "at most 1"),
    ("sample_share", "0", "greater than zero"),
    ("sample_share", "2/4", "lowest terms"),
    ("sample_share", "0.5", "lowest terms"),
    ("sample_share", 1, "plain text"),
    ("domain_size", 9, "only a known domain"),
    ("unit", "label", "items or users"),
    ("unit", "person", "unit"),
    ("unit", None, "unit"),
    ("bound", 2, "exactly one item"),
    ("bound", True, "bound"),
    ("bound", 1.0, "bound"),
    ("unit_name", "", "must not be empty"),
    ("unit_name", 7, "name of the unit must be plain text"),
    ("unit_name", "7 up", "one word or a few"),
    ("relation", "swap", "relation"),
    ("relation", None, "relation"),
    ("clipped", 0, "clipped"),
    ("clipped", 5, "range"),
    ("clipped", True, "clipped must be a whole number"),
    ("clipped", 5.0, "clipped must be a whole number"),
    ("noise", [], "one part of noise"),
    ("noise", None, "must be a list"),
    ("noise", [5], "each part"),
    ("noise", [_PART, _PART], "twice"),
    ("noise", [_PART, _PART | {"identity": _identity(6)}], "order"),
    ("noise", [_PART | {"more": 1}], "each part"),
    ("noise", [_PART | {"identity": _identity(7)[1:]}], "32 hexadecimal"),
    ("noise", [_PART | {"identity": 7}], "identity of noise"),
    ("noise", [_PART | {"gamma": "0"}], "gamma"),
    ("noise", [_PART | {"gamma": "-1"}], "gamma"),
    ("noise", [_PART | {"gamma": 1}], "gamma"),
    ("noise", [_PART | {"gamma": "2/6"}], "lowest terms"),
    ("noise", [_PART | {"shape": "2"}], "shape|share"),
    ("noise", [_PART | {"shape": "1/2"}], "session"),
    ("noise", [_PART | {"session": "\x1b[2J"}], "session"),
    ("noise", [_PART | {"participants": 2}], "need h parties"),
    ("noise", [_PART | {"shape": "1/2", "session": "s", "participants": 4}], "need h parties"),
    ("noise", [_PART | {"shape": "1/2", "session": "s", "participants": 2.0}], "need h parties"),
    ("users_in", "two-sketches", "users_in must be one of"),
    ("users_in", "one-sketch", "users_in applies"),
    ("users_in", None, "users_in"),
    ("users_in", ABSENT, "exactly the fields"),
]


@each_of(("where", "value", "reason"), BAD)
def test_a_file_that_says_what_no_sketch_is_is_refused(tmp_path: Path, where: str, value: object, reason: str) -> None:
    head, columns = _parts("hashed", tmp_path)
    head[where] = value
    if value is ABSENT:
        del head[where]
    _forge(tmp_path / "bad.sketch", head, columns)
    _assert_refused(tmp_path / "bad.sketch", reason)


@pytest.mark.full
@each_of("name", SKETCHES)
def test_every_field_is_there_and_null_only_where_a_sketch_has_none(tmp_path: Path, name: str) -> None:
    head, columns = _parts(name, tmp_path)
    path, parts, undamaged = tmp_path / "bad.sketch", head["noise"], "that can be read: (?!.*(damaged|digest))"
    for field in head:
        _forge(path, {each: value for each, value in head.items() if each != field}, columns)
        _assert_refused(path, "a sketch by exactly the fields|not one of a sketch")
        # Whether counters are clipped, no other field tells; and each forged file has its own digest.
        if head[field] is not None and field not in ("clipped", "sha256"):
            _forge(path, head | {field: None}, columns)
            _assert_refused(path, undamaged if field not in ("format", "version") else "not one of a sketch")
    for field in parts[0]:
        fewer = {each: value for each, value in parts[0].items() if each != field}
        for part, reason in (
            (fewer, "each part of the noise by exactly the fields"),
            (parts[0] | {field: None}, undamaged),
        ):
            _forge(path, head | {"noise": [part, *parts[1:]]}, columns)
            _assert_refused(path, reason)


@each_of(
    ("name", "change", "reason"),
    [
        ("hashed", {"counter": pa.array([1.0, 2.0])}, "columns"),
        ("hashed", {"counter": pa.array([1, None])}, "columns"),
        ("hashed", {"counter": pa.array([1, 2], pa.int32())}, "columns"),
        ("hashed", {"counter": pa.array([], pa.int64())}, "buckets"),
        ("hashed", {"counter": pa.array([2**62 + 1])}, "range"),
        ("hashed", {"more": pa.array([1] * 9)}, "columns"),
        ("domain", {"label": pa.array(LABELS, pa.string())}, "columns"),
        ("domain", {"label": pa.array([*LABELS[:5], "cat"], pa.large_string())}, "all be different|twice"),
        ("domain", {"label": pa.array(LABELS[::-1], pa.large_string())}, ""),
        ("sample", {"label": pa.array([*"abc"], pa.large_string())}, "outside its sample"),
    ],
)
def test_a_file_with_other_columns_is_refused(tmp_path: Path, name: str, change: dict[str, Any], reason: str) -> None:
    head, columns = _parts(name, tmp_path)
    size = len(next(iter(change.values())))
    kept = {name: array[:size] for name, array in columns.items()} | change
    _forge(tmp_path / "bad.sketch", head, kept)
    if reason:
        _assert_refused(tmp_path / "bad.sketch", reason)
    else:  # any order of labels is one
        assert read_sketch(tmp_path / "bad.sketch") != SKETCHES[name]


@pytest.mark.parametrize(("size", "reason"), [(5, "number of labels"), (7, "as many labels"), (None, "whole number")])
def test_a_domain_of_another_size_is_refused(tmp_path: Path, size: int | None, reason: str) -> None:
    head, columns = _parts("domain", tmp_path)
    _forge(tmp_path / "bad.sketch", head | {"domain_size": size}, columns)
    _assert_refused(tmp_path / "bad.sketch", reason)


def test_what_is_no_file_of_a_sketch_is_refused(tmp_path: Path) -> None:
    head, columns = _parts("hashed", tmp_path)
    path = tmp_path / "bad.sketch"
    for forge, reason in (
        (lambda: _forge(path, head, columns, batches=2), "not one of a sketch"),
        (lambda: _forge(path, head, columns, batches=0), "not one of a sketch"),
        (lambda: _forge(path, head, columns, nullable=True), "columns"),
        (lambda: _forge(path, head, columns, key="other"), "not one of a sketch"),
        (lambda: path.write_bytes(b""), "it is empty"),
        (lambda: path.write_bytes(b"label\ncat\n" * 1000), "not an Arrow file"),
        (lambda: pq.write_table(pa.table({"counter": [1]}), path), "not an Arrow file"),
    ):
        forge()
        _assert_refused(path, reason)


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sketch")
    (tmp_path / "folder.sketch").mkdir()
    (tmp_path / "loop.sketch").symlink_to("loop.sketch")
    for name, reason in (
        ("pipe.sketch", "is not a regular file"),
        ("folder.sketch", "is not a regular file"),
        ("loop.sketch", "cannot be read"),
        ("none.sketch", "There is no file"),
        ("a\0.sketch", "cannot be read"),
    ):
        with pytest.raises(DataError, match=reason):
            read_sketch(tmp_path / name)
    with pytest.raises(UsageError, match=r"is not a sketch file: name one that ends in \.sketch"):
        read_sketch(tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"A sketch is written as \.sketch"):
        write(SKETCHES["hashed"], tmp_path / "a.parquet")


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(SKETCHES["hashed"], tmp_path / "a.sketch")
    before = (tmp_path / "a.sketch").read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        write(SKETCHES["merged"], tmp_path / "a.sketch")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space left"):
        write(SKETCHES["merged"], tmp_path / "a.sketch", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.sketch"]
    assert (tmp_path / "a.sketch").read_bytes() == before


def test_a_share_of_the_noise_is_for_its_owners_eyes(tmp_path: Path) -> None:
    share = NoiseShare(honest=2, session="week 47")
    one, two, three = (HashedSketch(buckets=8, epsilon=1, key=b"week 47", noise_share=share) for _ in range(3))
    for name, sketch in (("one", one), ("whole", one + two + three)):
        write(sketch, tmp_path / f"{name}.sketch")
    modes = {name: (tmp_path / f"{name}.sketch").stat().st_mode & 0o077 for name in ("one", "whole")}
    assert modes["one"] == 0
    assert modes["whole"] != 0

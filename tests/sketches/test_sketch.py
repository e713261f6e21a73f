"""The state: what is counted where, what is refused, and that a refusal changes nothing."""

import copy
import pickle
import tracemalloc
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.numeric import keyed_hash
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.randomness import discrete_laplace
from anonhist.sketches import DomainSketch, HashedSketch, Sketch
from anonhist.sketches import changes as chunks_module
from anonhist.sketches import sketch as module
from anonhist.sketches.addresses import HashedAddresses
from anonhist.sketches.changes import LARGEST_COUNTER
from anonhist.sketches.noise import NoiseComponent
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

WORDS = ["pets", "cats", "pets", "Äpfel", "", "日本語", "cats", "pets"]
DOMAIN = sorted(set(WORDS))


def hashed_sketch(**settings: Any) -> HashedSketch:
    return HashedSketch(**{"buckets": 97, "epsilon": 1, "key": b"k", "source": SeededSource(7), **settings})


def domain_sketch(**settings: Any) -> DomainSketch:
    return DomainSketch(**{"alphabet": DOMAIN, "epsilon": 1, "source": SeededSource(7), **settings})


def buffer_of(labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    parts = [label.encode() for label in labels]
    # As a slice of a larger array of strings would have it.
    return np.frombuffer(b"before" + b"".join(parts) + b"after", dtype=np.uint8), 6 + np.cumsum([0, *map(len, parts)])


def count_labels(labels: list[str]) -> tuple[list[str], list[int]]:
    tally = Counter(labels)
    return list(tally), list(tally.values())


MAKERS = pytest.mark.parametrize("make", [hashed_sketch, domain_sketch])
WAYS: dict[str, Callable[[Sketch], None]] = {
    "list": lambda sketch: sketch.update(WORDS),
    "generator": lambda sketch: sketch.update(word for word in WORDS),
    "array": lambda sketch: sketch.update(np.array(WORDS)),
    "counts": lambda sketch: sketch.update(*count_labels(WORDS)),
    "buffer": lambda sketch: sketch.update_buffer(*buffer_of(WORDS)),
    "buffer and counts": lambda sketch: sketch.update_buffer(
        *buffer_of(count_labels(WORDS)[0]), count_labels(WORDS)[1]
    ),
    "addresses": lambda sketch: sketch.add(sketch.addresses.of_hashes(keyed_hash(WORDS, key=sketch.addresses.key))),
}


@MAKERS
@pytest.mark.parametrize("chunk", [1, 3, 1 << 16])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_count_adds_each_item_to_its_counter(
    make: Callable[[], Sketch], way: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks_module, "CHUNK", chunk)
    monkeypatch.setattr(module, "CHUNK", chunk)
    sketch, untouched = make(), make()
    assert sketch == untouched
    WAYS[way](sketch)
    expected = untouched.counters.copy()
    for word in WORDS:
        (place,) = sketch.addresses.of_hashes(keyed_hash([word], key=sketch.addresses.key)).tolist()
        expected[place] += 1
    assert sketch.counters.tolist() == expected.tolist()
    assert sketch != untouched


def test_the_noise_is_drawn_for_every_counter_before_anything_else() -> None:
    sketch = hashed_sketch(unit=PrivacyUnit.user(max_items=2), relation=NeighboringRelation.SUBSTITUTE)
    source = SeededSource(7)
    identity = source.words(2).astype("<u8").tobytes().hex()
    assert sketch.noise == (NoiseComponent(identity, Fraction(1, 4)),)
    assert sketch.counters.tolist() == discrete_laplace(Fraction(1, 4), 97, source=source).tolist()


def test_two_sketches_have_different_noise_and_identities() -> None:
    one, other = hashed_sketch(source=None), hashed_sketch(source=None)
    assert one.noise != other.noise
    assert one.counters.tolist() != other.counters.tolist()


def test_labels_outside_of_the_domain_are_refused_unless_they_are_ignored() -> None:
    sketch = domain_sketch()
    before = sketch.counters.copy()
    for update in (
        lambda: sketch.update(["pets", "birds"]),
        lambda: sketch.update_buffer(*buffer_of(["pets", "birds"])),
        lambda: sketch.update(["pets", "birds"], [1, 2]),
    ):
        with pytest.raises(DataError, match="not in the sketch's domain") as caught:
            update()
        assert "birds" not in str(caught.value)
    assert (sketch.counters == before).all()
    sketch.update(["pets", "birds", "pets"], [1, 2, 4], ignore_unknown=True)
    sketch.update_buffer(*buffer_of(["birds", "pets"]), ignore_unknown=True)
    change = dict(zip(DOMAIN, (sketch.counters - before).tolist(), strict=True))
    assert {label: by for label, by in change.items() if by} == {"pets": 6}


@MAKERS
def test_a_sample_leaves_out_what_is_not_in_it_without_a_word(make: Callable[..., Sketch]) -> None:
    labels = [f"label {number}" for number in range(400)]
    settings = {"key": b"k", "sampling_rate": "1/4", **({"alphabet": labels} if make is domain_sketch else {})}
    sketch, untouched = make(**settings), make(**settings)
    sketch.update(labels)
    kept = int((keyed_hash(labels, key=b"k")[:, 1] < np.uint64(2**62)).sum())
    assert 0 < kept < 400
    assert int((sketch.counters - untouched.counters).sum()) == kept


def test_an_error_leaves_out_its_chunk_and_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks_module, "CHUNK", 2)
    sketch = domain_sketch()
    before = sketch.counters.copy()
    with pytest.raises(DataError, match="labels must be strings"):
        sketch.update(["pets", "cats", "pets", None, "pets"])  # type: ignore[list-item]
    assert int((sketch.counters - before).sum()) == 2


def test_wrong_numbers_of_counts_change_nothing() -> None:
    sketch = hashed_sketch()
    before = sketch.counters.copy()
    for update in (
        lambda: sketch.update(["a", "b"], [1]),
        lambda: sketch.update_buffer(*buffer_of(["a", "b"]), [1, 2, 3]),
        lambda: sketch.add(np.array([1, 2]), np.array([1])),
        lambda: sketch.add(np.array([[1], [2]])),
    ):
        with pytest.raises(DataError, match="one count for each label"):
            update()
    with pytest.raises(DataError, match="Counts must be whole numbers from 1"):
        sketch.update_buffer(*buffer_of(["a"]), [0])
    with pytest.raises(UsageError, match="larger than that of the last counter"):
        sketch.add(np.array([97]))
    with pytest.raises(UsageError, match="put a single label into a list"):
        sketch.update("pets")
    assert (sketch.counters == before).all()


def test_nothing_to_count_changes_nothing() -> None:
    sketch, untouched = hashed_sketch(), hashed_sketch()
    sketch.update([])
    sketch.update(iter(()), [])
    sketch.update_buffer(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64))
    sketch.update_buffer(np.zeros(0, dtype=np.uint8), [0], [])
    sketch.add(np.array([-1, -2]), np.array([5, 6]))
    assert sketch == untouched


def at(value: int) -> Sketch:
    """Return a sketch of two counters, the first of which has a value."""
    new = hashed_sketch(buckets=2)
    return Sketch.from_parts(
        new.addresses, unit=new.unit, relation=new.relation, noise=new.noise, counters=np.array([value, 0])
    )


@each_of(
    ("start", "addresses", "counts", "end"),
    [
        (LARGEST_COUNTER - 3, [0, 0, 0], None, LARGEST_COUNTER),
        (LARGEST_COUNTER - 3, [0, 0, 0, 0], None, None),
        (-5, [0], [LARGEST_COUNTER], LARGEST_COUNTER - 5),
        (0, [0, 0], [LARGEST_COUNTER, 1], None),
        (0, [0] * 5, [LARGEST_COUNTER] * 5, None),
        (LARGEST_COUNTER, [1], [LARGEST_COUNTER], LARGEST_COUNTER),
        (LARGEST_COUNTER, [0, -1], [1, 7], None),
        (0, [0, -1], [1, LARGEST_COUNTER], 1),
    ],
)
def test_counters_reach_the_largest_and_never_pass_it(
    start: int, addresses: list[int], counts: list[int] | None, end: int | None
) -> None:
    sketch = at(start)
    numbers = None if counts is None else np.array(counts)
    if end is None:
        with pytest.raises(DataError, match=r"could pass 2\^62"):
            sketch.add(np.array(addresses), numbers)
        assert sketch.counters.tolist() == [start, 0]
    else:
        sketch.add(np.array(addresses), numbers)
        assert int(sketch.counters[0]) == end


@pytest.mark.slow
def test_a_stream_takes_constant_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen chunks take no more than two, but for a tenth."""
    monkeypatch.setattr(chunks_module, "CHUNK", 4096)
    sketch = hashed_sketch()
    peaks = []
    for chunks in (2, 16):
        tracemalloc.start()
        sketch.update(f"label {number}" for number in range(chunks * 4096))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.slow
@MAKERS
def test_counting_makes_no_array_as_long_as_the_counters(make: Callable[..., Sketch]) -> None:
    """Otherwise counts without noise could be in it."""
    labels = [f"label {number}" for number in range(100_000)]
    sketch = make(**({"alphabet": labels} if make is domain_sketch else {"buckets": 100_000}))
    sketch.update(["label 1"])
    tracemalloc.start()
    sketch.update(["label 1", "label 7"] * 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < sketch.counters.nbytes / 8


def parts_of(sketch: Sketch, **changed: Any) -> dict[str, Any]:
    names = ("addresses", "unit", "relation", "noise", "counters", "clipped")
    return {**{name: getattr(sketch, name) for name in names}, **changed}


@MAKERS
def test_a_sketch_is_put_together_from_its_parts(make: Callable[..., Sketch]) -> None:
    sketch = make(unit=PrivacyUnit.user(max_items=3), relation=NeighboringRelation.SUBSTITUTE)
    again = Sketch.from_parts(**parts_of(sketch))
    assert type(again) is type(sketch)
    assert again == sketch
    sketch.clip(9)
    clipped = Sketch.from_parts(**parts_of(sketch, clipped=np.int64(9))).clipped
    assert (clipped, type(clipped)) == (9, int)


WRONG_PARTS: dict[str, tuple[dict[str, Any], str]] = {
    "no noise": ({"noise": ()}, "at least one part of noise"),
    "type": ({"counters": np.zeros(97, dtype=np.int32)}, "one counter, a 64-bit whole number"),
    "byte order": ({"counters": np.zeros(97, dtype=">i8")}, "one counter, a 64-bit whole number"),
    "size": ({"counters": np.zeros(96, dtype=np.int64)}, "one counter, a 64-bit whole number"),
    "shape": ({"counters": np.zeros((97, 1), dtype=np.int64)}, "one counter, a 64-bit whole number"),
    "list": ({"counters": [0] * 97}, "one counter, a 64-bit whole number"),
    "large": ({"counters": np.full(97, 2**62 + 1)}, "outside its range"),
    "small": ({"counters": np.full(97, -(2**62) - 1)}, "outside its range"),
    "below a clipped range": ({"counters": np.full(97, -1), "clipped": 5}, "outside its range"),
    "above a clipped range": ({"counters": np.full(97, 6), "clipped": 5}, "outside its range"),
    "clipped to nothing": ({"counters": np.zeros(97, dtype=np.int64), "clipped": 0}, "clipped must be a whole number"),
    "clipped and merged": (
        {"noise": [NoiseComponent(f"{i:032x}", Fraction(1)) for i in (1, 2)], "clipped": 5},
        "the whole noise of one sketch",
    ),
    "unit": ({"unit": PrivacyUnit.label(max_count=3)}, "cannot cap counts"),
    "relation": ({"relation": "add-or-remove"}, "must be a NeighboringRelation"),
    "addresses": ({"addresses": 97}, "HashedAddresses or DomainAddresses"),
}


@each_of("name", WRONG_PARTS)
def test_parts_that_make_no_sketch_are_refused(name: str) -> None:
    changed, message = WRONG_PARTS[name]
    with pytest.raises((DataError, UsageError), match=message):
        Sketch.from_parts(**parts_of(hashed_sketch(), **changed))


def test_counters_that_cannot_be_written_to_are_copied_when_they_change() -> None:
    sketch = hashed_sketch()
    sketch.counters.flags.writeable = False
    mapped = Sketch.from_parts(**parts_of(sketch))
    assert np.shares_memory(mapped.counters, sketch.counters)
    mapped.update(WORDS)
    assert not np.shares_memory(mapped.counters, sketch.counters)
    assert int((mapped.counters - sketch.counters).sum()) == len(WORDS)


@MAKERS
def test_a_sketch_can_be_moved_but_not_copied(make: Callable[[], Sketch]) -> None:
    sketch = make()
    sketch.update(WORDS)
    moved = pickle.loads(pickle.dumps(sketch))  # noqa: S301 - pickled a moment ago
    assert moved == sketch
    assert type(moved) is type(sketch)
    moved.update(WORDS)
    with pytest.raises(UsageError, match="share noise"):
        sketch.merge(moved)
    for way in (copy.copy, copy.deepcopy):
        with pytest.raises(UsageError, match="A sketch cannot be copied"):
            way(sketch)


def test_sketches_are_equal_when_all_their_parts_are() -> None:
    sketch = hashed_sketch()
    other_counters = sketch.counters.copy()
    other_counters[-1] += 1
    for name, other in {
        "addresses": HashedAddresses(97, b"other"),
        "unit": PrivacyUnit.user(max_items=1),
        "relation": NeighboringRelation.SUBSTITUTE,
        "noise": (NoiseComponent("0" * 32, Fraction(1)),),
        "counters": other_counters,
    }.items():
        assert Sketch.from_parts(**parts_of(sketch, **{name: other})) != sketch, name
    clipped = Sketch.from_parts(**parts_of(sketch, counters=np.zeros(97, dtype=np.int64), clipped=5))
    assert clipped != Sketch.from_parts(**parts_of(clipped, clipped=None))
    assert sketch != "sketch"
    with pytest.raises(TypeError, match="unhashable"):
        hash(sketch)


def test_it_says_what_it_is_and_nothing_of_what_it_counted() -> None:
    sketch = hashed_sketch(unit=PrivacyUnit.user(max_items=2))
    sketch.update(WORDS)
    assert (
        repr(sketch) == "HashedSketch(97 counters, one user with all their items (at most 2 of them count), epsilon=1)"
    )
    sketch.clip(7)
    assert (
        repr(sketch)
        == "HashedSketch(97 counters, one user with all their items (at most 2 of them count), epsilon=1, clipped=7)"
    )
    many = domain_sketch(source=None)
    for _ in range(4):
        many.merge(domain_sketch(source=None, epsilon=2))
    assert repr(many).startswith("DomainSketch(5 counters, one item, epsilon=2, 5 parts of noise)")

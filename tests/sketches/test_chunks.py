"""Streams in chunks: kinds of streams, counts that fit, memory that does not grow."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.sketches import changes
from anonhist.sketches.changes import label_chunks, total_of, whole_counts
from anonhist_testing.cases import each_of

LABELS = ["a", "b", "c", "d", "e"]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "CHUNK", 2)


def list_chunks(labels: Iterable[str], counts: Any = None) -> list[tuple[list[str], list[int] | None]]:
    return [
        (list(chunk), None if numbers is None else numbers.tolist()) for chunk, numbers in label_chunks(labels, counts)
    ]


@pytest.mark.usefixtures("small_chunks")
@each_of(
    "kind",
    [list, tuple, iter, np.array, lambda labels: dict.fromkeys(labels).keys(), lambda labels: (x for x in labels)],
)
@each_of("numbers", [None, list, iter, np.array, lambda counts: np.array(counts, dtype=np.uint64)])
def test_labels_and_counts_of_every_kind_are_gone_through_in_step(kind: Any, numbers: Any) -> None:
    counts = None if numbers is None else numbers([5, 4, 3, 2, 1])
    in_step: list[list[int] | None] = [None] * 3 if numbers is None else [[5, 4], [3, 2], [1]]
    expected = list(zip([["a", "b"], ["c", "d"], ["e"]], in_step, strict=True))
    assert list_chunks(kind(LABELS), counts) == expected


def test_chunks_of_an_array_are_arrays_themselves() -> None:
    """They are hashed without a string of Python for each label."""
    ((labels, counts),) = label_chunks(np.array(LABELS), None)
    assert isinstance(labels, np.ndarray)
    assert counts is None


@pytest.mark.usefixtures("small_chunks")
@each_of("labels", [list, iter])
@each_of("numbers", [list, iter])
@each_of("counts", [[], [1] * 3, [1] * 4, [1] * 6, [1] * 9])
def test_another_number_of_counts_is_refused(labels: Any, numbers: Any, counts: list[int]) -> None:
    with pytest.raises(DataError, match="one count for each label"):
        list_chunks(labels(LABELS), numbers(counts))


@pytest.mark.usefixtures("small_chunks")
def test_lengths_that_are_known_are_compared_before_anything_is_counted() -> None:
    with pytest.raises(DataError, match="one count for each label"):
        next(label_chunks(LABELS, [1] * 6))


@pytest.mark.usefixtures("small_chunks")
def test_counts_that_go_on_after_full_chunks_are_refused() -> None:
    with pytest.raises(DataError, match="one count for each label"):
        list_chunks(LABELS[:4], iter([1] * 5))


def test_only_as_much_of_a_stream_is_read_as_is_counted() -> None:
    read = 0

    def stream() -> Iterable[str]:
        nonlocal read
        while True:
            read += 1
            yield "a"

    following = label_chunks(stream(), None)
    for number in (1, 2, 3):
        chunk, _ = next(following)
        assert (len(chunk), read) == (changes.CHUNK, number * changes.CHUNK)


@each_of("labels", ["apple", b"apple", 7, None])
def test_a_single_label_is_refused(labels: object) -> None:
    with pytest.raises(UsageError, match="put a single label into a list"):
        list_chunks(labels)  # type: ignore[arg-type]


def test_a_mapping_is_counted_only_with_its_values() -> None:
    found = {"a": 5, "b": 4}
    assert list_chunks(found, found.values()) == [(["a", "b"], [5, 4])]
    with pytest.raises(UsageError, match="values of a mapping as a separate argument"):
        list_chunks(found)


def test_a_single_count_is_refused() -> None:
    with pytest.raises(UsageError, match="counts must be a list"):
        list_chunks(["a"], 7)


@each_of(
    "counts",
    [[0], [1, -1], [1.0], [True], ["1"], [None], [2**62 + 1], [2**64], [2**100], [[1], [2]], [float("nan")]],
)
def test_counts_are_whole_numbers_from_one_on(counts: list[Any]) -> None:
    with pytest.raises(DataError, match="Counts must be whole numbers from 1"):
        whole_counts(counts)


def test_large_counts_are_exact() -> None:
    counts = whole_counts(np.array([2**62, 2**62 - 1, 1, 2**31, 2**31 - 1], dtype=np.uint64))
    assert counts.dtype == np.int64
    assert total_of(counts) == 2**63 + 2**32 - 1
    assert total_of(np.full(1 << 16, 2**62)) == 2**78
    assert whole_counts([]).tolist() == []

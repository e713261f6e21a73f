"""Support counts and their transposes against the buckets themselves."""

import importlib

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.numeric import (
    HashSupport,
    bucket_widths,
    buckets,
    index_words,
    seed_coefficients,
)
from anonhist_testing.cases import each_of

MODULE = importlib.import_module("anonhist.numeric.hashing")
LARGEST = 2**63 - 1

Case = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def case(labels: int, reports: int, words: int, g: int) -> Case:
    """Return words, coefficients, reports, and who supports whom, shape (reports, labels)."""
    rng = np.random.default_rng([labels, reports, words, g])
    of_labels = rng.integers(0, 1 << 16, (labels, words), dtype=np.uint16)
    of_labels[::3, words // 2] = 0
    coefficients = seed_coefficients(rng.integers(0, 2**32, reports), key=b"k", words=words)
    reported = rng.integers(0, g, reports)
    return of_labels, coefficients, reported, buckets(of_labels, coefficients, g) == reported[:, None]


@pytest.fixture(params=[(4, 16), (5, 5), (64, 1), (1 << 15, 1 << 18)])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut the same work into many small blocks, some with a rest, or into one."""
    reports, pairs = request.param
    monkeypatch.setattr(MODULE, "_REPORTS", reports)
    monkeypatch.setattr(MODULE, "_PAIRS", pairs)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("g", [1, 2, 3, 7, 1000, 1 << 16])
@each_of(("labels", "reports", "words"), [(10, 70, 1), (33, 9, 2), (1, 50, 3), (20, 1, 4)])
def test_supports_are_those_of_the_buckets(labels: int, reports: int, words: int, g: int) -> None:
    of_labels, coefficients, reported, supports = case(labels, reports, words, g)
    rng = np.random.default_rng(3)
    once = np.ones(reports, dtype=np.int64)
    found = HashSupport(of_labels, coefficients, reported, g)
    counts = found.counts(once)
    assert counts.dtype == np.int64
    assert counts.tolist() == supports.sum(axis=0).tolist()
    often = rng.integers(0, 4, reports)
    assert found.counts(often).tolist() == (often @ supports).tolist()
    weights, frequencies = rng.normal(size=reports), rng.normal(size=labels)
    np.testing.assert_allclose(found.weights(weights), weights @ supports, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        found.frequencies(frequencies),
        supports @ frequencies,
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    "places",
    [
        np.arange(50),
        np.arange(65_500, 65_580),
        np.arange(50)[::-1],
        np.arange(0, 10_000_000, 99_991),
        np.repeat(7, 30),
        np.append(np.arange(40), [3, 4, 5, 100, 7]),
    ],
    ids=["in order", "across 2^16", "backwards", "with gaps", "all the same", "with a jump"],
)
def test_labels_that_go_on_evenly_are_counted_as_any_others(places: np.ndarray) -> None:
    words, coefficients = index_words(places, 2), seed_coefficients(np.arange(40), key=b"k", words=2)
    reported = np.arange(40) % 3
    expected = (buckets(words, coefficients, 3) == reported[:, None]).sum(axis=0)
    once = np.ones(40, dtype=np.int64)
    assert HashSupport(words, coefficients, reported, 3).counts(once).tolist() == expected.tolist()


@each_of("g", [1, 2, 3, 7])
def test_a_bucket_ends_where_the_next_begins(g: int) -> None:
    """Seeds without factors: t is b, the first or the last of its bucket in 32 bits."""
    starts = np.append(0, np.cumsum(bucket_widths(g))) << 16
    edges = np.concatenate([starts[:-1], starts[1:] - 1])
    inside = np.tile(np.arange(g), 2)
    coefficients = np.stack([edges, 0 * edges], axis=1).astype(np.uint32)
    words, once = np.array([[9]], dtype=np.uint16), np.ones(2 * g, dtype=np.int64)
    for reported in range(g):
        counts = HashSupport(words, coefficients, 0 * inside + reported, g).frequencies(np.ones(1))
        assert counts.tolist() == (inside == reported).tolist()
    assert HashSupport(words, coefficients, inside, g).counts(once).tolist() == [2 * g]


def test_large_multiplicities_are_counted_exactly() -> None:
    of_labels, coefficients, reported, supports = case(8, 40, 1, 2)
    often = np.random.default_rng(4).integers(0, LARGEST // 50, 40)
    often[:3] = 1
    expected = [sum(many for many, here in zip(often.tolist(), column, strict=True) if here) for column in supports.T]
    assert HashSupport(of_labels, coefficients, reported, 2).counts(often).tolist() == expected
    one = np.array([LARGEST])
    for dtype in (np.int64, np.uint64):
        counts = HashSupport(of_labels, coefficients[:1], reported[:1], 2).counts(one.astype(dtype))
        assert counts.tolist() == (supports[0] * LARGEST).tolist()
    small = np.full(40, 100, dtype=np.int8)
    assert HashSupport(of_labels, coefficients, reported, 2).counts(small).tolist() == (100 * supports.sum(0)).tolist()


@pytest.mark.parametrize("many", [np.array([LARGEST, 1]), np.array([2**62, 2**62]), np.array([2**63, 0], np.uint64)])
def test_sums_beyond_int64_are_refused(many: np.ndarray) -> None:
    of_labels, coefficients, reported, _ = case(3, 2, 1, 2)
    with pytest.raises(DataError, match="count them in parts"):
        HashSupport(of_labels, coefficients, reported, 2).counts(many)


def test_no_labels_or_no_reports_have_no_support() -> None:
    of_labels, coefficients, reported, _ = case(3, 4, 1, 2)
    once = np.ones(4, dtype=np.int64)
    assert HashSupport(of_labels, coefficients[:0], reported[:0], 2).counts(once[:0]).tolist() == [0, 0, 0]
    assert HashSupport(of_labels, coefficients[:0], reported[:0], 2).weights(np.ones(0)).tolist() == [0, 0, 0]
    assert HashSupport(of_labels, coefficients[:0], reported[:0], 2).frequencies(np.ones(3)).shape == (0,)
    assert HashSupport(of_labels[:0], coefficients, reported, 2).counts(once).shape == (0,)
    assert HashSupport(of_labels[:0], coefficients, reported, 2).frequencies(np.ones(0)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("reported", [[0, -1], [0, 2], [0.0, 1.0]])
def test_reports_outside_the_buckets_are_refused(reported: list[float]) -> None:
    of_labels, coefficients, _, _ = case(3, 2, 1, 2)
    with pytest.raises(DataError, match="bucket that does not exist"):
        HashSupport(of_labels, coefficients, np.array(reported), 2)


@pytest.mark.parametrize("many", [np.array([1, -1]), np.array([1.0, 1.0])])
def test_multiplicities_that_count_nothing_are_refused(many: np.ndarray) -> None:
    of_labels, coefficients, reported, _ = case(3, 2, 1, 2)
    with pytest.raises(DataError, match="integers of at least 0"):
        HashSupport(of_labels, coefficients, reported, 2).counts(many)


def test_shapes_that_do_not_go_together_are_refused() -> None:
    of_labels, coefficients, reported, _ = case(3, 2, 1, 2)
    once = np.ones(2, dtype=np.int64)
    with pytest.raises(UsageError, match="w \\+ 1 coefficients"):
        HashSupport(of_labels, coefficients[:, :1], reported, 2).counts(once)
    for reports, weights in ((reported[:1], once), (reported, once[:1])):
        with pytest.raises(UsageError, match="one weight for each report"):
            HashSupport(of_labels, coefficients, reports, 2).counts(weights)
    with pytest.raises(UsageError, match="one frequency for each label"):
        HashSupport(of_labels, coefficients, reported, 2).frequencies(np.ones(2))
    for g in (0, (1 << 16) + 1):
        with pytest.raises(UsageError, match="from 1 to 65536"):
            HashSupport(of_labels, coefficients, reported * 0, g).counts(once)

"""Multiply-shift: its definition, the test vectors, and exact pairwise independence."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.numeric import (
    bucket_widths,
    buckets,
    hash_words,
    index_words,
    keyed_hash,
    label_words,
    paired_buckets,
    seed_coefficients,
)
from anonhist_testing.cases import each_of

VECTORS = json.loads((Path(__file__).parents[2] / "examples" / "hashing_vectors.json").read_text(encoding="utf-8"))
KEY = b"survey 1"
VALUES = 1 << 16


def slow_bucket(words: list[int], coefficients: list[int], g: int) -> int:
    offset, *factors = coefficients
    total = (offset + sum(a * x for a, x in zip(factors, words, strict=True))) % 2**32
    return (total // VALUES) * g // VALUES


def random_words(labels: int, words: int) -> np.ndarray:
    drawn = np.random.default_rng([labels, words]).integers(0, VALUES, (labels, words), dtype=np.uint16)
    drawn[:3] = np.array([0, VALUES - 1, 1])[:labels, None]
    return drawn


def test_coefficients_are_those_of_the_test_vectors() -> None:
    assert len(VECTORS["coefficients"]) == 5
    for row in VECTORS["coefficients"]:
        coefficients = seed_coefficients(np.array([row["seed"]]), key=bytes.fromhex(row["key"]), words=5)
        assert coefficients.tolist() == [[row["b"], *row["a"]]]


def test_words_and_buckets_are_those_of_the_test_vectors() -> None:
    assert len(VECTORS["buckets"]) == 10
    for row in VECTORS["buckets"]:
        key = bytes.fromhex(row["key"])
        if "place" in row:
            words = index_words(np.array([row["place"]]), 2)
        else:
            words = label_words(keyed_hash([row["label"]], key=key), 2)
        assert words.tolist() == [row["words"]]
        coefficients = seed_coefficients(np.array([row["seed"]]), key=key, words=2)
        assert row["buckets"].keys() == {"2", "3", "1000", "65536"}
        for g, bucket in row["buckets"].items():
            assert int(paired_buckets(words, coefficients, int(g))[0]) == bucket


@each_of("words", [1, 3, 4, 7, 8])
@each_of("dtype", [np.int64, np.uint32, np.uint64])
def test_coefficients_are_cut_from_hashes_of_seed_and_counter(words: int, dtype: type) -> None:
    seeds = [0, 1, 77, 2**32 - 1]
    coefficients = seed_coefficients(np.array(seeds, dtype=dtype), key=KEY, words=words)
    assert coefficients.dtype == np.uint32
    for seed, row in zip(seeds, coefficients.tolist(), strict=True):
        stream = b"".join(
            hash_words(np.array([seed + (block << 32)], dtype=np.uint64), key=KEY).astype("<u8").tobytes()
            for block in range(3)
        )
        assert row == [int.from_bytes(stream[4 * j : 4 * j + 4], "little") for j in range(words + 1)]


def test_words_of_labels_are_the_bytes_of_their_hash_two_by_two() -> None:
    hashes = keyed_hash(["apple", "pear"], key=KEY)
    for words in range(1, 9):
        expected = [
            [int.from_bytes(row.astype("<u8").tobytes()[2 * i : 2 * i + 2], "little") for i in range(words)]
            for row in hashes
        ]
        assert label_words(hashes, words).tolist() == expected
        assert label_words(hashes, words).dtype == np.uint16


def test_words_of_places_are_their_digits_of_16_bits() -> None:
    places = np.array([0, 1, VALUES - 1, VALUES, 2**31, 2**48 + 5 * 2**32 + 7 * VALUES + 9, 2**63 - 1])
    digits = [[place >> shift & 0xFFFF for shift in (0, 16, 32, 48)] for place in places.tolist()]
    assert index_words(places, 4).tolist() == digits
    assert index_words(np.array([2**64 - 1], dtype=np.uint64), 4).tolist() == [[VALUES - 1] * 4]
    assert index_words(np.arange(3, dtype=np.int8), 1).tolist() == [[0], [1], [2]]


@each_of("g", [1, 2, 3, 7, 1000, 40_000, VALUES])
@each_of("words", [1, 2, 5])
def test_buckets_follow_the_definition(words: int, g: int) -> None:
    labels = random_words(9, words)
    coefficients = seed_coefficients(np.arange(9) * 12_345, key=KEY, words=words)
    coefficients[0] = 2**32 - 1
    expected = [[slow_bucket(label, seed, g) for label in labels.tolist()] for seed in coefficients.tolist()]
    assert buckets(labels, coefficients, g).tolist() == expected
    assert paired_buckets(labels, coefficients, g).tolist() == [expected[i][i] for i in range(9)]


def test_words_that_are_zero_change_nothing() -> None:
    places = np.arange(0, VALUES, 997)
    results = [
        buckets(index_words(places, words), seed_coefficients(np.arange(20), key=KEY, words=words), 10).tolist()
        for words in (1, 2, 4)
    ]
    assert results[0] == results[1] == results[2]


@each_of("g", [1, 2, 3, 5, 7, 255, 1000, 65_535, VALUES])
def test_widths_count_the_values_of_each_bucket(g: int) -> None:
    expected = np.bincount(np.arange(VALUES) * g // VALUES, minlength=g)
    assert bucket_widths(g).tolist() == expected.tolist()
    assert bucket_widths(g).dtype == np.int64


@pytest.mark.full
@each_of(("one", "other"), list(pairwise([0, 1, 2, 32_768, 65_535, 0])))
def test_pairs_of_values_are_exactly_uniform(one: int, other: int) -> None:
    """With the other's value held, the one's takes each of its 2^16 values once; with all held but b, so does either.

    The factor a moves ``a·(x − x')`` through ``2^16·j`` for all j, b follows so that x' keeps its value i. What is
    summed over is every coset of such (a, b), all of one size, so the pair is uniform over all coefficients as well.
    """
    labels = np.array([[3, one], [3, other]], dtype=np.uint16)
    difference = (one - other) % 2**32
    twos = difference & -difference
    step = (VALUES // twos) * pow(difference // twos, -1, 2**32) % 2**32
    rng = np.random.default_rng([one, other])
    for held in (0, VALUES - 1, *rng.integers(0, VALUES, 3).tolist()):
        rest, first, low = (int(draw) for draw in rng.integers(0, 2**32, 3))
        factors = (rest + np.arange(VALUES, dtype=np.uint64) * np.uint64(step)).astype(np.uint32)
        coefficients = np.empty((VALUES, 3), dtype=np.uint32)
        coefficients[:, 1] = first
        coefficients[:, 2] = factors
        coefficients[:, 0] = (held << 16) + low % VALUES - 3 * first % 2**32 - factors.astype(np.int64) * other
        values = buckets(labels, coefficients, VALUES)
        assert (values[:, 1] == held).all()
        assert np.array_equal(np.sort(values[:, 0]), np.arange(VALUES))
        coefficients[:, 2] = rest
        coefficients[:, 0] = low % VALUES + (np.arange(VALUES) << 16)
        values = buckets(labels, coefficients, VALUES)
        assert np.array_equal(np.sort(values, axis=0), np.repeat(np.arange(VALUES)[:, None], 2, axis=1))


@pytest.mark.parametrize("g", [2, 3, 4, 7])
@each_of("pair", [(0, 1), (0, 32_768), (5, 65_541), (7, 2**32 - 1)])
def test_two_labels_meet_in_a_bucket_as_often_as_two_independent_ones(g: int, pair: tuple[int, int]) -> None:
    """At most 49 cells, 16 cases; each wrong with probability 6e-7 for fresh seeds, all of them with 2e-4."""
    seeds = 200_000
    coefficients = seed_coefficients(np.arange(seeds), key=KEY, words=2)
    one, other = buckets(index_words(np.array(pair), 2), coefficients, g).T
    joint = np.bincount(one * g + other, minlength=g * g).reshape(g, g)
    expected = np.multiply.outer(bucket_widths(g), bucket_widths(g)) / 2**32
    errors = np.sqrt(seeds * expected * (1 - expected))
    assert (np.abs(joint - seeds * expected) < 5 * errors).all()


@pytest.mark.parametrize("g", [0, -1, VALUES + 1])
def test_impossible_numbers_of_buckets_are_refused(g: int) -> None:
    words, coefficients = random_words(2, 1), seed_coefficients(np.arange(2), key=KEY, words=1)
    for call in (lambda: bucket_widths(g), lambda: buckets(words, coefficients, g)):
        with pytest.raises(UsageError, match="from 1 to 65536"):
            call()


def test_impossible_numbers_of_words_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        seed_coefficients(np.arange(2), key=KEY, words=0)
    for words in (0, 9):
        with pytest.raises(UsageError, match="from 1 to 8"):
            label_words(np.zeros((1, 2), dtype=np.uint64), words)
    for words in (0, 5):
        with pytest.raises(UsageError, match="from 1 to 4"):
            index_words(np.arange(2), words)


@each_of("seeds", [np.array([-1]), np.array([2**32]), np.array([0.5]), np.array([[1]])])
def test_seeds_outside_32_bits_are_refused(seeds: np.ndarray) -> None:
    with pytest.raises(DataError, match="Seeds must be integers"):
        seed_coefficients(seeds, key=KEY, words=1)


@each_of("indices", [np.array([-1]), np.array([VALUES]), np.array([0.5]), np.array([[1]])])
def test_places_that_do_not_fit_their_words_are_refused(indices: np.ndarray) -> None:
    with pytest.raises(DataError, match="Indices of labels"):
        index_words(indices, 1)


def test_words_and_coefficients_that_do_not_go_together_are_refused() -> None:
    words, coefficients = random_words(3, 2), seed_coefficients(np.arange(4), key=KEY, words=2)
    for refused in ((words[:, :1], coefficients), (words[:, :0], coefficients[:, :1]), (words[0], coefficients)):
        with pytest.raises(UsageError, match="w \\+ 1 coefficients"):
            buckets(*refused, 3)
    with pytest.raises(UsageError, match="uint16"):
        buckets(words.astype(np.int64), coefficients, 3)
    with pytest.raises(UsageError, match="own seed, there must be as many labels"):
        paired_buckets(words, coefficients, 3)


def test_nothing_has_no_buckets() -> None:
    words, coefficients = random_words(3, 1), seed_coefficients(np.arange(4), key=KEY, words=1)
    assert buckets(words[:0], coefficients, 3).shape == (4, 0)
    assert buckets(words, coefficients[:0], 3).shape == (0, 3)
    assert seed_coefficients(np.arange(0), key=KEY, words=1).shape == (0, 2)
    assert index_words(np.arange(0), 2).shape == (0, 2)

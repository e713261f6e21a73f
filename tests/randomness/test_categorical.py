"""Categorical draws against inversion in fractions: no chance involved, boundaries sought out."""

from bisect import bisect_right
from fractions import Fraction
from importlib import import_module
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist.randomness import categorical, categorical_rows
from anonhist_testing.sources import SeededSource, TapeSource

WORD = 2**64 - 1
MODULE = import_module("anonhist.randomness.categorical")  # the function of the same name hides it


def cumulative_shares(weights: np.ndarray) -> list[Fraction]:
    sums = list(accumulate(map(Fraction, weights.tolist())))
    return [part / sums[-1] for part in sums]


def index_at(boundaries: list[Fraction], words: list[int]) -> int:
    """The index for a uniform U with the given digits followed by a 1: inside the interval they leave."""
    number = sum(Fraction(word, 2 ** (64 * (i + 1))) for i, word in enumerate([*words, 1]))
    return bisect_right(boundaries, number)


def words_near(boundaries: list[Fraction]) -> list[int]:
    near = {int(part * 2**64) + off for part in boundaries for off in (-1500, -2, -1, 0, 1, 2, 1500)}
    return sorted(word for word in near | {0, 1, WORD} if 0 <= word <= WORD)


def check(weights: np.ndarray, boundaries: list[Fraction], word: int) -> None:
    """One draw is right whatever comes after the first word, and so is the same draw as a row."""
    for after in (1, 2**63, WORD):
        index = index_at(boundaries, [word, after])
        assert categorical(weights, source=TapeSource([word, after, 1])) == index
        rows = categorical_rows(weights[np.newaxis], source=TapeSource([word, after, 1]))
        assert rows.tolist() == [index]
        assert weights[index] > 0


WEIGHTS = {
    "one": [3.0],
    "zeros around": [0.0, 0.0, 1.0, 0.0, 2.0, 0.0],
    "dyadic": [1.0, 1.0, 2.0, 4.0],
    "thirds": [1.0, 1.0, 1.0],
    "negative zero": [-0.0, 1.0, -0.0],
    "falling": [float(np.exp(-abs(k) / 3)) for k in range(-60, 61)],
    "wide range": [1e-300, 1.0, 1e-17, 1e300, 1e-5, 1e284],
    "subnormal": [5e-324, 0.0, 1.5e-323, 1e-310],
    "subnormal beside one": [5e-324, 1.0, 5e-324],
    "overflow": [1.7e308, 1.7e308, 1e-320, 1.0],
    "just below the largest total": [2.0**998, 2.0**999],
    "absorbed": [1.0] + [2.0**-54] * 40 + [1.0],
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_every_boundary_is_exact(weights: list[float]) -> None:
    array = np.array(weights)
    boundaries = cumulative_shares(array)
    for word in words_near(boundaries):
        check(array, boundaries, word)


@pytest.mark.slow
def test_every_boundary_of_uneven_sums_is_exact() -> None:
    # Sums of many random terms are off by many units in the last place: words at the boundaries of the exact cdf.
    weights = np.random.default_rng(3).random(700) ** 8
    boundaries = cumulative_shares(weights)
    for i in range(0, 699, 7):
        word = int(boundaries[i] * 2**64)
        for near in (word - 1, word, word + 1):
            assert categorical(weights, source=TapeSource([near, 7, 1])) == index_at(boundaries, [near, 7])


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0, 1.79e308), min_size=1, max_size=12).filter(any),
    st.integers(0, WORD),
)
def test_any_weights_at_any_word(weights: list[float], word: int) -> None:
    check(np.array(weights), cumulative_shares(np.array(weights)), word)


def test_floats_decide_almost_always(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        pytest.fail("The exact way was taken.")

    monkeypatch.setattr(MODULE, "_exact", refuse)
    source, rng = SeededSource(1), np.random.default_rng(1)
    for size in (1, 50, 1500):
        weights = rng.random(size) + 1e-3
        for _ in range(300):
            categorical(weights, source=source)
    categorical_rows(rng.random((3000, 40)), source=source)


def test_rows_are_single_draws_in_every_block() -> None:
    weights = np.random.default_rng(2).random((3000, 100)) ** 20
    assert weights.size > 4 * MODULE.BLOCK
    words = SeededSource(4).words(3000)
    drawn = categorical_rows(weights, source=TapeSource(words))
    assert drawn.dtype == np.int64
    alone = [categorical(row, source=TapeSource([word])) for row, word in zip(weights, words.tolist(), strict=True)]
    assert drawn.tolist() == alone
    assert len(set(alone)) > 50


def test_rows_in_any_layout() -> None:
    weights = np.random.default_rng(2).random((40, 30))
    straight = categorical_rows(weights, source=SeededSource(9))
    assert np.array_equal(categorical_rows(np.asfortranarray(weights), source=SeededSource(9)), straight)
    strided = np.repeat(weights, 2, axis=1)[:, ::2]
    assert np.array_equal(categorical_rows(strided, source=SeededSource(9)), straight)


def test_no_rows_no_words() -> None:
    assert categorical_rows(np.zeros((0, 5)), source=TapeSource([])).tolist() == []


def test_weights_are_not_changed() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    weights.setflags(write=False)
    categorical(weights, source=SeededSource(0))
    categorical_rows(weights[np.newaxis], source=SeededSource(0))
    assert weights.tolist() == [1.0, 2.0, 3.0]

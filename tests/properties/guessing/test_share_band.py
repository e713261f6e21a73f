"""Bounds of metrics from bounds of λ_β: exact where these are exact, and never on the wrong side."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.profiles import Profile
from anonhist.properties.most_frequent import covered_share
from anonhist.properties.share_band import ShareBand, marks_of

COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=40)
SHARES = st.sampled_from(["0.01", "0.1", "0.25", "0.5", "0.9", "1"])


def naive(counts: list[int], share: Fraction) -> tuple[int, Fraction, Fraction]:
    """Return μ_α, λ_{μ_α} and G_α from the definitions, in exact rationals."""
    n, ordered = sum(counts), sorted(counts, reverse=True)
    labels = next(m for m in range(1, len(ordered) + 1) if Fraction(sum(ordered[:m]), n) >= share)
    covered = Fraction(sum(ordered[:labels]), n)
    spent = sum(Fraction(rank * count, n) for rank, count in enumerate(ordered[:labels], 1))
    return labels, covered, (1 - covered) * labels + spent


def bits(guesses: Fraction, covered: Fraction) -> float:
    return math.log2(2 * guesses / covered - 1) - math.log2(2 - covered)


def exact(counts: list[int], marks: list[int] | None = None) -> ShareBand:
    """Return a band whose bounds are λ itself, at all numbers of labels or at these."""
    profile = Profile.from_counts(counts)
    at = marks_of(profile.num_labels) if marks is None else np.array(marks)
    share = covered_share(profile, at)
    return ShareBand.of(at, share, share)


@given(COUNTS, SHARES)
def test_exact_bounds_at_every_number_give_exact_metrics(counts: list[int], text: str) -> None:
    share, band = Fraction(text), exact(counts)
    labels, covered, guesses = naive(counts, share)
    # Rounding may take a share that is reached exactly for one that is not: by one guess, and to the safe side.
    low, high = band.work(share)
    assert low == labels
    assert labels <= high <= labels + (covered == share)
    assert band.guesswork(share)[0] == pytest.approx(float(guesses), rel=1e-12)
    if high == labels:
        assert band.guesswork(share)[1] == pytest.approx(float(guesses), rel=1e-12)
        assert band.work_bits(share) == pytest.approx([math.log2(labels / covered)] * 2, abs=1e-12)
    least, most = band.guesswork_bits(share)
    assert least - 1e-12 <= bits(guesses, covered) <= most + 1e-12


@given(COUNTS, SHARES, st.data())
def test_bounds_at_some_numbers_hold_between_them(counts: list[int], text: str, data: st.DataObject) -> None:
    some = data.draw(st.sets(st.integers(2, len(counts) + 5), max_size=6))
    share, band = Fraction(text), exact(counts, [1, *sorted(some)])
    labels, covered, guesses = naive(counts, share)
    for beta in range(1, len(counts) + 8):
        low, high = band.success(beta)
        true = sum(sorted(counts, reverse=True)[:beta]) / sum(counts)
        assert low - 1e-12 <= true <= high + 1e-12
    for (low, high), true in (
        (band.work(share), labels),
        (band.guesswork(share), float(guesses)),
        (band.work_bits(share), math.log2(labels / covered)),
        (band.guesswork_bits(share), bits(guesses, covered)),
    ):
        assert low - 1e-9 <= true <= high + 1e-9


def test_bounds_by_hand() -> None:
    band = ShareBand.of(np.array([1, 2, 3]), np.array([0.2, 0.3, 0.6]), np.array([0.4, 0.6, 1.0]))
    assert band.success(2) == (0.3, 0.6)
    # λ_2 ≤ 0.6 may reach a half, λ_3 ≥ 0.6 does: 2 or 3 guesses. G ≥ 1 + 0.6, and at most 1 + 0.8 + 0.7.
    assert band.work(Fraction(1, 2)) == (2, 3)
    assert band.guesswork(Fraction(1, 2)) == pytest.approx((1.6, 2.5))
    assert band.work_bits(Fraction(1, 2)) == pytest.approx((math.log2(2 / 0.6), math.log2(3 / 0.6)))
    # λ_μ < ½·2/1 = 1: lg(3.2 − 1) − lg(2 − 1), and with λ_μ = ½, lg(10 − 1) − lg(1.5).
    assert band.guesswork_bits(Fraction(1, 2)) == pytest.approx((math.log2(2.2), math.log2(6)))
    assert band.success_bits(2) == pytest.approx((math.log2(2 / 0.6), math.log2(2 / 0.3)))
    # The lower bound ends at 0.6: nothing says that 0.9 is ever reached.
    assert band.work(Fraction(9, 10)) == (3, math.inf)
    assert band.guesswork(Fraction(9, 10)) == pytest.approx((1 + 0.6 + 0.4, math.inf))
    assert band.work_bits(Fraction(9, 10))[1] == band.guesswork_bits(Fraction(9, 10))[1] == math.inf
    assert band.success(10**6) == (0.6, 1.0)


def test_guesswork_between_marks_by_hand() -> None:
    share = np.array([0.1, 0.5, 1.0])
    band = ShareBand.of(np.array([1, 5, 10]), share, share)
    # λ_2 to λ_4 are 0.1 to 0.5, and λ_6 to λ_9 are 0.5 to 1; of a uniform distribution G is 5.5.
    low, high = 1 + 0.9 + 4 * 0.5, 1 + 0.9 + 3 * 0.9 + 0.5 + 4 * 0.5
    assert band.guesswork(Fraction(1)) == pytest.approx((low, high))


def test_bounds_that_fall_are_loosened() -> None:
    band = ShareBand.of(np.array([1, 2, 3]), np.array([0.3, 0.1, 1.5]), np.array([0.4, 0.35, -1.0]))
    assert band.low.tolist() == [0.1, 0.1, 1.0]
    assert band.high.tolist() == [0.4, 0.4, 1.0]


def test_numbers_near_the_largest() -> None:
    profile = Profile([1, 2**62], [2**61, 1])
    marks = marks_of(profile.num_labels)
    assert (marks[0], marks[1023], marks[-1]) == (1, 1024, 2**61 + 1)
    share = covered_share(profile, marks)
    band = ShareBand.of(marks, share, share)
    assert band.success(1) == pytest.approx((2 / 3, 2 / 3))
    low, high = band.work(Fraction(9, 10))
    true = 1 + (Fraction(9, 10) * profile.n - 2**62)
    assert low <= true <= high
    assert high / low < 1.02
    assert band.success_bits(2**61) == pytest.approx((61, 61), abs=1e-9)

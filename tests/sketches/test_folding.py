"""Clipping and unfolding: the distribution of what comes back, enumerated and drawn."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.randomness import discrete_laplace_pmf, geometric_pmf
from anonhist.sketches import HashedSketch, NoiseShare, changes
from anonhist.sketches.changes import fold, unfold
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

LARGEST = 3


@pytest.mark.parametrize("count", range(LARGEST + 1))
@pytest.mark.parametrize("gamma", [Fraction(2), Fraction(1, 2)], ids=str)
def test_the_distribution_of_an_unfolded_counter_is_that_of_one_never_clipped(
    count: int, gamma: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every noise to ±100 is clipped, and every geometric number to 60 drawn where one is asked for."""
    noise, overshoot = np.arange(-100, 101), np.arange(61)
    masses = np.bincount(fold(count + noise, LARGEST), weights=discrete_laplace_pmf(gamma, noise))
    assert masses.size == LARGEST + 1
    cases = np.repeat(np.arange(LARGEST + 1), overshoot.size)
    rates = []

    def every_number(rate: Fraction, size: int, *, source: object) -> np.ndarray:
        del source
        assert size == overshoot.size
        rates.append(rate)
        return overshoot

    monkeypatch.setattr(changes, "geometric", every_number)
    back = unfold(cases, LARGEST, gamma, source=SeededSource(1))
    assert rates == [gamma, gamma]
    chances = np.tile(geometric_pmf(gamma, overshoot), LARGEST + 1)
    distribution = np.bincount(back + 60, weights=masses[cases] * chances)
    # In between nothing is drawn: there the cases of one counter are the same value again and again.
    values = np.arange(-20, LARGEST + 21)
    expected = discrete_laplace_pmf(gamma, values - count)
    # Noise beyond ±100 is missing: e^−50 at most, of which what is compared is at least e^−24.
    assert distribution[values + 60] == pytest.approx(expected, rel=1e-10)


@pytest.mark.fresh
def test_unfolded_counters_follow_the_distribution_and_folded_ones_do_not() -> None:
    """Each assertion fails by chance with probability at most 10^−9; the seed is fixed."""
    sketch = HashedSketch(buckets=20_000, epsilon=1, key=b"k", source=SeededSource(7))
    sketch.add(np.arange(20_000))
    right = partial(discrete_laplace_pmf, Fraction(1))
    sketch.clip(LARGEST)
    assert_pmf_differs(sketch.counters - 1, right)
    sketch.unfold(source=SeededSource(8))
    assert_pmf_equal(sketch.counters - 1, right)


def test_counters_inside_stay_and_those_at_the_ends_move_outwards() -> None:
    counters = np.array([0, 1, 2, 3] * 1000)
    back = unfold(counters, LARGEST, Fraction(1, 5), source=SeededSource(1))
    assert back[1::4].tolist() == [1] * 1000
    assert back[2::4].tolist() == [2] * 1000
    assert back[::4].max() == 0
    assert back[::4].min() < -5
    assert back[3::4].min() == LARGEST
    assert back[3::4].max() > LARGEST + 5
    assert counters.tolist() == [0, 1, 2, 3] * 1000


def clipped_sketch() -> HashedSketch:
    sketch = HashedSketch(buckets=16, epsilon=1, key=b"k")
    sketch.clip(5)
    return sketch


def test_a_clipped_sketch_can_only_be_unfolded_and_only_once() -> None:
    sketch, other = clipped_sketch(), HashedSketch(buckets=16, epsilon=1, key=b"k")
    assert sketch.clipped == 5
    assert sketch.counters.min() >= 0
    assert sketch.counters.max() <= 5
    kept = sketch.counters.copy()
    for refused in (
        lambda: sketch.update(["a"]),
        lambda: sketch.update([]),
        lambda: sketch.update_buffer(np.zeros(0, dtype=np.uint8), [0]),
        lambda: sketch.add(np.array([1])),
        lambda: sketch.merge(other),
        lambda: other.merge(sketch),
        sketch.reconstruct,
        lambda: sketch.clip(9),
    ):
        with pytest.raises(UsageError, match="before it is unfolded"):
            refused()
    assert (sketch.counters == kept).all()
    sketch.unfold()
    assert sketch.clipped is None
    with pytest.raises(UsageError, match="can only be unfolded once"):
        sketch.unfold()
    sketch.merge(other)


def test_only_the_whole_noise_of_one_sketch_is_clipped() -> None:
    merged = HashedSketch(buckets=16, epsilon=1, key=b"k") + HashedSketch(buckets=16, epsilon=1, key=b"k")
    share = HashedSketch(buckets=16, epsilon=1, key=b"k", noise_share=NoiseShare(honest=2, session="s"))
    for sketch in (merged, share):
        with pytest.raises(UsageError, match="the whole noise of one sketch"):
            sketch.clip(5)
        assert sketch.clipped is None
    with pytest.raises(UsageError, match=r"largest must be a whole number from 1 to 2\^62"):
        HashedSketch(buckets=16, epsilon=1, key=b"k").clip(0)

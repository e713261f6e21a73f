from fractions import Fraction

import numpy as np
import pytest

from anonhist.sketches.decoder import Counters, CounterSetting
from anonhist.sketches.inverses import FourierDecompounding
from anonhist.sketches.noise import NoiseDistribution

# More of it beside the slower decoder, in test_decompounding.py.
NOISE = NoiseDistribution.of([(Fraction(1), Fraction(1))])


def test_labels_add_up_whatever_their_sums_are() -> None:
    rng = np.random.default_rng(4)
    counts = rng.geometric(0.2, 10**5)
    counters = NOISE.simulate(10**5, rng=rng)
    np.add.at(counters, rng.integers(10**5, size=counts.size), counts)
    found = FourierDecompounding().decode(Counters.of(counters), CounterSetting(NOISE, is_hashed=True))
    assert found.counts[0] == 1
    assert found.numbers.min() >= 0
    # Errors below zero are cut off, so the sum is a little too large: standard error 0.006 of five runs.
    assert found.numbers.sum() == pytest.approx(10**5, rel=0.05)
    near = found.numbers[:5] / np.bincount(counts)[1:6]
    # Standard errors of five runs: 0.013, 0.03, 0.07, 0.1, 0.13.
    assert (np.abs(near - 1) < [0.06, 0.15, 0.3, 0.5, 0.6]).all()


def test_windows_far_from_zero_are_followed_without_a_break() -> None:
    # All labels occur 200 times: the phase turns two hundred times.
    rng, distribution = np.random.default_rng(5), NoiseDistribution.of([(Fraction(3), Fraction(1))])
    counters = distribution.simulate(20_000, rng=rng) + 200 * rng.poisson(0.5, 20_000)
    found = FourierDecompounding().decode(Counters.of(counters), CounterSetting(distribution, is_hashed=True))
    # Standard error: about 200.
    assert found.numbers[found.counts == 200][0] == pytest.approx(10_000, abs=1000)


def test_what_lies_beyond_the_window_is_kept() -> None:
    counters = np.concatenate((NOISE.simulate(5000, rng=np.random.default_rng(6)), [2**50, 2**50, 2**61]))
    found = FourierDecompounding().decode(Counters.of(counters), CounterSetting(NOISE, is_hashed=True))
    assert found.counts[-2:].tolist() == [2**50, 2**61]
    # Three of 5,003 buckets hold a little more than three labels on average; the rest is taken for small.
    more = -5003 * np.log1p(-3 / 5003) - 3
    np.testing.assert_allclose(found.numbers[-2:], [2 + more, 1])

"""The published decoder: its parts put together as published, its window, its bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.sketches import inverses
from anonhist.sketches.decoder import Counters, CounterSetting
from anonhist.sketches.inverses import WuPagh, round_to_profile, truncated_reach
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.sketches import truncated_noise

ONE = Fraction(1)
SETTING = CounterSetting(NoiseDistribution(((ONE, ONE),)), is_hashed=False)


@each_of("norm", [1, 2, math.inf, "1", "2", "inf"])
def test_is_the_published_formula_on_the_window_of_the_largest_value(norm: float | str) -> None:
    rng = np.random.default_rng(1)
    counters = rng.poisson(3, 2000) + SETTING.noise.simulate(2000, rng=rng)
    n, reach = int(counters.max()), truncated_reach(ONE, size=2000, beta=0.01)
    length = n + 2 * reach + 1
    column = np.zeros(length)
    column[np.arange(-reach, reach + 1)] = truncated_noise(ONE, reach)
    inverse = np.linalg.inv(np.array([np.roll(column, shift) for shift in range(length)]))
    seen = np.bincount(counters + reach, minlength=length) / 2000
    inside = np.where((np.arange(length) >= reach) & (np.arange(length) <= n + reach), 1.0, 0.0)
    costs = inverse @ inside
    direction = (
        inverse @ {"1": (np.arange(length) == np.argmax(costs)) * 1.0, "2": costs, "inf": np.sign(costs)}[str(norm)]
    )
    best = inverse @ seen
    best += (1 - inside @ best) / (inside @ direction) * direction
    found = WuPagh(norm).decode(Counters.of(counters), SETTING)
    dense = np.zeros(n + 1)
    dense[found.counts] = found.numbers
    # The window of the decoder is longer, which changes nothing but the wrapped ends of the inverse.
    np.testing.assert_allclose(dense, 2000 * round_to_profile(best[reach : reach + n + 1]), atol=1e-4)


def test_counters_below_the_window_make_it_longer() -> None:
    counters = np.append(np.zeros(100, dtype=np.int64), [-500, -40])
    found = WuPagh().decode(Counters.of(counters), SETTING)
    assert found.counts.tolist() == [0]
    assert found.numbers.sum() == pytest.approx(102)


def test_merged_noise_is_undone_part_by_part() -> None:
    rng = np.random.default_rng(2)
    distribution = NoiseDistribution(((Fraction(2), Fraction(1, 2)), (Fraction(2), ONE), (Fraction(3), ONE)))
    counters = np.repeat([0, 2, 7], [50_000, 30_000, 20_000]) + distribution.simulate(100_000, rng=rng)
    for norm in ("1", "2", "inf"):
        found = WuPagh(norm).decode(Counters.of(counters), CounterSetting(distribution, is_hashed=False))
        dense = np.zeros(40)
        dense[found.counts] = found.numbers
        # Standard errors are below ‖A⁻¹‖·√100,000 < 3.3·316; five of them, with this seed.
        np.testing.assert_allclose(dense[[0, 2, 7]], [50_000, 30_000, 20_000], atol=5 * 3.3 * 316)
        assert dense[[1, 3, 4, 5, 6]].max() < 5 * 3.3 * 316
        assert dense.sum() == pytest.approx(100_000)


def test_refuses_windows_longer_than_2_to_the_24(monkeypatch: pytest.MonkeyPatch) -> None:
    for largest in (2**24, 2**61, -(2**24), -(2**61)):
        with pytest.raises(UsageError, match="leave out the method, and the default one is taken"):
            WuPagh().decode(Counters.of(np.array([0, largest])), SETTING)
    monkeypatch.setattr(inverses, "LONGEST_WINDOW", 1024)
    reach = truncated_reach(ONE, size=2, beta=0.01)
    assert WuPagh().decode(Counters.of(np.array([0, 1023 - 2 * reach])), SETTING).numbers.sum() == pytest.approx(2)
    with pytest.raises(UsageError, match="cannot hold a window"):
        WuPagh().decode(Counters.of(np.array([0, 1024 - 2 * reach])), SETTING)


def test_refuses_other_norms_and_probabilities() -> None:
    for norm in ("3", "", 2.5, None, True):
        with pytest.raises(UsageError, match="norm must be one of 1, 2, inf"):
            WuPagh(norm)  # type: ignore[arg-type]  # refusing other types is tested
    for beta in (0, 1, 1.5, -1, "x", float("nan"), True):
        with pytest.raises(UsageError, match="beta must be"):
            WuPagh(beta=beta)

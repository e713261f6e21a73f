"""How often the end of the guessing success holds, exactly, where one label is tried."""

import math

import pytest
from scipy.stats import binom

from anonhist.profiles import Profile
from anonhist.properties.guessing_curve import guessing_success
from anonhist_testing.cases import each_of

ITEMS = 1000


@pytest.mark.parametrize("unit", ["share", pytest.param("bits", marks=pytest.mark.slow)])
@each_of("share", [0.001, 0.0035, 0.005, 0.01, 0.03, 0.1, 0.5, 0.9])
def test_the_end_holds_for_every_share_of_the_most_frequent_label(share: float, unit: str) -> None:
    # The others are so many that none of them is seen twice. By the normal quantile 8 to 24% are above from 0.003 to
    # 0.007.
    drawn, missed = binom(ITEMS, share), 0.0
    for count in range(int(drawn.ppf(1e-4)), int(drawn.ppf(0.06)) + 1):
        profile = Profile.from_counts([count] * (count > 0) + [1] * (ITEMS - count))
        low, high = guessing_success(profile, guesses=1, unit=unit).interval
        missed += drawn.pmf(count) * (share > high if unit == "share" else -math.log2(share) < low)
    assert missed <= 0.025


@each_of("times", [1, 10**6, 10**7, 10**11])
def test_the_end_is_near_where_much_was_seen(times: int) -> None:
    profile = Profile.from_counts([400_000 * times, 300_000 * times, 300_000 * times])
    least, most = guessing_success(profile, guesses=1).interval
    # Half of the items are tried, and Chernoff's bound, for half of the misses, is 1.5 times as far as the normal.
    assert 2 < (0.4 - least) / math.sqrt(0.24 / profile.n) < 5
    # The next term is of the order of 1/n.
    assert (most - 0.4) / math.sqrt(0.24 / profile.n) == pytest.approx(1.96, rel=1e-3)

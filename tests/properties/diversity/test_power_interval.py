"""How often intervals of power sums hold, exactly, where one label alone adds to the sum."""

import pytest
from scipy.stats import binom

from anonhist.profiles import Profile
from anonhist.properties import hill_number, power_sum
from anonhist_testing.cases import each_of

ITEMS = 1000


@pytest.mark.slow
@each_of("order", [2, 3])
@each_of("share", [0.0035, 0.01, 0.1])
def test_each_end_holds_where_one_label_is_all_that_counts(order: int, share: float) -> None:
    # The others are so many that none of them is seen twice: the sum is share^order, and the count of the one binomial.
    drawn, truth = binom(ITEMS, share), share**order
    too_high = too_low = 0.0
    for count in range(int(drawn.ppf(1e-4)), int(drawn.ppf(1 - 1e-4)) + 1):
        profile = Profile.from_counts([count] * (count > 0) + [1] * (ITEMS - count))
        low, high = power_sum(profile, order=order).interval
        too_high += drawn.pmf(count) * (low > truth)
        too_low += drawn.pmf(count) * (high < truth)
    assert too_high <= 0.026
    assert too_low <= 0.026


def test_hill_numbers_have_the_same_ends() -> None:
    profile = Profile.from_counts([40, 20, 5, 1, 1])
    (low, high), ends = power_sum(profile, order=2).interval, hill_number(profile, order=2).interval
    assert ends == pytest.approx((1 / high, 1 / low))

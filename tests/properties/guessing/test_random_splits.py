"""Lower bounds by random splits: against enumeration, and how often they are wrong."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from anonhist.profiles import Profile
from anonhist.properties.random_splits import RandomSplits, _ranked, chernoff_below
from anonhist_testing.cases import each_of

ONE, TEN = np.array([1]), np.array([10])


@each_of(("share", "items"), [(0.001, 5000), (0.3, 100), (0.999, 1000), (0.5, 10**9), (1.0, 300)])
def test_the_bound_is_where_the_divergence_is_that_of_the_misses(share: float, items: int) -> None:
    def far(low: float) -> float:
        rest = (1 - share) * math.log((1 - share) / (1 - low)) if share < 1 else 0.0
        return items * (share * math.log(share / low) + rest) - math.log(40)

    found = chernoff_below(np.array([share]), items, miss=1 / 40)[0]
    assert found == pytest.approx(brentq(far, 1e-12, share, xtol=1e-15), rel=1e-7)
    # A binomial of that chance reaches the share in one of 40 cases at most.
    assert binom.sf(math.ceil(share * items) - 1, items, found) <= 1.0001 / 40 or share * items > 10**8


def test_nothing_tried_and_nothing_found_bound_nothing() -> None:
    assert chernoff_below(np.array([0.0, 0.5]), 100, miss=0.1)[0] == 0
    assert chernoff_below(np.array([0.5]), 0, miss=0.1).tolist() == [0]
    assert RandomSplits.of(Profile([1], [1]), 0.5).least_shares(ONE, miss=0.1).tolist() == [0]
    # A label is either ranked or tried: singletons are never found.
    assert RandomSplits.of(Profile([1], [1000]), 0.5).shares(TEN).tolist() == [0]


def test_labels_with_equal_counts_share_what_they_cover() -> None:
    # Counts 3, 1, 1 in the first part, of 2, 1, 0 items tried; the last label is not in the first part.
    ranks, covered, items = _ranked(np.array([1, 3, 0, 1]), np.array([1, 2, 5, 0]), np.array([1, 1, 1, 1]))
    assert (ranks.tolist(), covered.tolist(), items) == ([0, 1, 3], [0, 2, 3], 8)
    splits = RandomSplits((ranks,), (covered,), (items,))
    assert splits.shares(np.array([1, 2, 3, 9])).tolist() == [2 / 8, 2.5 / 8, 3 / 8, 3 / 8]


@each_of("tried", [0.5, 0.25])
def test_shares_are_the_mean_over_all_splits(tried: float) -> None:
    counts, mean = [3, 2, 2, 1], 0.0
    for each in product(*(range(count + 1) for count in counts)):
        chance = math.prod(binom.pmf(own, count, tried) for own, count in zip(each, counts, strict=True))
        first = [count - own for own, count in zip(each, counts, strict=True)]
        best = [own for own, left in zip(each, first, strict=True) if left == max(first) > 0]
        mean += chance * (sum(best) / max(len(best), 1)) / max(sum(each), 1)
    found = RandomSplits.of(Profile.from_counts(counts), tried, splits=20_000).shares(ONE)[0]
    # The spread of one split is at most ½.
    assert found == pytest.approx(mean, abs=4 * 0.5 / math.sqrt(20_000))


@each_of("tried", [0.5, 0.125])
def test_many_labels_of_one_count_are_split_as_single_ones_are(tried: float) -> None:
    together = RandomSplits.of(Profile([7], [50_000]), tried, splits=4)
    # In the first part of one label, 7 times: the share tried of labels with a or more left.
    left = binom.pmf(np.arange(8), 7, 1 - tried) * 50_000
    order = np.cumsum(left[::-1])
    assert together.ranks[0][1:-1] == pytest.approx(order[: together.ranks[0].size - 2], abs=6 * math.sqrt(50_000))
    items = 350_000 * tried
    assert together.items[0] == pytest.approx(items, abs=6 * math.sqrt(items))


def test_the_same_profile_has_the_same_bounds() -> None:
    profile = Profile.from_counts([50, 30, 30, 2, 1, 1])
    first, again = (RandomSplits.of(profile, 0.5).least_shares(ONE, miss=0.025) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_counts_near_the_largest() -> None:
    profile = Profile([1, 2**61, 2**62], [2**40, 1, 1])
    bound = RandomSplits.of(profile, 0.5).least_shares(np.array([1, 2, 3]), miss=0.025)
    assert bound == pytest.approx([2 / 3, 1, 1], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [1, 30, 1000])
def test_bounds_are_rarely_too_high_where_all_labels_are_alike(labels: int) -> None:
    # The most frequent ten are so by chance alone; as they are in the sample, they hold more than 10/k nearly always.
    rng, missed, chance_found = np.random.default_rng(5), 0, 0
    for _ in range(200):
        profile = Profile.from_counts(rng.multinomial(2000, np.full(labels, 1 / labels)))
        true = min(10 / labels, 1)
        chance_found += profile.partition()[:10].sum() / 2000 > true
        missed += RandomSplits.of(profile, 0.5).least_shares(TEN, miss=0.1)[0] > true
    # 200 cases of a chance of 0.1: more than 37 have a probability of 10⁻⁴.
    assert missed <= 37
    assert labels == 1 or chance_found >= 190

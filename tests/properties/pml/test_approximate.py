"""The blocks found are the best there are, and near the exact maximum where that can be computed."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from anonhist.errors import UsageError
from anonhist.profiles import Profile
from anonhist.properties.pml import (
    PmlDistribution,
    _best_blocks,
    _Classes,
    approximate_pml,
    factorial_rest,
    log_ways,
    maximize_unseen,
    property_of,
)
from anonhist_testing.cases import each_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Likelihood = Callable[[NDArray[np.float64], NDArray[np.float64], float], float]


def bits(distribution: PmlDistribution) -> float:
    return property_of(distribution, lambda p: -p * np.log2(p))


@each_of(
    ("counts", "alphabet_size", "probabilities", "labels"),
    [
        ([2, 1, 1, 1], None, [1 / 8], (8,)),
        ([2, 1, 1, 1], 5, [1 / 5], (5,)),
        ([9, 3, 2, 1, 1], None, [7 / 80, 9 / 16], (5, 1)),
        ([9, 3, 2, 1, 1], 5, [7 / 64, 9 / 16], (4, 1)),
        ([10, 5, 2, 1, 1, 1], None, [1 / 32, 1 / 4, 1 / 2], (8, 1, 1)),
    ],
)
def test_the_checked_examples(
    counts: list[int], alphabet_size: int | None, probabilities: list[float], labels: tuple[int, ...]
) -> None:
    found = approximate_pml(Profile.from_counts(counts), alphabet_size=alphabet_size)
    assert_allclose(found.probabilities, probabilities, rtol=1e-15)
    assert found.labels == labels
    assert not found.continuous_mass


def test_the_checked_properties() -> None:
    found = approximate_pml(Profile.from_counts([10, 5, 2, 1, 1, 1]))
    assert bits(found) == pytest.approx(2.25, abs=1e-14)
    assert math.log2(property_of(found, lambda p: p**1.5)) / (1 - 1.5) == pytest.approx(1.8716, abs=5e-5)
    assert found.num_labels == 10


# The objective, written down once more and searched through.


def best_of_all(counts: list[int], alphabet_size: int | None, most_unseen: int) -> float:
    """Return the largest reward over all partitions of the classes into consecutive blocks, and all numbers unseen."""
    classes = sorted({count: counts.count(count) for count in counts}.items())
    n, size = sum(counts), len(classes)
    choices = range(most_unseen + 1) if alphabet_size is None else {0, max(alphabet_size - len(counts), 0)}
    # What each block may earn, whatever the others are: those from the smallest count on with labels not seen.
    first = [max(reward(classes[:end], unseen, n) for unseen in choices) for end in range(1, size + 1)]
    if alphabet_size is None and classes[0][0] == 1:
        first[0] = max(first[0], classes[0][1] * math.log(classes[0][1] / n))
    later = {edges: reward(classes[slice(*edges)], 0, n) for edges in itertools.combinations(range(1, size + 1), 2)}
    best = -math.inf
    for cuts in itertools.product([False, True], repeat=size - 1):
        edges = [*(at + 1 for at, cut in enumerate(cuts) if cut), size]
        best = max(best, first[edges[0] - 1] + math.fsum(later[pair] for pair in itertools.pairwise(edges)))
    return best


def reward(block: list[tuple[int, int]], unseen: int, n: int) -> float:
    labels, items = sum(phi for _, phi in block), sum(r * phi for r, phi in block)
    falling = math.lgamma(unseen + labels + 1) - math.lgamma(unseen + 1)
    return falling + items * math.log(items / (n * (labels + unseen)))


def reward_of(counts: list[int], found: PmlDistribution, alphabet_size: int | None) -> float:
    """Return the reward of a distribution: the counts in ascending order fill its blocks."""
    n, left, total = sum(counts), sorted(counts), 0.0
    unseen = found.num_labels + found.continuous_seen - len(counts)
    if alphabet_size is not None:
        assert unseen in {0, alphabet_size - len(counts)}
    if found.continuous_seen:
        assert left[: found.continuous_seen] == [1] * found.continuous_seen
        left = left[found.continuous_seen :]
        total += found.continuous_seen * math.log(found.continuous_mass)
    for probability, labels in zip(found.probabilities, found.labels, strict=True):
        filled, left = left[: labels - unseen], left[labels - unseen :]
        assert probability == pytest.approx(sum(filled) / (n * labels), rel=1e-14)
        total += math.lgamma(labels + 1) - math.lgamma(unseen + 1) + sum(filled) * math.log(probability)
        unseen = 0
    assert not left
    return total


def random_counts(seed: int) -> list[int]:
    generator = np.random.default_rng(seed)
    scale, shape = generator.choice([2.0, 5.0, 20.0, 80.0]), generator.choice([0.5, 1.0, 3.0])
    return (1 + np.floor(generator.gamma(shape, scale, size=generator.integers(1, 12)))).astype(int).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("more", [None, 0, 1, 7, 60])
def test_no_partition_into_blocks_is_better(more: int | None) -> None:
    for seed in range(60):
        counts = random_counts(seed)
        alphabet_size = None if more is None else len(counts) + more
        found = approximate_pml(Profile.from_counts(counts), alphabet_size=alphabet_size)
        best = best_of_all(counts, alphabet_size, most_unseen=200)
        assert reward_of(counts, found, alphabet_size) == pytest.approx(best, abs=1e-9), counts


@pytest.mark.parametrize("seed", range(4))
def test_blocks_that_are_not_looked_at_are_never_best(seed: int) -> None:
    generator = np.random.default_rng(seed)
    distinct = np.unique(generator.integers(1, 400, size=150))
    prevalences = np.ceil(generator.pareto(1.0, size=distinct.size) * 400 / distinct).astype(np.int64)
    classes = _Classes.of(Profile(distinct, prevalences))
    gains, _ = _best_blocks(classes)
    assert classes.widths().max() < distinct.size  # something is left out
    best = np.zeros(distinct.size + 1)
    for start in range(distinct.size - 1, -1, -1):
        best[start] = (classes.merge(start, distinct.size - start)[0] + best[start + 1 :]).max()
    assert_allclose(gains, best, rtol=1e-12, atol=1e-9)


def test_classes_of_many_distinct_counts_lose_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.unique(np.random.default_rng(5).integers(1, 20_000, size=4000))
    profile = Profile(counts, np.ones(counts.size, dtype=np.int64))
    single = approximate_pml(profile)
    monkeypatch.setattr("anonhist.properties.pml._SINGLE", 100)
    assert _Classes.of(profile).counts.size < 0.75 * counts.size
    taken_together = approximate_pml(profile)
    assert taken_together.num_labels == single.num_labels
    assert bits(taken_together) == pytest.approx(bits(single), abs=1e-4)
    rewards = [reward_of(counts.tolist(), found, None) for found in (single, taken_together)]
    assert rewards[0] - 0.001 * counts.size < rewards[1] <= rewards[0] + 1e-6


# How many labels were not seen.


def first_not_rising(labels: int, items: int) -> int:
    """Return the first u with L(u + 1) ≤ L(u), by bisection with 80 digits."""
    with localcontext(prec=80):
        low, high = -1, labels * labels // (2 * (items - labels)) + 2
        while high - low > 1:
            u = (low + high) // 2
            rise = Decimal(u + 1 + labels) / (u + 1)
            fall = Decimal(u + 1 + labels) / (u + labels)
            low, high = (u, high) if rise.ln() > items * fall.ln() else (low, u)
        return high


@pytest.mark.parametrize("scale", [10, 1000, 10**6, 10**15])
def test_the_number_of_labels_not_seen_is_the_most_likely(scale: int) -> None:
    generator = np.random.default_rng(scale)
    labels = generator.integers(2, scale, size=40)
    items = labels + np.ceil(labels * generator.choice([1e-14, 1e-6, 0.01, 0.3, 2.0, 12.0], size=40)).astype(np.int64)
    found = maximize_unseen(labels, items)
    expected = [first_not_rising(*pair) for pair in zip(labels.tolist(), items.tolist(), strict=True)]
    assert max(expected) > 0
    if scale <= 10**6:
        assert found.tolist() == expected
    else:
        assert_allclose(found, np.array(expected, dtype=float), rtol=1e-13, atol=1)


def test_the_likelihood_of_labels_not_seen_rises_and_falls_once() -> None:
    for labels, extra in itertools.product([2, 3, 7, 30], [1, 2, 5, 20, 100]):
        u = np.arange(1500.0)
        likelihood = np.array([math.lgamma(v + labels + 1) - math.lgamma(v + 1) for v in u])
        likelihood -= (labels + extra) * np.log(u + labels)
        at = int(maximize_unseen(np.array([labels]), np.array([labels + extra]))[0])
        assert bool(np.all(np.diff(likelihood[: at + 1]) > 0))
        assert bool(np.all(np.diff(likelihood[at:]) < 1e-12))


def test_factorials_keep_their_digits() -> None:
    x = np.array([1.0, 2.0, 15.0, 16.0, 170.0])
    exact = [math.log(math.factorial(int(v))) - v * math.log(v) + v for v in x]
    assert_allclose(factorial_rest(x), exact, rtol=1e-12)
    # (10^15 + 1)!/10^15! = 10^15 + 1
    large = np.array([1e15])
    ways = log_ways(large, np.ones(1)) + factorial_rest(large + 1) - factorial_rest(large) - factorial_rest(np.ones(1))
    assert_allclose(ways, math.log(1e15 + 1), rtol=1e-14)


# The exact objective, for profiles of few items.


def sets_of(items: list[int]) -> Iterator[list[list[int]]]:
    """Yield all partitions of a list into sets."""
    if not items:
        yield []
        return
    for rest in sets_of(items[1:]):
        yield [[items[0]], *rest]
        for at in range(len(rest)):
            yield [*rest[:at], [items[0], *rest[at]], *rest[at + 1 :]]


def likelihood_of(counts: list[int]) -> Likelihood:
    """Return the exact probability of the profile, a function of a distribution's power sums p_1, p_2, ...

    The sum over all ways to give the counts to different labels, by inclusion and exclusion of labels that coincide; a
    continuous part adds to p_1 alone.
    """
    ways = math.factorial(sum(counts)) / math.prod(map(math.factorial, counts))
    ways /= math.prod(math.factorial(counts.count(count)) for count in set(counts))
    terms = Counter()
    for sets in sets_of(counts):
        sign = math.prod((-1) ** (len(one) - 1) * math.factorial(len(one) - 1) for one in sets)
        terms[tuple(sorted(sum(one) for one in sets))] += sign

    def likelihood(probabilities: NDArray[np.float64], labels: NDArray[np.float64], continuous: Any) -> Any:
        # Of one distribution, or of several at once: their blocks lie along the last axis.
        sums = [0.0] + [(labels * probabilities**k).sum(axis=-1) for k in range(1, sum(counts) + 1)]
        sums[1] += continuous
        return ways * sum(sign * math.prod(sums[k] for k in powers) for powers, sign in terms.items())

    return likelihood


def partitions(n: int, largest: int) -> Iterator[list[int]]:
    if not n:
        yield []
    for part in range(min(n, largest), 0, -1):
        yield from ([part, *rest] for rest in partitions(n - part, part))


def test_the_exact_objective_sums_to_one_over_all_profiles() -> None:
    p, labels, continuous = np.array([0.3, 0.1]), np.array([2.0, 1.0]), 0.3
    assert math.fsum(likelihood_of(counts)(p, labels, continuous) for counts in partitions(6, 6)) == pytest.approx(1)


def few_blocks() -> Iterator[tuple[tuple[float, float], tuple[int, int], float]]:
    """Yield uniform distributions, and those of two blocks, the second perhaps continuous."""
    for labels in range(1, 31):
        yield (1 / labels, 0.0), (labels, 0), 0.0
    yield (0.0, 0.0), (0, 0), 1.0
    for first, mass in itertools.product([1, 2, 3], np.arange(0.02, 1.0, 0.02)):
        yield (mass / first, 0.0), (first, 0), 1 - mass
        for second in range(1, 9):
            yield (mass / first, (1 - mass) / second), (first, second), 0.0


def test_small_profiles_come_near_the_exact_maximum() -> None:
    # A search from random starts over all distributions on at most 13 labels finds nothing better than these either:
    # of all 29 profiles of at most six items, the furthest off is [4, 1], at 0.9984 of the best.
    shares = {}
    candidates = [np.array(each) for each in zip(*few_blocks(), strict=True)]
    for counts in itertools.chain.from_iterable(partitions(n, n) for n in range(1, 7)):
        likelihood = likelihood_of(counts)
        found = approximate_pml(Profile.from_counts(counts))
        own = likelihood(found.probabilities, np.array(found.labels, dtype=float), found.continuous_mass)
        shares[tuple(counts)] = own / likelihood(*candidates).max()
    assert len(shares) == 29
    assert min(shares.values()) > 0.998
    assert min(shares, key=shares.get) == (4, 1)


# Conventions and extremes.


@each_of(
    ("counts", "alphabet_size", "expected"),
    [
        ([1], None, ([1.0], (1,), 0.0)),
        ([7], None, ([1.0], (1,), 0.0)),
        ([7], 4, ([1.0], (1,), 0.0)),
        ([1], 4, ([0.25], (4,), 0.0)),
        ([1, 1], None, ([], (), 1.0)),
        ([1] * 50, None, ([], (), 1.0)),
        ([1] * 50, 60, ([1 / 60], (60,), 0.0)),
        ([4, 4], None, ([0.5], (2,), 0.0)),
        ([9, 1], None, ([0.1, 0.9], (1, 1), 0.0)),
        ([9, 9, 9, 1, 1, 1], None, ([0.3], (3,), 0.1)),
        ([9, 9, 9, 1, 1, 1], 6, ([1 / 30, 0.3], (3, 3), 0.0)),  # the alphabet is what was seen
        ([9, 9, 9, 1, 1, 1], 2, ([1 / 30, 0.3], (3, 3), 0.0)),  # less than was seen: a release may hold more
        ([1000, 1000], 10**5, ([0.5], (2,), 0.0)),  # what is not seen among 2000 items has probability 0
        ([10**15, 10**15], None, ([0.5], (2,), 0.0)),
        ([10**15, 10**15 + 1], None, ([0.5], (2,), 0.0)),
        ([2**61, 2**61], None, ([0.5], (2,), 0.0)),
        ([10**15, 3 * 10**15], None, ([0.25, 0.75], (1, 1), 0.0)),
    ],
)
def test_conventions(
    counts: list[int], alphabet_size: int | None, expected: tuple[list[float], tuple[int, ...], float]
) -> None:
    found = approximate_pml(Profile.from_counts(counts), alphabet_size=alphabet_size)
    assert_allclose(found.probabilities, expected[0], rtol=1e-15)
    assert (found.labels, found.continuous_mass) == expected[1:]
    assert found.continuous_seen == (counts.count(1) if expected[2] else 0)


def test_an_empty_profile_is_refused() -> None:
    with pytest.raises(UsageError, match="empty profile"):
        approximate_pml(Profile([], []))


@each_of("alphabet_size", [0, -1, 2.5, True])
def test_an_alphabet_is_a_whole_number(alphabet_size: object) -> None:
    with pytest.raises(UsageError, match="alphabet_size"):
        approximate_pml(Profile([1], [1]), alphabet_size=alphabet_size)


HUGE = [
    {1: 10**15, 2: 1},
    {1: 10**15, 2: 3 * 10**14, 3: 10**6},
    {1: 1, 2: 10**15},
    {1: 2**60, 2**61: 1},
    {10**6: 10**6, 10**6 + 1: 10**6, 10**7: 10**6},
    {10**15 + step * 10**6: 1 for step in range(50)},
]


@pytest.mark.parametrize("alphabet_size", [None, 1, 2**62])
@pytest.mark.parametrize("prevalences", HUGE)
def test_probabilities_add_up_to_one(prevalences: dict[int, int], alphabet_size: int | None) -> None:
    found = approximate_pml(Profile.from_prevalences(prevalences), alphabet_size=alphabet_size)
    assert property_of(found, lambda p: p) == pytest.approx(1.0, abs=1e-14)
    assert bool(np.all(found.probabilities > 0))
    assert bool(np.all(np.diff(found.probabilities) > 0))
    assert all(labels >= 1 and isinstance(labels, int) for labels in found.labels)


def test_one_pair_among_ten_to_the_fifteen_singletons() -> None:
    # T²/2 labels, as for a birthday that was shared once.
    found = approximate_pml(Profile.from_prevalences({1: 10**15, 2: 1}))
    assert found.num_labels == pytest.approx(5e29, rel=1e-13)


def test_equal_large_counts_share_a_block_and_distant_ones_do_not() -> None:
    far = Profile.from_prevalences({10**15: 5, 10**15 + 10**6: 5, 10**15 + 10**10: 5})
    found = approximate_pml(far)
    assert found.labels == (10, 5)


def test_more_labels_of_an_alphabet_change_nothing_that_was_seen_often() -> None:
    counts = [400, 390, 30, 29, 5]
    wider = [approximate_pml(Profile.from_counts(counts), alphabet_size=size) for size in (5, 6, 1000)]
    assert wider[1].labels[1:] == wider[2].labels[1:] == wider[0].labels[1:]
    assert_allclose(wider[1].probabilities[1:], wider[0].probabilities[1:], rtol=1e-15)


def test_the_order_of_labels_and_repetition_change_nothing() -> None:
    counts = np.random.default_rng(1).geometric(0.1, size=300)
    found = [approximate_pml(Profile.from_counts(order)) for order in (counts, counts[::-1], np.append(counts, 0))]
    for other in found[1:]:
        assert other.labels == found[0].labels
        assert np.array_equal(other.probabilities, found[0].probabilities)


def test_the_continuous_part_counts_as_labels_enough() -> None:
    found = PmlDistribution(np.array([0.2, 0.5]), (1, 1), 0.3, 4).discrete()
    assert found.labels == (10, 1, 1)
    assert_allclose(found.probabilities, [0.03, 0.2, 0.5], rtol=1e-15)
    assert not found.continuous_mass
    assert found.discrete() is found

"""What private estimates give away: exactly for small data, by an audit from outputs for larger ones."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms.estimators import statistic_mechanism as mechanism_module
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support import SupportCoverageMechanism
from anonhist.mechanisms.noise import Noise, exact_noise
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness import discrete_laplace_pmf
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.estimators import MECHANISMS
from anonhist_testing.partitions import Partition, distance, larger_neighbors, partitions, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM, TWO = PrivacyUnit.item(), PrivacyUnit.user(max_items=2)
LARGEST = 6


@pytest.fixture(autouse=True)
def _weights_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # They follow from the mechanism and the number of items, and nothing else is handed to what makes them.
    monkeypatch.setattr(StatisticMechanism, "weights", cache(StatisticMechanism.weights))


def neighbors(unit: PrivacyUnit, relation: NeighboringRelation) -> Iterator[tuple[Partition, Partition]]:
    """Yield pairs of small samples that differ by one unit, both ways round."""
    if relation is SUBSTITUTE and unit == ITEM:
        for items in range(1, LARGEST + 1):
            yield from (pair for pair in product(partitions(items), repeat=2) if distance(*pair) == 2)
        return
    steps = unit.max_distance * relation.distance
    small = partitions_up_to(LARGEST)
    if steps == 1:
        for before in small:
            for after in larger_neighbors(before):
                yield before, after
                yield after, before
        return
    # A few too many: a distance of 2 may need an item replaced, which such a user may do as well.
    yield from (pair for pair in product(small, repeat=2) if distance(*pair) <= steps)


def record_noise(value: int) -> tuple[Noise, list[Fraction]]:
    """Return noise that always is ``value``, and the rates it was asked for."""
    rates: list[Fraction] = []

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        rates.append(gamma)
        return np.full(size, value, dtype=np.int64)

    return noise, rates


def secret(mechanism: StatisticMechanism, profile: Profile, items: int) -> tuple[int, Fraction]:
    """Return the whole number that noise is added to, the released number of items being ``items``, and the rate."""
    shift = items - profile.n
    noise, rates = record_noise(shift)
    released = mechanism.release_with(profile, noise)
    if mechanism.items_are_released:
        assert released.items == max(items, 1)
    weights = mechanism.weights(released.items)
    known = weights.unseen_weight
    if mechanism.items_are_released or mechanism.known_items is not None:
        known += weights.middle * released.items
    (whole,) = {round(released.value / weights.grid)}
    return whole - known - shift, rates[-1]


@pytest.mark.first(1)
@pytest.mark.drawn(1000)  # all: it is the promise
@pytest.mark.parametrize("name", MECHANISMS)
@each_of(
    ("unit", "relation", "public"),
    [
        (ITEM, SUBSTITUTE, None),
        (ITEM, ADD, None),
        (ITEM, ADD, 4),
        (ITEM, SUBSTITUTE, 4),
        (TWO, ADD, None),
        (TWO, SUBSTITUTE, 5),
    ],
)
def test_largest_loss_over_all_neighbours_is_epsilon_at_most(
    name: str, unit: PrivacyUnit, relation: NeighboringRelation, public: int | None
) -> None:
    epsilon = Fraction(7, 10)
    mechanism = MECHANISMS[name](epsilon, unit, relation, known_items=public)
    # What noise on the number of items was really asked for, per item that it may change by.
    noise, rates = record_noise(0)
    mechanism.release_with(Profile.from_counts([3, 1], unit=unit), noise)
    assert len(rates) == 1 + mechanism.items_are_released
    per_item = rates[0] if mechanism.items_are_released else Fraction(0)
    # The released number of items may be any: the loss of the second step is looked at for each.
    seen = (3, 5) if mechanism.items_are_released else (None,)
    worst = 0.0
    known: dict[tuple[Partition, int], tuple[int, Fraction]] = {}

    def of(parts: Partition, items: int | None) -> tuple[int, Fraction]:
        at = items or (public or max(sum(parts), 1))
        if (parts, at) not in known:
            known[parts, at] = secret(mechanism, Profile.from_counts(parts, unit=unit), at if items else sum(parts))
        return known[parts, at]

    for before, after in neighbors(unit, relation):
        for items in seen:
            (first, rate), (second, other_rate) = of(before, items), of(after, items)
            assert rate == other_rate
            loss = rate * abs(first - second) + per_item * abs(sum(before) - sum(after))
            worst = max(worst, float(loss))
    assert 0.3 * epsilon < worst <= float(epsilon) * (1 + 1e-12)


@pytest.mark.slow
@each_of("name", MECHANISMS)
def test_replaced_items_cost_all_of_epsilon_somewhere(name: str) -> None:
    mechanism = MECHANISMS[name](1, ITEM, SUBSTITUTE)
    pairs = [(before, after) for before, after in neighbors(ITEM, SUBSTITUTE) if sum(before) >= 4]
    seen = {parts: secret(mechanism, Profile.from_counts(parts), sum(parts)) for parts, _ in pairs}
    losses = [seen[before][1] * abs(seen[before][0] - seen[after][0]) for before, after in pairs]
    assert max(losses) == 1


@pytest.mark.slow
@each_of("relation", NeighboringRelation)
@each_of("name", MECHANISMS)
def test_the_scale_is_the_same_whatever_the_data(name: str, relation: NeighboringRelation) -> None:
    # Published code took the scale from the counts that occur, and failed where none was small.
    mechanism = MECHANISMS[name](1, ITEM, relation)
    rates = set()
    for parts in ((40,), (20, 20), (1,) * 40, (39, 1), (5, 5, 5, 5, 5, 5, 5, 5)):
        _, rate = secret(mechanism, Profile.from_counts(parts), 40)
        rates.add(rate)
    assert len(rates) == 1


def test_the_exact_number_of_labels_is_nowhere_in_the_estimate() -> None:
    # Published code noised the new labels alone, cut them at zero, and added the labels seen: with few new labels the
    # estimate told those exactly. Here the least value that comes out is the same for all data.
    for relation in NeighboringRelation:
        mechanism = SupportCoverageMechanism(1, ITEM, relation, draws=60)
        least = set()
        for parts in ((40,), (10, 10, 10, 10), (8, 8, 8, 8, 8)):
            far_below = iter([0, -(2**60)] if relation is ADD else [-(2**60)])
            noised = mechanism.release_with(
                Profile.from_counts(parts), lambda _, size, next_=far_below: np.full(size, next(next_), dtype=np.int64)
            )
            least.add(mechanism.estimate_of(noised).value)
        assert least == {1.0}


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("name", ["entropy-polynomial-published", "sample-coverage", "coverage-good-toulmin"])
def test_estimates_have_the_stated_distribution(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A coarse grid, whose multiples can be counted one by one.
    monkeypatch.setattr(mechanism_module, "FINEST", 2**10)
    mechanism = MECHANISMS[name](Fraction(1, 2), ITEM, SUBSTITUTE)
    profile = Profile.from_counts([3, 2, 1, 1])
    noise = exact_noise(SeededSource(5))
    weights = mechanism.weights(7)
    truth = weights.value(profile) + weights.unseen_weight
    drawn = [round(mechanism.release_with(profile, noise).value / weights.grid) - truth for _ in range(3000)]
    gamma = Fraction(1, 2) / weights.sensitivity_to_replacing
    # Noise of some thousand steps: looked at in hundreds.
    width = weights.sensitivity_to_replacing // 4

    def bin_pmf(rate: Fraction) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
        def pmf(bins: NDArray[np.int64]) -> NDArray[np.float64]:
            inside = np.arange(width)
            return np.asarray(discrete_laplace_pmf(rate, np.asarray(bins)[..., None] * width + inside).sum(axis=-1))

        return pmf

    bins = [value // width for value in drawn]
    assert_pmf_equal(bins, bin_pmf(gamma))
    assert_pmf_differs(bins, bin_pmf(gamma * Fraction(7, 10)))
    assert_pmf_differs(bins, bin_pmf(gamma * Fraction(13, 10)))


@pytest.mark.slow
def test_audit_stays_below_epsilon_and_catches_the_published_scale() -> None:
    # With as many draws again the published program noised by t/ε, t = 1: a quarter of what is needed.
    before, after = Profile.from_counts([2] * 20), Profile.from_counts([3, 1] + [2] * 18)
    mechanism = SupportCoverageMechanism(1, ITEM, SUBSTITUTE, draws=80, method="good-toulmin")
    weights = mechanism.weights(40)
    values = [weights.grid * weights.value(profile) for profile in (before, after)]
    assert abs(values[1] - values[0]) == 4.0
    middle = sum(values) / 2

    def audit_bound(factor: Fraction, draws: int, seed: int) -> float:
        """Audit noise of a rate that is so much larger."""
        hits = []
        for at, profile in enumerate((after, before)):
            noise = exact_noise(SeededSource([seed, at]))
            noisy = [mechanism.release_with(profile, partial(_faster, noise, factor)).value for _ in range(draws)]
            hits.append(sum((value > middle) == (values[1] > values[0]) for value in noisy))
        return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound

    assert 0.2 < audit_bound(Fraction(1), draws=1500, seed=1) <= 1
    assert audit_bound(Fraction(4), draws=500, seed=2) > 1


def _faster(noise: Noise, factor: Fraction, gamma: Fraction, size: int) -> NDArray[np.int64]:
    return noise(gamma * factor, size)

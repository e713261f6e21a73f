"""Weights on a grid: their sensitivities against all neighbouring samples, and against the formulas."""

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms.estimators.entropy import EntropyMechanism
from anonhist.mechanisms.estimators.weights import FINEST, WholeWeights
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import Profile
from anonhist.properties.entropy import PlugIn
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.unseen_labels import SmoothedPoisson
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import larger_neighbors, partitions, partitions_up_to


def zigzag(items: int) -> LinearStatistic:
    """Weights without any pattern, that of a label not seen among them."""
    drawn = np.random.default_rng(items).normal(size=items + 1)
    return LinearStatistic(lambda counts: drawn[np.minimum(counts, items)], head=items, alphabet_size=9)


STATISTICS = {
    "plug-in": PlugIn().statistic,
    "zigzag": zigzag,
    "singletons": lambda items: LinearStatistic(lambda counts: (counts == 1) / items, head=2),
    # All steps up or all down, but for counts beyond n, which weigh as much as n.
    "rising": lambda items: LinearStatistic(lambda counts: (2 + counts / items) * counts / items, head=0),
    "falling": lambda items: LinearStatistic(lambda counts: -(2 + counts / items) * counts / items, head=0),
    "observed": lambda _: LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1),
}


def replace_item(parts: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Return all profiles in which one item has gone to another label, a new one among them."""
    found = set()
    for source, target in product(range(len(parts)), range(len(parts) + 1)):
        counts = [*parts, 0]
        counts[source] -= 1
        counts[target] += 1
        found.add(tuple(sorted((count for count in counts if count), reverse=True)))
    return found


@pytest.mark.parametrize("name", STATISTICS)
@each_of("items", range(1, 8))
def test_one_item_replaced_changes_at_most_the_sensitivity_and_that_much_somewhere(name: str, items: int) -> None:
    weights = WholeWeights.of(STATISTICS[name](items), items)
    changes = [
        abs(weights.value(Profile.from_counts(before)) - weights.value(Profile.from_counts(after)))
        for before in partitions(items)
        for after in replace_item(before)
    ]
    assert max(changes) == weights.sensitivity_to_replacing


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("items", [1, 3, 6, 20])
def test_one_item_more_changes_at_most_the_sensitivity_whatever_the_data(name: str, items: int) -> None:
    weights = WholeWeights.of(STATISTICS[name](items), items)

    def centre(parts: tuple[int, ...]) -> int:
        return weights.value(Profile.from_counts(parts)) - weights.middle * sum(parts)

    # Smaller and larger samples than the weights were made for.
    changes = [
        abs(centre(before) - centre(after)) for before in partitions_up_to(7) for after in larger_neighbors(before)
    ]
    assert max(changes) <= weights.sensitivity_to_adding
    if items < 7:
        assert max(changes) == weights.sensitivity_to_adding
    # No other slope would need less noise.
    assert weights.sensitivity_to_adding <= (max(weights.highest, 0) - min(weights.lowest, 0)) / 2 + 1


@each_of("name", STATISTICS)
def test_whole_weights_are_the_weights(name: str) -> None:
    statistic = STATISTICS[name](50)
    weights = WholeWeights.of(statistic, 50)
    for parts in ((20, 10, 10, 5, 1, 1, 1, 1, 1), (50,), (1,) * 50):
        profile = Profile.from_counts(parts)
        whole = weights.grid * (weights.value(profile) + weights.unseen_weight)
        assert whole == pytest.approx(statistic.of(profile), abs=0.51 * weights.grid * (2 * len(parts) + 9))
    assert math.log2(weights.grid) % 1 == 0
    spread = max(weights.highest, 0) - min(weights.lowest, 0)
    assert FINEST <= spread + 2 <= 2 * FINEST + 4


@pytest.mark.slow
@pytest.mark.parametrize("items", [5000, 10**6, 10**9])
def test_sensitivities_follow_the_formula_where_not_every_count_is_a_knot(items: int) -> None:
    weights = WholeWeights.of(PlugIn().statistic(items), items)
    assert weights.knots.size < items
    steps = [*range(200), *np.geomspace(200, items - 1, 300).astype(int).tolist(), items - 1, items + 5]
    found = [
        weights.value(Profile.from_counts([step + 1])) - (weights.value(Profile.from_counts([step])) if step else 0)
        for step in steps
    ]
    assert weights.lowest <= min(found)
    assert max(found) == weights.highest
    # The last step is that of a chord, and a little less steep.
    exact = math.log(items) / items - (items - 1) / items * math.log1p(-1 / items)
    assert 0.999 * exact <= weights.grid * weights.sensitivity_to_replacing <= exact * (1 + 1e-9)
    # Far from loose on the side of adding, too.
    assert max(max(found) - weights.middle, weights.middle - min(found)) <= weights.sensitivity_to_adding
    assert weights.sensitivity_to_adding <= 1 + max(max(found) - weights.middle, weights.middle - min(found))


@each_of("steps", [(-3, -3), (3, 3), (-3, -1), (1, 3), (-2, 1), (0, 0)])
def test_counts_beyond_the_public_number_are_steps_of_zero(steps: tuple[int, int]) -> None:
    at_knots = np.array([0, steps[0], sum(steps)])
    whole = WholeWeights(2, 1.0, np.arange(3), at_knots, min(steps), max(steps))
    # One label grows from nothing to beyond what was said to be there.
    grown = [whole.value(Profile.from_counts([count] if count else [])) for count in range(5)]
    changes = [abs(after - before - whole.middle) for before, after in pairwise(grown)]
    assert max(changes) == whole.sensitivity_to_adding


def test_the_weights_at_knots_are_what_a_profile_is_given() -> None:
    items = 300
    statistic = PlugIn().statistic(items)
    weights = WholeWeights.of(statistic, items)
    assert weights.knots.tolist() == list(range(301))
    for count in (1, 2, 299, 300):
        assert weights.value(Profile.from_counts([count])) == int(weights.at_knots[count] - weights.at_knots[0])
    # Counts beyond n weigh as much as n.
    assert weights.value(Profile.from_counts([10**12])) == int(weights.at_knots[300] - weights.at_knots[0])


def test_values_are_exact_for_many_labels() -> None:
    items = 10**15
    weights = WholeWeights.of(LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1), items)
    (unit,) = {int(weight) for weight in weights.at_knots[1:].tolist()}
    assert weights.value(Profile([1, 5000], [10**15 + 1, 7])) == unit * (10**15 + 8)


def test_weights_that_never_change_are_put_on_a_grid_of_one() -> None:
    def flat(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.full(counts.shape, 3.0)

    weights = WholeWeights.of(LinearStatistic(flat, head=0, alphabet_size=5), 100)
    assert (weights.grid, weights.sensitivity_to_replacing, weights.sensitivity_to_adding, weights.unseen_weight) == (
        1.0,
        0,
        0,
        15,
    )


def test_sensitivity_is_less_than_published() -> None:
    # The published scale of the plug-in entropy takes twice the largest weight step: 2·ln(n)/n.
    for items in (100, 1000, 10**6):
        weights = WholeWeights.of(PlugIn().statistic(items), items)
        assert weights.grid * weights.sensitivity_to_replacing <= Fraction(61, 100) * 2 * math.log(items) / items


@each_of("name", ["plug-in", "observed", "singletons", "smoothed"])
def test_rounding_is_little_beside_the_noise_for_millions_of_labels(name: str) -> None:
    # Every label is rounded alike: on a grid of a thousandth of the sensitivity they would add up to a thousand of it.
    items = 5_000_000
    statistic = SmoothedPoisson(10 * items).statistic(items) if name == "smoothed" else STATISTICS[name](items)
    weights = WholeWeights.of(statistic, items)
    profile = Profile.from_prevalences({1: 3_000_000, 2: 500_000, 7: 100_000, 300_000: 1})
    off = abs(weights.grid * (weights.value(profile) + weights.unseen_weight) - statistic.of(profile))
    assert off <= 1e-3 * weights.grid * weights.sensitivity_to_replacing


def test_small_budgets_have_coarser_grids() -> None:
    fine, coarse = (EntropyMechanism(epsilon, method="plug-in").fineness for epsilon in ("1", "0.001"))
    assert fine == FINEST
    assert 2**24 < coarse < FINEST
    for epsilon in ("1", "0.001", "1e-5"):
        found = EntropyMechanism(epsilon, method="plug-in").estimate(Profile.from_counts([5, 3, 1]))
        assert found.value >= 0


def test_weights_that_turn_late_are_looked_at_one_by_one() -> None:
    items = 6000
    weights = WholeWeights.of(zigzag(items), items)
    assert weights.knots.size == items + 1
    steps = np.diff(weights.at_knots)
    assert (weights.lowest, weights.highest) == (steps.min(), steps.max())
    # The largest steps of random weights come late, and far from each other: what is left of them by a + b < n.
    pairs = [(a, b) for a in np.argsort(steps)[-40:].tolist() for b in np.argsort(steps)[:40].tolist() if a + b < items]
    assert weights.sensitivity_to_replacing >= max(int(steps[a] - steps[b]) for a, b in pairs)
    assert weights.sensitivity_to_replacing <= weights.highest - weights.lowest


def test_a_third_of_the_budget_finds_the_number_of_items() -> None:
    promised = EntropyMechanism("0.9", method="plug-in").guarantee
    assert [float(spent) for _, spent in promised.spending] == [0.3, 0.6]
    replaced = str(EntropyMechanism(1, method="plug-in", relation=NeighboringRelation.SUBSTITUTE).guarantee)
    assert "the number of items, which are the rows with a label" in replaced
    assert "not protected" in replaced

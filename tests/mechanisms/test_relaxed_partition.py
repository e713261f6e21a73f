"""The relaxed partition mechanism: its window, its distribution inside it, and what lies outside."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms import FamilyParameters, PartitionMechanism, RelaxedPartitionMechanism, zipf_profile
from anonhist.mechanisms.exponential.calibration import affordable, band_delta, rounding_loss
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.partition import Window, draw_inside
from anonhist.mechanisms.noise import SimulatedChoices
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.exact import DecidedChoices, Decisions, output_distribution
from anonhist_testing.partitions import Partition, distance, larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource


@cache
def inside(reference: Partition, radius: int, size: int) -> frozenset[Partition]:
    """Return all partitions up to a size in the window, by its definition."""
    near = [mu for mu in partitions_up_to(sum(reference) + radius) if distance(mu, reference) <= radius]
    rows = max(map(len, near))
    values = [[mu[row] if row < len(mu) else 0 for mu in near] for row in range(rows)]

    def holds(mu: Partition) -> bool:
        padded = [*mu, *[0] * (rows - len(mu))]
        return len(mu) <= rows and all(min(own) <= h <= max(own) for h, own in zip(padded, values, strict=True))

    return frozenset(mu for mu in partitions_up_to(size) if holds(mu))


@pytest.mark.slow
@each_of("radius", [1, 2, 5])
@each_of("reference", [(), (1,), (3, 1), (2, 2, 2), (6,), (1, 1, 1, 1), (5, 3, 3, 1)])
def test_the_window_is_the_range_of_each_row_within_the_radius(reference: Partition, radius: int) -> None:
    window, listed = Window(Profile.from_partition(reference), radius), partitions_up_to(16)
    expected = inside(reference, radius, 16)
    assert {mu for mu in listed if window.holds(Profile.from_partition(mu))} == expected
    # More than the ball, and less than everything.
    assert len([mu for mu in listed if distance(mu, reference) <= radius]) <= len(expected) < len(listed)


class Scripted:
    """A chain that draws what it is told to."""

    def __init__(self, *partitions: Partition) -> None:
        self.asked: list[int] = []
        self._left = [FrobeniusCoordinates.of(Profile.from_partition(each)) for each in partitions]

    def draw(self, size: int, choices: object) -> list[FrobeniusCoordinates]:
        self.asked.append(size)
        drawn, self._left = self._left[:size], self._left[size:]
        return drawn


def test_draws_outside_the_window_are_drawn_again() -> None:
    window, chain = Window(Profile.from_counts([3, 1]), 1), Scripted((3, 3), (3,), (9,), (1,), (4, 1))
    found = draw_inside(chain, window, 2, SimulatedChoices(np.random.default_rng()))  # type: ignore[arg-type]
    assert [tuple(each.partition().tolist()) for each in found] == [(3,), (4, 1)]
    assert chain.asked == [2, 1, 1, 1]


@each_of("reference", [(), (2,), (2, 1), (1, 1, 1)])
def test_every_path_adds_up_to_the_distribution_inside_the_window(reference: Partition) -> None:
    # So narrow a window that draws outside, of which None is made here, are seen.
    c, radius, left = 1.5, 1, 1e-4
    profile = Profile.from_partition(reference)
    window, chain = Window(profile, radius), DiagonalChain(FrobeniusCoordinates.of(profile), FamilyParameters(c, 0.0))

    def run(decisions: Decisions) -> Partition | None:
        (drawn,) = chain.draw(1, DecidedChoices(decisions))
        made = drawn.profile()
        return tuple(made.partition().tolist()) if window.holds(made) else None

    first = dict(output_distribution(run, unexplored=left).probabilities)
    outside = first.pop(None)
    assert outside > 0.02
    weights = {mu: math.exp(-c * distance(reference, mu)) for mu in inside(reference, radius, 20)}
    assert set(first) == set(weights)
    # To draw again until the window holds the draw divides by the chance that it does.
    for mu, weight in weights.items():
        assert first[mu] / (1 - outside) == pytest.approx(weight / math.fsum(weights.values()), abs=2 * left)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_exact_epsilon_and_delta_on_all_neighbours(epsilon: Fraction) -> None:
    # A narrow window, so that what it leaves out can be seen: δ must pay for it, whatever its size.
    c, radius, listed = float(epsilon) / 2, 2, partitions_up_to(14)
    distributions = {}
    for reference in partitions_up_to(4):
        weights = {mu: math.exp(-c * distance(reference, mu)) for mu in listed}
        kept = {mu: weights[mu] for mu in inside(reference, radius, 14)}
        outside = 1 - math.fsum(kept.values()) / math.fsum(weights.values())
        distributions[reference] = ({mu: weight / math.fsum(kept.values()) for mu, weight in kept.items()}, outside)
    worst = 0.0
    for fewer in partitions_up_to(3):
        for more in larger_neighbors(fewer):
            for one, other in ((fewer, more), (more, fewer)):
                (distribution, out), (rival, rival_out) = distributions[one], distributions[other]
                excess = math.fsum(
                    max(0.0, chance - math.exp(epsilon) * rival.get(mu, 0.0)) for mu, chance in distribution.items()
                )
                assert excess <= out + math.exp(epsilon) * rival_out + 1e-9
                worst = max(worst, excess)
    assert worst > 0


@pytest.mark.parametrize("epsilon", ["0.001", "0.01", "0.1", "0.5", "1", "4", "20"])
def test_the_published_c_is_used_where_the_exact_loss_leaves_room_for_rounding(epsilon: str) -> None:
    mechanism = RelaxedPartitionMechanism(epsilon, public_items=10)
    c, budget = mechanism.family.c, float(Fraction(epsilon))
    assert mechanism.family.z == 0
    assert affordable(c, 0.0, budget)
    assert c <= budget / 2
    assert (c == budget / 2) == (budget >= 0.5)
    assert budget / 2 - c <= 0.6 * rounding_loss(mechanism.family)


@each_of("epsilon", ["0.001", "1", "7.3", "20"])
@each_of("delta", ["1e-11", "1e-3"])
def test_delta_pays_for_the_window_and_for_the_chain(epsilon: str, delta: str) -> None:
    mechanism = RelaxedPartitionMechanism(epsilon, public_items=10, delta=delta)
    largest = math.exp(float(mechanism.epsilon))
    beta = 1.1 * float(mechanism.delta) / (2 * math.ceil(largest)) + 2**-80
    assert (1 + largest) * beta + float(band_delta(mechanism.epsilon)) <= float(mechanism.delta)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_the_radius_holds_all_but_the_share_that_delta_pays_for(epsilon: str) -> None:
    mechanism = RelaxedPartitionMechanism(epsilon, public_items=30, delta="0.001")
    beta = mechanism.delta / (2 * math.ceil(math.exp(mechanism.epsilon)))
    rng = np.random.default_rng(2)
    # The unbounded distribution with a smaller exponent leaves more; even that one hardly ever passes the radius.
    for profile in (Profile([], []), Profile([1], [30]), Profile([30], [1])):
        runs = PartitionMechanism(epsilon).simulate(profile, size=300, rng=rng)
        assert max(sorted_l1(profile, run) for run in runs) < mechanism.radius
    bound = sum(
        (2 * m + 1) * math.exp(math.pi * math.sqrt(2 * (30 + m) / 3) - mechanism.family.c * m)
        for m in range(mechanism.radius + 1, 40 * mechanism.radius)
    )
    assert bound <= beta
    assert mechanism.radius > RelaxedPartitionMechanism(epsilon, public_items=3, delta="0.001").radius


@pytest.mark.slow
def test_it_errs_like_the_exponential_mechanism_it_approximates() -> None:
    profile, rng = zipf_profile(2000), np.random.default_rng(5)
    # With room above the data: what has more than N items is cut, which errs, too.
    relaxed = RelaxedPartitionMechanism(1, public_items=4000)
    chain = DiagonalChain(FrobeniusCoordinates.of(profile), relaxed.family)
    exact = [drawn.profile() for drawn in chain.draw(100, SimulatedChoices(rng))]
    runs = relaxed.simulate(profile, size=100, rng=rng)
    assert _agree(profile, runs, exact)
    released = RelaxedPartitionMechanism(20, public_items=2000).release(profile, source=SeededSource(1)).profile
    assert sorted_l1(profile, released) < 10


def _agree(profile: Profile, runs: Sequence[Profile], others: Sequence[Profile]) -> bool:
    errors = [[sorted_l1(profile, run) for run in each] for each in (runs, others)]
    spread = math.sqrt(sum(np.var(each) / len(each) for each in errors))
    assert spread < 0.04 * np.mean(errors[0])
    return bool(abs(np.mean(errors[0]) - np.mean(errors[1])) < 4 * spread)


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="The data exceed public_items"):
        RelaxedPartitionMechanism(1, public_items=5).release(Profile.from_counts([3, 3]), source=SeededSource(1))
    with pytest.raises(UsageError, match=r"from 1 to 2\^40"):
        RelaxedPartitionMechanism(1, public_items=2**40 + 1)
    for delta in ("0.002", "1e-12"):
        with pytest.raises(UsageError, match="delta must lie between"):
            RelaxedPartitionMechanism(1, public_items=5, delta=delta)
    for epsilon in ("0.0009", "21"):
        with pytest.raises(UsageError, match=r"at most 20.*at least 0\.001"):
            RelaxedPartitionMechanism(epsilon, public_items=5)


@pytest.mark.parametrize("epsilon", ["0.2", "20"])
@pytest.mark.parametrize("number", [10_000, 2**40])
def test_empty_data_and_the_largest_number_are_held(number: int, epsilon: str) -> None:
    for profile in (Profile([], []), Profile([number], [1]), Profile([1], [number])):
        mechanism = RelaxedPartitionMechanism(epsilon, public_items=number)
        released = mechanism.release(profile, source=SeededSource(1))
        assert sorted_l1(profile, released.profile) < (10 if epsilon == "20" else 3000)
        assert released.profile.n <= number
        assert released.guarantee.delta == Fraction(1, 10**9)


def test_a_window_of_large_counts_is_exact() -> None:
    window = Window(Profile([2**40], [1]), 5)
    near, far = (Profile([1, 2**40 + more], [2, 1]) for more in (5, 6))
    assert window.holds(near)
    assert not window.holds(far)
    assert not window.holds(Profile([2**62], [1]))

"""The relaxed partition mechanism: its window, its distribution inside it, and what lies outside."""

import math
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms import FamilyParameters, PartitionMechanism, RelaxedPartitionMechanism, zipf_profile
from anonhist.mechanisms.basis.choices import SimulatedChoices
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.relaxed_partition import _Window
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.exact import DecidedChoices, Decisions, output_distribution
from anonhist_testing.partitions import Partition, distance, larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource


def window_of(partition: Partition, radius: int) -> _Window:
    return _Window(np.array(partition, dtype=np.int64), radius)


@each_of("radius", [1, 2, 5])
@each_of("reference", [(), (1,), (3, 1), (2, 2, 2), (6,), (1, 1, 1, 1)])
def test_window_is_the_range_of_each_row_within_the_radius(reference: Partition, radius: int) -> None:
    window = window_of(reference, radius)
    near = [mu for mu in partitions_up_to(sum(reference) + radius) if distance(mu, reference) <= radius]
    for row, (low, high) in enumerate(zip(window.lowest.tolist(), window.highest.tolist(), strict=True)):
        values = [mu[row] if row < len(mu) else 0 for mu in near]
        assert (low, high) == (min(values), max(values))


@each_of("reference", [(), (2,), (2, 1), (1, 1, 1)])
def test_every_path_adds_up_to_the_law_inside_the_window(reference: Partition) -> None:
    c, window = 0.6, window_of(reference, 3)
    futures = window.log_futures(c)

    def run(decisions: Decisions) -> Partition:
        return tuple(part for part in window.draw(futures, DecidedChoices(decisions)).tolist() if part)

    distribution = output_distribution(run, unexplored=1e-12)
    inside = [mu for mu in partitions_up_to(sum(reference) + 12) if is_inside(mu, window)]
    weights = {mu: math.exp(-c * distance(reference, mu)) for mu in inside}
    assert set(distribution.probabilities) == set(weights)
    for mu, weight in weights.items():
        assert distribution.probabilities[mu] == pytest.approx(weight / math.fsum(weights.values()), rel=1e-9)


def is_inside(mu: Partition, window: _Window) -> bool:
    rows = [*mu, *[0] * (window.rows.size - len(mu))]
    return len(mu) <= window.rows.size and all(
        low <= row <= high for row, low, high in zip(rows, window.lowest.tolist(), window.highest.tolist(), strict=True)
    )


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_exact_epsilon_and_delta_on_all_neighbours(epsilon: Fraction) -> None:
    # A narrow window, so that what it leaves out can be seen: δ must pay for it, whatever its size.
    c, radius, listed = float(epsilon) / 2, 2, partitions_up_to(14)
    distributions = {}
    for reference in partitions_up_to(4):
        window = window_of(reference, radius)
        weights = {mu: math.exp(-c * distance(reference, mu)) for mu in listed}
        kept = {mu: weight for mu, weight in weights.items() if is_inside(mu, window)}
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
                beta = max(out, rival_out)
                assert excess <= math.exp(epsilon) * beta / (1 - beta) + 1e-9
                worst = max(worst, excess)
    assert worst > 0


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
        (2 * m + 1) * math.exp(math.pi * math.sqrt(2 * (30 + m) / 3) - mechanism._c * m)
        for m in range(mechanism.radius + 1, 40 * mechanism.radius)
    )
    assert bound <= beta
    assert mechanism.radius > RelaxedPartitionMechanism(epsilon, public_items=3, delta="0.001").radius


@pytest.mark.slow
def test_it_errs_like_the_exponential_mechanism_it_approximates() -> None:
    profile, rng = zipf_profile(2000), np.random.default_rng(5)
    relaxed = RelaxedPartitionMechanism(1, public_items=2000)
    chain = DiagonalChain(FrobeniusCoordinates.of(profile), FamilyParameters(relaxed._c, 0.0))
    exact = [drawn.profile() for drawn in chain.draw(100, SimulatedChoices(rng))]
    errors = [
        [sorted_l1(profile, run) for run in runs] for runs in (relaxed.simulate(profile, size=100, rng=rng), exact)
    ]
    spread = math.sqrt(sum(np.var(each) / 100 for each in errors))
    assert abs(np.mean(errors[0]) - np.mean(errors[1])) < 4 * spread
    assert spread < 0.04 * np.mean(errors[0])
    released = RelaxedPartitionMechanism(20, public_items=2000).release(profile, source=SeededSource(1)).profile
    assert sorted_l1(profile, released) < 10


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="The data exceed public_items"):
        RelaxedPartitionMechanism(1, public_items=5).release(Profile.from_counts([3, 3]), source=SeededSource(1))
    with pytest.raises(UsageError, match="from 1 to 10,000"):
        RelaxedPartitionMechanism(1, public_items=10_001)
    for delta in ("0.002", "1e-31"):
        with pytest.raises(UsageError, match="delta must lie between"):
            RelaxedPartitionMechanism(1, public_items=5, delta=delta)
    for epsilon in ("0.09", "21"):
        with pytest.raises(UsageError, match=r"at most 20.*at least 0\.1"):
            RelaxedPartitionMechanism(epsilon, public_items=5)


@pytest.mark.slow
def test_empty_data_and_the_largest_number_are_held() -> None:
    for profile in (Profile([], []), Profile([10_000], [1]), Profile([1], [10_000])):
        released = RelaxedPartitionMechanism("20", public_items=10_000).release(profile, source=SeededSource(1))
        assert sorted_l1(profile, released.profile) < 10
        assert released.profile.n <= 10_000
        assert released.guarantee.delta == Fraction(1, 10**9)

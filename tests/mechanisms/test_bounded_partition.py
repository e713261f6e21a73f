"""The bounded partition mechanism: its distribution over all partitions below the hyperbola, and its public number."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.mechanisms import BoundedPartitionMechanism
from anonhist.mechanisms.exponential import boundary_walk, side_chain
from anonhist.mechanisms.exponential.boundary_walk import Coins, Hyperbola
from anonhist.mechanisms.exponential.calibration import FamilyParameters, band_shape, privacy_loss
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.partition import hyperbola
from anonhist.mechanisms.noise import ExactChoices
from anonhist.mechanisms.skeletons import with_at_most
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.exact import DecidedChoices, Decisions, output_distribution
from anonhist_testing.partitions import (
    Partition,
    corner_weight,
    distance,
    larger_neighbors,
    partitions_below,
    partitions_up_to,
)
from anonhist_testing.sources import SeededSource

NUMBERS, EPSILONS = [1, 5, 40, 10**4, 2**40], ["0.01", "1", "20"]


def capped_chain(reference: Partition, c: float, number: int) -> DiagonalChain:
    coordinates = FrobeniusCoordinates.of(Profile.from_partition(reference))
    return DiagonalChain(coordinates, FamilyParameters(c, 0.0), hyperbola(number))


@each_of("number", [1, 2, 3, 4, 6, 9])
def test_the_hyperbola_holds_every_partition_of_so_many_items(number: int) -> None:
    assert set(partitions_up_to(number)) <= set(partitions_below(number))
    assert tuple(hyperbola(number).profile().partition().tolist()) == tuple(number // i for i in range(1, number + 1))


@pytest.mark.parametrize("c", [0.02, 0.3, 1.3])
@each_of("number", [1, 2, 4, 7])
def test_normalizer_is_the_sum_over_the_domain(number: int, c: float) -> None:
    domain = partitions_below(number)
    for reference in partitions_up_to(number):
        exact = math.fsum(math.exp(-c * distance(reference, mu)) for mu in domain)
        assert math.exp(capped_chain(reference, c, number).log_normalizer) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("block_bytes", [1, 2**26])
@pytest.mark.parametrize("reference", [(), (1,), (3, 1), (2, 2), (1, 1, 1, 1), (5,)])
def test_every_path_of_the_chain_adds_up_to_the_distribution(
    reference: Partition, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_chain, "_BLOCK_BYTES", block_bytes)
    number, c = 5, 0.7
    chain = capped_chain(reference, c, number)

    def run(decisions: Decisions) -> Partition:
        (drawn,) = chain.draw(1, DecidedChoices(decisions))
        return tuple(drawn.profile().partition().tolist())

    distribution = output_distribution(run, unexplored=1e-12)
    assert set(distribution.probabilities) == set(partitions_below(number))
    for output, probability in distribution.probabilities.items():
        exact = math.exp(-c * distance(reference, output) - chain.log_normalizer)
        assert probability == pytest.approx(exact, rel=1e-9)


GAMMA = 3.0


def probability(reference: Partition, output: Partition, gamma: float, number: int) -> float:
    """The distribution above ln 3 by its definition; the normalizer is 1."""
    z = 1 / (math.exp(gamma) + 1)
    return math.exp(-gamma * distance(reference, output)) * corner_weight(output, z, number)


@each_of("number", [1, 2, 4, 7])
@each_of("gamma", [1.1, GAMMA])
def test_above_ln_3_the_weights_add_up_to_one(gamma: float, number: int) -> None:
    for reference in partitions_up_to(number):
        chances = [probability(reference, output, gamma, number) for output in partitions_below(number)]
        assert min(chances) > 0
        assert math.fsum(chances) == pytest.approx(1, rel=1e-12)


def check_walk(reference: Partition, number: int, *, unexplored: float) -> None:
    """Follow the walk, before anything is cut, through every sequence of decisions."""
    profile = Profile.from_partition(reference)

    def run(decisions: Decisions) -> Partition:
        coins = Coins.of(Fraction(GAMMA), DecidedChoices(decisions))
        drawn = boundary_walk.walk_around(profile, coins, number)
        return tuple(part for count, labels in reversed([*drawn]) for part in [count] * labels)  # type: ignore[misc]

    with pytest.MonkeyPatch.context() as patch:
        # Decide nothing that is not used, and cut nothing.
        patch.setattr(boundary_walk, "_AT_ONCE", 1)
        patch.setattr(boundary_walk, "cut_to", lambda prevalences, _: list(prevalences))
        found = output_distribution(run, unexplored=unexplored)
    assert {*found.probabilities} <= {*partitions_below(number)}
    for output, chance in found.probabilities.items():
        exact = probability(reference, output, GAMMA, number)  # type: ignore[arg-type]
        assert chance <= exact * (1 + 1e-9)
        assert exact - chance <= found.unexplored * (1 + 1e-9)


NEAR = [(number, reference) for number in (1, 2, 4) for reference in partitions_up_to(number)]


@each_of(("number", "reference"), NEAR)
def test_every_path_of_the_walk_adds_up_to_the_distribution(number: int, reference: Partition) -> None:
    check_walk(reference, number, unexplored=0.03)


@pytest.mark.slow
@each_of(("number", "reference"), [*NEAR, (5, (3, 2)), (6, (3, 2, 1)), (9, (3, 3, 2))])
def test_nearly_every_path_of_the_walk_adds_up_to_the_distribution(number: int, reference: Partition) -> None:
    check_walk(reference, number, unexplored=0.003)


WRONG: dict[str, Callable[[Hyperbola, int, int], int]] = {
    "corners that are flipped beyond it": lambda cap, here, count: right(cap, here, count) or -1,
    "one cell less": lambda cap, here, count: right(Hyperbola(cap.most - 1, cap.labels), here, count),
    "one cell more": lambda cap, here, count: right(Hyperbola(cap.most + 1, cap.labels), here, count),
    "no cap": lambda *_: -1,
}
right = Hyperbola.ahead


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_cap_is_seen(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hyperbola, "ahead", WRONG[wrong])
    with pytest.raises(AssertionError):
        check_walk((2, 1), 3, unexplored=0.01)


def test_large_numbers_are_walked_exactly() -> None:
    for profile in ({2**20: 2**20}, {2**40: 1}, {1: 2**40}, {}):
        released = BoundedPartitionMechanism(3, public_items=2**40).release(Profile.from_prevalences(profile)).profile
        assert released.n <= 2**40
        assert sorted_l1(Profile.from_prevalences(profile), released) < 50


@each_of("number", [3, 6])
@each_of("epsilon", ["0.1", "1", "1.098"])
def test_exact_losses_on_all_neighbours(number: int, epsilon: str) -> None:
    mechanism = BoundedPartitionMechanism(epsilon, public_items=number)
    c, listed = mechanism.family.c, partitions_up_to(number)
    logs = {reference: capped_chain(reference, c, number).log_normalizer for reference in listed}
    pairs = [(fewer, more) for fewer in partitions_up_to(number - 1) for more in larger_neighbors(fewer)]
    worst = c + max(abs(logs[more] - logs[fewer]) for fewer, more in pairs)
    assert 0.5 * float(epsilon) < worst <= float(epsilon)
    assert worst <= privacy_loss(mechanism.family)


def test_the_band_is_one_block_as_the_proof_of_range_needs() -> None:
    for epsilon in ("0.01", "0.011", "0.1", "20"):
        assert band_shape(BoundedPartitionMechanism(epsilon, public_items=2**40).family)[1] == 1
    assert band_shape(BoundedPartitionMechanism("0.01", public_items=1).family)[0] > 100


@pytest.mark.slow
def test_far_from_its_bound_it_is_the_unbounded_distribution() -> None:
    for reference in ((), (4, 2, 1), (9, 9, 3)):
        coordinates = FrobeniusCoordinates.of(Profile.from_partition(reference))
        free = DiagonalChain(coordinates, FamilyParameters(0.4, 0.0)).log_normalizer
        assert capped_chain(reference, 0.4, 2**40).log_normalizer == pytest.approx(free, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_released_profiles_keep_to_the_public_number(number: int, epsilon: str) -> None:
    mechanism = BoundedPartitionMechanism(epsilon, public_items=number)
    # One row or one column, by turns: the two sides of a diagram are chains of the same kind.
    row, column = Profile([number], [1]), Profile([1], [number])
    is_row = (EPSILONS.index(epsilon) + NUMBERS.index(number)) % 2
    for profile in (Profile([], []), row if is_row else column):
        released = mechanism.release(profile, source=SeededSource(5)).profile
        assert released.n <= number
        if epsilon == "20":
            assert sorted_l1(profile, released) <= 2


@pytest.mark.slow
def test_audit_comes_close_to_what_the_bounded_distribution_loses() -> None:
    profiles, rng = (Profile([], []), Profile([1], [1])), np.random.default_rng(4)

    def audit_bound(epsilon: int, draws: int) -> float:
        mechanism = BoundedPartitionMechanism(epsilon, public_items=50)
        hits = [sum(run.n == 0 for run in mechanism.simulate(one, size=draws, rng=rng)) for one in profiles]
        return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound

    # At 2 the empty profile comes out of itself so often that few draws say much.
    assert 1.6 < audit_bound(2, draws=3_000) <= 2
    # One that claims half of what it spends is far above: fewer draws show it as surely.
    assert audit_bound(4, draws=2_500) > 3


@pytest.mark.slow
def test_draws_with_more_items_are_cut_to_the_public_number() -> None:
    for partition in partitions_up_to(9):
        profile = Profile.from_partition(partition)
        for most in range(1, 10):
            kept = with_at_most(profile, most)
            assert kept.n == min(profile.n, most)
            assert sorted_l1(profile, kept) == profile.n - kept.n


def test_what_is_out_of_range_is_refused() -> None:
    mechanism = BoundedPartitionMechanism(1, public_items=5)
    with pytest.raises(UsageError, match="The data exceed public_items"):
        mechanism.release(Profile.from_counts([3, 3]), source=SeededSource(1))
    with pytest.raises(UsageError, match="The data exceed public_items"):
        mechanism.simulate(Profile.from_counts([3, 3]), size=1, rng=np.random.default_rng(1))
    for number in (0, 2**40 + 1, 1.5, "5"):
        with pytest.raises(UsageError, match="public_items must be a whole number"):
            BoundedPartitionMechanism(1, public_items=number)
    for epsilon in ("0.0099", "21"):
        with pytest.raises(UsageError, match=r"at most 20.*at least 0\.01"):
            BoundedPartitionMechanism(epsilon, public_items=5)
    with pytest.raises(UsageError, match="at least"):
        BoundedPartitionMechanism("0.09", PrivacyUnit.user(max_items=10), public_items=5)


def test_promise_names_the_public_number_and_the_band() -> None:
    for epsilon, words in (("1.09", "would leave the band"), (2, "floating point costs nothing")):
        guarantee = BoundedPartitionMechanism(epsilon, public_items=5000).guarantee
        assert "at most 5,000 items, which must be public knowledge" in str(guarantee)
        assert words in str(guarantee)
        assert (guarantee.delta > 0) == (epsilon != 2)
        assert guarantee.delta < 1e-19


def test_exact_draws_follow_the_choices_they_are_given() -> None:
    chain = capped_chain((3, 1), 0.7, 6)
    first, again = (chain.draw(20, ExactChoices(SeededSource(3))) for _ in range(2))
    assert [one.arms.tolist() for one in first] == [one.arms.tolist() for one in again]

"""What the programs do with every sequence of random decisions: exact distributions, rounded weights included."""

import math
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.frobenius import mechanism as frobenius
from anonhist.mechanisms.frobenius.posterior import Medians
from anonhist.mechanisms.frobenius.row_weights import REACH, NoisyRows
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist_testing.exact import DecidedChoices, Decisions, OutputDistribution, decided_laplace, output_distribution
from anonhist_testing.partitions import Partition, corner_weight, distance, larger_neighbors, partitions_up_to


def coordinates(partition: Partition) -> FrobeniusCoordinates:
    return FrobeniusCoordinates.of(Profile.from_partition(partition))


def drawn_distribution(chain: DiagonalChain, *, unexplored: float) -> OutputDistribution:
    def run(decisions: Decisions) -> Partition:
        (drawn,) = chain.draw(1, DecidedChoices(decisions))
        return tuple(drawn.profile().partition().tolist())

    return output_distribution(run, unexplored=unexplored)


@pytest.mark.slow
@pytest.mark.parametrize(
    "member", [FamilyParameters(1.6, 0.0), FamilyParameters(1.2, 0.2), PartitionMechanism(2).family]
)
@pytest.mark.parametrize("reference", [(), (1,), (2, 1), (3,), (2, 2), (4, 2, 1)])
def test_every_path_of_the_chain_adds_up_to_the_distribution(member: FamilyParameters, reference: Partition) -> None:
    chain = DiagonalChain(coordinates(reference), member)
    distribution = drawn_distribution(chain, unexplored=0.03)
    assert math.fsum(distribution.probabilities.values()) + distribution.unexplored == pytest.approx(1, abs=1e-9)
    normalizer = math.exp(chain.log_normalizer)
    for output, probability in distribution.probabilities.items():
        exact = math.exp(-member.c * distance(reference, output)) * corner_weight(output, member.z) / normalizer
        assert probability <= exact * (1 + 1e-9)
        assert exact - probability <= distribution.unexplored
        if member.z == 0:
            # Without hidden flags one path leads to each output.
            assert probability == pytest.approx(exact, rel=1e-9)


def neighbouring_pairs(size: int) -> list[tuple[Partition, Partition]]:
    return [(fewer, more) for fewer in partitions_up_to(size) for more in larger_neighbors(fewer)]


def common(first: OutputDistribution, second: OutputDistribution) -> tuple[float, float]:
    """Largest log-ratio over outputs found on both sides, and how much of the first distribution they make up."""
    both = [output for output in first.probabilities if output in second.probabilities]
    ratios = [abs(math.log(first.probabilities[output] / second.probabilities[output])) for output in both]
    return max(ratios), math.fsum(first.probabilities[output] for output in both)


@pytest.mark.parametrize("epsilon", ["0.4", "1.5"])
def test_exact_losses_of_the_partition_mechanism_on_all_neighbours(epsilon: str) -> None:
    mechanism = PartitionMechanism(epsilon)
    listed = partitions_up_to(9)
    logs = {}
    for reference in partitions_up_to(6):
        normalizer = DiagonalChain(coordinates(reference), mechanism.family).log_normalizer
        logs[reference] = {mu: -mechanism.family.c * distance(reference, mu) - normalizer for mu in listed}
    worst = max(abs(logs[fewer][mu] - logs[more][mu]) for fewer, more in neighbouring_pairs(5) for mu in listed)
    assert 0.97 * float(epsilon) < worst <= float(epsilon) * (1 + 1e-12)


def test_exact_losses_of_draws_of_the_chain() -> None:
    mechanism = PartitionMechanism(3)
    distributions = {
        reference: drawn_distribution(DiagonalChain(coordinates(reference), mechanism.family), unexplored=0.01)
        for reference in partitions_up_to(3)
    }
    for fewer, more in neighbouring_pairs(2):
        first, second = distributions[fewer], distributions[more]
        for output, probability in first.probabilities.items():
            other = second.probabilities.get(output, 0.0)
            assert probability <= math.exp(3) * (other + second.unexplored)
            assert other <= math.exp(3) * (probability + first.unexplored)


def seen_distribution(mechanism: FrobeniusMechanism, partition: Partition) -> OutputDistribution:
    """Distribution of all that the budgeted step of the Frobenius mechanism lets out."""
    profile = Profile.from_partition(partition)

    def run(decisions: Decisions) -> Hashable:
        seen = []

        def publish(
            sizes: NDArray[np.int64], arms: NoisyRows, legs: NoisyRows, *, epsilon: float, reach: float, **_: bool
        ) -> list[Medians]:
            assert (epsilon, reach) == (float(mechanism.epsilon_per_cell), REACH)
            seen.append((int(sizes[0]), *arms.sums[0].tolist(), *legs.sums[0].tolist()))
            nothing = np.zeros(0, dtype=np.int64)
            return [Medians(nothing, nothing, 0.0, 0.0, 0.0)]

        draw = decided_laplace(decisions)

        def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
            assert gamma == mechanism.epsilon_per_cell
            return draw(gamma, size, source=None)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(frobenius, "MARGIN", 1)
            patch.setattr(frobenius, "posterior_medians", publish)
            mechanism._run(profile, noise)
        return seen[0]

    return output_distribution(run, unexplored=0.25)


@pytest.mark.slow
def test_exact_losses_of_the_frobenius_mechanism_on_all_neighbours() -> None:
    mechanism = FrobeniusMechanism(2)
    distributions = {partition: seen_distribution(mechanism, partition) for partition in partitions_up_to(4)}
    for fewer, more in neighbouring_pairs(3):
        loss, covered = common(distributions[fewer], distributions[more])
        assert loss <= 2 + 1e-9
        assert covered > 0.4
    assert max(common(distributions[fewer], distributions[more])[0] for fewer, more in neighbouring_pairs(3)) > 2 - 1e-9

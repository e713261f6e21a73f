"""The distribution of the partition mechanism, by exact enumeration."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.exponential import side_chain
from anonhist.mechanisms.exponential.calibration import (
    BAND_DELTA,
    FamilyParameters,
    band_shape,
    band_width,
    calibrate,
    privacy_loss,
    rounding_loss,
)
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain, _flag_weights
from anonhist.mechanisms.exponential.side_chain import Band, Segment
from anonhist.mechanisms.noise import ExactChoices, SimulatedChoices
from anonhist.mechanisms.picking import from_parameters
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import Partition, corner_weight, distance, larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

GEOMETRIC = FamilyParameters(1.3, math.exp(-1.3) / (1 + math.exp(-1.3)))
MEMBERS = (FamilyParameters(1.5, 0.0), FamilyParameters(1.05, 0.25), FamilyParameters(1.4, 0.1), GEOMETRIC)
LISTED, MORE = 16, "more"
REFERENCES = ((), (1,), (2, 1), (4, 4), (6,), (1, 1, 1, 1, 1), (4, 3, 2, 1), (5, 3, 3, 1))


def coordinates(partition: Partition) -> FrobeniusCoordinates:
    return FrobeniusCoordinates.of(Profile.from_partition(partition))


def log_normalizer(partition: Partition, member: FamilyParameters) -> float:
    return DiagonalChain(coordinates(partition), member).log_normalizer


def distribution(reference: Partition, member: FamilyParameters, size: int) -> dict[Partition, float]:
    """Exact weights of all outputs up to a size, and the normalizer of the chain."""
    weights = np.exp(-member.c * _distances(reference, size)) * _corner_weights(member.z, size)
    return dict(zip(partitions_up_to(size), weights.tolist(), strict=True))


@cache
def _distances(reference: Partition, size: int) -> NDArray[np.int64]:
    return np.array([distance(reference, mu) for mu in partitions_up_to(size)])


@cache
def _corner_weights(z: float, size: int) -> NDArray[np.float64]:
    return np.array([corner_weight(mu, z) for mu in partitions_up_to(size)])


@pytest.mark.slow
@each_of("member", MEMBERS)
@each_of("reference", REFERENCES)
def test_normalizer_is_the_sum_of_the_weights(member: FamilyParameters, reference: Partition) -> None:
    total = math.fsum(distribution(reference, member, 22).values())
    normalizer = math.exp(log_normalizer(reference, member))
    # Outputs beyond 22 cells are left out of the sum: it must fall short, by little.
    assert total <= normalizer * (1 + 1e-12)
    assert total == pytest.approx(normalizer, rel=3e-3 if len(reference) > 2 else 1e-4)


@pytest.mark.slow
@each_of("c", [math.log(3), 1.3, 2.0, 4.0])
def test_geometric_member_needs_no_normalizer(c: float) -> None:
    member = FamilyParameters(c, min(0.25, math.exp(-c) / (1 + math.exp(-c))))
    for reference in partitions_up_to(9):
        assert log_normalizer(reference, member) == pytest.approx(0.0, abs=1e-12)


def test_empty_reference_has_the_product_formula() -> None:
    for member in (*MEMBERS, FamilyParameters(0.1, 0.2), FamilyParameters(0.05, 0.25), FamilyParameters(0.02, 0.25)):
        q = math.exp(-member.c)
        t = member.z * (1 + q) / q
        logs = [math.log1p(-t * q**k) - math.log1p(-(q**k)) for k in range(1, math.ceil(60 / member.c))]
        assert log_normalizer((), member) == pytest.approx(math.fsum(logs), rel=1e-12, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "member",
    [
        *MEMBERS,
        *(FamilyParameters(c, z) for c, z in ((0.05, 0.0), (0.4265, 0.25), (0.8933, 0.25), (0.9, 0.13))),
        # In several blocks, with flags.
        *(FamilyParameters(c, z) for c, z in ((0.1, 0.2), (0.05, 0.25), (0.02, 0.25), (0.03, 2.0**-20))),
    ],
)
def test_worst_loss_between_neighbours_is_the_formula(member: FamilyParameters) -> None:
    logs = {reference: log_normalizer(reference, member) for reference in partitions_up_to(10)}
    steps = [abs(logs[more] - logs[fewer]) for fewer in partitions_up_to(9) for more in larger_neighbors(fewer)]
    assert member.c + max(steps) == pytest.approx(privacy_loss(member), rel=1e-9)
    assert abs(logs[(1,)] - logs[()]) == pytest.approx(max(steps), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "0.3", "0.5", "0.7", "1", "1.09", "1.1", "2", "6", "10"])
def test_calibration_spends_at_most_epsilon(epsilon: str) -> None:
    budget = Fraction(epsilon)
    member = calibrate(budget)
    logs = {reference: log_normalizer(reference, member) for reference in partitions_up_to(7)}
    worst = max(abs(logs[more] - logs[fewer]) for fewer in partitions_up_to(6) for more in larger_neighbors(fewer))
    # The logarithms reach several hundred here, so their difference is known to some 1e-13 only.
    assert member.c + worst + rounding_loss(member) <= float(budget) + 1e-12
    # Nothing much is wasted either.
    assert privacy_loss(member) >= float(budget) * 0.99


def test_theory_table_of_calibrated_exponents() -> None:
    table = {"0.25": 0.1250, "0.5": 0.2638, "0.7": 0.4265, "0.9": 0.7021, "1": 0.8933, "1.05": 0.9966, "1.5": 1.5}
    for epsilon, c in table.items():
        assert calibrate(Fraction(epsilon)).c == pytest.approx(c, abs=2e-4)


@pytest.mark.parametrize("z", [0.0, 0.05, 0.2, 0.25])
@each_of("epsilon", ["0.1", "0.7", "1.2", "2", "5"])
def test_any_z_can_be_calibrated(epsilon: str, z: float) -> None:
    budget = Fraction(epsilon)
    member = calibrate(budget, z)
    q = math.exp(-member.c)
    assert member.z == pytest.approx(min(z, q / (1 + q)))
    assert 0.99 * float(budget) < privacy_loss(member) + rounding_loss(member) <= float(budget)
    logs = {reference: log_normalizer(reference, member) for reference in partitions_up_to(5)}
    worst = max(abs(logs[more] - logs[fewer]) for fewer in partitions_up_to(4) for more in larger_neighbors(fewer))
    assert member.c + worst <= float(budget) + 1e-12
    mechanism = PartitionMechanism(budget, member=member)
    assert mechanism.family == member
    assert from_parameters("partition", mechanism.parameters) == mechanism
    with pytest.raises(UsageError, match="costs more than"):
        PartitionMechanism(budget * Fraction(98, 100), member=member)
    # Nor a member that only the rounding of a float would let in.
    sharp = float(budget) - (privacy_loss(member) + rounding_loss(member))
    with pytest.raises(UsageError, match="costs more than"):
        PartitionMechanism(budget - Fraction(sharp), member=member)


def test_members_the_program_is_not_made_for_are_refused() -> None:
    for c, z in ((0.019, 0.1), (0.05, 2.0**-21), (0.05, 0.25 - 2.0**-23)):
        with pytest.raises(UsageError, match="out of range"):
            PartitionMechanism(1, member=FamilyParameters(c, z))
    for c, z in ((0.019, 0.0), (0.05, 2.0**-20), (0.05, 0.25), (1.0, 2.0**-30)):
        assert PartitionMechanism(2, member=FamilyParameters(c, z)).family.c == c
    with pytest.raises(UsageError, match="member must be FamilyParameters"):
        PartitionMechanism(1, member=(1.0, 0.0))
    for z in (0.3, -0.1):
        with pytest.raises(UsageError, match="z must lie between 0 and 1/4"):
            calibrate(Fraction(1), z)


@each_of(("c", "z"), [(1.0, 0.26), (2.0, 0.2), (0.0, 0.0), (-1.0, 0.0), (math.nan, 0.0), (1.0, -0.1)])
def test_members_outside_the_theorem_are_refused(c: float, z: float) -> None:
    with pytest.raises(UsageError):
        FamilyParameters(c, z)


def test_weight_is_positive_up_to_a_quarter_and_not_beyond() -> None:
    staircases = [tuple(range(k, 0, -1)) for k in range(5)]
    assert min(corner_weight(mu, 0.25) for mu in (*partitions_up_to(9), *staircases)) > 0
    assert min(corner_weight(mu, 0.4) for mu in staircases) < 0


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "loss"), [("1", 1.134e-5), ("0.01", 5.466e-5), ("0.001", 1.607e-5)])
def test_rounding_costs_what_the_proof_says(epsilon: str, loss: float) -> None:
    # docs/proofs/partition.md: four times (decisions × roundings + pieces + tails) × 2^−53.
    member = calibrate(Fraction(epsilon))
    width, blocks = band_shape(member)
    terms = (2 * width + 1) // blocks * (1 if member.z == 0 else 4) + blocks + 10
    decisions = 256 * (2**20 + width + 1)
    assert rounding_loss(member) >= 4 * decisions * terms * 2.0**-53
    assert rounding_loss(member) == pytest.approx(loss, rel=0.002)
    assert member.c < calibrate(Fraction(epsilon) * (1 + Fraction(1, 10**6))).c


@each_of("run", [0, 1, 2, 50, 100_000])
def test_weights_of_a_flag_do_not_cancel(run: int) -> None:
    # At z = 1/4, I_j = (j + 2)/2^(j+1), so that 2 − I_j/I_{j+1} = 2/(j + 3).
    away, near = _flag_weights(run, 0.25)
    assert away == pytest.approx(2 / (run + 3), rel=1e-11)
    assert near == pytest.approx((run + 1) / (run + 3), rel=1e-11)
    first, second = 1 - 0.1, 1 - 2 * 0.1
    if run == 0:
        assert _flag_weights(0, 0.1) == pytest.approx((2 - 1 / first, 1 / first - 1), rel=1e-12)
    if run == 1:
        assert _flag_weights(1, 0.1) == pytest.approx((2 - first / second, first / second - 1), rel=1e-12)


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("member", MEMBERS)
# Of the smaller ones every path is followed: see test_exact_distributions.py.
@pytest.mark.parametrize("reference", [(), (4, 4), (5, 3, 3, 1), (1, 1, 1, 1)])
def test_simulated_draws_follow_the_distribution_and_no_other(member: FamilyParameters, reference: Partition) -> None:
    chain = DiagonalChain(coordinates(reference), member)
    # Around the empty diagram the second of the wrong distributions is hardest to tell.
    drawn = chain.draw(4_000 if reference else 8_000, SimulatedChoices(np.random.default_rng(11)))
    samples = _samples(drawn)
    assert_pmf_equal(samples, _pmf(reference, member), false_fail_rate=1e-9)
    for wrong in (FamilyParameters(member.c * 0.8, member.z), FamilyParameters(member.c * 1.25, member.z * 0.5)):
        assert_pmf_differs(samples, _pmf(reference, wrong), false_fail_rate=1e-9)


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("member", [MEMBERS[0], MEMBERS[1]])
def test_exact_draws_follow_the_distribution(member: FamilyParameters) -> None:
    reference = (3, 1, 1)
    chain = DiagonalChain(coordinates(reference), member)
    choices = ExactChoices(SeededSource(5))
    samples = _samples(chain.draw(1, choices)[0] for _ in range(2_000))
    assert_pmf_equal(samples, _pmf(reference, member), false_fail_rate=1e-9)
    wrong = FamilyParameters(member.c * 0.8, member.z)
    assert_pmf_differs(samples, _pmf(reference, wrong), false_fail_rate=1e-9)


def _samples(drawn: Iterable[FrobeniusCoordinates]) -> list[Partition | str]:
    names = dict[tuple[bytes, bytes], Partition | str]()
    samples = []
    for one in drawn:
        # Few diagrams are drawn again and again.
        key = (one.arms.tobytes(), one.legs.tobytes())
        if key not in names:
            parts = tuple(one.profile().partition().tolist())
            names[key] = parts if sum(parts) <= LISTED else MORE
        samples.append(names[key])
    return samples


def _pmf(reference: Partition, member: FamilyParameters) -> dict[Partition | str, float]:
    """Outputs up to 16 cells one by one, all larger ones together."""
    normalizer = math.exp(log_normalizer(reference, member))
    listed = {mu: weight / normalizer for mu, weight in distribution(reference, member, LISTED).items()}
    return listed | {MORE: 1 - math.fsum(listed.values())}


def test_blocks_made_again_hold_the_same_futures_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = Profile.from_prevalences({1: 60, 2: 30, 3: 9, 5: 4, 8: 2, 21: 2, 40: 1, 300: 1, 5000: 1})
    reference = FrobeniusCoordinates.of(profile)
    futures = []
    for bytes_kept in (2**26, 1):
        monkeypatch.setattr(side_chain, "_BLOCK_BYTES", bytes_kept)
        chain = DiagonalChain(reference, FamilyParameters(0.3, 0.25))
        blocks = list(chain.right.segments())
        assert len(blocks) == (1 if bytes_kept > 1 else reference.arms[reference.arms >= 1].size)
        futures.append(_segments(blocks))
        # A second pass, the last block being the one that is kept, makes them all again.
        assert _segments(chain.right.segments()) == futures[-1]
    assert futures[0] == futures[1]


def _segments(blocks: Iterable[list[list[Segment]]]) -> list[tuple[int, int, bytes]]:
    return [(one.start, one.exponent, one.future.values.tobytes()) for runs in blocks for run in runs for one in run]


@pytest.mark.fresh
@pytest.mark.slow
def test_draws_block_by_block_follow_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_chain, "_BLOCK_BYTES", 1)
    reference, member = (5, 3, 3, 1), MEMBERS[1]
    drawn = DiagonalChain(coordinates(reference), member).draw(8_000, SimulatedChoices(np.random.default_rng(3)))
    assert_pmf_equal(_samples(drawn), _pmf(reference, member), false_fail_rate=1e-9)


@each_of("c", [0.02, 0.05, 0.3, 1.0])
@each_of("shape", ["empty", "square", "staircase"])
def test_band_holds_all_but_the_stated_chance(c: float, shape: str) -> None:
    # A chain in a band wider by half sees the mass that the stated band leaves out.
    member = FamilyParameters(c, 0.0)
    reference = {"empty": (), "square": (40,) * 40, "staircase": tuple(range(60, 0, -1))}[shape]
    narrow, wide = band_width(member), band_width(member) * 3 // 2
    chain = _with_band(reference, member, wide)
    weights = chain.level_weights()
    outside = np.abs(chain.offsets) > narrow
    assert weights[outside].sum() <= float(BAND_DELTA) * weights.sum()
    # The bound is of the right size: a band of a third is not enough for the empty diagram.
    if shape == "empty" and c < 0.1:
        assert weights[np.abs(chain.offsets) > narrow // 3].sum() > float(BAND_DELTA) * weights.sum()


def _with_band(reference: Partition, member: FamilyParameters, width: int) -> DiagonalChain:
    import anonhist.mechanisms.exponential.diagonal_chain as chain_module
    import anonhist.mechanisms.exponential.side_chain as band_module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(band_module, "band_shape", lambda _: (width, 1))
        patch.setattr(chain_module, "band_of", Band)
        return DiagonalChain(coordinates(reference), member)

"""Matrices that releases share: made by several threads at once, they are those that one thread makes."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError, get_ident

import numpy as np
import pytest

import anonhist.mechanisms.exponential.diagonal_chain as chain_module
from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.side_chain import Band
from anonhist.numeric import BlockMatrix
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist_testing.partitions import distance, partitions_up_to

HIGHEST = 4


def of_two_threads(member: FamilyParameters, monkeypatch: pytest.MonkeyPatch) -> Band:
    """Return a band whose powers two threads made at the same time: their first two squarings begin together."""
    squared, both, calls = BlockMatrix.square, Barrier(2), Counter[int]()

    def together(matrix: BlockMatrix, *, floor: int) -> BlockMatrix:
        calls[get_ident()] += 1
        if calls[get_ident()] <= 2:
            # A program in which only one of them squares is right, too.
            with suppress(BrokenBarrierError):
                both.wait(timeout=10)
        return squared(matrix, floor=floor)

    band = Band(member)
    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(BlockMatrix, "square", together)
        list(threads.map(band.power, [HIGHEST, HIGHEST]))
    return band


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.009", "0.2", "0.6", "3"])
def test_powers_made_by_two_threads_are_those_of_one(epsilon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    member = PartitionMechanism(epsilon).family
    shared, alone = of_two_threads(member, monkeypatch), Band(member)
    for exponent in range(HIGHEST + 1):
        found, expected = shared.power(exponent), alone.power(exponent)
        assert (found.exponents == expected.exponents).all()
        for ours, theirs in zip(found.panels, expected.panels, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_threads_that_make_a_power_at_the_same_time_take_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rounded otherwise, a second one would not make futures again bit for bit.
    squared, both = BlockMatrix.square, Barrier(2)

    def together(matrix: BlockMatrix, *, floor: int) -> BlockMatrix:
        # A program in which only one of them squares is right, too.
        with suppress(BrokenBarrierError):
            both.wait(timeout=10)
        return squared(matrix, floor=floor)

    monkeypatch.setattr(BlockMatrix, "square", together)
    band = Band(PartitionMechanism("0.6").family)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(band.power, [1, 1])
    assert first is second
    assert first is band.power(1)


def test_the_distribution_is_exact_after_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    # Z(λ) = Σ_μ q^{d(λ, μ)}; partitions of more than 22 items, 10 cells or more away, hold less than 10^−12 of it.
    member = FamilyParameters(4.0, 0.0)
    band = of_two_threads(member, monkeypatch)
    monkeypatch.setattr(chain_module, "band_of", lambda _: band)
    listed = partitions_up_to(22)
    for reference in ((), (1,), (12,), (1,) * 12, (12, 1)):
        chain = DiagonalChain(FrobeniusCoordinates.of(Profile.from_partition(reference)), member)
        exact = math.fsum(math.exp(-member.c * distance(reference, other)) for other in listed)
        assert chain.log_normalizer == pytest.approx(math.log(exact), abs=1e-12)


@pytest.mark.parametrize("epsilon", ["0.009", "0.6"])
def test_nobody_can_write_to_a_shared_band(epsilon: str) -> None:
    band = Band(PartitionMechanism(epsilon).family)
    powers = [band.power(exponent) for exponent in range(3)]
    arrays = [array for power in powers for array in (*power.panels, power.exponents)]
    arrays += [band.levels, band.weight, band.stay, band.drop, band.step_rows, band.tail.values, band.tail.exponents]
    assert not any(array.flags.writeable for array in arrays)

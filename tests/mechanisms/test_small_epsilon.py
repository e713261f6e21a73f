"""Where weights leave the range of floats: block floating point against sums of logarithms and closed forms."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import anonhist as ah
import anonhist.mechanisms.exponential.diagonal_chain as chain_module
import anonhist.mechanisms.exponential.side_chain as band_module
from anonhist.mechanisms.exponential.calibration import (
    FamilyParameters,
    band_shape,
    band_width,
    calibrate,
    negligible_order,
)
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.side_chain import Band, SideChain, band_of
from anonhist.mechanisms.noise import SimulatedChoices
from anonhist.numeric import BlockMatrix, BlockVector
from anonhist.profiles import FrobeniusCoordinates
from anonhist_testing.partitions import Partition

SMALLEST = calibrate(Fraction(1, 1000))
LENGTHS = {
    "none": np.zeros(0, dtype=np.int64),
    "staircase": np.arange(1500, 0, -1),
    "far": np.arange(3000, 2000, -1),
    "scattered": np.unique(np.floor(1.003 ** np.arange(2500)).astype(np.int64))[::-1],
}
# Levels and transitions of a smaller share may be lost (docs/proofs/partition.md §5).
NEGLIGIBLE = -180 * math.log(2)


def logs(vector: BlockVector) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.asarray((np.log(vector.values) + vector.exponents[:, None] * math.log(2)).ravel())


def log_steps(lengths: NDArray[np.int64], band: Band) -> list[NDArray[np.float64]]:
    """Log futures before content 1, 2, … up to the tail, one content at a time."""
    c, levels = band.parameters.c, band.levels.astype(np.float64)
    tail = np.full(levels.size, -np.inf)
    k = np.arange(1, band.width + 1)
    tail[band.width :] = np.concatenate(([0.0], np.cumsum(-c * k - np.log(-np.expm1(-c * k)))))
    futures, drops = [tail], set(lengths.tolist())
    for content in range(int(lengths.max(initial=0)), 0, -1):
        beside = np.full_like(tail, -np.inf)
        if content in drops:
            beside[:-1] = futures[-1][1:]
        else:
            beside[1:] = futures[-1][:-1]
        futures.append(np.logaddexp(futures[-1], beside) - c * np.abs(levels))
    return futures[::-1]


def log_shares(band: Band, futures: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Log probability of each level at content 1, the same lengths on both sides."""
    here = futures[0]
    # At content 0 either side stays at the level or drops by one.
    sides = np.logaddexp(here, np.concatenate(([-np.inf], here[:-1])))
    centre = sides - band.parameters.c * np.abs(band.levels)
    start = np.logaddexp(centre, np.concatenate((centre[1:], [-np.inf])))
    joint = start + here
    return np.asarray(joint - np.logaddexp.reduce(joint))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "shape"),
    [
        # Steps at the least budget there is; the powers that runs take are quicker to make at larger ones.
        *(("0.001", "none"), ("0.001", "staircase"), ("0.002", "scattered"), ("0.004", "far")),
        *(("0.01", "none"), ("0.01", "staircase"), ("0.01", "far"), ("0.01", "scattered")),
    ],
)
def test_futures_are_those_summed_in_logarithms(shape: str, epsilon: str) -> None:
    band = band_of(calibrate(Fraction(epsilon)))
    lengths = LENGTHS[shape]
    future = SideChain(lengths, band).future
    expected = log_steps(lengths, band)
    matter = log_shares(band, expected) > NEGLIGIBLE
    assert matter.sum() > 20
    found = logs(future)
    np.testing.assert_allclose(found[matter], expected[0][matter], rtol=1e-11, atol=1e-9)
    # Nothing that is well inside the range of its block is wrong, even where it does not matter.
    kept = future.values.ravel() > 2.0**-400
    np.testing.assert_allclose(found[kept], expected[0][kept], rtol=1e-11, atol=1e-9)


@pytest.mark.slow
def test_powers_are_gaussian_binomials_and_as_exact_as_the_proof_says() -> None:
    # One after the other, since each is made from those before it.
    band = band_of(calibrate(Fraction("0.003")))
    c, width = band.parameters.c, band.width
    before, after = np.meshgrid(np.arange(width + 1), np.arange(width + 1), indexing="ij")
    dropped = before - after
    k = np.arange(1, width + 1)
    denominators = np.concatenate(([0.0], np.cumsum(np.log(-np.expm1(-c * k)))))
    rows = np.arange(width, 2 * width + 1)
    for exponent in (0, 1, 2, 5, 8, 11, 14, 30):
        steps, power = 2**exponent, band.power(exponent)
        possible = (dropped >= 0) & (dropped <= steps)
        # From level a + j to a in L steps: Σ q^(aL + t_1 + … + t_j), distinct t ≤ L, is
        # q^(aL + j(j+1)/2) [L choose j]_q.
        numerators = np.concatenate(([0.0], np.cumsum(np.log(-np.expm1(-c * np.maximum(steps - k + 1, 1.0))))))
        j = np.where(possible, dropped, 0)
        expected = -c * (after * float(steps) + j * (j + 1) / 2) + numerators[j] - denominators[j]
        scale = power.exponents[(rows // power.block)[:, None], rows // power.block] * math.log(2)
        values = dense(power)[width:, width:]
        assert not values[~possible].any(), exponent
        present = possible & (values > 2.0**-900)
        found = np.log(values[present]) + scale[present]
        np.testing.assert_allclose(found, expected[present], rtol=1e-11, atol=1e-9, err_msg=f"2^{exponent} steps")
        # What is missing is negligible, or lies 1,300 binary orders below the largest of its block.
        missing = expected[possible & ~present]
        negligible = negligible_order(band.parameters) * math.log(2)
        assert (missing < np.maximum(scale[possible & ~present] - 800 * math.log(2), negligible)).all(), exponent
    # By squaring alone the error of pieces without a drop would double each time: to 2^18 roundings, where about
    # 4c|u|·2^18 are allowed.
    for exponent, level in product((1, 6, 12, 18), (1, 2, 3, 7)):
        power, index = band.power(exponent), band.width + level
        block = index // power.block
        piece = Decimal(float(power.panels[block][index % power.block, index % power.block]))
        piece *= Decimal(2) ** int(power.exponents[block, block])
        exact = (Decimal(c) * -(level * 2**exponent)).exp()
        if c * level * 2**exponent < 500:
            assert abs(float(piece / exact) - 1) <= (4 * c * level * 2**exponent + 4) * 2.0**-53, (exponent, level)


def dense(matrix: BlockMatrix) -> NDArray[np.float64]:
    size, block = len(matrix.panels) * matrix.block, matrix.block
    values = np.zeros((size, size))
    for j, panel in enumerate(matrix.panels):
        values[size - panel.shape[0] :, j * block : (j + 1) * block] = panel
    return values


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "reference"), [(3, ()), (3, (4, 2, 1)), (9, (6, 3, 3, 1)), (9, (2, 2, 2, 2))])
@pytest.mark.parametrize("member", [FamilyParameters(1.0, 0.0), FamilyParameters(0.9, 0.25)])
def test_blocks_change_nothing(
    blocks: int, reference: Partition, member: FamilyParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    width = (blocks * 5 - 1) // 2
    assert width <= 22
    coordinates = FrobeniusCoordinates.of(ah.Profile.from_partition(reference))
    monkeypatch.setattr(chain_module, "band_of", Band)
    chains, distributions = [], []
    for count in (1, blocks):
        monkeypatch.setattr(band_module, "band_shape", lambda _, count=count: (width, count))
        chain = DiagonalChain(coordinates, member)
        chains.append(chain)
        drawn = chain.draw(500, SimulatedChoices(np.random.default_rng(17)))
        distributions.append([one.profile() for one in drawn])
        assert chain.band.blocks == count
    np.testing.assert_allclose(logs(chains[0].left.future), logs(chains[1].left.future), rtol=1e-12, atol=1e-12)
    assert chains[0].log_normalizer == pytest.approx(chains[1].log_normalizer, rel=1e-12)
    # The same uniform numbers lead to the same draws, but where they fall within a rounding of a border.
    assert sum(one != other for one, other in zip(*distributions, strict=True)) <= 1


@pytest.mark.slow
def test_draws_around_the_empty_profile_are_random_partitions() -> None:
    # P(μ) ∝ q^n: E n = Σ k q^k/(1 − q^k), and a variance of about 2ζ(2)/c³.
    chain = DiagonalChain(FrobeniusCoordinates.of(ah.Profile.from_counts([])), SMALLEST)
    drawn = chain.draw(40, SimulatedChoices(np.random.default_rng(5)))
    c = SMALLEST.c
    k = np.arange(1, int(60 / c))
    mean, deviation = float(np.sum(k / np.expm1(c * k))), math.sqrt(math.pi**2 / 3 / c**3)
    sizes = np.array([one.profile().n for one in drawn])
    assert abs(sizes.mean() - mean) < 4 * deviation / math.sqrt(40)
    assert deviation / 2 < sizes.std() < 2 * deviation


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.003", "0.006"])
def test_draws_keep_their_distance(epsilon: str) -> None:
    # No test can list the outputs, but the mean distance of a draw is −d ln Z/dc.
    coordinates = FrobeniusCoordinates(LENGTHS["scattered"], LENGTHS["scattered"])
    c = calibrate(Fraction(epsilon)).c
    step = c * 1e-4
    below, above = (DiagonalChain(coordinates, FamilyParameters(at, 0.0)).log_normalizer for at in (c - step, c + step))
    expected = (below - above) / (2 * step)
    drawn = DiagonalChain(coordinates, FamilyParameters(c, 0.0)).draw(30, SimulatedChoices(np.random.default_rng(9)))
    distances = np.array(
        [ah.properties.sorted_l1(coordinates.profile(), one.profile()) for one in drawn], dtype=np.float64
    )
    standard_error = distances.std() / math.sqrt(30)
    assert standard_error < 0.02 * expected
    assert abs(distances.mean() - expected) < 4 * standard_error


@pytest.mark.slow
def test_shape_of_the_band() -> None:
    for epsilon in ("0.001", "0.003", "0.01", "0.1", "1"):
        member = calibrate(Fraction(epsilon))
        width, blocks = band_shape(member)
        assert width >= band_width(member)
        assert (2 * width + 1) % blocks == 0
        assert blocks % 2 == 1
    assert band_shape(SMALLEST)[1] > 1
    assert band_shape(calibrate(Fraction(1)))[1] == 1

"""The matrix of truncated noise against itself written out, and where it stops having an inverse."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.sketches.inverses import Circulant, fast_length, reaches_of, truncated_eigenvalues, truncated_reach
from anonhist.sketches.noise import NoiseDistribution
from anonhist_testing.cases import each_of
from anonhist_testing.sketches import truncated_noise

ONE = Fraction(1)
RATES = [Fraction(1, 50), Fraction(3, 10), ONE, Fraction(3), Fraction(20)]


def wrap(distribution: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return the circulant matrix of probabilities of −B..B, entry by entry."""
    column = np.zeros(length)
    reach = distribution.size // 2
    np.add.at(column, np.arange(-reach, reach + 1) % length, distribution)
    places = np.arange(length)
    return np.asarray(column[(places[:, None] - places) % length])


@each_of("gamma", RATES)
@each_of(("reach", "length"), [(0, 1), (0, 4), (1, 3), (4, 30), (7, 31), (12, 90), (90, 200), (9, 7)])
def test_eigenvalues_are_those_of_the_matrix_written_out(gamma: Fraction, reach: int, length: int) -> None:
    matrix = wrap(truncated_noise(gamma, reach), length)
    found = truncated_eigenvalues(gamma, reach, length)
    waves = np.exp(2j * np.pi * np.outer(np.arange(length), np.arange(found.size)) / length)
    np.testing.assert_allclose(matrix @ waves, waves * found, atol=1e-12)
    everyone = found[np.minimum(np.arange(length), length - np.arange(length))]
    np.testing.assert_allclose(np.sort(everyone), np.linalg.eigvalsh(matrix), atol=1e-12)


@each_of("gamma", RATES)
def test_truncated_noise_is_noise_known_to_be_near(gamma: Fraction) -> None:
    whole = NoiseDistribution(((gamma, ONE),)).pmf(40)
    for reach in (0, 1, 5, 40):
        near = whole[40 - reach : 41 + reach]
        np.testing.assert_allclose(truncated_noise(gamma, reach), near / near.sum(), rtol=1e-12)


def test_norms_of_the_inverse_are_as_specified() -> None:
    gamma = Fraction(-math.log(0.6))
    inverse = np.linalg.inv(wrap(truncated_noise(gamma, 10), 50))
    norms = [float(np.linalg.norm(inverse, order)) for order in (1, 2, np.inf)]
    assert [round(norm, 2) for norm in norms] == [16.22, 15.95, 16.22]
    column = Circulant.of(NoiseDistribution(((gamma, ONE),)), [10], 50).solve(np.eye(50)[0])
    assert np.abs(column).sum() == pytest.approx(norms[0], rel=1e-12)
    assert 1 / truncated_eigenvalues(gamma, 10, 50).min() == pytest.approx(norms[1], rel=1e-12)


@pytest.mark.parametrize("gamma", RATES[:3])
def test_below_the_bound_eigenvalues_turn_negative(gamma: Fraction) -> None:
    p = math.exp(-float(gamma))
    # The smallest one with p^(bound+1) < (1 − p)/2.
    bound = math.floor(math.log((1 - p) / 2) / math.log(p))
    assert p ** (bound + 1) < (1 - p) / 2 <= p**bound
    lengths = range(2 * bound + 1, 2 * bound + 60)
    for reach in (bound, bound + 1, bound + 7):
        assert min(truncated_eigenvalues(gamma, reach, length).min() for length in lengths) > 0
    # Just below, it takes a wave of the right length and sign; well below, none of the lengths escapes.
    below = range(max(1, bound - 12), bound)
    if below:
        assert any(truncated_eigenvalues(gamma, reach, length).min() < 0 for reach in below for length in lengths)
    # However large β is, the window is kept twice as far from there.
    assert p ** (truncated_reach(gamma, size=1, beta=0.9) + 1) <= (1 - p) / 4 * (1 + 1e-9)


@each_of("gamma", RATES)
@each_of("size", [100, 10**6])
def test_noise_leaves_the_window_as_seldom_as_asked(gamma: Fraction, size: int) -> None:
    p = math.exp(-float(gamma))
    reach = truncated_reach(gamma, size=size, beta=1e-4)

    def chance(within: int) -> float:
        return 2 * size * p ** (within + 1) / (1 + p)

    assert chance(reach) <= 1e-4 * (1 + 1e-9)
    assert reach == 0 or chance(reach - 1) > 1e-4


def test_each_part_of_merged_noise_has_its_share_of_the_failures() -> None:
    distribution = NoiseDistribution(((Fraction(1, 2), ONE), (Fraction(1), Fraction(1, 3)), (Fraction(2), ONE)))
    reaches = reaches_of(distribution, size=1000, beta=0.03)
    assert reaches[0] == truncated_reach(Fraction(1, 2), size=1000, beta=0.01)
    assert reaches[2] == truncated_reach(Fraction(2), size=1000, beta=0.01)
    tail = NoiseDistribution((distribution.parts[1],)).pmf(200)[: 200 - reaches[1]]
    assert 2 * tail.sum() * 1000 <= 0.01
    assert reaches_of(NoiseDistribution(()), size=5, beta=0.1) == []


def test_multiplies_and_divides_as_the_matrix_written_out_does() -> None:
    rng = np.random.default_rng(1)
    for gamma, reach, length in [(ONE, 3, 8), (Fraction(3, 10), 20, 45), (Fraction(3), 2, 33)]:
        matrix = wrap(truncated_noise(gamma, reach), length)
        noise = Circulant.of(NoiseDistribution(((gamma, ONE),)), [reach], length)
        vector = rng.normal(size=length)
        np.testing.assert_allclose(noise.multiply(vector), matrix @ vector, atol=1e-12)
        np.testing.assert_allclose(noise.solve(vector), np.linalg.solve(matrix, vector), rtol=1e-9, atol=1e-9)


def test_matrices_of_merged_noise_are_products() -> None:
    distribution = NoiseDistribution(((Fraction(1, 2), ONE), (Fraction(1), Fraction(1, 3)), (Fraction(2), ONE)))
    length = 64
    # The noise of a part that is not truncated is wrapped around.
    parts = [
        truncated_noise(Fraction(1, 2), 12),
        NoiseDistribution((distribution.parts[1],)).pmf(64 * 3),
        truncated_noise(Fraction(2), 3),
    ]
    matrix = np.linalg.multi_dot([wrap(part, length) for part in parts])
    noise = Circulant.of(distribution, [12, 0, 3], length)
    vector = np.random.default_rng(2).normal(size=length)
    np.testing.assert_allclose(noise.multiply(vector), matrix @ vector, atol=1e-12)
    np.testing.assert_allclose(noise.solve(matrix @ vector), vector, atol=1e-9)


@each_of("length", [16, 18, 50, 64])
def test_a_longer_window_keeps_the_distribution(length: int) -> None:
    reach, profile = 4, np.array([0.5, 0.0, 0.3, 0.0, 0.1, 0.0, 0.0, 0.1])
    window = np.zeros(length)
    window[reach : reach + profile.size] = profile
    expected = np.zeros(length)
    expected[: profile.size + 2 * reach] = np.convolve(profile, truncated_noise(ONE, reach))
    noise = Circulant.of(NoiseDistribution(((ONE, ONE),)), [reach], length)
    np.testing.assert_allclose(noise.multiply(window), expected, atol=1e-15)


def test_refuses_to_divide_where_there_is_no_inverse() -> None:
    noise = Circulant.of(NoiseDistribution(((Fraction(1, 50), ONE),)), [3], 40)
    with pytest.raises(UsageError, match="choose a smaller failure probability"):
        noise.solve(np.ones(40))


def test_fast_lengths_are_just_above_and_have_small_factors() -> None:
    for least in [*range(1, 300), 999_983, 2**24 - 1, 2**24]:
        length = fast_length(least)
        assert least <= length < max(1.25 * least, least + 1)
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        assert rest == 1

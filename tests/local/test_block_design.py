from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.local.block_design import MOST_CELLS, MOST_PAIRS, BlockDesign
from anonhist.local.reports import Tally, nonzero_cells
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.projective_space import HadamardMatrix, ProjectiveSpace
from anonhist_testing.cases import each_of
from anonhist_testing.local import drawn_matrix, largest_ratio, worst_deviation
from anonhist_testing.sources import SeededSource

E = ExponentialQuotient.exponential(Fraction(1))
# The last but one leaves half of its points without a value.
DESIGNS = [
    (BlockDesign(HadamardMatrix(8), 1), 7),
    (BlockDesign(HadamardMatrix(4), 3), 8),
    (BlockDesign(HadamardMatrix(2), 4), 4),
    (BlockDesign(ProjectiveSpace(2, 3), 1), 7),
    (BlockDesign(ProjectiveSpace(3, 3), 1), 9),
    (BlockDesign(ProjectiveSpace(2, 4), 1), 8),
    (BlockDesign(ProjectiveSpace(3, 2), 3), 10),
]


@each_of(("blocks", "size"), DESIGNS)
@each_of("epsilon", ["1/1000", "1", "22/7", "10"])
def test_the_largest_ratio_is_exactly_the_odds(blocks: BlockDesign, size: int, epsilon: str) -> None:
    odds = ExponentialQuotient.exponential(Fraction(epsilon))
    assert largest_ratio(blocks.matrix(size, odds)) == odds


@pytest.mark.parametrize(("blocks", "size"), DESIGNS)
def test_reports_follow_the_matrix_and_not_another(blocks: BlockDesign, size: int) -> None:
    source = SeededSource(7)
    observed = drawn_matrix(
        lambda codes: blocks.draw(codes, E, source=source), values=size, reports=blocks.cells, repeats=40_000
    )

    def worst(odds: ExponentialQuotient) -> float:
        matrix = np.array([[float(entry) for entry in row] for row in blocks.matrix(size, odds)])
        return max(worst_deviation(*rows) for rows in zip(observed, matrix, strict=True))

    # At most 130 shares, five standard errors each: a right sampler fails once in 10^4 seeds.
    assert worst(E) < 5
    assert worst(E**2) > 5
    assert worst(ExponentialQuotient.exponential(Fraction(4, 5))) > 5


@each_of(("blocks", "size"), DESIGNS)
def test_both_ways_of_counting_give_the_same(blocks: BlockDesign, size: int) -> None:
    draws = np.random.default_rng(7)
    counts = draws.integers(0, 2**40, blocks.cells) * draws.integers(0, 2, blocks.cells)
    tally = Tally("d", int(counts.sum()), *nonzero_cells(counts))
    values = np.arange(size)
    expected = blocks.supports(np.arange(blocks.cells), values[:, np.newaxis]) @ counts
    np.testing.assert_array_equal(blocks.counts(tally, values), expected)
    np.testing.assert_array_equal(blocks.counts(tally, values[::-2]), expected[::-2])
    # Few reports are compared with every value, many are transformed: as many of them here as make it so.
    many = np.tile(values, 40)
    assert blocks.is_listed(tally, values[:1])
    assert not blocks.is_listed(tally, many)
    np.testing.assert_array_equal(blocks.counts(tally, many), np.tile(expected, 40))
    home = np.arange(blocks.cells) // blocks.design.points == values[:, np.newaxis] // blocks.design.items
    np.testing.assert_array_equal(blocks.block_counts(tally, values), home @ counts)


@each_of(("blocks", "size"), DESIGNS)
def test_the_channel_is_the_matrix(blocks: BlockDesign, size: int) -> None:
    draws = np.random.default_rng(7)
    counts = draws.integers(1, 9, blocks.cells)
    tally = Tally("d", int(counts.sum()), *nonzero_cells(counts))
    matrix = np.array([[float(entry) for entry in row] for row in blocks.matrix(size, E)])
    chosen = np.array([size - 1, 0, 2])
    rest = np.setdiff1d(np.arange(size), chosen)
    with_others = np.vstack((matrix[chosen], matrix[rest].mean(axis=0)))
    for codes, distribution in ((None, matrix), (chosen, with_others)):
        channel, observed = blocks.channel(tally, codes, size=size, odds=E)
        np.testing.assert_array_equal(observed, counts)
        shares, weights = draws.dirichlet(np.ones(len(distribution))), draws.random(blocks.cells)
        assert channel.items == len(distribution)
        np.testing.assert_allclose(channel.forward(shares), shares @ distribution, rtol=1e-12)
        np.testing.assert_allclose(channel.adjoint(weights), distribution @ weights, rtol=1e-12)


def test_more_blocks_than_fit_the_memory_are_no_matter() -> None:
    blocks = BlockDesign(HadamardMatrix(2), 2**50)
    tally = Tally("d", 7, np.array([0, 3, 2**51 - 2, 2**51 - 1]), np.array([1, 2, 1, 3]))
    assert blocks.block_counts(tally, np.array([0, 1, 2, 2**50 - 1])).tolist() == [1, 2, 0, 4]


@pytest.mark.slow
def test_what_would_fill_the_memory_is_refused() -> None:
    huge = BlockDesign(ProjectiveSpace(11_597, 3), 1)
    assert huge.cells > MOST_CELLS
    tally = Tally("d", 2**20, np.arange(2**20), np.ones(2**20, dtype=np.int64))
    with pytest.raises(UsageError, match="2\\^20 entries"):
        huge.matrix(2, E)
    with pytest.raises(UsageError, match="decoder"):
        huge.channel(tally, None, size=10, odds=E)
    with pytest.raises(UsageError, match="fewer candidates"):
        huge.counts(tally, np.arange(MOST_PAIRS // 2**20 + 1))
    # A few are compared with every report: points without z² support the constant.
    assert huge.counts(tally, np.array([0])).tolist() == [11_598]

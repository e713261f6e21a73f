"""How the steps of legs vary about a smooth mean: five distributions.

Legs fall by leg_c − leg_{c+1} = 1 + φ_c, where φ_c is the number of labels with count c. The step of ℓ adjacent legs is
the sum N of their φ_c, with mean M = Σ μ_c and μ̄ = M/ℓ. With NB(M, v) the negative binomial distribution of mean M and
variance M + v, it is NB(M, α M μ̄), or ordinary with probability (1 − π)^ℓ and heavy otherwise:

    ordinary: NB(M, α′ M μ̄),    heavy: ½ NB(M, μ̄²) + ¼ NB(M, 10 μ̄²) + ¼ NB(M − μ̄ + m, m²),    m = 3μ̄ + 3,
    or with heaps: ⅓ Σ NB(M − μ̄ + m, m²) over m = 3 (μ̄ + 1), 30 (μ̄ + 1) and 300 (μ̄ + 1).

Ordinary steps are nearly Poisson: α′ is how far the curve of means may be off, for it bends more between its knots if
it is short. Heaps may be of any size: without them, counts of which each seventh is heaped looked like long runs of
zeros with rare steps, and their small steps were lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonhist.numeric.arrays import Floats, Ints

# On a grid, so many values stand for those of a cell, where a pmf is smooth.
_FEW = 4
# Cells this near zero are summed up in full.
_NEAR_ZERO = 2
_NEAR_ONE = 1e-9
# Means of heavy steps in units of μ̄ + 1, and of heaps.
_LONGER, _HEAPS = 3.0, (3.0, 30.0, 300.0)


def gammaln(x: Floats) -> Floats:
    """Return ln Γ(x), x > 0, to within 3·10⁻¹⁰, by Stirling's series at x + 8; SciPy takes long to load."""
    far, product = x + 8.0, np.array(x)
    for k in range(1, 8):
        product *= x + k
    series = (1 / 12 - (1 / 360 - 1 / (1260 * far**2)) / far**2) / far
    return np.asarray((far - 0.5) * np.log(far) - far + 0.9189385332046727 + series - np.log(product))


class Part(NamedTuple):
    """A part of a mixture for each group: its weight, its mean, and by how much its variance exceeds that."""

    weight: Floats
    mean: Floats
    more: Floats

    def pmf(self, total: Floats, at: Ints | slice = slice(None)) -> Floats:
        """Return the weight times P(N) of the groups ``at`` these places, whose N is in the last axis."""
        found, mean = np.maximum(total, 0.0), self.mean[at][..., None]
        size = mean**2 / np.maximum(self.more[at][..., None], 1e-9)
        log = found * -np.log1p(size / mean) - size * np.log1p(mean / size)
        if not (np.abs(size - 1) < _NEAR_ONE).all():
            log += gammaln(found + size) - gammaln(size) - gammaln(found + 1)
        return np.where(total >= 0, self.weight[at][..., None] * np.exp(log), 0.0)


@dataclass(frozen=True)
class Steps:
    """One distribution: of dispersion α, or Poisson steps, heavy with probability π, perhaps in heaps of any size.

    The dispersion of Poisson steps weighs them in fits of their mean. ``odds`` are log odds before any value is seen.
    """

    name: str
    dispersion: float
    heavy: float | None = None
    heaps: bool = False
    odds: float = 0.0

    def parts(self, mean: Floats, legs: Floats, doubt: Floats) -> Iterator[Part]:
        """Yield the parts of the steps of groups of so many legs with these means, the ordinary one first.

        ``doubt`` is α′.
        """
        if self.heavy is None:
            yield Part(np.ones_like(mean), mean, self.dispersion * mean**2 / legs)
            return
        share, each = self.heavy_share(legs), mean / legs
        yield Part(1 - share, mean, doubt * mean**2 / legs)
        if self.heaps:
            for times in _HEAPS:
                longer = times * (each + 1)
                yield Part(share / len(_HEAPS), mean - each + longer, longer**2)
            return
        longer = _LONGER * (each + 1)
        yield Part(share / 2, mean, each**2)
        yield Part(share / 4, mean, 10 * each**2)
        yield Part(share / 4, mean - each + longer, longer**2)

    def heavy_share(self, legs: Floats) -> Floats:
        """Return the probability that some step of a group is heavy."""
        return np.asarray(1 - (1 - (self.heavy or 0.0)) ** legs)

    def pmf(self, total: Floats, mean: Floats, legs: Floats, doubt: Floats) -> Floats:
        """Return P(N) of each group for numbers in the last axis."""
        return sum((part.pmf(total) for part in self.parts(mean, legs, doubt)), start=np.zeros(total.shape))

    def ordinary_share(self, total: Floats, mean: Floats, legs: Floats, doubt: Floats) -> Floats:
        """Return for each group the probability that its N ≥ 0 is ordinary."""
        first, *_ = pmfs = [part.pmf(total[:, None])[:, 0] for part in self.parts(mean, legs, doubt)]
        return np.asarray(first / np.maximum(sum(pmfs), 1e-300))

    def spread(self, total: Floats, legs: Floats) -> Floats:
        """Return how much more a group's steps vary than those of a multinomial, given their sum N.

        It is 1 + π_ℓ N for Poisson steps, and that of the Dirichlet-multinomial distribution otherwise.
        """
        if self.heavy is None:
            return np.asarray((total + legs / self.dispersion) / (1 + legs / self.dispersion))
        return 1 + self.heavy_share(legs) * total

    def on_grid(self, first: Ints, cells: int, grid: int, mean: Floats, legs: Floats, doubt: Floats) -> Floats:
        """Return the pmf at ``first + grid · j``, j < ``cells``, for each group: shape (groups, cells).

        Numbers between two points of the grid count with each of them, more with the nearer one, so that means do not
        change. Cell j holds those from its point on; where a pmf is smooth, a few values stand for all of a cell.
        """
        if grid == 1:
            return self.pmf(first[:, None] + np.arange(float(cells)), mean, legs, doubt)
        begins = first[:, None] + grid * np.arange(-1, cells)
        own, following = np.zeros((2, *begins.shape))
        for part in self.parts(mean, legs, doubt):
            deviation = np.sqrt(part.mean + part.more)[:, None]
            # Nearly Poisson numbers this far above the mean have less than e^−40 of the largest pmf.
            last = np.where(part.more < part.mean, part.mean + 13 * deviation[:, 0] + 40, np.inf)
            is_there = (begins > -grid) & (begins < last[:, None])
            # A pmf may peak or jump at zero.
            is_rough = (deviation < grid) | (begins < _NEAR_ZERO * grid) | (grid <= _FEW)
            for cell, values in ((is_there & is_rough, grid), (is_there & ~is_rough, _FEW)):
                at = np.nonzero(cell)
                into = (np.arange(values) + 0.5) * grid / values - 0.5
                pmf = part.pmf(begins[at][:, None] + into, at[0]) * (grid / values)
                second = pmf @ (into / grid)
                own[at] += pmf.sum(axis=1) - second
                following[at] += second
        return np.asarray(own[:, 1:] + following[:, :-1])


#: The distributions to choose from, the one of first fits first. Wide ones claim less, and lose less if they are wrong.
STEPS = (
    Steps("geometric", 1.0, odds=5.0),
    Steps("steep", 10.0, odds=5.0),
    Steps("Poisson + .01", 0.003, 0.01),
    Steps("Poisson + heaps", 0.03, 0.1, heaps=True, odds=3.0),
    Steps("Poisson + .3", 0.09, 0.3),
)

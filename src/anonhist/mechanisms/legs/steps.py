"""How the steps of legs vary about a smooth mean: nine distributions.

Legs fall by leg_c − leg_{c+1} = 1 + φ_c, where φ_c is the number of labels with count c. The step of ℓ adjacent legs is
the sum N of their φ_c, with mean M = Σ μ_c and μ̄ = M/ℓ. With NB(M, v) the negative binomial distribution of mean M and
variance M + v, it is NB(M, α M μ̄), or ordinary with probability (1 − π)^ℓ and heavy otherwise:

    ordinary: NB(M, α′ M μ̄),    heavy: ½ NB(M, μ̄²) + ¼ NB(M, 10 μ̄²) + ¼ NB(M − μ̄ + m, m²),    m = 3μ̄ + 3,
    or with heaps: ⅓ Σ NB(M − μ̄ + m, m²) over m = 3 (μ̄ + 1), 30 (μ̄ + 1) and 300 (μ̄ + 1).

Ordinary steps are nearly Poisson: α′ is how far the curve of means may be off, for it bends more between its knots if
it is short. Heaps may be of any size: without them, counts of which each seventh is heaped looked like long runs of
zeros with rare steps, and their small steps were lost. Where counts are even, odd, or rounded to fives, their steps
have a curve of their own, and so have those of a few other counts: one odd count in twenty is too many to
take for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonhist.numeric.arrays import Floats, Ints

# Two points stand for cells of more values, where a pmf is smooth.
_FEW = 4
# Cells this near zero are summed up in full.
_NEAR_ZERO = 2
_NEAR_ONE = 1e-9
# Exponentials of less take several times as long, and are next to nothing.
_LEAST_LOG = -690.0
# So many values are computed together.
_TOGETHER = 2**13
# Means of heavy steps in units of μ̄ + 1, and of heaps.
_LONGER, _HEAPS = 3.0, (3.0, 30.0, 300.0)


def gammaln(x: Floats) -> Floats:
    """Return ln Γ(x), x > 0, to within 3·10⁻¹⁰, by Stirling's series at x, or x + 8; SciPy takes long to load."""
    is_far = bool((x >= 8).all())
    far = x if is_far else x + 8.0
    inverse = 1 / far
    square = inverse * inverse
    found = (1 / 12 - (1 / 360 - square / 1260) * square) * inverse
    found += 0.9189385332046727 - far
    found += (far - 0.5) * np.log(far)
    if not is_far:
        product = np.array(x)
        for k in range(1, 8):
            product *= x + k
        found -= np.log(product)
    return np.asarray(found)


class Part(NamedTuple):
    """A part of a mixture for each group: its weight, its mean, and by how much its variance exceeds that."""

    weight: Floats
    mean: Floats
    more: Floats

    @property
    def last(self) -> Floats:
        """Numbers from here on have next to no weight: less than e^−40 of the largest pmf if they are nearly Poisson.

        By Bernstein's inequality, P(N − mean ≥ √(2 v x) + c x) ≤ e^−x for the others, with c = 1 + more/mean their
        ratio of variance to mean, and v the variance; x is 50.
        """
        ratio = 1 + self.more / self.mean
        return np.asarray(self.mean + 10 * np.sqrt(self.mean * ratio) + np.where(ratio < 2, 25, 50 * ratio))

    def pmf(self, total: Floats) -> Floats:
        """Return the weight times P(N) of each group, whose N is in the last axis."""
        weight, *shape = (each[:, None] for each in self)
        found = np.empty(total.shape)
        for here in _blocks(*total.shape):
            log = _log_pmf(np.maximum(total[here], 0.0), *(each[here] for each in shape))
            found[here] = np.exp(np.maximum(log, _LEAST_LOG, out=log), out=log)
        found *= weight
        found *= total >= 0
        return found

    def add_run(self, first: Ints, into: Floats) -> None:
        """Add the weight times P(N), N = ``first``, ``first`` + 1, … for each group, to the values ``into``.

        P(N + 1)/P(N) = (N + size)/(N + 1) · mean/(mean + size), size = mean²/more.
        """
        last = self.last
        low, high = np.maximum(-first, 0), np.minimum(np.ceil(last) - first, into.shape[1])
        blocks = [here for here in _blocks(*into.shape) if (high[here] > low[here]).any()]
        columns = [slice(int(low[here].min()), int(high[here].max())) for here in blocks]
        size = _size(self.mean, self.more)
        begin = np.zeros(len(first))
        for here, column in zip(blocks, columns, strict=True):
            begin[here] = np.maximum(first[here] + column.start, 0)
        base, share = _log_pmf(begin, self.mean, self.more), self.mean / (self.mean + size)
        for here, column in zip(blocks, columns, strict=True):
            numbers = first[here, None] + np.arange(float(column.start), column.stop)
            is_there = (numbers >= 0) & (numbers < last[here, None])
            before = np.maximum(numbers[:, :-1], 0.0)
            ratio = before + size[here, None]
            ratio /= before + 1
            ratio *= share[here, None]
            log = np.empty(numbers.shape)
            log[:, 0] = base[here]
            np.log(ratio, out=log[:, 1:])
            log[:, 1:] *= numbers[:, :-1] >= 0
            np.cumsum(log, axis=1, out=log)
            pmf = np.exp(np.maximum(log, _LEAST_LOG, out=log), out=log)
            pmf *= is_there
            pmf *= self.weight[here, None]
            into[here, column] += pmf


def _size(mean: Floats, more: Floats) -> Floats:
    return np.asarray(mean**2 / np.maximum(more, 1e-9))


def _log_pmf(found: Floats, mean: Floats, more: Floats) -> Floats:
    size = _size(mean, more)
    log = found * -np.log1p(size / mean) - size * np.log1p(mean / size)
    if not (np.abs(size - 1) < _NEAR_ONE).all():
        log += gammaln(found + size) - gammaln(size) - gammaln(found + 1)
    return np.asarray(log)


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of rows whose values fit into a cache: larger arrays take several times as long a value."""
    most = max(1, _TOGETHER // columns)
    return (slice(first, first + most) for first in range(0, rows, most))


@dataclass(frozen=True)
class Steps:
    """One distribution: of dispersion α, or Poisson steps, heavy with probability π, perhaps in heaps of any size.

    The dispersion of Poisson steps weighs them in fits of their mean. ``odds`` are log odds before any value is seen.
    Counts that leave ``rest`` when divided by ``every`` have a curve of their own; ``others`` says whether there are
    other counts.
    """

    name: str
    dispersion: float
    heavy: float | None = None
    heaps: bool = False
    odds: float = 0.0
    every: int = 1
    rest: int = 0
    others: bool = False

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
        change. Cell j holds those from its point on; where a pmf is smooth, two stand for all, exactly so for cubics.
        """
        if grid <= _FEW:
            pmf = np.zeros((len(first), (cells + 1) * grid))
            for part in self.parts(mean, legs, doubt):
                part.add_run(first - grid, pmf)
            each = pmf.reshape(len(first), cells + 1, grid)
            following = each @ (np.arange(grid) / grid)
            own = each.sum(axis=2) - following
            return np.asarray(own[:, 1:] + following[:, :-1])
        begins = first[:, None] + grid * np.arange(-1, cells)
        own, following = np.zeros((2, *begins.shape))
        smooth = (grid - 1) / 2 + np.array([-1, 1]) * np.sqrt((grid**2 - 1) / 12)
        for part in self.parts(mean, legs, doubt):
            deviation = np.sqrt(part.mean + part.more)[:, None]
            is_there = (begins > -grid) & (begins < part.last[:, None])
            # A pmf may peak or jump at zero.
            is_rough = (deviation < grid) | (begins < _NEAR_ZERO * grid)
            for cell, into in ((is_there & is_rough, np.arange(grid)), (is_there & ~is_rough, smooth)):
                at = np.nonzero(cell)
                mine, pmf = Part(*(each[at[0]] for each in part)), np.zeros((at[0].size, into.size))
                if into is smooth:
                    pmf += mine.pmf(begins[at][:, None] + into) * (grid / into.size)
                else:
                    mine.add_run(begins[at], pmf)
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
    Steps("Poisson, even counts", 0.003, 0.01, odds=-2.0, every=2),
    Steps("Poisson, mostly even counts", 0.003, 0.01, every=2, others=True),
    Steps("Poisson, mostly odd counts", 0.003, 0.01, every=2, rest=1, others=True),
    Steps("Poisson, fives", 0.003, 0.01, odds=-5.0, every=5, others=True),
)

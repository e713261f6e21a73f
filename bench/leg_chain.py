"""The posterior of the legs of a Frobenius release, given a smooth mean of each step: one state a group of legs.

Legs x_0 > x_1 > … > x_{m−1} ≥ 0 fall by x_c − x_{c+1} = 1 + φ_c, where φ_c is the number of labels with count c + 1;
x_m = −1. They were released as noisy sums of groups of adjacent legs. The state is the first leg z_g of each group g.
With N = z_g − z_{g+1} − ℓ, ℓ the number of its legs and M = Σ μ_c, the step of a group is

    N ~ (1 − π_ℓ) Poisson(M) + π_ℓ heavy,    π_ℓ = 1 − (1 − π)^ℓ,    heavy = ½ NB(M, 1) + ¼ NB(M, 10) + ¼ NB(M₃, 1),

or negative binomial. NB(M, α) has mean M and variance M + α μ̄², with μ̄ = M/ℓ; in M₃ one step has the mean 3μ̄ + 3
and the variance of NB(3μ̄ + 3, 1). Given both ends, the N are spread over the steps by μ_c/M, like a multinomial with f
times its variance: f = 1 + π_ℓ N for Poisson, and that of the Dirichlet-multinomial otherwise. So the sum of the group
has a known mean and variance, and its likelihood is E q^|S − S̃|, S normal: three points have the same moments up to the
fifth.

States lie in windows around a first fit, on a grid of step h. For h > 1 a step's law is spread linearly over adjacent
points, which keeps its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_TINY = 1e-300
# Where windows do not overlap, the chain goes on with next to nothing.
_NEXT_TO_NOTHING = 1e-18
# Half-width of a window in noise scales 1/ε, and the step of its grid.
_REACH, _GRID = 10.0, 0.1
# The last leg may be as long as it likes: it has no step that the curve knows.
_FREE_END = 0.3


@dataclass(frozen=True)
class Steps:
    """How steps vary about their mean: dispersion α, or Poisson numbers with a heavy part of weight π."""

    name: str
    dispersion: float
    heavy: float | None = None

    def log_base(self, total: Floats, mean: Floats, legs: Floats) -> Floats:
        """Return ln P(N) without the heavy part, −∞ below 0."""
        if self.heavy is None:
            return _log_binomial(total, mean, self.dispersion * mean**2 / legs)
        found = np.maximum(total, 0.0)
        return np.where(total >= 0, found * np.log(mean) - mean - gammaln(found + 1), -np.inf)

    def law(self, total: Floats, mean: Floats, legs: Floats) -> Floats:
        """Return P(N) of a group of this many legs with this mean."""
        base = np.exp(self.log_base(total, mean, legs))
        if self.heavy is None:
            return np.asarray(base)
        each = mean / legs
        longer = 3 * each + 3
        parts = ((0.5, mean, each**2), (0.25, mean, 10 * each**2), (0.25, mean - each + longer, longer**2))
        heavy = sum(weight * np.exp(_log_binomial(total, at, more)) for weight, at, more in parts)
        share = self.heavy_share(legs)
        return np.asarray((1 - share) * base + share * heavy)

    def heavy_share(self, legs: Floats) -> Floats:
        """Return π_ℓ: the probability that some step of a group is heavy."""
        return np.asarray(1 - (1 - (self.heavy or 0.0)) ** legs)

    def spread(self, total: Floats, legs: Floats) -> Floats:
        """Return f: how much more a group's steps vary than those of a multinomial, given their sum N."""
        if self.heavy is None:
            return np.asarray((total + legs / self.dispersion) / (1 + legs / self.dispersion))
        return 1 + self.heavy_share(legs) * total


#: The distributions to choose from. The dispersion of Poisson steps weighs them in fits of their mean.
LAWS = (
    Steps("geometric", 1.0),
    Steps("steep", 10.0),
    Steps("Poisson + .02", 0.006, 0.02),
    Steps("Poisson + .1", 0.03, 0.1),
    Steps("Poisson + .3", 0.09, 0.3),
)


def _log_binomial(total: Floats, mean: Floats, more: Floats) -> Floats:
    """Return the logarithm of a negative binomial distribution whose variance exceeds its mean by ``more``."""
    found, size = np.maximum(total, 0.0), mean**2 / np.maximum(more, 1e-9)
    log = gammaln(found + size) - gammaln(size) - gammaln(found + 1) - size * np.log1p(mean / size)
    return np.where(total >= 0, log + found * (np.log(mean) - np.log(size + mean)), -np.inf)


@dataclass(frozen=True)
class NoisyLegs:
    """Noisy sums of groups of legs, and the windows of their first legs.

    ``first`` is the place of each group's first leg, ``legs`` how many it has, ``sums`` its noisy sum, and ``states``
    the values of its window, shape (groups, width).
    """

    epsilon: float
    first: Ints
    legs: Ints
    sums: Floats
    states: Ints
    grid: int

    @classmethod
    def of(cls, sums: Ints, begins: NDArray[np.bool_], fit: Ints, epsilon: float) -> NoisyLegs:
        """Take the noisy sums of one run at each position, where groups begin, and a first fit of all legs."""
        first = np.flatnonzero(begins[: fit.size])
        grid = max(1, int(_GRID / epsilon))
        half = int(np.ceil((_REACH / epsilon + 2) / grid))
        states = fit[first, None] + grid * np.arange(-half, half + 1)
        legs = np.diff(np.append(first, fit.size))
        return cls(epsilon, first, legs, sums[first].astype(np.float64), states, grid)

    @property
    def number(self) -> int:
        """The number of legs, m."""
        return int(self.legs.sum())

    @property
    def group(self) -> Ints:
        """The group of each leg."""
        return np.repeat(np.arange(self.first.size), self.legs)

    @property
    def place(self) -> Ints:
        """The place of each leg in its group."""
        return np.arange(self.number) - self.first[self.group]


class LegPosterior:
    """The posterior of the first legs of all groups, given the mean of each step and how steps vary.

    ``log_evidence`` is that of all noisy sums; ``medians`` and ``means`` are those of the first legs, ``deviations``
    their E|z − median|.
    """

    def __init__(self, noisy: NoisyLegs, mean: Floats, steps: Steps) -> None:
        self._noisy, self._steps = noisy, steps
        legs, group = noisy.legs.astype(np.float64), noisy.group
        self.mean = np.maximum(np.add.reduceat(mean, noisy.first), 1e-9)
        self._share = mean / self.mean[group]
        # A step is part of as many legs of its group as follow it.
        self._parts = legs[group] - 1 - noisy.place
        self._mean_part = np.add.reduceat(self._share * self._parts, noisy.first)
        squares = np.add.reduceat(self._share * self._parts**2, noisy.first)
        self._part_variance = np.maximum(squares - self._mean_part**2, 0.0)
        self._spread = self.mean * self._part_variance * steps.spread(self.mean, legs)
        self._run(*self._kernels(legs), self._last(legs))

    def _kernels(self, legs: Floats) -> tuple[Floats, float]:
        """Return the distribution of each group's step by the distance of states of adjacent windows, and its scale."""
        noisy = self._noisy
        width = noisy.states.shape[1]
        base = noisy.states[:-1, :1] - noisy.states[1:, :1] - noisy.legs[:-1, None]
        away = base + noisy.grid * np.arange(1 - width, width)
        kernels = np.zeros(away.shape)
        for off in range(1 - noisy.grid, noisy.grid):
            law = self._steps.law((away + off).astype(np.float64), self.mean[:-1, None], legs[:-1, None])
            kernels += (1 - abs(off) / noisy.grid) * law
        peaks = np.maximum(kernels.max(axis=1, keepdims=True), _TINY)
        return kernels / peaks, float(np.log(peaks).sum())

    def _last(self, legs: Floats) -> Floats:
        """Return the prior weight of the states of the last group, whose step has a free end."""
        total = (self._noisy.states[-1] + 1 - self._noisy.legs[-1]).astype(np.float64)
        mean, each = self.mean[-1:], self.mean[-1:] / legs[-1:]
        known = LAWS[3].law(total, mean, legs[-1:])
        free = np.exp(_log_binomial(total, mean + each + 1, 10 * (each + 1) ** 2))
        return np.asarray((1 - _FREE_END) * known + _FREE_END * free + 1e-12 * (total >= 0))

    def _likelihood(self, at: int, first: Any, total: Any) -> Floats:
        """Return E q^|S − S̃| of a group, given its first leg and its steps' sum."""
        noisy, legs = self._noisy, int(self._noisy.legs[at])
        sums = legs * first - legs * (legs - 1) / 2 - total * self._mean_part[at]
        middle = noisy.epsilon * (sums - noisy.sums[at])
        if legs == 1:
            return _decay(middle)
        apart = noisy.epsilon * np.sqrt(3 * self._spread[at])
        return (4 * _decay(middle) + _decay(middle + apart) + _decay(middle - apart)) / 6

    def _run(self, kernels: Floats, log_scale: float, last: Floats) -> None:
        states, legs = self._noisy.states, self._noisy.legs
        groups, width = states.shape
        # All later legs are different.
        possible = states >= (self._noisy.number - 1 - self._noisy.first)[:, None]
        moves = np.lib.stride_tricks.sliding_window_view(kernels[:, ::-1], width, axis=1)[:, ::-1]
        after, inside, log_peaks = np.zeros((groups, width)), {}, log_scale
        for at in range(groups - 1, -1, -1):
            if at == groups - 1:
                weight = last * self._likelihood(at, states[at], states[at] + 1 - legs[at])
            elif legs[at] == 1:
                weight = _positive(moves[at] @ after[at + 1]) * self._likelihood(at, states[at], 0)
            else:
                totals = states[at][:, None] - states[at + 1] - legs[at]
                inside[at] = moves[at] * self._likelihood(at, states[at][:, None], totals)
                weight = _positive(inside[at] @ after[at + 1])
            weight = weight * possible[at]
            peak = max(float(weight.max()), _TINY)
            log_peaks += np.log(peak)
            after[at] = weight / peak
        self.log_evidence = float(log_peaks + np.log(max(float(after[0].sum()), _TINY)))
        found, before = after, np.ones(width)
        for at in range(groups):
            if at:
                reached = before * possible[at - 1]
                if legs[at - 1] == 1:
                    reached = (reached * self._likelihood(at - 1, states[at - 1], 0)) @ moves[at - 1]
                else:
                    reached = reached @ inside[at - 1]
                before = _positive(reached)
                before /= before.max()
            found[at] *= before
        found /= np.maximum(found.sum(axis=1, keepdims=True), _TINY)
        self._summarize(found)

    def _summarize(self, found: Floats) -> None:
        states, grid, every = self._noisy.states, self._noisy.grid, np.arange(len(found))
        below = np.cumsum(found, axis=1)
        at = np.argmax(below >= 0.5, axis=1)
        share = (0.5 - below[every, at] + found[every, at]) / np.maximum(found[every, at], _TINY)
        self.medians = states[every, at] + (0.0 if grid == 1 else (share - 0.5) * grid)
        self.means = (found * states).sum(axis=1)
        self.deviations = (found * np.abs(states - self.medians[:, None])).sum(axis=1)

    def legs_of(self, first: Floats) -> Floats:
        """Return all legs, given the first of each group: by the shares of steps, and moved towards the noisy sum.

        The legs of a group vary together with their sum, whose noise has variance 2/ε²: the usual linear correction.
        """
        noisy, group = self._noisy, self._noisy.group
        following, total = self._after(first)
        before = self._before(self._share)
        straight = first[group] - noisy.place - total[group] * before
        spread = total * self._steps.spread(total, noisy.legs.astype(np.float64))
        sums = noisy.legs * first - noisy.legs * (noisy.legs - 1) / 2 - total * self._mean_part
        variance = spread * self._part_variance
        gain = np.where(variance > 0, spread / (variance + 2 / noisy.epsilon**2), 0.0) * (noisy.sums - sums)
        together = self._before(self._share * self._parts) - before * self._mean_part[group]
        moved = straight + gain[group] * together
        return np.clip(moved, following[group] + noisy.legs[group] - noisy.place, first[group] - noisy.place)

    def base_share(self) -> Floats | None:
        """Return for each leg the probability that its group's step has no heavy part, at the posterior mean."""
        if self._steps.heavy is None:
            return None
        legs = self._noisy.legs.astype(np.float64)
        total = np.rint(self._after(self.means)[1])
        base = (1 - self._steps.heavy_share(legs)) * np.exp(self._steps.log_base(total, self.mean, legs))
        share = base / np.maximum(self._steps.law(total, self.mean, legs), _TINY)
        return np.asarray(np.clip(share, 0.02, 1.0)[self._noisy.group])

    def _after(self, first: Floats) -> tuple[Floats, Floats]:
        following = np.append(first[1:], -1.0)
        return following, np.maximum(first - following - self._noisy.legs, 0.0)

    def _before(self, values: Floats) -> Floats:
        """Return for each leg the sum of the values of those before it in its group."""
        sums = np.cumsum(values) - values
        return np.asarray(sums - np.repeat(sums[self._noisy.first], self._noisy.legs))


def _decay(exponent: Floats) -> Floats:
    return np.exp(-np.minimum(np.abs(exponent), 600.0))


def _positive(weight: Floats) -> Floats:
    return np.maximum(weight, _NEXT_TO_NOTHING * max(float(weight.max()), _TINY))

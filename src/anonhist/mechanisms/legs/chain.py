"""The posterior of the legs of many runs, given a smooth mean of each step: one state a group of legs.

Legs x_0 > x_1 > … > x_{m−1} ≥ 0, with x_m = −1, were released as noisy sums of groups of adjacent legs. The state is
the first leg z_g of each group g; its step N = z_g − z_{g+1} − ℓ, ℓ the number of its legs, has a distribution of
:mod:`~anonhist.mechanisms.legs.steps`. Given both ends, N is spread over the ℓ steps by μ_c/M, like a
multinomial with ``spread`` times its variance. So the sum of the group has a known mean and variance, and its
likelihood is E q^|S − S̃|, S normal: three points have the same moments up to the fifth.

States lie in windows around a first fit, on a grid. All runs, with as many groups as they have, end at the same place
of one array, so that one pass computes them all. ``epsilon`` is the rate of the noise, ε/Δ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from anonhist.mechanisms.legs.steps import Part, Steps
from anonhist.numeric.arrays import Bools, Floats, Ints
from anonhist.numeric.pulse import pulse

_TINY = 1e-300
# Where windows do not overlap, the chain goes on with next to nothing.
_NEXT_TO_NOTHING = 1e-18
# Half-width of a window in noise scales 1/ε.
_REACH = 8.0
# Exponentials of more are not multiplied.
_LARGEST_LOG = 300.0
# So many moves of groups with several legs are computed together.
_TOGETHER = 2**14
# At most so many values of groups with several legs are kept from one pass to the other.
_KEPT = 2**24
# The last leg may be as long as it likes: it has no step that the curve knows.
_FREE_END, _OTHER_END = 0.3, Steps("Poisson + .1", 0.03, 0.1)
# The dispersion of ordinary steps about a curve of ten of them; it falls with their number.
_DOUBT = 0.006
# A step counts this much at least: 28 heaps of 1,000 would lift a curve of ones if they counted by 1/50.
_LEAST_SHARE = 1e-4


@dataclass(frozen=True)
class NoisyLegs:
    """Noisy sums of groups of legs of several runs, one after the other, and first fits of their first legs.

    ``groups`` is the number of groups of each run. ``legs`` is the number of legs of each group, ``sums`` its noisy
    sum, and ``fit`` its first leg by the first fit.
    """

    epsilon: float
    groups: Ints
    legs: Ints
    sums: Floats
    fit: Ints

    @classmethod
    def of(cls, sums: Ints, begins: Bools, fit: Ints, epsilon: float) -> NoisyLegs:
        """Take the noisy sums of one run at each position, where groups begin, and a first fit of all legs."""
        first = np.flatnonzero(begins[: fit.size])
        legs = np.diff(np.append(first, fit.size))
        return cls(epsilon, np.array([first.size]), legs, sums[first].astype(np.float64), fit[first])

    def chosen(self, runs: Ints) -> NoisyLegs:
        """Return these runs, in this order; a run may come twice."""
        at = _places(self.begins[runs], self.groups[runs])
        return NoisyLegs(self.epsilon, self.groups[runs], self.legs[at], self.sums[at], self.fit[at])

    @classmethod
    def joined(cls, runs: Sequence[NoisyLegs]) -> NoisyLegs:
        """Put runs with noise of one rate one after the other."""
        return cls(
            runs[0].epsilon,
            np.concatenate([run.groups for run in runs]),
            np.concatenate([run.legs for run in runs]),
            np.concatenate([run.sums for run in runs]),
            np.concatenate([run.fit for run in runs]),
        )

    @cached_property
    def run(self) -> Ints:
        """The run of each group."""
        return np.repeat(np.arange(self.groups.size), self.groups)

    @cached_property
    def begins(self) -> Ints:
        """The first group of each run."""
        return np.cumsum(self.groups) - self.groups

    @cached_property
    def numbers(self) -> Ints:
        """The number of legs of each run."""
        return np.add.reduceat(self.legs, self.begins)

    @cached_property
    def first(self) -> Ints:
        """The place of each group's first leg among the legs of all runs."""
        return np.cumsum(self.legs) - self.legs

    @cached_property
    def group(self) -> Ints:
        """The group of each leg."""
        return np.repeat(np.arange(self.legs.size), self.legs)

    @cached_property
    def place(self) -> Ints:
        """The place of each leg in its group."""
        return np.arange(self.group.size) - self.first[self.group]

    @cached_property
    def left(self) -> Ints:
        """The number of legs of the same run after each group's first."""
        ends = np.cumsum(self.numbers)
        return np.asarray(ends[self.run] - 1 - self.first)

    def legs_at(self, runs: Ints) -> Ints:
        """Return the places of the legs of these runs, one after the other."""
        return _places((np.cumsum(self.numbers) - self.numbers)[runs], self.numbers[runs])

    def before(self, values: Floats) -> Floats:
        """Return for each leg the sum of the values of those before it in its group."""
        sums = np.cumsum(values) - values
        return np.asarray(sums - np.repeat(sums[self.first], self.legs))

    def after(self, first: Floats) -> tuple[Floats, Floats]:
        """Return the first leg of the group after each, and the step N of each group."""
        following = np.append(first[1:], -1.0)
        following[np.cumsum(self.groups) - 1] = -1.0
        return following, np.maximum(first - following - self.legs, 0.0)


class LegPosterior:
    """The posterior of the first legs of all groups, given the mean of each step and how the steps of each run vary.

    ``log_evidence`` is that of the noisy sums of each run; ``medians`` and ``means`` are those of the first legs,
    ``deviations`` their E|z − median|. ``grid`` is the step of the grid of states. Medians are of the posterior with a
    weight of ``held`` more on the first fit: they minimize E|z − median| + held · |fit − median|.
    """

    def __init__(self, noisy: NoisyLegs, mean: Floats, steps: Sequence[Steps], *, grid: int, held: float = 0.0) -> None:
        self._noisy, self._steps, self._grid, self._held = noisy, steps, grid, held
        half = int(np.ceil((_REACH / noisy.epsilon + 2) / self._grid))
        self._width = 2 * half + 1
        self._low = noisy.fit - self._grid * half
        legs = noisy.legs.astype(np.float64)
        self.mean = np.maximum(np.add.reduceat(mean, noisy.first), 1e-9)
        self._share = mean / self.mean[noisy.group]
        # A step is part of as many legs of its group as follow it.
        self._parts = legs[noisy.group] - 1 - noisy.place
        self._mean_part = np.add.reduceat(self._share * self._parts, noisy.first)
        self._doubt = 10 * _DOUBT / noisy.numbers[noisy.run]
        squares = np.add.reduceat(self._share * self._parts**2, noisy.first)
        self._part_variance = np.maximum(squares - self._mean_part**2, 0.0)
        self._run()

    def _each(self, of: str, *given: Floats) -> Floats:
        """Return what a method of the steps of each run says about its groups."""
        found = np.empty(self._noisy.legs.size)
        for steps in set(self._steps):
            at = np.flatnonzero(np.array([each is steps for each in self._steps])[self._noisy.run])
            found[at] = getattr(steps, of)(*(values[at] for values in given))
        return found

    def _kernels(self, legs: Floats, order: Ints) -> tuple[Floats, Floats]:
        """Return the distribution of each group's step by the distance of states of adjacent windows, and its scale.

        Groups are in this order.
        """
        noisy, width = self._noisy, self._width
        following = np.append(self._low[1:], 0)
        first = self._low - following - noisy.legs - self._grid * (width - 1)
        is_last = np.zeros(noisy.legs.size, dtype=np.bool_)
        is_last[np.cumsum(noisy.groups) - 1] = True
        kernels = np.ones((noisy.legs.size, 2 * width - 1))
        for steps in set(self._steps):
            mine = np.array([each is steps for each in self._steps])[noisy.run]
            at = np.flatnonzero(mine & ~is_last)
            if at.size:
                kernels[at] = steps.on_grid(
                    first[at], 2 * width - 1, self._grid, self.mean[at], legs[at], self._doubt[at]
                )
        peaks = np.maximum(kernels.max(axis=1), _TINY)
        kernels /= peaks[:, None]
        return kernels[order], np.log(peaks)[order]

    def _last(self, states: Ints, legs: Floats, at: Ints) -> Floats:
        """Return the prior weight of the states of the last groups, whose step has a free end."""
        total = states + 1.0 - legs[at, None]
        mean, each = self.mean[at], self.mean[at] / legs[at]
        known = (1 - _FREE_END) * _OTHER_END.pmf(total, mean, legs[at], self._doubt[at])
        free = Part(np.full(at.size, _FREE_END), mean + each + 1, 10 * (each + 1) ** 2)
        return np.asarray(known + free.pmf(total) + 1e-12 * (total >= 0))

    def _run(self) -> None:
        """Go through the groups of all runs, from the last to the first and back.

        Arrays hold the last groups of all runs first, longer runs before shorter ones, then those before them, and so
        on: one slice, a layer, has all groups at one place. States of following groups are in falling order, so that
        moves are windows of kernels.
        """
        noisy, width = self._noisy, self._width
        longer, self._order, self._layers = _in_layers(noisy.groups)
        legs = noisy.legs.astype(np.float64)
        self._spread = self.mean * self._part_variance * self._each("spread", self.mean, legs)
        kernels, log_scale = self._kernels(legs, self._order)
        self._moves = np.lib.stride_tricks.sliding_window_view(kernels, width, axis=1)
        self._states = self._low[self._order, None] + self._grid * np.arange(width)
        self._several = noisy.legs[self._order] > 1
        self._together = max(1, _TOGETHER // width**2)
        self._room = np.empty((4, self._together, width, width))
        self._is_kept = int(self._several.sum()) * width**2 <= _KEPT
        self._kept: dict[tuple[int, int], Floats] = {}
        own = self._own(legs)
        found, evidence = self._forth(own, log_scale)
        self.log_evidence = np.empty(longer.size)
        self.log_evidence[longer] = evidence
        self._back(own, found)
        self._summarize(found)

    def _own(self, legs: Floats) -> Floats:
        """Return what was seen of each single leg, and of the last groups, whose following leg is −1."""
        noisy, states, last = self._noisy, self._states, self._layers[0]
        # All later legs are different.
        own = (states >= noisy.left[self._order, None]).astype(np.float64)
        single = np.flatnonzero(~self._several)
        own[single] *= _decay(noisy.epsilon * (states[single] - noisy.sums[self._order[single], None]))
        own[last] *= self._last(states[last], legs, self._order[last])
        for grouped in self._a_few(last):
            own[grouped] *= self._likelihood(grouped, np.full((1, 1, 1), -1))[:, :, 0]
        return own

    def _a_few(self, layer: slice) -> Iterator[Ints]:
        """Yield the places of groups with several legs of a layer, a few at a time."""
        some = layer.start + np.flatnonzero(self._several[layer])
        return (some[begin : begin + self._together] for begin in range(0, some.size, self._together))

    def _joints(self, back: int) -> Iterator[tuple[Ints, Floats]]:
        """Yield some groups of a layer with several legs, and their moves times their likelihood, until all are done.

        They may be overwritten by the next ones.
        """
        here, following = self._layers[back].start, self._layers[back - 1].start
        for at in self._a_few(self._layers[back]):
            begin, end = int(at[0]), int(at[-1]) + 1
            key = back, begin
            if key in self._kept:
                joint = self._kept.pop(key)
            else:
                joint = self._likelihood(at, self._states[at - here + following, None, ::-1])
                # Adjacent groups need no copy.
                joint *= self._moves[begin:end] if end - begin == at.size else self._moves[at]
                if self._is_kept:
                    self._kept[key] = joint
            yield at - here, joint

    def _forth(self, own: Floats, log_scale: Floats) -> tuple[Floats, Floats]:
        """Return the weights of states, given what was seen from there to the end, and each run's log evidence."""
        runs = self._layers[0].stop
        found, after, evidence = np.empty(own.shape), np.empty((runs, self._width)), np.zeros(runs)
        for back, here in enumerate(self._layers):
            pulse()
            weight, many = own[here], here.stop - here.start
            if back:
                reached = np.vecdot(self._moves[here], after[:many, None, ::-1])
                for at, joint in self._joints(back):
                    reached[at] = np.matmul(joint, after[at, ::-1, None])[:, :, 0]
                weight = weight * _positive(reached)
            peak = np.maximum(weight.max(axis=1), _TINY)
            evidence[:many] += np.log(peak) + log_scale[here]
            after[:many] = found[here] = weight / peak[:, None]
        return found, evidence + np.log(np.maximum(after.sum(axis=1), _TINY))

    def _back(self, own: Floats, found: Floats) -> None:
        """Multiply the weights of states by what was seen before, and scale them to one."""
        before = np.ones((self._layers[0].stop, self._width))
        for back in range(len(self._layers) - 1, 0, -1):
            pulse()
            here, following = self._layers[back], self._layers[back - 1].start
            many = here.stop - here.start
            carried = before[:many] * own[here]
            reached = np.vecdot(self._moves[here], carried[:, None, :])
            for at, joint in self._joints(back):
                reached[at] = np.matmul(carried[at, None, :], joint)[:, 0]
            reached = _positive(reached[:, ::-1])
            before[:many] = reached / reached.max(axis=1, keepdims=True)
            found[following : following + many] *= before[:many]
        found /= np.maximum(found.sum(axis=1, keepdims=True), _TINY)

    def _likelihood(self, at: Ints, following: Ints) -> Floats:
        """Return E q^|S − S̃| of these groups of two or more legs, given their first legs and those of the next groups.

        The next call overwrites it, unless all are kept.
        """
        noisy, epsilon = self._noisy, self._noisy.epsilon
        given = noisy.legs, noisy.sums, self._mean_part, self._spread
        legs, sums, part, spread = (each[self._order[at], None, None] for each in given)
        # The sum is ℓ x − ℓ(ℓ − 1)/2 − N · part, with N = x − following − ℓ.
        centre = following[:, :, following.shape[2] // 2, None]
        own = epsilon * (
            (legs - part) * self._states[at, :, None] - (legs * (legs - 1) / 2 - part * legs + sums) + part * centre
        )
        other = epsilon * part * (following - centre)
        apart = epsilon * np.sqrt(3 * spread)
        if np.abs(own).max() + np.abs(other).max() + apart.max() > _LARGEST_LOG:
            middle = own + other
            return np.asarray((4 * _decay(middle) + _decay(middle + apart) + _decay(middle - apart)) / 6)
        # e^−|t| is the smaller of e^t and e^−t, and these are products.
        up, down, one, found = self._room[:, : at.size, :, : following.shape[2]]
        further = np.exp(apart)
        np.multiply(np.exp(own), np.exp(other), out=up)
        np.divide(1, up, out=down)
        if self._is_kept:
            found = np.empty_like(found)
        np.minimum(up, down, out=found)
        found *= 4
        for factor in (further, further**-2):
            up *= factor
            down /= factor
            found += np.minimum(up, down, out=one)
        found /= 6
        return np.asarray(found)

    def _summarize(self, found: Floats) -> None:
        every, grid, states, order = np.arange(len(found)), self._grid, self._states, self._order
        weight = found.copy()
        weight[:, self._width // 2] += self._held
        below = np.cumsum(weight, axis=1) / (1 + self._held)
        at = np.argmax(below >= 0.5, axis=1)
        here = weight[every, at] / (1 + self._held)
        share = (0.5 - below[every, at] + here) / np.maximum(here, _TINY)
        medians = states[every, at] + (0.0 if grid == 1 else (share - 0.5) * grid)
        deviations = (found * np.abs(states - medians[:, None])).sum(axis=1)
        self.medians, self.means, self.deviations = np.empty((3, len(found)))
        self.medians[order], self.deviations[order] = medians, deviations
        self.means[order] = (found * states).sum(axis=1)

    def legs_of(self, first: Floats) -> Floats:
        """Return all legs, given the first of each group: by the shares of steps, and moved towards the noisy sum.

        The legs of a group vary together with their sum, whose noise has variance 2/ε²: the usual linear correction.
        """
        noisy = self._noisy
        group, legs = noisy.group, noisy.legs.astype(np.float64)
        following, total = noisy.after(first)
        before = noisy.before(self._share)
        straight = first[group] - noisy.place - total[group] * before
        spread = total * self._each("spread", total, legs)
        sums = legs * first - legs * (legs - 1) / 2 - total * self._mean_part
        variance = spread * self._part_variance
        gain = np.where(variance > 0, spread / (variance + 2 / noisy.epsilon**2), 0.0) * (noisy.sums - sums)
        together = noisy.before(self._share * self._parts) - before * self._mean_part[group]
        moved = straight + gain[group] * together
        return np.clip(moved, following[group] + legs[group] - noisy.place, first[group] - noisy.place)

    def ordinary_share(self) -> Floats:
        """Return for each leg the probability that its group's step is ordinary, at the posterior mean."""
        total = np.rint(self._noisy.after(self.means)[1])
        share = self._each("ordinary_share", total, self.mean, self._noisy.legs.astype(np.float64), self._doubt)
        return np.clip(share, _LEAST_SHARE, 1.0)[self._noisy.group]

    def expected_error(self) -> Floats:
        """Return Σ E|leg − median| of each run, interpolated inside groups."""
        noisy = self._noisy
        share = noisy.place / noisy.legs[noisy.group]
        last = np.cumsum(noisy.groups) - 1
        following = np.append(self.deviations[1:], 0.0)
        following[last] = self.deviations[last]
        each = (1 - share) * self.deviations[noisy.group] + share * following[noisy.group]
        return np.asarray(np.add.reduceat(each, noisy.first[noisy.begins]))


def _in_layers(groups: Ints) -> tuple[Ints, Ints, list[slice]]:
    """Return runs, longer ones first; the groups of all runs, layer by layer; and the places of each layer."""
    longer = np.argsort(-groups, kind="stable")
    counts = np.cumsum(np.bincount(groups)[:0:-1])[::-1].tolist()
    ends = np.cumsum(groups)[longer]
    order = np.concatenate([ends[:many] - back for back, many in enumerate(counts, 1)])
    return longer, order, [slice(end - many, end) for many, end in zip(counts, accumulate(counts), strict=True)]


def _places(begins: Ints, counts: Ints) -> Ints:
    """Return so many adjacent places from each beginning, one after the other."""
    return np.repeat(begins - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))


def _decay(exponent: Floats) -> Floats:
    return np.exp(-np.minimum(np.abs(exponent), 600.0))


def _positive(weight: Floats) -> Floats:
    return np.asarray(np.maximum(weight, _NEXT_TO_NOTHING * np.maximum(weight.max(axis=1, keepdims=True), _TINY)))

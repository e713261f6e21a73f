"""Legs with smooth steps: the fit of the legs of releases, given their noisy sums, or drawn ones.

The mean of each step, μ_c, is a penalized spline in ln c, fitted by expectation maximization to the posterior of
:mod:`~anonhist.mechanisms.legs.chain`; of nine distributions of steps and two penalties, each run keeps those
with the largest evidence, but wide distributions, as that of first fits, unless others have clearly more. In the
maximization, steps count by the probability that they are ordinary: μ is then the mean of ordinary steps, not of
cliques and heaps. All rounds but the last are on a coarse grid.

All of it is a function of released values: it costs no budget. Why it is so, and what was tried, is in
docs/decisions/0014-smooth-legs.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonhist.mechanisms.legs.chain import LegPosterior, NoisyLegs
from anonhist.mechanisms.legs.steps import STEPS, Steps
from anonhist.numeric.arrays import Bools, Floats, Ints

# Through fewer legs than this, than this many times the square root of the noise scale, and than this share of that
# scale, which is the noise of D̃ itself, no curve can be seen.
_FEWEST, _FEWEST_IN_ROOTS, _FEWEST_IN_SCALES = 4, 3.5, 0.15
# Where D̂ is below this many noise scales, a fit with heavy steps must claim at most this share of the first's error,
# and must not be farther from it than the second share, unless it is farther than the third.
_SURE, _CLAIMED, _MOVED, _OTHER_SHAPE = 1.0, 0.85, 0.8, 2.0
# Floats hold smaller legs exactly; and beyond so many legs, whose noise hardly counts, a fit would take minutes.
LARGEST, _MOST = 2**44, 2**16
# About so many legs are fitted together: more take less time each, up to where their values leave a cache.
_FEWEST_TOGETHER, _MOST_TOGETHER, _TOGETHER = 256, 1024, 4096
_ROUNDS = 3
# Chains with this much less log evidence are left out: after the first round, later, and on the fine grid, which moves
# the evidence of two chains by less; and so many times as much with two curves, the second of which is not fitted at
# first.
_FAR_BEHIND, _BEHIND, _JUST_BEHIND, _WITH_OTHERS = 30.0, 10.0, 4.0, 2.0
# Steps of grids in noise scales.
_COARSE, _FINE, _TWO = 0.4, 0.1, 0.2
# The rounds of a run end when ln μ changes by less, as a root mean square.
_SETTLED = 0.01
# Penalties λ of second differences: at first, and those to choose from; and the dispersion that weighs their evidence.
_FIRST_PENALTY, _PENALTIES = 1.0, np.array([3.0, 0.1])
_DISPERSION = 0.3
_LEAST_LOG, _MOST_LOG = -30.0, 40.0
# Least absolute differences are least squares weighted anew, with differences of at least so much.
_REWEIGHTINGS, _ALIKE, _ABOVE = 6, 0.3, 0.2
# Where no count is expected, the mean of a step is this share of the curve's.
_ABSENT = 1e-3


@dataclass(frozen=True)
class SmoothLegs:
    """The legs of one run, the distribution of steps that was chosen, and their expected error Σ E|leg − median|."""

    legs: Ints
    steps: Steps
    error: float


def refitted(
    legs: Sequence[Ints],
    seen: Sequence[tuple[Ints, Bools]],
    *,
    epsilon: float,
    errors: Sequence[float] | None = None,
    held: float = 0.0,
) -> list[SmoothLegs | None]:
    """Return the legs of each run with smooth steps, given first fits of them; None where these stay.

    ``seen`` has, for each run, the noisy sums of groups of legs at each position, and where groups begin. ``errors``
    are the expected errors of the first fits, if they are known. A first leg moves where its posterior is
    (1 + ``held``)/2 sure that it must.
    """
    found: list[SmoothLegs | None] = [None] * len(legs)
    # Runs of about the same size are fitted together; where noise is large, each leg has many values.
    together_legs = int(np.clip(_TOGETHER * epsilon, _FEWEST_TOGETHER, _MOST_TOGETHER))
    fewest = math.ceil(max(_FEWEST, _FEWEST_IN_ROOTS / math.sqrt(epsilon), _FEWEST_IN_SCALES / epsilon))
    order = [run for run, leg in enumerate(legs) if fewest <= leg.size <= _MOST and int(leg[0]) < LARGEST]
    order.sort(key=lambda run: legs[run].size)
    while order:
        longest = legs[order[-1]].size
        together = [run for run in order[-max(1, together_legs // longest) :] if 2 * legs[run].size >= longest]
        del order[-len(together) :]
        chains = [NoisyLegs.of(*seen[run], legs[run], epsilon) for run in together]
        first = np.concatenate([legs[run] for run in together]).astype(np.float64)
        for run, smooth in zip(together, smooth_legs(NoisyLegs.joined(chains), first, held), strict=True):
            is_kept = errors is None or _is_plausible(smooth, legs[run], errors[run], epsilon)
            found[run] = smooth if is_kept else None
    return found


def _is_plausible(smooth: SmoothLegs, first: Ints, error: float, epsilon: float) -> bool:
    """Return whether legs fitted anew may replace first ones of this expected error.

    Where counts are cut at 20, say, the last legs fall from thousands to none inside a group. If D̃ is noise, first fits
    end late, and the fall looks like a few heaps: it would be spread over legs that had none of it.
    """
    if smooth.steps.heavy is None or epsilon * first.size >= _SURE:
        return True
    moved = float(np.abs(smooth.legs - first).sum())
    return smooth.error <= _CLAIMED * error and not _MOVED * error < moved <= _OTHER_SHAPE * error


def smooth_legs(noisy: NoisyLegs, first: Floats, held: float = 0.0) -> list[SmoothLegs]:
    """Fit the legs of some runs anew, each with at least four legs, given first fits of all their legs."""
    many = noisy.groups.size
    curves = _Curves(noisy.numbers)
    dispersions, odds = np.array([(steps.dispersion, steps.odds) for steps in STEPS]).T
    # A grid of two adds next to no error where single noises are larger.
    scale = 1 / noisy.epsilon
    coarse, fine = max(1, int(_COARSE * scale)), max(1, min(2, int(_TWO * scale)), int(_FINE * scale))
    runs, kinds = _first_chains(noisy)
    chains, penalty = noisy.chosen(runs), np.full(runs.size, _FIRST_PENALTY)
    pairs = _CurvePairs(curves, chains, runs, kinds)
    start, typical, low = curves.starts(_steps_of(noisy, first))
    seen = pairs.gathered(_steps_of(chains, first[noisy.legs_at(runs)]), low[runs])
    share, settled = np.ones_like(seen), []
    coefficients = pairs.fit(seen, share, dispersions[kinds], penalty, np.hstack((start, low))[runs], is_first=True)
    # Among heaps, a first curve through means would take all steps for heavy ones.
    heaped = np.array([steps.heaps for steps in STEPS])[kinds]
    coefficients[heaped] = np.hstack((typical, typical))[runs[heaped]]
    mean = pairs.mean(coefficients)
    for number in range(_ROUNDS):
        posterior = LegPosterior(chains, mean, [STEPS[kind] for kind in kinds.tolist()], grid=coarse)
        evidence = posterior.log_evidence + pairs.log_prior(share, penalty, coefficients) + odds[kinds]
        behind = (_best(runs, evidence, many)[runs] - evidence) / np.where(pairs.has_others, _WITH_OTHERS, 1.0)
        kept = np.flatnonzero(behind <= (_BEHIND if number else _FAR_BEHIND))
        if not number:
            kept = np.repeat(kept, len(_PENALTIES))
        penalty = penalty[kept] if number else np.resize(_PENALTIES, kept.size)
        at = chains.legs_at(kept)
        seen, share, before = (
            each[at]
            for each in (_steps_of(chains, posterior.legs_of(posterior.means)), posterior.ordinary_share(), mean)
        )
        runs, kinds, chains = runs[kept], kinds[kept], chains.chosen(kept)
        pairs = _CurvePairs(curves, chains, runs, kinds)
        coefficients = pairs.fit(seen, share, dispersions[kinds], penalty, coefficients[kept])
        mean = pairs.mean(coefficients)
        squares = np.add.reduceat(np.log(mean / before) ** 2, np.cumsum(chains.numbers) - chains.numbers)
        # A run goes on until all its chains have settled, whatever the others do.
        change = _best(runs, np.sqrt(squares / chains.numbers), many)[runs]
        going = (change >= _SETTLED) & (number + 1 < _ROUNDS)
        last = np.flatnonzero(~going & (behind[kept] <= _JUST_BEHIND))
        settled.append(_some(chains, last, runs, kinds, penalty, coefficients, share, mean))
        if not going.any():
            break
        runs, kinds, penalty, coefficients, share, mean = _some(
            chains, np.flatnonzero(going), runs, kinds, penalty, coefficients, share, mean
        )
        chains = noisy.chosen(runs)
        pairs = _CurvePairs(curves, chains, runs, kinds)
    runs, kinds, penalty, coefficients, share, mean = (np.concatenate(each) for each in zip(*settled, strict=True))
    steps = [STEPS[kind] for kind in kinds.tolist()]
    chains = noisy.chosen(runs)
    pairs = _CurvePairs(curves, chains, runs, kinds)
    posterior = LegPosterior(chains, mean, steps, grid=fine, held=held)
    evidence = posterior.log_evidence + pairs.log_prior(share, penalty, coefficients) + odds[kinds]
    legs, error = posterior.legs_of(posterior.medians), posterior.expected_error()
    found: dict[int, SmoothLegs] = {}
    for best in np.flatnonzero(evidence == _best(runs, evidence, many)[runs]).tolist():
        whole = _strictly_falling(legs[chains.legs_at(np.array([best]))])
        found.setdefault(int(runs[best]), SmoothLegs(whole, steps[best], float(error[best])))
    return [found[run] for run in range(many)]


def _first_chains(noisy: NoisyLegs) -> tuple[Ints, Ints]:
    """Return the run and the distribution of steps of each chain; later, it has one of the penalties, too."""
    runs, kinds = np.divmod(np.arange(noisy.groups.size * len(STEPS)), len(STEPS))
    # Fewer than three expected counts do not determine a curve.
    is_tried = noisy.numbers[runs] > 3 * np.array([steps.every for steps in STEPS])[kinds]
    for kind, steps in enumerate(STEPS):
        if steps.every > 1:
            is_tried &= (kinds != kind) | _stand_out(noisy, steps)[runs]
    return runs[is_tried], kinds[is_tried]


def _stand_out(noisy: NoisyLegs, steps: Steps) -> Bools:
    """Return whether noisy steps at the counts with a curve of their own are larger than beside them, or unseen.

    Of the differences s_c − (s_{c−1} + s_{c+1})/2, where legs are alone in their groups, the sum must be above one
    standard deviation, for noise of 16/ε² each and Poisson steps: chains for multiples are not worth their time else.
    """
    alone = (noisy.legs == 1) & (noisy.run == np.append(noisy.run[1:], -1))
    alone[:-1] &= noisy.legs[1:] == 1
    step = np.where(alone, noisy.sums - np.append(noisy.sums[1:], 0) - 1, np.nan)
    beside = (np.append(np.nan, step[:-1]) + np.append(step[1:], np.nan)) / 2
    count = noisy.first + 1 - noisy.first[noisy.begins][noisy.run]
    at = np.flatnonzero((count % steps.every == steps.rest) & np.isfinite(step - beside) & (count > 1))
    sums = [
        np.bincount(noisy.run[at], weights=values, minlength=noisy.groups.size)
        for values in ((step - beside)[at], 16 / noisy.epsilon**2 + 1.5 * np.maximum(beside[at], 0))
    ]
    return np.asarray((sums[0] > np.sqrt(sums[1])) | (sums[1] == 0))


def _some(
    noisy: NoisyLegs,
    chosen: Ints,
    runs: Ints,
    kinds: Ints,
    penalty: Floats,
    coefficients: Floats,
    share: Floats,
    mean: Floats,
) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
    """Return the chosen ones of all that is known of chains; shares and means are those of all their legs."""
    at = noisy.legs_at(chosen)
    return runs[chosen], kinds[chosen], penalty[chosen], coefficients[chosen], share[at], mean[at]


def _best(runs: Ints, values: Floats, many: int) -> Floats:
    """Return the largest of the values of the chains of each run."""
    best = np.full(many, -np.inf)
    np.maximum.at(best, runs, values)
    return best


def _steps_of(noisy: NoisyLegs, legs: Floats) -> Floats:
    """Return φ_c = x_c − x_{c+1} − 1, the last of each run with x_m = −1."""
    following = np.append(legs[1:], -1.0)
    following[np.cumsum(noisy.numbers) - 1] = -1.0
    return np.asarray(legs - following - 1)


def _strictly_falling(legs: Floats) -> Ints:
    whole = np.maximum(np.rint(legs).astype(np.int64), 0)
    place = np.arange(whole.size)
    return np.asarray(np.maximum(np.minimum.accumulate(whole + place) - place, place[::-1]))


class _Curves:
    """Penalized splines of ln μ in ln c, for c = 1 … m, of several runs; shorter ones are padded with zeros."""

    def __init__(self, numbers: Ints) -> None:
        self._numbers = numbers
        designs = {number: _design(number) for number in set(numbers.tolist())}
        most = max(each.shape[1] for each in designs.values())
        self._basis = np.zeros((numbers.size, int(numbers.max()) - 1, most))
        self._rough, self._ridge = np.zeros((2, numbers.size, most, most))
        self._ridge += np.eye(most)
        for at, number in enumerate(numbers.tolist()):
            basis = designs[number]
            many = basis.shape[1]
            self._basis[at, : number - 1, :many] = basis
            differences = np.diff(np.eye(many), 2, axis=0)
            self._rough[at, :many, :many] = differences.T @ differences
            self._ridge[at, :many, :many] = 1e-8 * np.eye(many)
        self._rank = np.array([designs[number].shape[1] - 2 for number in numbers.tolist()])

    def starts(self, steps: Floats) -> tuple[Floats, Floats, Floats]:
        """Return coefficients for the logarithms of the steps of all runs.

        They are those of least squares, of least |differences|, and of a curve that a fifth of the steps lie below.
        """
        runs, weight = np.arange(self._numbers.size), np.ones(self._basis.shape[:2])
        seen, penalty = self._padded(runs, np.log(np.maximum(steps, 0) + 0.5)), np.full(runs.size, _FIRST_PENALTY)
        found = [_solved(self._precision(runs, weight, penalty), self._basis, seen)]
        for above in (0.5, _ABOVE):
            last = found[0]
            for _ in range(_REWEIGHTINGS):
                apart = seen - (self._basis @ last[:, :, None])[:, :, 0]
                weight = 2 * np.where(apart > 0, above, 1 - above) / np.maximum(np.abs(apart), _ALIKE)
                last = _solved(self._precision(runs, weight, penalty), self._basis, weight * seen)
            found.append(last)
        return found[0], found[1], found[2]

    def fit(
        self, runs: Ints, steps: Floats, share: Floats, dispersion: Floats, penalty: Floats, coefficients: Floats
    ) -> Floats:
        """Return coefficients of Poisson regressions with these dispersions, in which steps count by their share."""
        seen = np.maximum(self._padded(runs, steps), 0.0)
        counted, going, found = self._padded(runs, share), np.arange(runs.size), coefficients.copy()
        for _ in range(30):
            here, basis = runs[going], self._basis[runs[going]]
            log = self._log_mean(here, found[going])
            mean = np.exp(log)
            weight = counted[going] * mean / (1 + dispersion[going, None] * mean)
            right = weight * (log + (seen[going] - mean) / mean)
            change = _solved(self._precision(here, weight, penalty[going]), basis, right) - found[going]
            found[going] += np.clip(change, -2, 2)
            going = going[np.abs(change).max(axis=1) >= 1e-5]
            if not going.size:
                break
        return found

    def log_prior(self, runs: Ints, share: Floats, penalty: Floats, coefficients: Floats) -> Floats:
        """Return ln of the curve's prior, and of how much of it the data leave: the evidence of a penalty.

        By Laplace's approximation it is (r ln λ − λ β′Pβ − ln |H + λP|)/2, r the rank of P, H the information that
        steps with one dispersion would give; up to what all penalties λ share.
        """
        mean = np.exp(self._log_mean(runs, coefficients))
        weight = self._padded(runs, share) * mean / (1 + _DISPERSION * mean)
        rough = (coefficients[:, None, :] @ self._rough[runs] @ coefficients[:, :, None])[:, 0, 0]
        left = np.linalg.slogdet(self._precision(runs, weight, penalty))[1]
        return np.asarray((self._rank[runs] * np.log(penalty) - penalty * rough - left) / 2)

    def mean(self, runs: Ints, coefficients: Floats) -> Floats:
        """Return μ for all legs of some runs; the last step has that of the one before."""
        log = self._log_mean(runs, coefficients)
        table = np.column_stack((log, log[:, -1]))
        number, ends = self._numbers[runs], np.arange(runs.size)
        table[ends, number - 1] = log[ends, number - 2]
        return np.exp(table[np.arange(table.shape[1]) < number[:, None]])

    def _log_mean(self, runs: Ints, coefficients: Floats) -> Floats:
        return np.clip((self._basis[runs] @ coefficients[:, :, None])[:, :, 0], _LEAST_LOG, _MOST_LOG)

    def _precision(self, runs: Ints, weight: Floats | float, penalty: Floats) -> Floats:
        """Return H + λP for steps with these weights."""
        basis = self._basis[runs]
        weighted = basis * np.broadcast_to(weight, basis.shape[:2])[:, :, None]
        rough = penalty[:, None, None] * self._rough[runs] + self._ridge[runs]
        return np.asarray(basis.swapaxes(1, 2) @ weighted + rough)

    def _padded(self, runs: Ints, values: Floats) -> Floats:
        """Put the values of all legs but the last of each run into rows."""
        numbers = self._numbers[runs]
        table = np.zeros((runs.size, self._basis.shape[1]))
        table[np.arange(table.shape[1]) < numbers[:, None] - 1] = np.delete(values, np.cumsum(numbers) - 1)
        return table


class _CurvePairs:
    """The two curves of each chain: of the counts that it expects, multiples of some number, and of all others.

    Where there are no others, their mean is next to nothing. Coefficients of both are side by side.
    """

    def __init__(self, curves: _Curves, chains: NoisyLegs, runs: Ints, kinds: Ints) -> None:
        self._curves, self._runs, self._numbers = curves, runs, chains.numbers
        begins = np.cumsum(chains.numbers) - chains.numbers
        counts = np.arange(1, chains.group.size + 1) - np.repeat(begins, chains.numbers)
        every, rest = np.array([(steps.every, steps.rest) for steps in STEPS])[np.repeat(kinds, chains.numbers)].T
        self._is_expected = counts % every == rest
        # The number of other counts before each expected one.
        self._before = np.where(self._is_expected, np.minimum(every, counts) - 1, 0)
        self.has_others = np.array([steps.others for steps in STEPS])[kinds]
        self._has_others = np.repeat(self.has_others, chains.numbers)
        self._both, self._legs = np.flatnonzero(self.has_others), np.flatnonzero(self._has_others)

    def gathered(self, steps: Floats, typical: Floats) -> Floats:
        """Return steps, those at expected counts with what others have beyond their curve: noise may have moved it."""
        beyond = steps - np.where(self._has_others, self._curves.mean(self._runs, typical), 0.0)
        found = steps.copy()
        for back in range(1, int(self._before.max()) + 1):
            at = np.flatnonzero(self._before >= back)
            found[at] += beyond[at - back]
        return found

    def fit(
        self,
        steps: Floats,
        share: Floats,
        dispersion: Floats,
        penalty: Floats,
        coefficients: Floats,
        *,
        is_first: bool = False,
    ) -> Floats:
        """Return coefficients as those of :class:`_Curves`, for both curves; at first, the other one stays."""
        expected, others = np.hsplit(coefficients, 2)
        expected = self._curves.fit(self._runs, steps, share * self._is_expected, dispersion, penalty, expected)
        if not is_first and (at := self._both).size:
            given = self._runs[at], steps[self._legs], (share * ~self._is_expected)[self._legs]
            others[at] = self._curves.fit(*given, dispersion[at], penalty[at], others[at])
        return np.hstack((expected, others))

    def mean(self, coefficients: Floats) -> Floats:
        """Return μ for all legs of all chains."""
        expected, others = np.hsplit(coefficients, 2)
        mean = self._curves.mean(self._runs, expected)
        between = _ABSENT * mean
        if self._both.size:
            between[self._legs] = self._curves.mean(self._runs[self._both], others[self._both])
        return np.where(self._is_expected, mean, between)

    def log_prior(self, share: Floats, penalty: Floats, coefficients: Floats) -> Floats:
        """Return the logarithm of the prior of both curves."""
        expected, others = np.hsplit(coefficients, 2)
        found = self._curves.log_prior(self._runs, share * self._is_expected, penalty, expected)
        if (at := self._both).size:
            weight = (share * ~self._is_expected)[self._legs]
            found[at] += self._curves.log_prior(self._runs[at], weight, penalty[at], others[at])
        return found


def _design(number: int) -> Floats:
    """Return the values at c = 1 … m − 1 of B-splines on equal steps of ln c."""
    place = np.log(np.arange(1.0, number + 1))
    many = int(np.clip(4 + 1.7 * np.log(number), 5, 16))
    step = (place[-1] + 1e-9) / (many - 3)
    # The cubic spline on knots 0 to 4: Σ_k (−1)^k C(4, k) max(t − k, 0)³ / 6.
    t = np.clip(place[:-1, None] / step - np.arange(-3, many - 3), 0, 4)
    return np.asarray(sum(each * np.maximum(t - k, 0) ** 3 / 6 for k, each in enumerate((1, -4, 6, -4, 1))))


def _solved(squares: Floats, basis: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(squares, (right[:, None, :] @ basis)[:, 0, :, None])[:, :, 0])

"""Fits to noisy numbers: the nearest decreasing sequence, the nearest distribution, and smooth rates.

Rates that are smooth where data are scarce and free where they are plentiful come from a fit that learns its
smoothness. It fits the logarithm u of the rate in each cell. Its third differences are assumed to follow a Student t
distribution with one degree of freedom, so that most are small and some may have any size: a smooth curve, with jumps
where the data require them. This is a normal distribution with a separate precision for each difference. The evidence,
in Laplace's approximation, selects the starting point among normal distributions with one precision: differences
equally large everywhere, or larger at small counts, as for power laws. From there, expectation maximization finds the
precisions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from anonhist.errors import UsageError
from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.pulse import pulse

# Noise is pooled in about this many passes over all violators at once; the rest is pooled block by block.
_PASSES = 16


def decreasing_fit(values: ArrayLike, *, weights: ArrayLike | None = None) -> Floats:
    """Return the non-increasing sequence nearest to x in ℓ2: ``argmin_{y_1 ≥ y_2 ≥ …} Σ_i w_i·(x_i − y_i)²``.

    Adjacent blocks whose means increase are pooled into one, until none do; y is the mean of each block. The order of
    pooling does not matter, and a whole increasing run of blocks may be pooled at once. O(k) time; the rows of a table
    are fitted separately, in the same passes. Weights are from 2⁻⁶⁴ to 2⁶⁴; a whole number w_i stands for w_i adjacent
    values that are all x_i: their fit is one number, too. Up to rounding, y has the weighted sum of x and lies between
    its smallest and largest value. (SciPy has the same function, but importing it takes longer than the fits needed
    here.)

    Source: Barlow and others 1972, chapter 1.
    """
    sums = np.array(values, dtype=np.float64)
    if sums.ndim not in (1, 2) or not bool(np.isfinite(sums).all()):
        raise UsageError("An isotonic fit needs a list or table of finite numbers.")
    sizes = np.ones(sums.shape) if weights is None else np.array(weights, dtype=np.float64)
    if sizes.shape != sums.shape or not bool(((sizes >= 2.0**-64) & (sizes <= 2.0**64)).all()):
        raise UsageError("An isotonic fit needs one weight for each value, from 2^-64 to 2^64.")
    shape = sums.shape
    # Sums of the largest floats would overflow: powers of two shrink them without rounding anything significant.
    heaviest = math.frexp(float(sizes.sum(axis=-1).max(initial=0)))[1]
    shift = max(0, math.frexp(float(np.abs(sums).max(initial=0)))[1] + 2 * heaviest - 1023)
    sums, sizes = ((np.ldexp(sums, -shift) if shift else sums) * sizes).ravel(), sizes.ravel()
    starts = np.arange(sums.size)
    # The first block of a row is not pooled with the previous row.
    opens = starts % max(1, shape[-1]) == 0
    for _ in range(_PASSES):
        violates = (sums[:-1] * sizes[1:] < sums[1:] * sizes[:-1]) & ~opens[1:]
        if not violates.any():
            break
        pooled = np.flatnonzero(np.concatenate(([True], ~violates)))
        sums, sizes = np.add.reduceat(sums, pooled), np.add.reduceat(sizes, pooled)
        starts, opens = starts[pooled], opens[pooled]
    else:
        sums, sizes, pooled = _pool(sums.tolist(), sizes.tolist(), opens.tolist())
        starts = starts[pooled]
    lengths = np.concatenate((starts[1:], [math.prod(shape)])) - starts
    means = np.repeat(sums / sizes, lengths).reshape(shape)
    # Means that are equal up to rounding may be out of order by one ulp.
    np.minimum.accumulate(means, axis=-1, out=means)
    return np.ldexp(means, shift) if shift else means


def _pool(sums: list[float], sizes: list[float], opens: list[bool]) -> tuple[Floats, Floats, Ints]:
    """Pool block by block, from the left, with a stack; also return the start of each new block."""
    pooled_sums: list[float] = []
    pooled_sizes: list[float] = []
    starts: list[int] = []
    row = 0
    for place, (block_sum, block_size) in enumerate(zip(sums, sizes, strict=True)):
        total, size, start = block_sum, block_size, place
        if opens[place]:
            row = len(starts)
        while len(starts) > row and pooled_sums[-1] * size < total * pooled_sizes[-1]:
            total += pooled_sums.pop()
            size += pooled_sizes.pop()
            start = starts.pop()
        pooled_sums.append(total)
        pooled_sizes.append(size)
        starts.append(start)
    return np.array(pooled_sums), np.array(pooled_sizes), np.array(starts, dtype=np.int64)


def project_to_simplex(vector: ArrayLike, total: float = 1.0) -> Floats:
    """Return the point of the simplex nearest to v in ℓ2: ``argmin_{w ≥ 0, Σw = total} Σ_i (w_i − v_i)²``, total > 0.

    ``w = max(v + λ, 0)``, where λ gives the right sum: with u the values in descending order,
    ``ρ = max{j : u_j + (total − Σ_{i≤j} u_i)/j > 0}`` and ``λ = (total − Σ_{i≤ρ} u_i)/ρ``. Only values less than
    ``total`` below the largest can stay above 0, and only those are sorted: O(k log k) time at most.

    Source: Duchi and others 2008, figure 1.
    """
    values = _check(vector, total)
    # Shifting all entries does not change the projection; with the largest at 0, no sum overflows or cancels.
    with np.errstate(over="ignore"):
        shifted = values - values.max()
    descending = -np.sort(-shifted[shifted > -total])
    sums = np.cumsum(descending)
    last = np.count_nonzero(descending * np.arange(1, descending.size + 1) + (total - sums) > 0)
    # Pairwise summation is more accurate than the running sum.
    shift = (total - float(descending[:last].sum())) / last
    return np.asarray(np.maximum(shifted + shift, 0.0))


def project_to_solid_simplex(vector: ArrayLike, total: float = 1.0) -> Floats:
    """Return the point nearest in ℓ2 with a sum of at most ``total``: ``argmin_{w ≥ 0, Σw ≤ total} Σ_i (w_i − v_i)²``.

    ``max(v, 0)`` if its sum is small enough, else the projection onto the simplex. It takes O(k log k) time.
    """
    truncated = np.maximum(_check(vector, total), 0.0)
    with np.errstate(over="ignore"):
        fits = bool(truncated.sum() <= total)
    return truncated if fits else project_to_simplex(vector, total)


def truncate_and_renormalize(vector: ArrayLike, total: float = 1.0) -> Floats:
    """Return ``max(v, 0)``, scaled so that it adds up to ``total`` > 0; equal entries if nothing is above 0."""
    truncated = np.maximum(_check(vector, total), 0.0)
    largest = float(truncated.max())
    if largest == 0.0:
        return np.full(truncated.size, total / truncated.size)
    shares = truncated / largest
    return np.asarray(shares * (total / float(shares.sum())))


def _check(vector: ArrayLike, total: float) -> Floats:
    values = np.asarray(vector, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not bool(np.isfinite(values).all()):
        raise UsageError("A simplex needs a one-dimensional list of at least one finite number.")
    if not 0.0 < total < math.inf:
        raise UsageError(f"The total of a simplex must be a number above 0, not {total}.")
    return values


_ORDER = 3
_PRECISIONS = tuple(10.0**power for power in range(4, -7, -1))
# The difference at position k, from 1 on, is assumed to be k^−s times as large, up to k = 16, for each of these s.
_SLOPES, _LEVEL_FROM = (0.0, 0.75, 1.5), 16
# A search ends after the evidence has fallen this often.
_PATIENCE = 2
_REWEIGHTINGS, _STEPS = 15, 60
_LONGEST_STEP, _SHORTEST_STEP = 5.0, 1e-4
# If the counters do not follow such a distribution, the search could take very long; a usual one takes up to half of
# this.
_EVALUATIONS = 3000
_TOLERANCE, _CHANGE = 1e-3, 1e-3
# A vanished rate is raised again if one more label would raise the likelihood by this many nats. It is raised to this
# far below the mean, on a log scale, and at most this often.
_WANTED, _REVIVED, _REVIVALS = 0.05, 5.0, 3
# Larger logarithms do not correspond to a possible number of labels.
LARGEST_LOG = 60.0


@dataclass(frozen=True, eq=False)
class Curvature:
    """A log-likelihood at one point, its gradient, and a positive semidefinite curvature for a step."""

    value: float
    gradient: Floats
    information: Floats


class Likelihood(Protocol):
    """The likelihood of logarithms of rates."""

    def value(self, logs: Floats) -> float:
        """Return the log-likelihood; −inf if a rate is too large."""

    def curvature(self, logs: Floats) -> Curvature:
        """Return the log-likelihood with its derivatives."""


def rates_at(logs: Floats) -> Floats:
    """Return the rates, none of them subnormal, which would be slow."""
    return np.asarray(np.exp(np.maximum(logs, -LARGEST_LOG)))


@dataclass(frozen=True, eq=False)
class SmoothFit:
    """Logarithms of fitted rates, and their inverse covariance in Laplace's approximation, smoothness included."""

    logs: Floats
    precision: Floats

    @property
    def rates(self) -> Floats:
        """The rates, shape (cells,)."""
        return rates_at(self.logs)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Draw possible true rates, to first order, for simulations."""
        values, vectors = np.linalg.eigh(self.precision)
        spread = rng.standard_normal(values.size) / np.sqrt(np.maximum(values, 1e-9 * values[-1] + 1e-12))
        return np.asarray(np.maximum(self.rates * (1 + vectors @ spread), 0.0))


def smooth_fit(data: Likelihood, even: Floats, rough: Floats) -> SmoothFit:
    """Fit rates, deterministically, from two starting points: logarithms of smooth and of approximately correct rates.

    One search goes from smooth distributions to rough ones, another back: each alone may end at a fit that mistakes one
    peak for sums of others.
    """
    size, likelihood = rough.size, _Counted(data)
    if size <= _ORDER:
        logs, found = _climb(likelihood, np.zeros((size, size)), rough)
        return SmoothFit(logs, _safe(found.information))
    plain = np.diff(np.eye(size), n=_ORDER, axis=0)
    downwards = _best_precision(likelihood, plain, even, _PRECISIONS)
    upwards = _best_precision(likelihood, plain, rough, _PRECISIONS[::-1])
    best = max(downwards, upwards, key=lambda prior: prior.evidence)
    for slope in _SLOPES[1:]:
        # The best precision for the other slopes is nearby.
        first = max(0, _PRECISIONS.index(best.precision) - 1)
        prior = _best_precision(likelihood, _slope(plain, slope), best.logs, _PRECISIONS[first:])
        if prior.evidence > best.evidence:
            best = prior
    return _reweight(likelihood, best)


def _slope(differences: Floats, slope: float) -> Floats:
    """Return differences times k^slope at position k: with equal precision, they decay like k^−slope."""
    places = np.minimum(np.arange(1, differences.shape[0] + 1), _LEVEL_FROM)
    return np.asarray(differences * (places**slope)[:, np.newaxis])


class _Counted:
    """A likelihood with a limited number of evaluations."""

    def __init__(self, likelihood: Likelihood) -> None:
        self._likelihood, self.left = likelihood, _EVALUATIONS

    def value(self, logs: Floats) -> float:
        self.left -= 1
        return self._likelihood.value(logs)

    def curvature(self, logs: Floats) -> Curvature:
        return self._likelihood.curvature(logs)


@dataclass(frozen=True, eq=False)
class _Prior:
    """A normal distribution of differences, and the fit with it."""

    evidence: float
    precision: float
    differences: Floats
    logs: Floats
    information: Floats


def _best_precision(likelihood: _Counted, differences: Floats, start: Floats, precisions: Sequence[float]) -> _Prior:
    """Try one precision after another, until the evidence has fallen several times."""
    flat = differences.T @ differences
    # The normalizer of a normal distribution with these differences, up to a common constant.
    sizes = float(np.log(np.abs(differences).max(axis=1)).sum())
    logs, worse, best = start, 0, _Prior(-np.inf, precisions[0], differences, start, np.zeros(flat.shape))
    for precision in precisions:
        logs, found = _climb(likelihood, precision * flat, logs)
        _, volume = np.linalg.slogdet(_safe(found.information + precision * flat))
        common = differences.shape[0] * np.log(precision) - precision * float(logs @ flat @ logs) - float(volume)
        evidence = found.value + sizes + 0.5 * common
        if evidence > best.evidence:
            best, worse = _Prior(evidence, precision, differences, logs, found.information), 0
        else:
            worse += 1
            if worse >= _PATIENCE:
                break
    return best


def _reweight(likelihood: _Counted, prior: _Prior) -> SmoothFit:
    """Fit a separate precision for each difference, by expectation maximization."""
    logs, information, differences = prior.logs, prior.information, prior.differences
    weights, scale = np.full(differences.shape[0], prior.precision), 1 / prior.precision
    penalty = differences.T @ (weights[:, np.newaxis] * differences)
    for _ in range(_REWEIGHTINGS):
        covariance = np.linalg.inv(_safe(information + penalty))
        squares = (differences @ logs) ** 2 + np.sum((differences @ covariance) * differences, axis=1)
        weights = 2 / (scale + np.maximum(squares, 0.0))
        scale = 1 / float(np.mean(weights))
        before = rates_at(logs)
        penalty = differences.T @ (weights[:, np.newaxis] * differences)
        logs, found = _climb(likelihood, penalty, logs)
        information = found.information
        fit = SmoothFit(logs, _safe(information + penalty))
        if float(np.abs(fit.rates - before).max()) <= _CHANGE * float(fit.rates.sum()) ** 0.5:
            break
    return fit


def _climb(likelihood: _Counted, penalty: Floats, start: Floats) -> tuple[Floats, Curvature]:
    """Maximize ``likelihood − u'·penalty·u/2``; raise vanished rates again if the data require them.

    The slope in the logarithm of a vanished rate is almost zero, whatever the slope in the rate itself.
    """
    logs, found = _ascend(likelihood, penalty, start)
    for _ in range(_REVIVALS):
        rates = rates_at(logs)
        low = float(np.log(rates.sum() / rates.size)) - _REVIVED
        gone = (logs < low) & (found.gradient > _WANTED * rates)
        if not gone.any():
            break
        again, refound = _ascend(likelihood, penalty, np.where(gone, low, logs))
        if refound.value - 0.5 * float(again @ penalty @ again) <= found.value - 0.5 * float(logs @ penalty @ logs):
            break
        logs, found = again, refound
    return logs, found


def _ascend(likelihood: _Counted, penalty: Floats, start: Floats) -> tuple[Floats, Curvature]:
    """Climb by Fisher scoring, with steps halved until they increase the objective."""
    logs, found = start, likelihood.curvature(start)
    for _ in range(_STEPS):
        pulse()
        gradient = found.gradient - penalty @ logs
        curved = found.information + penalty
        curved.flat[:: logs.size + 1] += np.maximum(-found.gradient, 0.0)
        step = np.linalg.solve(_safe(curved), gradient)
        gain = float(gradient @ step)
        if not gain > _TOLERANCE or likelihood.left <= 0:
            break
        here = found.value - 0.5 * float(logs @ penalty @ logs)
        # Rates may vanish in one step, but not explode.
        length = _LONGEST_STEP / max(float(step.max()), _LONGEST_STEP)
        while True:
            moved = logs + length * step
            if likelihood.value(moved) - 0.5 * float(moved @ penalty @ moved) >= here + 1e-4 * length * gain:
                break
            length /= 2
            if length < _SHORTEST_STEP:
                return logs, found
        logs, found = moved, likelihood.curvature(moved)
    return logs, found


def _safe(matrix: Floats) -> Floats:
    """Add a little to the diagonal, which changes only directions without information."""
    safe = matrix.copy()
    safe.flat[:: matrix.shape[0] + 1] += 1e-9 + 1e-13 * float(np.trace(matrix))
    return safe

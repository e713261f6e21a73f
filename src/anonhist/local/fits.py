"""The distribution that fits the counts best: by least squares, by maximum likelihood, or by EM stopped early."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.local.decoder import Channel, Decoded, Decoder
from anonhist.numeric.arrays import Floats
from anonhist.numeric.fits import project_to_simplex
from anonhist.properties.estimate import format_number

if TYPE_CHECKING:
    from anonhist.local.decoder import Observed

# Rounding alone can cause this gap per observation; no tolerance should be smaller.
ROUNDING = 1e-13
_POWER_ROUNDS = 10
# The factor by which each step tries to grow.
_GROWTH = 0.95
# Rounding error of the excess of a step of length zero.
_NOTHING = 1e-30


@dataclass(frozen=True, eq=False)
class Minimum:
    """The result of the descent: f, with exact zeros, ``Q f``, and the number of gradients computed.

    ``φ(Qf)`` exceeds the minimum by at most ``gap``, by duality.
    """

    frequencies: Floats
    expected: Floats
    gap: float
    iterations: int

    def decoded(self, tolerance: float, doubt: str) -> Decoded:
        """Return the frequencies, with the doubt as a note if the gap is above the tolerance."""
        converged = self.gap <= tolerance
        return Decoded(self.frequencies, self.iterations, converged, "" if converged else doubt)


def minimize(objective: Objective, channel: Channel, *, tolerance: float, iterations: int) -> Minimum:
    """Return the distribution f with the least φ(Q f), by accelerated projected gradients from the uniform one.

    Steps are projected onto the simplex and have momentum, which is reset when φ would rise, so φ never rises (Beck and
    Teboulle 2009, section 4; O'Donoghue and Candès 2015, section 3). φ must be defined at the uniform distribution. The
    part of Q that is equal for all items does not matter, because steps add up to 0; EM, which it slows down, needs a
    hundred times as many steps for small ε. As φ is convex, ``min φ ≥ φ(Qy) + min_x g_x − gᵀy`` with the gradient g at
    any y: each step certifies its distance from the minimum, and the descent stops when that gap is at most
    ``tolerance``.
    """
    here = before = np.full(channel.items, 1.0 / channel.items)
    at = was = channel.forward(here)
    curvature = largest_curvature(objective, channel, at)
    gap, momentum, taken = math.inf, 1.0, 0
    while gap > tolerance and taken < iterations:
        taken += 1
        following = (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
        push = (momentum - 1.0) / following
        ahead, at_ahead = here + push * (here - before), at + push * (at - was)
        if not objective.allows(at_ahead):
            before, was, momentum = here, at, 1.0
            continue
        gradient = channel.adjoint(objective.slopes(at_ahead))
        slack = gradient - gradient.min()
        there, at_there, excess, curvature = _step(objective, channel, (ahead, at_ahead, gradient), curvature)
        excess_here = objective.excess(at_ahead, at - at_ahead)
        # φ(there) − φ(here), written with small terms, so that little is lost to rounding.
        rise = float(slack @ (there - here)) + excess - excess_here
        if rise < 0.0:
            gap = min(gap + rise, float(slack @ there) + excess)
            before, was, here, at, momentum = here, at, there, at_there, following
            curvature *= _GROWTH
            continue
        gap = min(gap, float(slack @ here) + excess_here)
        if push == 0.0:
            break  # Even the plain step gains nothing: only rounding errors are left.
        before, was, momentum = here, at, 1.0
    return Minimum(here, at, gap, taken)


def _step(
    objective: Objective,
    channel: Channel,
    start: tuple[Floats, Floats, Floats],
    curvature: float,
) -> tuple[Floats, Floats, float, float]:
    """Return the projected step from a point, its cells and its gradient, short enough for the curvature of φ."""
    ahead, at_ahead, gradient = start
    while True:
        there = project_to_simplex(ahead - gradient / curvature)
        at_there = channel.forward(there)
        excess = objective.excess(at_ahead, at_there - at_ahead)
        if excess <= curvature / 2.0 * float(((there - ahead) ** 2).sum()) + _NOTHING:
            return there, at_there, excess, curvature
        curvature *= 2.0


def largest_curvature(objective: Objective, channel: Channel, at: Floats, *, rounds: int = _POWER_ROUNDS) -> float:
    """Estimate the largest eigenvalue of ``Qᵀφ''Q`` among steps that add up to 0, by power iteration."""
    curvatures = objective.curvatures(at)
    step = channel.adjoint(objective.slopes(at))
    largest = 0.0
    for _ in range(rounds):
        step = step - step.mean()
        length = math.sqrt(float(step @ step))
        if length == 0.0:
            break
        step = channel.adjoint(curvatures * channel.forward(step / length))
        largest = math.sqrt(float(((step - step.mean()) ** 2).sum()))
    return largest if largest > 0.0 else 1.0


# Steps of the power iteration that determines the scale of the ridge.
_ROUNDS = 100


@frozen
class ConstrainedLeastSquares(Decoder):
    """``argmin_{f ≥ 0, Σf = 1} n/2·Σ_c (Qf − m)_c²/u_c``, m the shares observed, u those expected if f is uniform.

    The weights are nearly those of Pearson's χ², so that the objective is in nats, like a likelihood. For k-RR the
    result is the projection of the raw estimates. It needs no inverse of Q and stays stable if least squares without
    constraints would be ill-conditioned.

    Parameters
    ----------
    ridge
        Strength of the shrinkage of the listed frequencies to their mean, at least 0, as a share of the largest
        curvature of the objective: in directions with less curvature than this, shrinkage dominates. It does not vanish
        as n grows.
    tolerance
        Stop when the objective is certified to be within this many nats of its minimum; half a nat is one standard
        error.
    iterations
        The largest number of steps.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> from anonhist.local.decoder import SupportChannel
    >>> channel = SupportChannel(2, 2, base=0.25, gain=0.5, spread=np.asarray, gather=np.asarray)
    >>> ConstrainedLeastSquares().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(3)
    array([0.7, 0.3])
    """

    name: ClassVar[str] = "least-squares"
    fits_counts: ClassVar[bool] = True
    ridge: float = 0.0
    tolerance: float = 0.01
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 <= self.ridge < math.inf and 0.0 <= self.tolerance < math.inf and self.iterations >= 1):
            raise UsageError("Least squares need a ridge and a tolerance of at least 0 and at least one iteration.")

    def _decode(self, raw: Floats, observed: Observed, *, other: bool) -> Decoded:
        del raw
        channel, shares, total = observed()
        uniform = channel.forward(np.full(channel.items, 1.0 / channel.items))
        weights = np.divide(1.0, uniform, out=np.zeros(channel.cells), where=uniform > 0)
        fit = Squares(shares, weights)
        if self.ridge > 0.0:
            listed = channel.items - other
            pull = self.ridge * largest_curvature(fit, channel, uniform, rounds=_ROUNDS)
            fit = Squares(np.append(shares, np.zeros(listed)), np.append(weights, np.full(listed, pull)))
            channel = _WithDeviations(channel, listed)
        tolerance = max(self.tolerance / total, ROUNDING)
        least = minimize(fit, channel, tolerance=tolerance, iterations=self.iterations)
        doubt = (
            f"The fit is only proved to be within {format_number(least.gap * total, digits=2)} nats of the best one."
        )
        return least.decoded(tolerance, doubt)


@dataclass(frozen=True, eq=False)
class Squares:
    """``φ(c) = ½ Σ w (c − m)²``."""

    shares: Floats
    weights: Floats

    def slopes(self, expected: Floats) -> Floats:
        """Return ``w (c − m)``."""
        return self.weights * (expected - self.shares)

    def curvatures(self, expected: Floats) -> Floats:
        """Return w."""
        del expected
        return self.weights

    def excess(self, expected: Floats, step: Floats) -> float:
        """Return ``½ Σ w s²``."""
        del expected
        return float((self.weights * step) @ step) / 2.0

    def allows(self, expected: Floats) -> bool:
        """Return True, because squares are defined everywhere."""
        del expected
        return True


@dataclass(frozen=True, eq=False)
class _WithDeviations:
    """Q, and below it the deviation of each listed frequency from their mean: a ridge adds one square for each."""

    channel: Channel
    listed: int

    @property
    def items(self) -> int:
        return self.channel.items

    @property
    def cells(self) -> int:
        return self.channel.cells + self.listed

    def forward(self, frequencies: Floats) -> Floats:
        listed = frequencies[: self.listed]
        return np.append(self.channel.forward(frequencies), listed - listed.mean())

    def adjoint(self, weights: Floats) -> Floats:
        cells = self.channel.cells
        result = self.channel.adjoint(weights[:cells])
        result[: self.listed] += weights[cells:] - weights[cells:].mean()
        return result


# Below this ratio, u − ln(1 + u) is computed from its series.
_SMALL = 1e-4


@frozen
class MaximumLikelihood(Decoder):
    """``argmax_{f ≥ 0, Σf = 1} Σ_c N_c ln(Qf)_c``, the result of EM, but faster: see :func:`minimize`.

    The bits of a report count as independent observations; given the item, they are.

    Parameters
    ----------
    tolerance
        Stop when the log-likelihood is certified to be within this many nats of its maximum; half a nat is one standard
        error.
    iterations
        The largest number of steps.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> from anonhist.local.decoder import SupportChannel
    >>> channel = SupportChannel(2, 2, base=0.25, gain=0.5, spread=np.asarray, gather=np.asarray)
    >>> MaximumLikelihood().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(3)
    array([0.7, 0.3])
    """

    name: ClassVar[str] = "mle"
    fits_counts: ClassVar[bool] = True
    tolerance: float = 0.01
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 <= self.tolerance < math.inf and self.iterations >= 1):
            raise UsageError("Maximum likelihood needs a tolerance of at least 0 and at least one iteration.")

    def _decode(self, raw: Floats, observed: Observed, *, other: bool) -> Decoded:
        del raw, other
        channel, shares, total = observed()
        most = self.maximum(channel, shares, total)
        gap = format_number(most.gap * total, digits=2)
        doubt = f"The likelihood is only proved to be within {gap} nats of the maximum."
        return most.decoded(self._gap(total), doubt)

    def maximum(self, channel: Channel, shares: Floats, total: float) -> Minimum:
        """Return the maximum for shares of ``total`` observations."""
        return minimize(Surprise(shares), channel, tolerance=self._gap(total), iterations=self.iterations)

    def _gap(self, total: float) -> float:
        return max(self.tolerance / total, ROUNDING)


@dataclass(frozen=True, eq=False)
class Surprise:
    """``φ(c) = −Σ m ln c``, m the shares observed: nats per observation. Cells without observations do not count."""

    shares: Floats

    def slopes(self, expected: Floats) -> Floats:
        """Return ``−m/c``."""
        return -self._over(self.shares, expected)

    def curvatures(self, expected: Floats) -> Floats:
        """Return ``m/c²``."""
        return self._over(self._over(self.shares, expected), expected)

    def rise(self, expected: Floats, step: Floats) -> float:
        """Return ``−Σ m ln(1 + s/c)``."""
        ratio = self._over(step, expected)
        return math.inf if ratio.min() <= -1.0 else -float(self.shares @ np.log1p(ratio))

    def excess(self, expected: Floats, step: Floats) -> float:
        """Return ``Σ m (u − ln(1 + u))``, ``u = s/c``."""
        ratio = self._over(step, expected)
        if ratio.min() <= -1.0:
            return math.inf
        series = ratio * ratio * (0.5 - ratio * (1.0 / 3.0 - ratio / 4.0))
        return float(self.shares @ np.where(np.abs(ratio) < _SMALL, series, ratio - np.log1p(ratio)))

    def allows(self, expected: Floats) -> bool:
        """Return whether every cell that was observed has a probability above 0."""
        return bool((expected[self.shares > 0] > 0).all())

    def _over(self, numerator: Floats, expected: Floats) -> Floats:
        return np.divide(numerator, expected, out=np.zeros(expected.size), where=self.shares > 0)


# φ, a convex function of the expected shares c = Q f, infinite outside its domain: its slopes φ'(c), its curvatures
# (the diagonal of φ''(c), whose other entries are 0), its excess φ(c + s) − φ(c) − φ'(c)ᵀs, and whether it allows c.
# These are differences, not values: near the minimum, values differ by less than their rounding errors.
Objective = Squares | Surprise

# No frequency changes by more than this factor in a lengthened step.
_BOLDEST = 0.5
# The last step is shortened with this precision.
_HALVINGS = 40


@frozen
class ExpectationMaximization(Decoder):
    """``f_x ← f_x·(1 + η(g_x − 1))`` with ``g = Qᵀ(m/(Qf))``, from uniform, until f is about as likely as the truth.

    With η = 1 this is a step of EM. Longer steps are tried and kept while the likelihood increases; with η = 1 it
    always does. The path leads from the uniform distribution to the most likely one. It fits the clearest signals first
    and the noise last. The log-likelihood of the truth is on average half a nat per free frequency below the maximum;
    the path is stopped ``shortfall`` nats per free frequency below it, in the middle of a step.

    With a thousand items of Zipf frequencies and a million reports of k-RR, the ℓ1 error is 1.19, 0.47 and 0.15 at ε =
    1, 3 and 5, and the projection's is 1.55, 0.63 and 0.17. At ε = 8, with little noise, it is 0.032, and the
    projection's is 0.027.

    Parameters
    ----------
    shortfall
        Nats for each frequency that is above 0 at the maximum; above 0.
    iterations
        The largest number of steps.

    Raises
    ------
    UsageError
        If a number is out of its range.

    Examples
    --------
    >>> from anonhist.local.decoder import SupportChannel
    >>> channel = SupportChannel(2, 2, base=0.25, gain=0.5, spread=np.asarray, gather=np.asarray)
    >>> ExpectationMaximization().decode(np.array([0.7, 0.3]), channel, np.array([60.0, 40.0])).frequencies.round(2)
    array([0.6, 0.4])
    """

    name: ClassVar[str] = "em"
    fits_counts: ClassVar[bool] = True
    shortfall: float = 0.25
    iterations: int = 5_000

    def __post_init__(self) -> None:
        if not (0.0 < self.shortfall < math.inf and self.iterations >= 1):
            raise UsageError("Stopping early needs a shortfall above 0 and at least one iteration.")

    def _decode(self, raw: Floats, observed: Observed, *, other: bool) -> Decoded:
        del raw, other
        channel, shares, total = observed()
        most = MaximumLikelihood().maximum(channel, shares, total)
        allowed = self.shortfall * np.count_nonzero(most.frequencies) / total
        surprise = Surprise(shares)
        here = np.full(channel.items, 1.0 / channel.items)
        at = channel.forward(here)
        taken, stretch = 0, 1.0
        while (below := -surprise.rise(at, most.expected - at)) > allowed and taken < self.iterations:
            taken += 1
            pull = -channel.adjoint(surprise.slopes(at)) - 1.0
            stretch = max(1.0, min(stretch, _BOLDEST / float(np.abs(pull).max())))
            while True:
                there = here * np.maximum(1.0 + stretch * pull, 0.0)
                there /= there.sum()
                at_there = channel.forward(there)
                if stretch == 1.0 or surprise.rise(at, at_there - at) < 0.0:
                    break
                stretch = max(1.0, stretch / 4.0)
            part = _part(surprise, (at, at_there, most.expected), allowed)
            here, at, stretch = here + part * (there - here), at + part * (at_there - at), 2.0 * stretch
        if below > allowed:
            return Decoded(here, taken, converged=False, note="EM reached its maximum number of iterations.")
        return Decoded(
            here, taken, note="" if taken else "The reports are just as likely if all items are equally frequent."
        )


def _part(surprise: Surprise, cells: tuple[Floats, Floats, Floats], allowed: float) -> float:
    """Return the fraction of a step to take: 1, or the part at which the likelihood reaches the stopping level."""
    at, at_there, best = cells
    if -surprise.rise(at_there, best - at_there) >= allowed:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        part = (low + high) / 2.0
        between = at + part * (at_there - at)
        low, high = (part, high) if -surprise.rise(between, best - between) > allowed else (low, part)
    return high

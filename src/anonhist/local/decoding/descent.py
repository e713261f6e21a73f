"""Minimizing a convex function of the expected cells over all distributions, with a certified gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anonhist.local.decoding.decoder import Decoded
from anonhist.numeric.projections import project_to_simplex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.channel import Channel

# Rounding alone can cause this gap per observation: no tolerance should be smaller.
ROUNDING = 1e-13
_POWER_ROUNDS = 10
# The factor by which each step tries to grow.
_GROWTH = 0.95
# Rounding error of the excess of a step of length zero.
_NOTHING = 1e-30


class Objective(Protocol):
    """φ, a convex function of the expected shares ``c = Q f``; infinite outside its domain.

    It gives differences instead of values: near the minimum, values differ by less than their rounding errors.
    """

    def slopes(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``φ'(c)``, shape (cells,)."""

    def curvatures(self, expected: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the diagonal of ``φ''(c)``, whose other entries are 0, shape (cells,)."""

    def excess(self, expected: NDArray[np.float64], step: NDArray[np.float64]) -> float:
        """Return ``φ(c + s) − φ(c) − φ'(c)ᵀs``, at least 0."""

    def allows(self, expected: NDArray[np.float64]) -> bool:
        """Return whether φ(c) is defined."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The result of the descent.

    Attributes
    ----------
    frequencies
        f, with exact zeros.
    expected
        ``Q f``.
    gap
        ``φ(Qf)`` exceeds the minimum by at most this, by duality.
    iterations
        The number of gradients computed.
    """

    frequencies: NDArray[np.float64]
    expected: NDArray[np.float64]
    gap: float
    iterations: int

    def decoded(self, tolerance: float, doubt: str) -> Decoded:
        """Return the frequencies, with the doubt as a note if the gap is above the tolerance."""
        converged = self.gap <= tolerance
        return Decoded(self.frequencies, self.iterations, converged, "" if converged else doubt)


def minimize(objective: Objective, channel: Channel, *, tolerance: float, iterations: int) -> Minimum:
    """Return the distribution f with the least φ(Q f), by accelerated projected gradients from the uniform one.

    Steps are projected onto the simplex and have momentum, which is reset when φ would rise, so φ never rises. The part
    of Q that is equal for all items does not matter, because steps add up to 0; EM, which it slows down, needs a
    hundred times as many steps for small ε. As φ is convex, ``min φ ≥ φ(Qy) + min_x g_x − gᵀy`` with the gradient g at
    any y: each step certifies its distance from the minimum.

    Parameters
    ----------
    objective
        φ, defined at the uniform distribution.
    channel
        Q.
    tolerance
        Stop as soon as the gap is at most this.
    iterations
        The largest number of gradients.

    References
    ----------
    .. [1] A. Beck, M. Teboulle, *A Fast Iterative Shrinkage-Thresholding Algorithm for Linear Inverse Problems*, SIAM
       Journal on Imaging Sciences 2 (2009), section 4.
    .. [2] B. O'Donoghue, E. Candès, *Adaptive Restart for Accelerated Gradient Schemes*, Foundations of Computational
       Mathematics 15 (2015), section 3.
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
            break  # Even the plain step gains nothing: only rounding is left.
        before, was, momentum = here, at, 1.0
    return Minimum(here, at, gap, taken)


def _step(
    objective: Objective,
    channel: Channel,
    start: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    curvature: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Return the projected step from a point, its cells and its gradient, short enough for the curvature of φ."""
    ahead, at_ahead, gradient = start
    while True:
        there = project_to_simplex(ahead - gradient / curvature)
        at_there = channel.forward(there)
        excess = objective.excess(at_ahead, at_there - at_ahead)
        if excess <= curvature / 2.0 * float(((there - ahead) ** 2).sum()) + _NOTHING:
            return there, at_there, excess, curvature
        curvature *= 2.0


def largest_curvature(
    objective: Objective, channel: Channel, at: NDArray[np.float64], *, rounds: int = _POWER_ROUNDS
) -> float:
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

"""One-step and many-step matrices of the diagonal chain inside its band.

Going outwards from the main diagonal, the level ``s_c = d_c(μ)`` (cells of μ on diagonal c) stays or drops by one at
each step, with weight ``q^{|s_c − d_c|}`` at each diagonal, d_c the level of the reference. Inside the band
``u = s_c − d_c ∈ [−w, w]`` a run of diagonals with constant d_c is a power of one matrix.

Levels are scaled by ``σ(u) = Π_{k≤u} q^k/(1 − q^k)`` for u ≥ 0 and ``σ(−u) = Π_{k≤u} (1 − q^k)/q^{k−1}``:
``V(u) = σ(u)·V'(u)``.
Then a step along a run keeps level u ≥ 0 with weight q^u and drops with 1 − q^u, like the waiting times of the
exact tail, and numbers stay near one at every epsilon.

For z > 0 a level has four states (type of the edge just crossed, hidden flag): (stay, P), (stay, T), (drop, P),
(drop, T); for z = 0 it has one. All weights are ≥ 0 for z ≤ 1/4, so nothing is ever subtracted.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.calibration import FamilyParameters, band_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAY_P, STAY_T, DROP_P, DROP_T = range(4)


class Band:
    """Matrices of one family member; states are numbered ``(u + w)·m + k``, k < m the state within the level.

    Attributes
    ----------
    width : int
        w: levels run from −w to w.
    states : int
        m: 1 for z = 0, else 4.
    size : int
        (2w + 1)·m.
    """

    def __init__(self, parameters: FamilyParameters) -> None:
        self.parameters = parameters
        self.width = band_width(parameters)
        self.states = 1 if parameters.z == 0 else 4
        self.size = (2 * self.width + 1) * self.states
        self.levels = np.arange(-self.width, self.width + 1)
        self._powers: list[NDArray[np.float64]] = []
        self.stay, self.drop = _transitions(parameters.z)
        c = parameters.c
        level = np.abs(self.levels).astype(np.float64)
        self.weight = np.exp(-c * level)
        # Along a run: u → u with q^|u|; u → u − 1 with q^|u| σ(u−1)/σ(u): 1 − q^u above, 1 − q^{|u|+1} below.
        self.run_drop = np.where(self.levels > 0, -np.expm1(-c * level), -np.expm1(-c * (level + 1)))
        # At a step of the reference: u → u + 1 (stay) with q^|u| σ(u+1)/σ(u), u → u (drop) with q^|u|.
        above = np.where(
            self.levels >= 0,
            np.exp(-c * (level + 1)) / -np.expm1(-c * (level + 1)),
            np.exp(-c * (level - 1)) / -np.expm1(-c * np.maximum(level, 1)),
        )
        self.step_stay = self.weight * above

    @cached_property
    def log_scale(self) -> NDArray[np.float64]:
        """``ln σ(u)`` for u = −w..w."""
        c, k = self.parameters.c, np.arange(1, self.width + 1)
        log_factor = np.log(-np.expm1(-c * k))
        up = np.cumsum(-c * k - log_factor)
        down = np.cumsum(log_factor + c * (k - 1))
        return np.concatenate((down[::-1], np.zeros(1), up))

    def run(self, future: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply one step along a run: the future seen before the step, from that seen after it; shape (2w+1, m)."""
        result = self.weight[:, None] * (future @ self.stay.T)
        result[1:] += self.run_drop[1:, None] * (future[:-1] @ self.drop.T)
        return result

    def step(self, future: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply one step at which the reference drops by one."""
        result = self.weight[:, None] * (future @ self.drop.T)
        result[:-1] += self.step_stay[:-1, None] * (future[1:] @ self.stay.T)
        return result

    @cached_property
    def step_rows(self) -> NDArray[np.float64]:
        """Rows of :meth:`step`, shape (size, 2m): the states of level u (drop), then those of level u + 1 (stay)."""
        m = self.states
        rows = np.zeros((2 * self.width + 1, m, 2 * m))
        rows[:, :, :m] = self.weight[:, None, None] * self.drop
        rows[:-1, :, m:] = self.step_stay[:-1, None, None] * self.stay
        return rows.reshape(self.size, 2 * m)

    def power(self, exponent: int) -> NDArray[np.float64]:
        """Return the run matrix to the power 2^exponent, shape (size, size); row = before, column = after."""
        while len(self._powers) <= exponent:
            if self._powers:
                self._powers.append(self._powers[-1] @ self._powers[-1])
            else:
                self._powers.append(self._one_step())
        return self._powers[exponent]

    def _one_step(self) -> NDArray[np.float64]:
        m, count = self.states, 2 * self.width + 1
        matrix = np.zeros((count, m, count, m))
        at = np.arange(count)
        matrix[at, :, at, :] = self.weight[:, None, None] * self.stay
        matrix[at[1:], :, at[:-1], :] = self.run_drop[1:, None, None] * self.drop
        return matrix.reshape(self.size, self.size)

    @cached_property
    def tail(self) -> NDArray[np.float64]:
        """Future of each state where the reference is empty for ever: shape (2w+1, m), zero below level 0."""
        q_power, rest = self.weight, self.run_drop
        z, w = self.parameters.z, self.width
        tail = np.zeros((2 * w + 1, self.states))
        if self.states == 1:
            tail[w:] = 1.0
            return tail
        tail[w] = (1.0, 1.0, 1 - z, 1 - 2 * z)
        for u in range(w + 1, 2 * w + 1):
            before_p, before_t = tail[u - 1, DROP_P], tail[u - 1, DROP_T]
            from_p = (1 - 2 * z) * before_p + z * before_t
            from_t = (1 - 4 * z) * before_p + 2 * z * before_t
            stay_p = from_p
            stay_t = q_power[u] * stay_p + rest[u] * from_t
            tail[u] = (
                stay_p,
                stay_t,
                rest[u] * before_p + q_power[u] * ((1 - 2 * z) * stay_p + z * stay_t),
                rest[u] * before_p + q_power[u] * ((1 - 4 * z) * stay_p + 2 * z * stay_t),
            )
        return tail


def _transitions(z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (before, after) of crossing a stay edge and a drop edge; the table of the hidden flags."""
    if z == 0:
        return np.ones((1, 1)), np.ones((1, 1))
    same, from_p, from_t = (1.0, 0.0), (1 - 2 * z, z), (1 - 4 * z, 2 * z)
    stay, drop = np.zeros((4, 4)), np.zeros((4, 4))
    stay[[STAY_P, STAY_T], STAY_P] = same[0]
    stay[DROP_P, [STAY_P, STAY_T]] = from_p
    stay[DROP_T, [STAY_P, STAY_T]] = from_t
    drop[[DROP_P, DROP_T], DROP_P] = same[0]
    drop[STAY_P, [DROP_P, DROP_T]] = from_p
    drop[STAY_T, [DROP_P, DROP_T]] = from_t
    return stay, drop


@lru_cache(maxsize=8)
def band_of(parameters: FamilyParameters) -> Band:
    """Return the (cached) band of a family member: it depends on public parameters alone."""
    return Band(parameters)

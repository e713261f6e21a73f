"""One-step and many-step matrices of the diagonal chain inside its band.

Going outwards from the main diagonal, the level ``s_c = d_c(μ)`` (cells of μ on diagonal c) stays or drops by one at
each step, with weight ``q^{|s_c − d_c|}`` at each diagonal, d_c the level of the reference. Inside the band
``u = s_c − d_c ∈ [−w, w]``, a run of diagonals with constant d_c is a power of one matrix. At small ε, weights exceed
the range of floats: they are stored in block floating point, with one power of two per block of levels.

For z > 0 a level has four states (type of the edge just crossed, hidden flag): (stay, P), (stay, T), (drop, P),
(drop, T); for z = 0 it has one. All weights are ≥ 0 for z ≤ 1/4, so there is no subtraction.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.exponential.calibration import FamilyParameters, band_shape, negligible_order
from anonhist.numeric import BlockMatrix, BlockVector, read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAY_P, STAY_T, DROP_P, DROP_T = range(4)
_LN_2 = math.log(2)


class Band:
    """Matrices of one family member; states are numbered ``(u + w)·m + k``, k < m the state within the level.

    Threads share a band: it does not change once it is visible, and its arrays are read-only.

    Attributes
    ----------
    width : int
        w: levels run from −w to w.
    states : int
        m: 1 for z = 0, else 4.
    size : int
        (2w + 1)·m.
    blocks : int
        Number of blocks of levels.
    weight : ndarray of float64, shape (2w+1,)
        ``q^|u|``.
    step_rows : ndarray of float64, shape (size, 2m)
        Rows of :meth:`step`: the states of level u (drop), then those of level u + 1 (stay).
    tail : BlockVector
        Future of each state beyond the end of the reference, zero below level 0.
    """

    def __init__(self, parameters: FamilyParameters) -> None:
        self.parameters = parameters
        self.width, self.blocks = band_shape(parameters)
        self.states = 1 if parameters.z == 0 else 4
        self.size = (2 * self.width + 1) * self.states
        self.levels = np.arange(-self.width, self.width + 1)
        self._powers: dict[int, BlockMatrix] = {}
        self.stay, self.drop = _transitions(parameters.z)
        self.weight = np.exp(-parameters.c * np.abs(self.levels))
        self._block_weight = self.weight.reshape(self.blocks, -1)
        self.step_rows, self.tail = self._step_rows(), self._tail()
        shared = (self.levels, self.stay, self.drop, self.weight, self._block_weight, self.step_rows)
        for array in (*shared, self.tail.values, self.tail.exponents):
            read_only(array)

    def run(self, future: BlockVector) -> BlockVector:
        """Apply one step along a run: the future before the step, from that after it."""
        after, lower = future.with_shift(-self.states)
        return self._weigh(after, after.values, lower)

    def step(self, future: BlockVector) -> BlockVector:
        """Apply one step at which the reference drops by one."""
        after, higher = future.with_shift(self.states)
        return self._weigh(after, higher, after.values)

    def _weigh(self, after: BlockVector, stayed: NDArray[np.float64], fell: NDArray[np.float64]) -> BlockVector:
        levels, states = self.levels.size, self.states
        if states == 1:
            values = self._block_weight * (stayed + fell)
        else:
            crossed = stayed.reshape(levels, states) @ self.stay.T + fell.reshape(levels, states) @ self.drop.T
            values = (self.weight[:, None] * crossed).reshape(self.blocks, -1)
        return BlockVector(values, after.exponents).normalize()

    def _step_rows(self) -> NDArray[np.float64]:
        m = self.states
        rows = np.zeros((2 * self.width + 1, m, 2 * m))
        rows[:, :, :m] = self.weight[:, None, None] * self.drop
        rows[:-1, :, m:] = self.weight[:-1, None, None] * self.stay
        return rows.reshape(self.size, 2 * m)

    def power(self, exponent: int) -> BlockMatrix:
        """Return the run matrix to the power 2^exponent, shape (size, size); row = before, column = after."""
        found = self._powers.get(exponent)
        if found is None:
            made = self._square(exponent) if exponent else self._one_step()
            for array in (*made.panels, made.exponents):
                read_only(array)
            # If several threads compute it at once, all use the first: recomputed futures are bit for bit the same.
            found = self._powers.setdefault(exponent, made)
        return found

    def _square(self, exponent: int) -> BlockMatrix:
        square = self.power(exponent - 1).square(floor=negligible_order(self.parameters))
        self._put_stays(square, exponent)
        return square

    def _one_step(self) -> BlockMatrix:
        m, count = self.states, 2 * self.width + 1
        matrix = np.zeros((count, m, count, m))
        at = np.arange(count)
        matrix[at, :, at, :] = self.weight[:, None, None] * self.stay
        matrix[at[1:], :, at[:-1], :] = self.weight[1:, None, None] * self.drop
        return BlockMatrix.of(matrix.reshape(self.size, self.size), blocks=self.blocks)

    def _put_stays(self, power: BlockMatrix, exponent: int) -> None:
        """Insert ``q^{|u|·2^exponent}`` directly where nothing drops: squaring would double its error each time."""
        m, stays = self.states, self.stay @ self.stay
        orders = (self.parameters.c * np.abs(self.levels) / _LN_2 * 2.0**exponent).reshape(self.blocks, -1)
        at = np.arange(orders.shape[1])
        for j, panel in enumerate(power.panels):
            # A block on the diagonal may have been dropped although others of its panel were not.
            if panel.size and panel[: power.block].any():
                whole = np.floor(orders[j])
                shifts = np.clip(-whole - power.exponents[j, j], -4000, 1000)
                weight = np.ldexp(np.exp2(whole - orders[j]), shifts.astype(np.int32))
                diagonal = panel[: power.block].reshape(at.size, m, at.size, m)
                diagonal[at, :, at, :] = weight[:, None, None] * stays

    def _tail(self) -> BlockVector:
        """Return the tail: ``σ(u) = Π_{k≤u} q^k/(1 − q^k)`` for level u, times the factor of the hidden flags."""
        z, w = self.parameters.z, self.width
        flags = np.zeros((2 * w + 1, self.states))
        flags[w] = 1.0 if self.states == 1 else (1.0, 1.0, 1 - z, 1 - 2 * z)
        exponents = np.zeros(2 * w + 1, dtype=np.int64)
        mantissas = np.ones(2 * w + 1)
        for u in range(w + 1, 2 * w + 1):
            c_level = self.parameters.c * (u - w)
            mantissa, exponent = math.frexp(mantissas[u - 1] * math.exp(-c_level) / -math.expm1(-c_level))
            mantissas[u], exponents[u] = mantissa, exponents[u - 1] + exponent
            flags[u] = 1.0 if self.states == 1 else self._tail_flags(u, flags[u - 1])
        values = mantissas[:, None] * flags
        return BlockVector.of(values.ravel(), np.repeat(exponents, self.states), blocks=self.blocks)

    def _tail_flags(self, u: int, below: NDArray[np.float64]) -> tuple[float, float, float, float]:
        """Futures of the four states of a level in the tail, in units of σ(u)."""
        z, stays = self.parameters.z, float(self.weight[u])
        drops = -math.expm1(-self.parameters.c * (u - self.width))
        before_p, before_t = float(below[DROP_P]), float(below[DROP_T])
        stay_p = (1 - 2 * z) * before_p + z * before_t
        stay_t = stays * stay_p + drops * ((1 - 4 * z) * before_p + 2 * z * before_t)
        drop_p = drops * before_p + stays * ((1 - 2 * z) * stay_p + z * stay_t)
        drop_t = drops * before_p + stays * ((1 - 4 * z) * stay_p + 2 * z * stay_t)
        return stay_p, stay_t, drop_p, drop_t


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

"""The diagonal chain on one side of the main diagonal: backward sums, forward draws, compressed runs.

The reference is a strictly decreasing list of lengths: its level ``d_c`` on diagonal c ≥ 1 is the number of lengths ≥
c. Going outwards, the level ``s_c = d_c(μ)`` (cells of μ on diagonal c) stays or drops by one at each step, with weight
``q^{|s_c − d_c|}`` at each diagonal. Between two lengths d_c is constant (a run): inside the band ``u = s_c − d_c ∈
[−w, w]`` a run is a power of one matrix. At each length d_c drops by one (a step); beyond the longest it is zero (the
tail, in closed form). At small ε, weights exceed the range of floats: they are stored in block floating point, with one
power of two per block of levels.

The drawn partition may have to stay inside another, the *cap*. Levels never rise, so it suffices to forbid those above
the cap at each content where the cap has just dropped; runs are divided there, and the tail consists of runs.

For z > 0 a level has four states (type of the edge just crossed, hidden flag): (stay, P), (stay, T), (drop, P),
(drop, T); for z = 0 it has one. All weights are ≥ 0 for z ≤ 1/4, so there is no subtraction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from anonhist.mechanisms.exponential.calibration import FamilyParameters, band_shape, negligible_order
from anonhist.mechanisms.noise import Choices
from anonhist.numeric import BlockMatrix, BlockVector, read_only
from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.pulse import pulse, pulsing
from anonhist.profiles.counts import MAX_ITEMS

STAY_P, STAY_T, DROP_P, DROP_T = range(4)
_LN_2 = math.log(2)


class Band:
    """Matrices of one family member; states are numbered ``(u + w)·m + k``, k < m the state within the level.

    m is 1 for z = 0, else 4; the ``size`` is (2w + 1)·m. ``weight`` is ``q^|u|``. ``step_rows``, shape (size, 2m), are
    the rows of :meth:`step`: the states of level u (drop), then those of level u + 1 (stay). ``tail`` is the future of
    each state beyond the end of the reference, zero below level 0. Threads share a band: it does not change once it is
    visible, and its arrays are read-only.
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
        """Apply one step along a run: return the future before the step, from the future after it."""
        after, lower = future.with_shift(-self.states)
        return self._weigh(after, after.values, lower)

    def step(self, future: BlockVector) -> BlockVector:
        """Apply one step at which the reference drops by one."""
        after, higher = future.with_shift(self.states)
        return self._weigh(after, higher, after.values)

    def _weigh(self, after: BlockVector, stayed: Floats, fell: Floats) -> BlockVector:
        levels, states = self.levels.size, self.states
        if states == 1:
            values = self._block_weight * (stayed + fell)
        else:
            crossed = stayed.reshape(levels, states) @ self.stay.T + fell.reshape(levels, states) @ self.drop.T
            values = (self.weight[:, None] * crossed).reshape(self.blocks, -1)
        return BlockVector(values, after.exponents).normalize()

    def _step_rows(self) -> Floats:
        m = self.states
        rows = np.zeros((2 * self.width + 1, m, 2 * m))
        rows[:, :, :m] = self.weight[:, None, None] * self.drop
        rows[:-1, :, m:] = self.weight[:-1, None, None] * self.stay
        return rows.reshape(self.size, 2 * m)

    def power(self, exponent: int) -> BlockMatrix:
        """Return the run matrix to the power 2^exponent, shape (size, size); row = before, column = after."""
        found = self._powers.get(exponent)
        if found is None:
            if exponent:
                made = self.power(exponent - 1).square(floor=negligible_order(self.parameters))
                self._put_stays(made, exponent)
            else:
                made = self._one_step()
            for array in (*made.panels, made.exponents):
                read_only(array)
            # If several threads compute it at once, all use the first: recomputed futures are bit for bit the same.
            found = self._powers.setdefault(exponent, made)
        return found

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

    def _tail_flags(self, u: int, below: Floats) -> tuple[float, float, float, float]:
        """Return futures of the four states of a level in the tail, in units of σ(u)."""
        z, stays = self.parameters.z, float(self.weight[u])
        drops = -math.expm1(-self.parameters.c * (u - self.width))
        before_p, before_t = float(below[DROP_P]), float(below[DROP_T])
        stay_p = (1 - 2 * z) * before_p + z * before_t
        stay_t = stays * stay_p + drops * ((1 - 4 * z) * before_p + 2 * z * before_t)
        drop_p = drops * before_p + stays * ((1 - 2 * z) * stay_p + z * stay_t)
        drop_t = drops * before_p + stays * ((1 - 4 * z) * stay_p + 2 * z * stay_t)
        return stay_p, stay_t, drop_p, drop_t


def _transitions(z: float) -> tuple[Floats, Floats]:
    """Return weights (before, after) of crossing a stay edge and a drop edge: the table of the hidden flags."""
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


_BLOCK_BYTES = 2**26
_BISECT_CELLS = 2**22
_NO_CAP = -1


@dataclass(frozen=True)
class Segment:
    """A piece of the chain: 2^exponent steps of a run, or the one step of the reference (exponent −1)."""

    start: int
    exponent: int
    future: BlockVector  # of the states at its end


class SideChain:
    """One side: the future of every state at content 1, and draws of lengths from there.

    ``lengths`` and those of the cap are strictly decreasing, ≥ 1; at each content the cap has as many as the reference
    or more (z = 0 only). ``future`` is the weight of everything from content 1 outwards for each state there,
    ``tail_start`` the first content beyond the longest length.
    """

    def __init__(self, lengths: Ints, band: Band, cap: Ints | None = None) -> None:
        self.band = band
        self._steps = lengths[::-1]  # Ascending, in the order in which the chain meets them.
        self._events, self._highest = self._steps, np.full(self._steps.size, _NO_CAP)
        future = band.tail
        if cap is not None:
            self._events, self._highest = _with_cap(self._steps, cap, band.width)
            # Beyond the cap's end, the reference and every path inside the cap are at level 0.
            at_zero = np.zeros(band.size)
            at_zero[band.width] = 1.0
            future = BlockVector.of(at_zero, np.zeros(band.size, dtype=np.int64), blocks=band.blocks)
        # After a step at content c, the next run begins at c + 1; after a drop of the cap found at c, it begins at c.
        starts = self._events + (self._highest == _NO_CAP)
        self._runs = self._events - np.append(1, starts[:-1])[: self._events.size]
        # Only the futures of one block of runs are kept; others are recomputed, bit for bit, from the future at the
        # block's end.
        longest = int(self._runs.max(initial=0)).bit_length() + 1
        self._block = max(1, _BLOCK_BYTES // (8 * band.size * min(longest, 8)))
        self._ends: dict[int, BlockVector] = {}
        self._kept: tuple[int, list[list[Segment]]] = (-1, [])
        self.tail_start = int(lengths[0]) + 1 if lengths.size else 1
        for block in reversed(range(self._num_blocks)):
            self._ends[block] = future
            future = self._backward(block, future)
        self.future = future

    @property
    def levels_at_start(self) -> int:
        """Level of the reference at content 1: the number of lengths."""
        return int(self._steps.size)

    @property
    def _num_blocks(self) -> int:
        return -(-self._events.size // self._block)

    def _backward(self, block: int, future: BlockVector) -> BlockVector:
        band = self.band
        runs: list[list[Segment]] = []
        first = block * self._block
        for index in reversed(range(first, min(first + self._block, self._events.size))):
            pulse()
            content, highest = int(self._events[index]), int(self._highest[index])
            if highest == _NO_CAP:
                segments = [Segment(content, -1, future)]
                future = band.step(future)
            else:
                segments = []
                future = without_higher(future, highest)
            length = int(self._runs[index])
            while length:
                power = (length & -length).bit_length() - 1
                length &= length - 1
                content -= 1 << power
                segments.append(Segment(content, power, future))
                future = band.run(future) if power == 0 else band.power(power) @ future
            segments.reverse()
            runs.append(segments)
        runs.reverse()
        self._kept = (block, runs)
        return future

    def segments(self) -> Iterator[list[list[Segment]]]:
        """Yield the pieces of each run outwards, block by block, with the future of the states at their end."""
        for block in range(self._num_blocks):
            if self._kept[0] != block:
                self._backward(block, self._ends[block])
            yield self._kept[1]

    def draw(self, starts: Ints, choices: Choices) -> list[Ints]:
        """Draw the lengths of one side for each start state at content 1, as :class:`Band` numbers them.

        They are the contents c after which the level drops, descending: the drawn arms (or legs) that are ≥ 1.
        """
        m = self.band.states
        state = starts.copy()
        everyone = np.arange(starts.size)
        drops = [(everyone[:0], everyone[:0])]  # which draw, and its content
        for runs in self.segments():
            open_pieces: dict[int, list[tuple[Ints, ...]]] = {}
            for segment in pulsing(segment for segments in runs for segment in segments):
                before = state
                if segment.exponent < 0:
                    state = self._draw_step(before, segment, choices)
                    fell = state // m == before // m
                    if fell.any():
                        at = everyone[fell]
                        drops.append((at, np.full(at.size, segment.start)))
                    continue
                state = self._draw_run(before, segment, choices)
                moved = state // m != before // m
                if moved.any():
                    at = everyone[moved]
                    piece = (at, np.full(at.size, segment.start), before[moved], state[moved])
                    open_pieces.setdefault(segment.exponent, []).append(piece)
            drops.extend(self._locate(open_pieces, choices))
        which, where = (np.concatenate(column) for column in zip(*drops, strict=True))
        order = np.lexsort((where, which))
        which, where = which[order], where[order]
        borders = np.searchsorted(which, np.arange(starts.size + 1))
        result = []
        for index in range(starts.size):
            inner = where[borders[index] : borders[index + 1]]
            result.append(np.concatenate((inner, self._draw_tail(int(state[index]), choices)))[::-1])
        return result

    def _draw_step(self, before: Ints, segment: Segment, choices: Choices) -> Ints:
        m = self.band.states
        base = before // m * m
        columns = base[:, None] + np.arange(2 * m)
        np.minimum(columns, self.band.size - 1, out=columns)  # no level is above the topmost: weight zero
        return base + choices.rows(segment.future.weigh(self.band.step_rows[before], columns))

    def _draw_run(self, before: Ints, segment: Segment, choices: Choices) -> Ints:
        m = self.band.states
        high = (int(before.max()) // m + 1) * m
        low = max(0, int(before.min()) // m - (1 << min(segment.exponent, 40))) * m
        return low + choices.rows(self.band.power(segment.exponent).row_weights(before, low, high, segment.future))

    def _locate(self, pieces: dict[int, list[tuple[Ints, ...]]], choices: Choices) -> Iterator[tuple[Ints, Ints]]:
        """Find each drop inside the pieces whose ends differ, by bisection: draw the middle given both ends."""
        m = self.band.states
        for exponent in range(max(pieces, default=0), 0, -1):
            if not pieces.get(exponent):
                continue
            which, start, before, after = (np.concatenate(column) for column in zip(*pieces.pop(exponent), strict=True))
            middle = np.empty_like(before)
            half = self.band.power(exponent - 1)
            chunk = max(1, _BISECT_CELLS // self.band.size)
            for first in range(0, which.size, chunk):
                part = slice(first, first + chunk)
                low, high = int(after[part].min()) // m * m, (int(before[part].max()) // m + 1) * m
                middle[part] = low + choices.rows(half.path_weights(before[part], after[part], low, high))
            offset = 1 << (exponent - 1)
            for left, right, begin in ((before, middle, start), (middle, after, start + offset)):
                moved = left // m != right // m
                if moved.any():
                    piece = (which[moved], begin[moved], left[moved], right[moved])
                    pieces.setdefault(exponent - 1, []).append(piece)
        for which, start, _, _ in pieces.get(0, []):
            yield which, start

    def _draw_tail(self, state: int, choices: Choices) -> Ints:
        """Draw beyond the end of the reference, where waiting times are geometric."""
        band, m = self.band, self.band.states
        content, level, inner = self.tail_start, state // m - band.width, state % m
        drops = []
        while level > 0:
            at = (level + band.width) * m
            if m == 1:
                content += choices.geometric(band.parameters.c, level)
                drops.append(content)
                content, level = content + 1, level - 1
                continue
            weights = band.tail.weigh(np.concatenate((band.drop[inner], band.stay[inner])), np.arange(at - m, at + m))
            if inner == STAY_P:
                # From here on, each further stay has probability q^level: draw their number at once, then drop.
                content += choices.geometric(band.parameters.c, level)
                drops.append(content)
                content, level, inner = content + 1, level - 1, int(choices.rows(weights[None, :m])[0])
                continue
            picked = int(choices.rows(weights[None])[0])
            if picked < m:
                drops.append(content)
                level -= 1
            content, inner = content + 1, picked % m
        return within_int64(drops)


def _with_cap(steps: Ints, cap: Ints, width: int) -> tuple[Ints, Ints]:
    """Merge the steps of the reference with the contents where the cap has just dropped, ascending.

    At equal contents, the cap's restriction comes before the step. Beside each content is the index of the highest
    allowed level inside the band, if that is not the topmost; −1 at a step.
    """
    contents = np.append(cap[::-1] + 1, 1)
    levels = np.append(np.arange(cap.size)[::-1], cap.size)
    highest = levels - (steps.size - np.searchsorted(steps, contents)) + width
    felt = highest < 2 * width
    everything = np.concatenate((contents[felt], steps))
    order = np.lexsort((np.repeat([0, 1], [int(felt.sum()), steps.size]), everything))
    marks = np.concatenate((highest[felt], np.full(steps.size, _NO_CAP)))
    return everything[order], marks[order]


def without_higher(future: BlockVector, highest: int) -> BlockVector:
    """Forbid all levels above a given one (z = 0 only); ``highest`` is its index in the band."""
    kept = future.values.copy()
    kept.reshape(-1)[highest + 1 :] = 0.0
    return BlockVector(kept, future.exponents).normalize()


def within_int64(drops: list[int]) -> Ints:
    """Return ascending lengths as int64; larger ones are packed just below its maximum: post-processing."""
    last = len(drops) - 1
    return np.array([min(length, MAX_ITEMS - (last - index)) for index, length in enumerate(drops)], dtype=np.int64)

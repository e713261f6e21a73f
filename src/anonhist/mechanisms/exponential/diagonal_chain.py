"""Exact draws from the weighted exponential family on Young's lattice: two side chains, joined on the main diagonal.

``P(μ|λ) = q^{‖λ−μ‖₁} h_z(μ) / Z(λ)`` over all partitions μ, or over those inside a cap. Going outwards from content 0,
the lengths of the diagonals of μ are a Markov chain on each side; content 0 is a corner of μ iff the two edges that
leave it are of the same type.

Denoising finds the partition with the smallest expected distance to the truth, given a mechanism's output. Under a
uniform prior the distribution of the truth λ given the output μ is ``∝ q^{‖λ−μ‖₁}/Z(λ)``; Z varies by a bounded factor
and is left out, which gives the plain diagonal chain around μ. The diagonals of the diagram of all cells that are more
likely in than out are the medians of the chain's levels, computed by forward and backward sums
(docs/proofs/denoising.md). This is post-processing: it costs no privacy.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.mechanisms.exponential.side_chain import DROP_P, DROP_T, STAY_P, STAY_T, SideChain, band_of, within_int64
from anonhist.numeric import BlockVector, align
from anonhist.profiles import FrobeniusCoordinates
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from anonhist.mechanisms.exponential.side_chain import Band
    from anonhist.mechanisms.noise import Choices
    from anonhist.numeric.arrays import Bools, Floats, Ints

_STAY, _DROP = 0, 1
_EDGES = ((_STAY, _STAY), (_STAY, _DROP), (_DROP, _STAY), (_DROP, _DROP))


class DiagonalChain:
    """The distribution of a family member around one reference partition λ, prepared for drawing.

    The cap is a partition that contains λ; every drawn μ stays inside it (z = 0 only). ``offsets`` are the levels of μ
    at content 0 inside the band, counted from D; ``log_normalizer`` is ``ln Z(λ)`` inside the band.
    """

    def __init__(
        self,
        reference: FrobeniusCoordinates,
        parameters: FamilyParameters,
        cap: FrobeniusCoordinates | None = None,
    ) -> None:
        self.parameters = parameters
        self.band = band_of(parameters)
        self.durfee_size = reference.durfee_size
        caps = (None, None) if cap is None else (cap.arms[cap.arms >= 1], cap.legs[cap.legs >= 1])
        self.right = SideChain(reference.arms[reference.arms >= 1], self.band, caps[0])
        self.left = SideChain(reference.legs[reference.legs >= 1], self.band, caps[1])
        self.offsets = self.band.levels
        most = MAX_ITEMS if cap is None else cap.durfee_size
        self._allowed = self.offsets + self.durfee_size <= most
        values, exponents = zip(*(self._join_sides(right, left) for right, left in _EDGES), strict=True)
        joined, exponent = align(np.concatenate(values), np.concatenate(exponents))
        self._join = joined.reshape(len(_EDGES), -1)
        self.log_normalizer = math.log(float(joined.sum())) + int(exponent) * math.log(2)

    def draw(self, size: int, choices: Choices) -> list[FrobeniusCoordinates]:
        """Draw ``size`` independent partitions μ."""
        picked = choices.rows(np.broadcast_to(self._join.ravel(), (size, self._join.size)))
        edge, offset = np.divmod(picked, self.offsets.size)
        level = self.durfee_size + self.offsets[offset]
        edges = np.asarray(_EDGES)[edge]
        left_state, right_state = (
            self._state_number(side, level - edges[:, which], edges[:, which])
            for which, side in ((1, self.left), (0, self.right))
        )
        corner = (edges[:, 0] == edges[:, 1]) & (self.band.states > 1)
        left_state = self._draw_flag(left_state, right_state, corner, choices)
        legs = self.left.draw(left_state, choices)
        right_state = self._flag_right(right_state, corner, edges[:, 1], legs, choices)
        arms = self.right.draw(right_state, choices)
        return [
            FrobeniusCoordinates(_with_zero(arm, right), _with_zero(leg, left))
            for arm, leg, (right, left) in zip(arms, legs, edges.tolist(), strict=True)
        ]

    def level_weights(self) -> Floats:
        """Return the weight of each level at content 0, all edges together; shape (2w+1,)."""
        return np.asarray(self._join.sum(axis=0))

    def start_weights(self, side: SideChain, other: SideChain) -> BlockVector:
        """Return the weight of everything before content 1 of ``side``, for each level there (z = 0 only)."""
        found = [self._futures(other, edge) for edge in (_STAY, _DROP)]
        with np.errstate(divide="ignore"):
            log_before = np.logaddexp2(*(np.log2(values[:, 0]) + exponents for values, exponents in found))
        log_before -= self.parameters.c * np.abs(self.offsets) / math.log(2)
        log_start = np.full(self.offsets.size, -np.inf)
        for edge in (_STAY, _DROP):
            at, inside = self._levels_beside(side, edge)
            log_start[at[inside]] = np.logaddexp2(log_start[at[inside]], log_before[inside])
        whole = np.floor(np.where(np.isfinite(log_start), log_start, 0.0))
        return BlockVector.of(np.exp2(log_start - whole), whole.astype(np.int64), blocks=self.band.blocks)

    def _levels_beside(self, side: SideChain, edge: int) -> tuple[Ints, Bools]:
        """Return the index at content 1 of each level at content 0 with this edge, and whether the band holds it."""
        at = self.offsets + self.durfee_size - edge - side.levels_at_start + self.band.width
        return at, (at >= 0) & (at < self.offsets.size)

    def _futures(self, side: SideChain, edge: int) -> tuple[Floats, Ints]:
        """Return futures (flags P, T) at content 1 for each level at content 0 and this edge, and their exponents."""
        m = self.band.states
        at, inside = self._levels_beside(side, edge)
        first, last = (0, 0) if m == 1 else ((STAY_P, STAY_T), (DROP_P, DROP_T))[edge]
        values, exponents = np.zeros((at.size, 2)), np.zeros(at.size, dtype=np.int64)
        for column, flag in enumerate((first, last)):
            values[inside, column], exponents[inside] = side.future.take(at[inside] * m + flag)
        return values, exponents

    def _join_sides(self, right_edge: int, left_edge: int) -> tuple[Floats, Ints]:
        """Return the weights of the levels at content 0 with these edges, and their exponents."""
        z = self.parameters.z
        right, right_exponents = self._futures(self.right, right_edge)
        left, left_exponents = self._futures(self.left, left_edge)
        if self.band.states == 1 or right_edge != left_edge:
            weight = right[:, 0] * left[:, 0]
        else:
            # 2P − T ≥ P: the only subtraction, of terms that never nearly cancel.
            weight = (
                (1 - 4 * z) * right[:, 0] * left[:, 0]
                + 2 * z * left[:, 0] * right[:, 1]
                + z * left[:, 1] * (2 * right[:, 0] - right[:, 1])
            )
        return weight * self.band.weight * self._allowed, right_exponents + left_exponents

    def _state_number(self, side: SideChain, level: Ints, edge: Ints) -> Ints:
        band = self.band
        flag = np.array([STAY_P, DROP_P])[edge] if band.states > 1 else 0
        return (level - side.levels_at_start + band.width) * band.states + flag

    def _draw_flag(self, left: Ints, right: Ints, corner: Bools, choices: Choices) -> Ints:
        """Draw the hidden flag of the left chain if content 0 is a corner."""
        if not corner.any():
            return left
        z = self.parameters.z
        # Both flags of a level lie in one block, so the exponents cancel.
        ahead, behind = self.right.future.values.ravel(), self.left.future.values.ravel()
        right_p, right_t = ahead[right[corner]], ahead[right[corner] + 1]
        left_p, left_t = behind[left[corner]], behind[left[corner] + 1]
        weights = np.stack(
            (((1 - 4 * z) * right_p + 2 * z * right_t) * left_p, z * (2 * right_p - right_t) * left_t), axis=1
        )
        flagged = left.copy()
        flagged[corner] += choices.rows(weights)
        return flagged

    def _flag_right(self, right: Ints, corner: Bools, left_edges: Ints, legs: list[Ints], choices: Choices) -> Ints:
        """Draw the hidden flag of the right chain, given the number of corners in a row that end the left one."""
        if not corner.any():
            return right
        ahead = self.right.future.values.ravel()
        flagged = right.copy()
        for index in np.flatnonzero(corner).tolist():
            no_flag, flag = _flag_weights(_corner_run(legs[index], int(left_edges[index])), self.parameters.z)
            here = ahead[flagged[index] : flagged[index] + 2]
            flagged[index] += int(choices.rows(np.array([[no_flag * here[0], flag * here[1]]]))[0])
        return flagged


def _with_zero(lengths: Ints, edge: int) -> Ints:
    """Append the arm (or leg) of length 0 if the edge that leaves content 0 drops."""
    return np.concatenate((lengths, [0])) if edge == _DROP else lengths


def _corner_run(legs: Ints, edge: int) -> int:
    """Count the corners at contents −1, −2, … before the first content without one."""
    present = set(legs.tolist())
    content = 1
    while (following := _DROP if content in present else _STAY) != edge:
        edge, content = following, content + 1
    return content - 1


def _flag_weights(run: int, z: float) -> tuple[float, float]:
    """Return 2 − ρ and ρ − 1, ρ = I_j / I_{j+1} in [1, 2], j = ``run``: a path's independence polynomials at −z.

    It uses ``1/ρ_m = 1 − zρ_{m−1}`` in terms of y = 2 − ρ, to avoid cancellation: 2 − ρ is only about 2/m at z = 1/4.
    """
    away, near = 1.0, 0.0  # ρ = I_0 / I_{-1}, with I_{-1} = 1
    for _ in range(run + 1):
        below = 1 - 2 * z + z * away
        away, near = (1 - 4 * z + 2 * z * away) / below, z * (2 - away) / below
    return away, near


def denoise(released: FrobeniusCoordinates, *, c: float) -> FrobeniusCoordinates:
    """Return the diagram of all cells that are more likely in than out, given an output with decay rate ``c``."""
    chain = DiagonalChain(released, FamilyParameters(c, 0.0))
    size = int(chain.offsets[_median(chain.level_weights())]) + chain.durfee_size
    left, right = chain.left, chain.right
    return FrobeniusCoordinates(
        _lengths(right, chain.start_weights(right, left), size), _lengths(left, chain.start_weights(left, right), size)
    )


def _lengths(side: SideChain, start: BlockVector, size: int) -> Ints:
    """Return contents after which the median level drops, descending; ``start`` is the forward weights at content 1."""
    band, width = side.band, side.band.width
    forward = start
    level = _median(forward.times(side.future))
    drops = [0] if level - width + side.levels_at_start < size else []
    for runs in side.segments():
        for segment in (segment for segments in runs for segment in segments):
            if segment.exponent < 0:
                forward = _after(band, forward, up=1)
                now = _median(forward.times(segment.future))
                if now == level:
                    drops.append(segment.start)
            else:
                before, forward = forward, forward @ band.power(segment.exponent)
                now = _median(forward.times(segment.future))
                if now != level:
                    drops.extend(_search(side, segment.start, segment.exponent, (level, now), before, segment.future))
            level = now
    content = side.tail_start
    while level > width:
        forward = _after(band, forward, up=0)
        now = _median(forward.times(band.tail))
        if now != level:
            drops.append(content)
        content, level = content + 1, now
    return _complete(within_int64(drops)[::-1], size)


def _complete(lengths: Ints, size: int) -> Ints:
    """Return exactly ``size`` lengths: a borderline median may be rounded differently at two diagonals."""
    if lengths.size >= size:
        return lengths[:size]
    absent = np.setdiff1d(np.arange(2 * size, dtype=np.int64), lengths)[: size - lengths.size]
    return np.sort(np.concatenate((lengths, absent)))[::-1]


def _search(
    side: SideChain,
    start: int,
    exponent: int,
    ends: tuple[int, int],
    forward: BlockVector,
    future: BlockVector,
) -> list[int]:
    """Find the drops of the median inside one piece of a run by bisection."""
    if ends[0] == ends[1]:
        return []
    if exponent == 0:
        return [start]
    half = side.band.power(exponent - 1)
    middle_forward, middle_future = forward @ half, half @ future
    middle = _median(middle_forward.times(middle_future))
    offset = 1 << (exponent - 1)
    return [
        *_search(side, start, exponent - 1, (ends[0], middle), forward, middle_future),
        *_search(side, start + offset, exponent - 1, (middle, ends[1]), middle_forward, future),
    ]


def _after(band: Band, forward: BlockVector, *, up: int) -> BlockVector:
    """Return forward weights one content on: from u to u + up (stay) and u + up − 1 (drop), u from the reference."""
    weighted = BlockVector(forward.values * band.weight.reshape(band.blocks, -1), forward.exponents)
    own, beside = weighted.with_shift(-1 if up else 1)
    return BlockVector(own.values + beside, own.exponents).normalize()


def _median(weights: Floats) -> int:
    """Return the largest index i such that at least half of the weight lies at i or above."""
    above = np.cumsum(weights[::-1])
    return weights.size - 1 - int(above.searchsorted(0.5 * above[-1]))

"""Denoising: the partition with the smallest expected distance to the truth, given a mechanism's output.

Under a uniform prior the distribution of the truth λ given the output μ is ``∝ q^{‖λ−μ‖₁}/Z(λ)``; Z varies by a bounded
factor and is left out, which leaves the plain diagonal chain around μ. The cells that are more likely in than out form
a Young diagram, the minimizer of the expected sorted ℓ1 distance: its diagonals are the medians of the chain's levels,
computed by forward and backward sums. Post-processing: it costs no privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.exponential.calibration import FamilyParameters
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.exponential.side_chain import within_int64
from anonhist.numeric import BlockVector
from anonhist.profiles import FrobeniusCoordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.exponential.side_chain import Band, SideChain


def denoise(released: FrobeniusCoordinates, *, c: float) -> FrobeniusCoordinates:
    """Return the diagram of all cells that are more likely in than out, given an output with decay rate ``c``.

    Examples
    --------
    >>> import numpy as np
    >>> square = FrobeniusCoordinates(np.array([2, 1, 0]), np.array([2, 1, 0]))
    >>> denoise(square, c=2.0).arms.tolist()
    [2, 1, 0]
    """
    chain = DiagonalChain(released, FamilyParameters(c, 0.0))
    offsets = chain.offsets
    size = int(offsets[_median(chain.level_weights())]) + chain.durfee_size
    left, right = chain.left, chain.right
    return FrobeniusCoordinates(
        _lengths(right, chain.start_weights(right, left), size), _lengths(left, chain.start_weights(left, right), size)
    )


def _lengths(side: SideChain, start: BlockVector, size: int) -> NDArray[np.int64]:
    """Contents after which the median level drops, descending; ``start`` are the forward weights at content 1."""
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


def _complete(lengths: NDArray[np.int64], size: int) -> NDArray[np.int64]:
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
    """Find the drops of the median inside one piece of a run, by halving."""
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
    """Forward weights one content on: from u to u + up (stay) and u + up − 1 (drop), u counted from the reference."""
    weighted = BlockVector(forward.values * band.weight.reshape(band.blocks, -1), forward.exponents)
    own, beside = weighted.with_shift(-1 if up else 1)
    return BlockVector(own.values + beside, own.exponents).normalize()


def _median(weights: NDArray[np.float64]) -> int:
    """Largest index i such that at least half of the weight lies at i or above."""
    above = np.cumsum(weights[::-1])
    return weights.size - 1 - int(above.searchsorted(0.5 * above[-1]))

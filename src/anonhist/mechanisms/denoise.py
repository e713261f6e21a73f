"""Denoising: the partition nearest in expectation to where an exponential mechanism's output came from.

Under a uniform prior the law of the truth λ given the output μ is ``∝ q^{‖λ−μ‖₁}/Z(λ)``; Z varies by a bounded factor
and is left out, so it is the plain diagonal chain around μ. The cells that are more likely in than out form a Young
diagram, the minimiser of the expected sorted ℓ1 distance: its diagonals are the medians of the chain's levels, read off
forward and backward sums. Post-processing: it costs no privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.calibration import FamilyParameters
from anonhist.mechanisms.diagonal_chain import DiagonalChain
from anonhist.mechanisms.side_chain import within_int64
from anonhist.profiles import FrobeniusCoordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.side_chain import SideChain


def denoise(released: FrobeniusCoordinates, *, c: float) -> FrobeniusCoordinates:
    """Return the diagram of all cells that are more likely in than out, given an output of decay ``c`` per cell.

    Examples
    --------
    >>> import numpy as np
    >>> square = FrobeniusCoordinates(np.array([2, 1, 0]), np.array([2, 1, 0]))
    >>> denoise(square, c=2.0).arms.tolist()
    [2, 1, 0]
    """
    chain = DiagonalChain(released, FamilyParameters(c, 0.0))
    offsets = chain.offsets
    by_level = chain.level_weights()
    size = int(offsets[_median(by_level)]) + chain.durfee_size
    sides = []
    for side, other in ((chain.right, chain.left), (chain.left, chain.right)):
        start = chain.start_weights(side, other)
        sides.append(_lengths(side, start, size))
    return FrobeniusCoordinates(*sides)


def _lengths(side: SideChain, start: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Contents after which the median level drops, descending; ``start`` are the forward weights at content 1."""
    band, width = side.band, side.band.width
    forward = start
    level = _median(forward * side.future[:, 0])
    drops = [0] if level - width + side.levels_at_start < size else []
    for runs in side.segments():
        for segment in (segment for segments in runs for segment in segments):
            if segment.exponent < 0:
                forward = _after_step(band.weight, band.step_stay, forward)
                now = _median(forward * segment.future)
                if now == level:
                    drops.append(segment.start)
            else:
                power = band.power(segment.exponent)
                before, forward = forward, forward @ power
                now = _median(forward * segment.future)
                if now != level:
                    drops.extend(_search(side, segment.start, segment.exponent, (level, now), before, segment.future))
            level = now
            forward = forward / forward.max()
    content = side.tail_start
    while level > width:
        after = band.weight * forward
        after[:-1] += band.run_drop[1:] * forward[1:]
        forward = after / after.max()
        now = _median(forward * band.tail[:, 0])
        if now != level:
            drops.append(content)
        content, level = content + 1, now
    return _completed(within_int64(drops)[::-1], size)


def _completed(lengths: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return exactly ``size`` lengths: a median on the brink may be rounded differently at two diagonals."""
    if lengths.size >= size:
        return lengths[:size]
    absent = np.setdiff1d(np.arange(2 * size, dtype=np.int64), lengths)[: size - lengths.size]
    return np.sort(np.concatenate((lengths, absent)))[::-1]


def _search(
    side: SideChain,
    start: int,
    exponent: int,
    ends: tuple[int, int],
    forward: NDArray[np.float64],
    future: NDArray[np.float64],
) -> list[int]:
    """Find the drops of the median inside one piece of a run, by halving."""
    if ends[0] == ends[1]:
        return []
    if exponent == 0:
        return [start]
    half = side.band.power(exponent - 1)
    middle_forward, middle_future = forward @ half, half @ future
    middle = _median(middle_forward * middle_future)
    offset = 1 << (exponent - 1)
    return [
        *_search(side, start, exponent - 1, (ends[0], middle), forward, middle_future),
        *_search(side, start + offset, exponent - 1, (middle, ends[1]), middle_forward, future),
    ]


def _after_step(
    weight: NDArray[np.float64], step_stay: NDArray[np.float64], forward: NDArray[np.float64]
) -> NDArray[np.float64]:
    after = weight * forward
    after[1:] += step_stay[:-1] * forward[:-1]
    return after


def _median(weights: NDArray[np.float64]) -> int:
    """Largest index i such that at least half of the weight lies at i or above."""
    above = np.cumsum(weights[::-1])[::-1]
    return int(np.count_nonzero(above >= 0.5 * above[0])) - 1

"""Reports of many bits, packed: bit j of a row is bit j mod 8, counted from the lowest, of byte ⌊j/8⌋."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.numeric import ExponentialQuotient

# Sums of this many bits fit in a byte.
_ROWS = 255


def overwrite_bits(rows: NDArray[np.uint8], places: NDArray[np.int64], bits: NDArray[np.bool_]) -> None:
    """Give bit ``places[i]`` of row i the value ``bits[i]``, in place."""
    users = np.arange(len(rows))
    masks = np.left_shift(np.uint8(1), (places & 7).astype(np.uint8))
    at = places >> 3
    rows[users, at] = np.where(bits, rows[users, at] | masks, rows[users, at] & ~masks)


def bit_counts(rows: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Return in how many rows each of the first ``size`` bits is set, shape (size,)."""
    total = np.zeros(size, dtype=np.int64)
    for start in range(0, len(rows), _ROWS):
        bits = np.unpackbits(rows[start : start + _ROWS], axis=1, count=size, bitorder="little")
        total += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return total


# An honest report has too many ones with at most this probability, and too few with at most the same: 2⁻⁴⁰ together.
LOG2_CHANCE = -41
# Probabilities are whole multiples of 2⁻¹⁹², weights of 2⁻¹⁹² of the largest.
_BITS = 192
_ONE = 1 << _BITS
# Terms this far below the largest one are negligible.
_NEGLIGIBLE = _ONE >> 96


def honest_ones(
    size: int, own: int, own_probability: ExponentialQuotient, other_probability: ExponentialQuotient
) -> tuple[int, int]:
    """Return bounds on the number of ones in an honest report, which fail with probability at most 2⁻⁴⁰.

    Integers a ≤ b with ``P(ones < a) ≤ 2^−41`` and ``P(ones > b) ≤ 2^−41``, at most one from the tightest bounds;
    certified integer arithmetic makes them the same on all machines. The ones are a sum of two binomial numbers. It
    increases stochastically with the number of bits that are likelier to be 1, so the bounds use the largest, or the
    smallest, possible number of bits of the value: 1 to ``own``. Probabilities are rounded up for the upper bound and
    down for the lower one.
    """
    counted = own if own_probability >= other_probability else 1
    most = _most(size, counted, own_probability.bounds(_BITS)[1], other_probability.bounds(_BITS)[1])
    counted = own if own_probability <= other_probability else 1
    fewest_zeros = _most(
        size, counted, _ONE - own_probability.bounds(_BITS)[0], _ONE - other_probability.bounds(_BITS)[0]
    )
    return size - fewest_zeros, most


def have_ones(rows: NDArray[np.uint8], size: int, least: int, most: int) -> NDArray[np.bool_]:
    """Return which packed rows of ``size`` bits have ``least`` to ``most`` ones, and none after them, shape (n,)."""
    counts = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    mask: NDArray[np.bool_] = (least <= counts) & (counts <= most)
    # A report is whole bytes; devices set the bits after the last one to 0.
    return mask & (rows[:, -1] >> size % 8 == 0) if size % 8 else mask


def _most(size: int, own: int, own_probability: int, other_probability: int) -> int:
    """Return the least m that is known to have ``P(ones > m) ≤ 2^−41``; probabilities are multiples of 2⁻¹⁹²."""
    first, tails = _tails(size - own, other_probability)
    rest = _ONE - own_probability
    for _ in range(own):
        before = [_ONE, *tails]
        after = [*tails, tails[-1]]
        pairs = zip(before, after, strict=True)
        tails = [-(-(own_probability * left + rest * right) >> _BITS) for left, right in pairs]
    least = _ONE >> -LOG2_CHANCE
    return next((first + place - 1 for place, tail in enumerate(tails) if tail <= least), size)


def _tails(trials: int, probability: int) -> tuple[int, list[int]]:
    """Return j_0 and bounds of ``P(X ≥ j)·2^192`` from above for j = j_0, j_0 + 1, …; the last also holds for larger j.

    X is binomial. Weights relative to that of the mode follow from each other; they are rounded up for the tail and
    down for the sum of all.
    """
    complement = _ONE - probability
    mode = min((trials + 1) * probability >> _BITS, trials)
    total = _ONE
    weight, place = _ONE, mode
    while weight > _NEGLIGIBLE and place > 0:
        weight = weight * place * complement // ((trials - place + 1) * probability)
        place -= 1
        total += weight
    high, low, place = _ONE, _ONE, mode
    weights = []
    while high > _NEGLIGIBLE and place < trials:
        above, below = (trials - place) * probability, (place + 1) * complement
        high, low, place = -(-high * above // below), low * above // below, place + 1
        weights.append(high)
        total += low
    reached = 0
    if place < trials:
        # Ratios of terms decrease, so what follows is at most a geometric series.
        above, below = (trials - place) * probability, (place + 1) * complement
        reached = -(-high * above // (below - above))
    else:
        weights.append(0)
    sums = []
    for weight in reversed(weights):
        reached += weight
        sums.append(min(_ONE, -(-(reached << _BITS) // total)))
    return mode, [_ONE, *reversed(sums)]


MOST_ENTRIES = 2**20


def check_entries(entries: int) -> None:
    """Refuse a matrix that does not fit in memory: one of more than 2²⁰ entries."""
    if entries > MOST_ENTRIES:
        raise UsageError("The matrix of this survey has more than 2^20 entries; use a smaller survey.")

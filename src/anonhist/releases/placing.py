"""At which counts items are added to a profile, or taken from it, until it has a given number of them.

A noisy profile is right at most counts if ε is large, so an item moved at random is one more error. Items move where
the diagram is least likely as it is. A move changes one row of the Young diagram (the count of a label) beyond the
Durfee square, and one column (φ_{k+}) inside it. Let a be the distance to the next row or column on the side to which
it moves, and b that on the other side. If distances are Poisson numbers with equal means, the moved diagram is a/(b +
1) times as likely as the present one; of m rows or columns that tie (b = 0), any may be the one. Large counts lie
farther apart than Poisson numbers do: a row that does not tie is moved at odds of one at most.
docs/benchmarks/groups.md has what else was tried.
"""

from __future__ import annotations

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.numeric.staircases import Staircase, spliced

# Labels are moved by an item at a time; what is left after so many times goes to few of them.
_MOVES = 64


def with_items(curve: Staircase, items: int, least: Staircase, most: Staircase | None) -> Staircase:
    """Return a whole curve φ_{k+} with this area, between two bounds, with the same number of labels if possible.

    ``least`` has at most that area, and ``most`` at least. What cannot be moved one item a label is added to the
    largest count, or the curve is moved to one of the bounds for the first counts.
    """
    for _ in range(_MOVES):
        missing = items - curve.area()
        if not missing:
            return curve
        after = _with_one_more(curve, missing, most) if missing > 0 else _with_one_less(curve, -missing, least)
        if after is None:
            break
        curve = after
    missing = items - curve.area()
    if missing > 0 and most is None:
        last = int(curve.ends[-1]) if curve.ends.size else 0
        return Staircase(np.append(curve.ends, last + missing), np.append(curve.heights, 1.0)).joined()
    if missing > 0 and most is not None:
        return spliced(curve, most, items)
    return spliced(least, curve, items) if missing else curve


def _with_one_more(curve: Staircase, items: int, most: Staircase | None) -> Staircase | None:
    """Give labels of each count an item more, up to so many items; None if there are none that can have more."""
    k = curve.ends + 1
    labels = curve.heights - np.append(curve.heights[1:], 0.0)
    above, below = np.append(labels[1:], 0.0), np.diff(curve.ends, prepend=0).astype(np.float64)
    odds = _odds(curve, k, labels, np.append(below[1:], 1.0), above, below)
    room = labels if most is None else np.minimum(labels, most.at(k) - curve.at(k))
    return _moved(curve, k, _spread(room.astype(np.int64), items, odds))


def _with_one_less(curve: Staircase, items: int, least: Staircase) -> Staircase | None:
    """Take an item from labels of each count but 1, up to so many items; None if there are none that can lose one."""
    counted = curve.ends > 1
    k = curve.ends[counted]
    labels = curve.heights - np.append(curve.heights[1:], 0.0)
    below, gaps = np.append(np.inf, labels[:-1]), np.diff(curve.ends, prepend=0).astype(np.float64)
    after = np.append(gaps[1:], 1.0)
    odds = _odds(curve, k, labels[counted], gaps[counted], below[counted], after[counted])
    room = np.minimum(labels[counted], curve.at(k) - least.at(k))
    return _moved(curve, k, -_spread(room.astype(np.int64), items, odds))


def _odds(curve: Staircase, k: Ints, labels: Floats, gaps: Floats, next_labels: Floats, next_gaps: Floats) -> Floats:
    """Return by what the odds of a diagram change if φ_{k+} is moved by one.

    ``labels`` have the count from which one is moved, and ``gaps`` are the distances to the count toward which it is
    moved: these are, of a row, the rows that tie and the distance to the next, and of a column the opposite. The
    others are the same on the other side.
    """
    # Beyond the largest count there is no distance: it is taken as one.
    durfee = int(np.minimum(curve.ends, curve.heights).max(initial=0))
    is_column = k <= durfee
    ties, room = np.where(is_column, gaps, labels), np.where(is_column, labels, gaps)
    other = np.where(ties > 1, 0.0, np.where(is_column, next_labels, next_gaps))
    odds = ties * room / (other + 1)
    return np.asarray(np.where(is_column | (ties > 1), odds, np.minimum(odds, 1.0)))


def _moved(curve: Staircase, k: Ints, by: Ints) -> Staircase | None:
    if not by.any():
        return None
    ends = np.union1d(np.union1d(curve.ends, k), k[k > 1] - 1)
    heights = curve.at(ends)
    heights[np.searchsorted(ends, k)] += by
    return Staircase(ends, heights).joined()


def _spread(room: Ints, items: int, odds: Floats) -> Ints:
    """Return how many to move at each count: equally many as far as there is room, one more where odds are best."""
    low, high = 0, int(room.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if int(np.minimum(room, middle).sum()) <= items else (low, middle - 1)
    found = np.minimum(room, low)
    left = items - int(found.sum())
    more = np.flatnonzero(room > low)
    found[more[np.argsort(-odds[more], kind="stable")][:left]] += 1
    return found

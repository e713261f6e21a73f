"""Intervals for φ_{r+} at every degree, and what numbers of the whole graph can be within them.

With ``c(r) = φ_{r+}``, the number of nodes with at least the degree r, and N nodes,

    degree sum  D = Σ_r c(r),   k-stars  Σ_r C(r − 1, k − 1)·c(r),   Gini coefficient  1 − Σ_r c(r)² / (N·D),

as ``Σ_v C(d_v, k)`` counts C(r − 1, k − 1) new stars where a degree grows to r, and ``Σ_{u,v} min(d_u, d_v) = Σ_r
c(r)²``. So stars are most where all c are highest. The largest and the least Gini coefficient, c in the band and D
within its own interval, are found in one dimension: of all c with one sum D, Σ c² is largest where c is highest up to
some degree and lowest beyond, and least where it is level, cut off by the band.

What follows holds if all c(r) are in their intervals at once. Each of them is, in 95 % of releases, not all of them.
Stars hold nearly always all the same, as errors at different degrees do not all go one way. A Gini coefficient of 0,
where all degrees are equal, is at the very end of what the band allows: so it is found in intervals that are drawn out
by half. The tails of the noise are exponential, so the chance of 1.25 % that a bound is wrong becomes a sixth of it,
and that of several is that of one. That both hold often enough is not proved but measured (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.arrays import widen_to_falling
from anonhist.profiles.counts import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.numeric.arrays import Floats
    from anonhist.profiles import Profile
    from anonhist.releases import ReleaseError

    Ends = tuple[float, float]

_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class DegreeBand:
    """Intervals for the number of nodes with at least each degree, in steps of degrees.

    Attributes
    ----------
    ends : ndarray of float64, shape (s,)
        Where the steps end, ascending degrees ≥ 1: step i is for ``ends_{i−1} < r ≤ ends_i``, ends_0 = 0. No node has a
        degree beyond the last.
    lows, highs : ndarray of float64, shape (s,)
        ``0 ≤ lows_i ≤ highs_i``, both non-increasing.

    Examples
    --------
    >>> band = DegreeBand(np.array([1.0, 3.0]), np.array([4.0, 1.0]), np.array([5.0, 2.0]))
    >>> band.degree_sum, band.stars(2)
    ((6.0, 9.0), (3.0, 6.0))
    >>> low, high = band.gini((4.0, 5.0), (6.0, 9.0))
    >>> round(low, 3), round(high, 3)
    (0.036, 0.414)
    """

    ends: Floats
    lows: Floats
    highs: Floats

    @classmethod
    def of(
        cls, profile: Profile, error: ReleaseError, *, degree_sum: float, most: float, stretch: float = 1.0
    ) -> DegreeBand:
        """Take the intervals that a release states.

        Parameters
        ----------
        profile, error
            The released degrees and their errors, which give intervals.
        degree_sum
            Upper bound of the degree sum: it limits the largest degree where nothing else does.
        most
            The largest degree that there can be.
        stretch
            By how much to draw out the intervals, from the released number to both sides.
        """
        # Between these nothing changes, neither the released number nor what is known of it.
        steps = (error.levels - 1, error.levels) if error.band is None else (profile.counts, error.band.ends)
        places = np.concatenate((*steps, [MAX_ITEMS]))
        ends = np.unique(places[places > 0])
        value, (low, high) = profile.cumulative_prevalence(ends), error.k_plus_interval(profile, ends)
        stretched = np.maximum(value - stretch * (value - low), 0.0), value + stretch * (high - value)
        lows, highs = widen_to_falling(*stretched)
        return cls(ends.astype(np.float64), lows, highs).up_to(degree_sum, most)

    @property
    def degree_sum(self) -> Ends:
        """What the sum of all degrees can be."""
        return float(self._widths @ self.lows), float(self._widths @ self.highs)

    def stars(self, k: int) -> Ends:
        """Return what the number of k-stars can be."""
        stars = np.ones(self.ends.size)
        for place in range(k):
            stars *= np.maximum(self.ends - place, 0.0) / (place + 1)
        more = np.diff(stars, prepend=0.0)
        return float(more @ self.lows), float(more @ self.highs)

    def gini(self, nodes: Ends, degree_sum: Ends) -> Ends:
        """Return what the Gini coefficient can be.

        Parameters
        ----------
        nodes, degree_sum
            Intervals for the number of nodes and for the sum of their degrees.
        """
        least, most = self.degree_sum
        sums = min(max(degree_sum[0], least), most), max(min(degree_sum[1], most), least)
        if not sums[0] > 0 or not nodes[0] > 0:
            return 0.0, 1.0
        low = 1 - self._most_squares(sums) / nodes[0]
        high = 1 - self._least_squares(sums) / nodes[1]
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)

    def up_to(self, degree_sum: float, most: float) -> DegreeBand:
        """Return the band up to the largest degree that there can be: each lower one is had by as many nodes."""
        needed = np.cumsum(self._widths * np.maximum(self.lows, 1.0))
        step = int(np.searchsorted(needed, degree_sum, side="right"))
        if step < needed.size:
            before, begin = (float(side[step - 1]) if step else 0.0 for side in (needed, self.ends))
            reach = begin + (degree_sum - before) // max(self.lows[step], 1.0)
            # Where the intervals contradict each other, what some node has for sure is there.
            most = min(most, max(reach, float(self.ends[self.lows > 0].max(initial=1.0))))
        steps = int(np.searchsorted(self.ends, most)) + 1
        return DegreeBand(np.minimum(self.ends[:steps], max(most, 1.0)), self.lows[:steps], self.highs[:steps])

    @property
    def _widths(self) -> Floats:
        return np.diff(self.ends, prepend=0.0)

    def _most_squares(self, sums: Ends) -> float:
        """Return the largest Σ c² / D, D within its interval.

        Highest up to some degree: from one such degree to the next Σ c² grows with D by ``low + high``, less and less.
        So the ratio has one peak, at one of these degrees or where D ends.
        """
        widths, lows, highs = self._widths, self.lows, self.highs
        of_sum = np.append(0.0, np.cumsum(widths * (highs - lows))) + widths @ lows
        of_squares = np.append(0.0, np.cumsum(widths * (highs - lows) * (highs + lows))) + widths @ lows**2
        inside = (of_sum > sums[0]) & (of_sum < sums[1])
        at = np.concatenate((of_sum[inside], sums))
        return float((np.interp(at, of_sum, of_squares) / at).max())

    def _least_squares(self, sums: Ends) -> float:
        """Return the least Σ c² / D, D within its interval: c level at τ, cut off by the band.

        Without bounds of D it is least where τ is half of that ratio; and it has no other valley.
        """

        def excess(at: float) -> float:
            total, squares = self._level(at)
            return squares - 2 * at * total

        first, last = map(self._level_with, sums)
        total, squares = self._level(min(max(self._zero(excess), first), last))
        return squares / total

    def _level_with(self, total: float) -> float:
        """Return the τ of which c has this sum."""
        return self._zero(lambda at: total - self._level(at)[0])

    def _zero(self, falling: Callable[[float], float]) -> float:
        """Return the τ where a falling function reaches zero."""
        low, high = 0.0, float(self.highs[0])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if falling(middle) > 0 else (low, middle)
        return (low + high) / 2

    def _level(self, at: float) -> Ends:
        """Return D and Σ c² of c = τ, cut off by the band."""
        level = np.clip(at, self.lows, self.highs)
        return float(self._widths @ level), float(self._widths @ level**2)

"""The degrees that statistics read, and the intervals for φ_{r+} from which their own intervals follow.

With ``c(r) = φ_{r+}``, the number of nodes with at least the degree r, and N nodes,

    degree sum  D = Σ_r c(r),   k-stars  Σ_r C(r − 1, k − 1)·c(r),   Gini coefficient  1 − Σ_r c(r)² / (N·D),

because a node gets C(r − 1, k − 1) new stars when its degree grows to r, and ``Σ_{u,v} min(d_u, d_v) = Σ_r c(r)²``.

Intervals of stars and Gini coefficients hold if all c(r) are in their intervals at once; each single one is, in 95% of
releases. The interval of a Gini coefficient is therefore computed from intervals that are widened by half, because 0,
for equal degrees, is at the very end of what the band allows. That both hold often enough is not proved but measured
(docs/benchmarks/graphs.md). Proofs: docs/proofs/graphs.md, §8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError, kind_of
from anonhist.graphs.graph import SIMPLE, DegreeMechanism, Degrees, Direction, EdgePolicy, Graph
from anonhist.numeric.arrays import Floats, widen_to_falling
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import PLUS_MINUS, Estimate, Holds, Statement, widening_factor
from anonhist.releases import Release, ReleaseError
from anonhist.releases.evidence import NORMAL_95, whole_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.privacy import Guarantee

    Ends = tuple[float, float]

_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class DegreeBand:
    """Intervals for the number of nodes with at least each degree, in steps of degrees.

    Step i is for ``ends_{i−1} < r ≤ ends_i``, ends_0 = 0, with ``0 ≤ lows_i ≤ highs_i``, both non-increasing. No node
    has a degree beyond the last end.
    """

    ends: Floats
    lows: Floats
    highs: Floats

    @classmethod
    def of(
        cls, profile: Profile, error: ReleaseError, *, degree_sum: float, most: float, stretch: float = 1.0
    ) -> DegreeBand:
        """Take the intervals that a release states, widened by ``stretch`` on both sides of the released number.

        ``degree_sum`` is an upper bound of the degree sum, which limits the largest degree if ``most`` does not.
        """
        # Between these degrees nothing changes, neither the released number nor the information about it.
        steps = (error.levels - 1, error.levels) if error.band is None else (profile.counts, error.band.ends)
        places = np.concatenate((*steps, [MAX_ITEMS]))
        ends = np.unique(places[places > 0])
        value, (low, high) = profile.cumulative_prevalence(ends), error.k_plus_interval(profile, ends)
        stretched = np.maximum(value - stretch * (value - low), 0.0), value + stretch * (high - value)
        lows, highs = widen_to_falling(*stretched)
        return cls(ends.astype(np.float64), lows, highs).up_to(degree_sum, most)

    @property
    def degree_sum(self) -> Ends:
        """The possible values of the sum of all degrees."""
        return float(self._widths @ self.lows), float(self._widths @ self.highs)

    def stars(self, k: int) -> Ends:
        """Return the possible values of the number of k-stars."""
        stars = np.ones(self.ends.size)
        for place in range(k):
            stars *= np.maximum(self.ends - place, 0.0) / (place + 1)
        more = np.diff(stars, prepend=0.0)
        return float(more @ self.lows), float(more @ self.highs)

    def gini(self, nodes: Ends, degree_sum: Ends) -> Ends:
        """Return the possible values of the Gini coefficient, given intervals for n and the degree sum."""
        least, most = self.degree_sum
        sums = min(max(degree_sum[0], least), most), max(min(degree_sum[1], most), least)
        if not sums[0] > 0 or not nodes[0] > 0:
            return 0.0, 1.0
        low = 1 - self._most_squares(sums) / nodes[0]
        high = 1 - self._least_squares(sums) / nodes[1]
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)

    def up_to(self, degree_sum: float, most: float) -> DegreeBand:
        """Return the band up to the largest possible degree, given that as many nodes reach each lower degree."""
        needed = np.cumsum(self._widths * np.maximum(self.lows, 1.0))
        step = int(np.searchsorted(needed, degree_sum, side="right"))
        if step < needed.size:
            before, begin = (float(side[step - 1]) if step else 0.0 for side in (needed, self.ends))
            reach = begin + (degree_sum - before) // max(self.lows[step], 1.0)
            # If the intervals contradict each other, keep the degrees that some node certainly has.
            most = min(most, max(reach, float(self.ends[self.lows > 0].max(initial=1.0))))
        steps = int(np.searchsorted(self.ends, most)) + 1
        return DegreeBand(np.minimum(self.ends[:steps], max(most, 1.0)), self.lows[:steps], self.highs[:steps])

    @property
    def _widths(self) -> Floats:
        return np.diff(self.ends, prepend=0.0)

    def _most_squares(self, sums: Ends) -> float:
        """Return the largest Σ c² / D, D within its interval.

        c is highest up to some degree and lowest beyond. From one such degree to the next Σ c² grows with D by ``low +
        high``, less and less: the ratio has one peak, at one of these degrees or at an end of D.
        """
        widths, lows, highs = self._widths, self.lows, self.highs
        of_sum = np.append(0.0, np.cumsum(widths * (highs - lows))) + widths @ lows
        of_squares = np.append(0.0, np.cumsum(widths * (highs - lows) * (highs + lows))) + widths @ lows**2
        inside = (of_sum > sums[0]) & (of_sum < sums[1])
        at = np.concatenate((of_sum[inside], sums))
        return float((np.interp(at, of_sum, of_squares) / at).max())

    def _least_squares(self, sums: Ends) -> float:
        """Return the least Σ c² / D, D within its interval: c level at τ, cut off by the band.

        Without bounds on D it is least if τ is half of that ratio, and it has no other valley.
        """

        def excess(at: float) -> float:
            total, squares = self._level(at)
            return squares - 2 * at * total

        first, last = map(self._level_with, sums)
        total, squares = self._level(min(max(self._zero(excess), first), last))
        return squares / total

    def _level_with(self, total: float) -> float:
        """Return the τ for which c has this sum."""
        return self._zero(lambda at: total - self._level(at)[0])

    def _zero(self, falling: Callable[[float], float]) -> float:
        """Return the τ at which a falling function reaches zero."""
        low, high = 0.0, float(self.highs[0])
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if falling(middle) > 0 else (low, middle)
        return (low + high) / 2

    def _level(self, at: float) -> Ends:
        """Return D and Σ c² of c = τ, cut off by the band."""
        level = np.clip(at, self.lows, self.highs)
        return float(self._widths @ level), float(self._widths @ level**2)


_MOSTLY_NOISE = "The release is mostly noise: the graph may be much smaller, and this number very wrong."
# The module docstring explains the factor.
_JOINT = 1.5
_EMPTY = "No node has an edge, so nothing can be estimated: the interval covers every possible value."


@dataclass(frozen=True, eq=False)
class DegreeData:
    """Degrees of a graph, released or private, as statistics read them.

    ``zeros`` counts nodes without an edge, None if unknown. ``max_degree`` is θ, the bound above which edges were left
    out. ``runs`` are runs of the mechanism on its release. ``nodes_reach`` is the possible error of the released number
    of nodes: 0 if it is public, None if it has no separate noise. ``error`` and ``guarantee`` are None for private
    degrees, which are exact.
    """

    profile: Profile
    policy: EdgePolicy = SIMPLE
    zeros: int | None = None
    max_degree: int | None = None
    runs: tuple[Profile, ...] = ()
    error: ReleaseError | None = None
    nodes_reach: int | None = None
    guarantee: Guarantee | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: DegreeSource) -> DegreeData:
        """Take a release of degrees; or a graph, its degrees or their profile, which are private."""
        if isinstance(data, DegreeData):
            return data
        if isinstance(data, Release):
            mechanism = _degree_mechanism(data)
            return cls(
                data.profile,
                mechanism.policy,
                data.zeros,
                data.largest_count,
                tuple(data.resimulate()),
                data.error,
                mechanism.nodes_reach,
                data.guarantee,
                (_MOSTLY_NOISE,) if data.mostly_noise else (),
            )
        degrees = data.degree_profile() if isinstance(data, Graph) else data
        if isinstance(degrees, Degrees):
            return cls(degrees.profile, degrees.policy, degrees.num_zeros)
        if isinstance(degrees, Profile):
            return cls(degrees, EdgePolicy(Direction.IN) if degrees.unit.degrees == 1 else SIMPLE)
        raise UsageError(f"Degrees are needed, such as a Release of release_degrees or a Graph, not {kind_of(data)}.")

    @property
    def unknown(self) -> Statement | None:
        """The statement about a number with unknown error, because runs are missing or unreliable; else None."""
        if self.error is None or (self.runs and self.error.has_k_plus_intervals) or not self.error.why_unknown:
            return None
        return Statement(Holds.NONE, self.error.why_unknown)

    @property
    def num_nodes(self) -> int:
        """Number of nodes; if those without an edge are unknown, the number of those with one."""
        return self.profile.num_labels + (self.zeros or 0)

    @property
    def with_edges(self) -> DegreeData:
        """The same data without the nodes that have no edge."""
        return self if self.zeros is None else replace(self, zeros=None, nodes_reach=None)

    @property
    def assumes(self) -> str:
        """What intervals assume: they cover privacy noise and nothing else."""
        if self.max_degree is None:
            return ""
        return f"no edges were left out to bound degrees at {self.max_degree:,}: intervals do not cover edges left out"

    @property
    def why_no_band(self) -> str:
        """Why the release gives no interval for φ_{r+}, as a phrase without a full stop; empty if it gives one."""
        return "" if self.error is None or self.error.has_k_plus_intervals else self.error.why_unknown

    @cached_property
    def nodes_ends(self) -> Ends:
        """The ends of a 95% interval for the number of nodes that :attr:`num_nodes` counts."""
        if self.nodes_reach is not None:
            return max(0.0, float(self.num_nodes - self.nodes_reach)), float(self.num_nodes + self.nodes_reach)
        low, high = self._errors.k_plus(self.profile, 1).interval
        without = (0.0, 0.0) if self.zeros is None else self._errors.of_zeros(self.zeros).interval
        return low + without[0], high + without[1]

    @cached_property
    def degree_sum(self) -> Ends:
        """The ends of a 95% interval for the sum of all degrees."""
        return self.band.degree_sum if math.isinf(self._items[1]) else self._items

    @cached_property
    def band(self) -> DegreeBand:
        """The intervals that the release gives for φ_{r+}, if any, up to the largest possible degree."""
        return self._band(1.0)

    @cached_property
    def joint_band(self) -> DegreeBand:
        """The same band, widened until mostly all of its intervals hold at once."""
        return self._band(_JOINT)

    def _band(self, stretch: float) -> DegreeBand:
        most = math.inf if self.max_degree is None else float(self.max_degree)
        # Nodes at the other ends of edges are all counted, unless edges have directions and nodes are not listed.
        if self.policy.is_simple and (self.zeros is not None or not self.policy.direction.is_directed):
            most = min(most, self.nodes_ends[1] - 1)
        if self._errors.band is None and self.runs:
            # One node of any degree may be missing in such intervals; the runs also show how large it may be.
            largest = _largest(self.profile)
            # Squares of large numbers exceed the range of floats; this avoids them.
            far = math.hypot(*(_largest(run) - largest for run in self.runs)) / math.sqrt(len(self.runs))
            most = min(most, float(whole_interval(largest, widening_factor(len(self.runs)) * far)[1]))
        return DegreeBand.of(self.profile, self._errors, degree_sum=self._items[1], most=most, stretch=stretch)

    @property
    def _items(self) -> Ends:
        return self._errors.num_items(self.profile).interval

    @property
    def _errors(self) -> ReleaseError:
        return ReleaseError.without_runs() if self.error is None else self.error

    def estimate(
        self,
        value: float,
        ends: Callable[[], Ends] | None,
        *,
        method: str,
        unit: str = "",
        within: Ends = (0.0, math.inf),
        defined: bool = True,
    ) -> Estimate:
        """State a number with its 95% interval: for private degrees, and if ``ends`` is None, the number itself.

        The standard error is that of a normal interval of the same width. ``ends`` is called only if the release gives
        intervals for φ_{r+}; its interval is clipped to ``within``, the range of the number.
        """
        least, most = within
        error, interval, statement = 0.0, (value, value), PLUS_MINUS
        if not defined:
            value, interval = (least if math.isfinite(least) else 0.0), within
        elif self.why_no_band and ends is not None:
            error, interval = math.nan, (min(least, value), max(most, value))
            statement = Statement(Holds.NONE, self.why_no_band)
        elif self.error is not None and ends is not None:
            low, high = ends()
            interval = min(max(low, least), value), max(min(high, most), value)
            error = (interval[1] - interval[0]) / (2 * NORMAL_95)
        return Estimate(
            value,
            error,
            interval,
            method if self.error is None else f"{method}, from a release",
            assumes=self.assumes,
            warnings=self.warnings if defined else (_EMPTY, *self.warnings),
            unit=unit,
            guarantee=self.guarantee,
            statement=statement,
        )


# Types that statistics accept.
DegreeSource = Release | Graph | Degrees | Profile | DegreeData


def released_policy(release: Release) -> EdgePolicy:
    """Return what counted as an edge, as recorded in the mechanism of a release of degrees."""
    return _degree_mechanism(release).policy


def _largest(profile: Profile) -> float:
    return float(profile.counts[-1]) if len(profile) else 0.0


def _degree_mechanism(release: Release) -> DegreeMechanism:
    if not isinstance(release.mechanism, DegreeMechanism):
        raise UsageError("This is not a release of degrees: make one with release_degrees.")
    return release.mechanism

"""Data for statistics of degrees: a release with its runs, or the private degrees themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from anonhist.errors import UsageError, kind_of
from anonhist.graphs.graph import Degrees, Graph
from anonhist.graphs.kind import DegreeMechanism
from anonhist.graphs.policy import SIMPLE, Direction, EdgePolicy
from anonhist.graphs.statistics.degree_band import DegreeBand
from anonhist.profiles import Profile
from anonhist.properties.estimate import PLUS_MINUS, Estimate, Holds, Statement, widening_factor
from anonhist.releases import Release, ReleaseError
from anonhist.releases.evidence import NORMAL_95, whole_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.privacy import Guarantee

    Ends = tuple[float, float]

_MOSTLY_NOISE = "The release is mostly noise: the graph may be much smaller, and this number very wrong."
# Why so much: see the module degree_band.
_JOINT = 1.5
_EMPTY = "No node has an edge, so nothing can be estimated: the interval covers every possible value."


@dataclass(frozen=True, eq=False)
class DegreeData:
    """Degrees of a graph, released or private, as statistics take them.

    Attributes
    ----------
    profile
        How many nodes have each degree from 1 on.
    policy
        What counted as an edge.
    zeros
        Number of nodes without an edge; None if unknown.
    max_degree
        θ, the bound above which edges were left out; None if degrees were not bounded.
    runs
        (profile, zeros) of runs of the mechanism on its release, if there are any.
    error
        The errors that the release itself states; None for private degrees, which are exact.
    nodes_reach
        How far the released number of nodes may be off, 0 if it is public; None if it has no noise of its own.
    guarantee
        The guarantee; None for private degrees.
    warnings
        Sentences on the release as a whole.
    """

    profile: Profile
    policy: EdgePolicy = SIMPLE
    zeros: int | None = None
    max_degree: int | None = None
    runs: tuple[tuple[Profile, int | None], ...] = ()
    error: ReleaseError | None = None
    nodes_reach: int | None = None
    guarantee: Guarantee | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: DegreeSource) -> DegreeData:
        """Take any data with degrees: a release of them, or a graph, its degrees or their profile, which are private.

        Raises
        ------
        UsageError
            If it is something else, or the release is not one of degrees.

        Examples
        --------
        >>> data = DegreeData.of(Profile.from_counts([2, 1, 1]))
        >>> data.num_nodes, data.zeros, data.with_edges is data
        (3, None, True)
        """
        if isinstance(data, DegreeData):
            return data
        if isinstance(data, Release):
            return _of_release(data)
        degrees = data.degree_profile() if isinstance(data, Graph) else data
        if isinstance(degrees, Degrees):
            return cls(degrees.profile, degrees.policy, degrees.num_zeros)
        if isinstance(degrees, Profile):
            return cls(degrees, EdgePolicy(Direction.IN) if degrees.unit.degrees == 1 else SIMPLE)
        message = f"Degrees are needed, such as a Release of release_degrees or a Graph, not {kind_of(data)}."
        raise UsageError(message)

    @property
    def is_known(self) -> bool:
        """Whether errors are known: not if there are no runs, or if these are unreliable."""
        return not self.why_unknown

    @property
    def why_unknown(self) -> str:
        """Why errors are unknown, a phrase without a full stop; empty if they are known."""
        if self.error is None or (self.runs and self.error.has_k_plus_intervals):
            return ""
        return self.error.why_unknown

    @property
    def unknown(self) -> Statement:
        """The statement of a number whose error is unknown."""
        return Statement(Holds.NONE, self.why_unknown)

    @property
    def num_nodes(self) -> int:
        """Number of nodes; if those without an edge are unknown, of those with one."""
        return self.profile.num_labels + (self.zeros or 0)

    @property
    def with_edges(self) -> DegreeData:
        """The same without the nodes that have no edge."""
        return self if self.zeros is None else replace(self, zeros=None, nodes_reach=None)

    @property
    def assumes(self) -> str:
        """What intervals assume: they cover privacy noise and nothing else."""
        if self.max_degree is None:
            return ""
        return f"no edges were left out to bound degrees at {self.max_degree:,}: intervals do not cover edges left out"

    @property
    def why_no_band(self) -> str:
        """Why the release gives no interval for φ_{r+}, a phrase without a full stop; empty if it gives one."""
        return "" if self.error is None or self.error.has_k_plus_intervals else self.error.why_unknown

    @cached_property
    def nodes_ends(self) -> Ends:
        """The ends of a 95 % interval for the number of nodes: of those that :attr:`num_nodes` counts."""
        if self.nodes_reach is not None:
            return max(0.0, float(self.num_nodes - self.nodes_reach)), float(self.num_nodes + self.nodes_reach)
        low, high = self._errors.k_plus(self.profile, 1).interval
        without = (0.0, 0.0) if self.zeros is None else self._errors.of_zeros(self.zeros).interval
        return low + without[0], high + without[1]

    @cached_property
    def degree_sum(self) -> Ends:
        """The ends of a 95 % interval for the sum of all degrees."""
        return self.band.degree_sum if math.isinf(self._items[1]) else self._items

    @cached_property
    def band(self) -> DegreeBand:
        """The intervals that the release gives for φ_{r+}, if it gives any: up to the largest degree there can be."""
        return self._band(1.0)

    @cached_property
    def joint_band(self) -> DegreeBand:
        """The same, drawn out until mostly all of them hold at once."""
        return self._band(_JOINT)

    def _band(self, stretch: float) -> DegreeBand:
        most = math.inf if self.max_degree is None else float(self.max_degree)
        # Nodes at the other ends of edges are all counted, unless these have directions and nodes are not listed.
        if self.policy.is_simple and (self.zeros is not None or not self.policy.direction.is_directed):
            most = min(most, self.nodes_ends[1] - 1)
        if self._errors.band is None and self.runs:
            # One node of any degree may be missing in such intervals: how large it may be, the runs say as well.
            largest = _largest(self.profile)
            off = widening_factor(len(self.runs)) * self.noise(largest, lambda run, _: _largest(run))
            most = min(most, float(whole_interval(largest, off)[1]))
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
        """State a number with its 95 % interval: of private degrees the number itself.

        The standard error is that of a normal interval of the same width.

        Parameters
        ----------
        value
            The number, of the released or private degrees.
        ends
            Returns the ends of its interval, where the release gives intervals for φ_{r+}; None of a public number.
        method
            Source of the number.
        unit
            What is counted.
        within
            Range of the number.
        defined
            Whether the number is defined.
        """
        least, most = within
        if not defined:
            value = least if math.isfinite(least) else 0.0
            return self._state(value, 0.0, within, method=method, unit=unit, warnings=(_EMPTY,))
        if self.error is None or ends is None:
            return self._state(value, 0.0, (value, value), method=method, unit=unit)
        if self.why_no_band:
            unknown = Statement(Holds.NONE, self.why_no_band)
            around = min(least, value), max(most, value)
            return self._state(value, math.nan, around, method=method, unit=unit, statement=unknown)
        low, high = ends()
        low, high = min(max(low, least), value), max(min(high, most), value)
        return self._state(value, (high - low) / (2 * NORMAL_95), (low, high), method=method, unit=unit)

    def noise(self, value: float, statistic: Callable[[Profile, int], float]) -> float:
        """Return the root mean square of what a number of each run differs by; 0 where there are no runs."""
        if not self.runs:
            return 0.0
        # Squares of large numbers pass what floats hold; this does not make them.
        far = math.hypot(*(statistic(run, self._zeros(zeros)) - value for run, zeros in self.runs))
        return far / math.sqrt(len(self.runs))

    def _state(
        self,
        value: float,
        error: float,
        interval: tuple[float, float],
        *,
        method: str,
        unit: str,
        warnings: tuple[str, ...] = (),
        statement: Statement = PLUS_MINUS,
    ) -> Estimate:
        return Estimate(
            value,
            error,
            interval,
            method if self.error is None else f"{method}, from a release",
            assumes=self.assumes,
            warnings=(*warnings, *self.warnings),
            unit=unit,
            guarantee=self.guarantee,
            statement=statement,
        )

    def _zeros(self, zeros: int | None) -> int:
        return 0 if self.zeros is None else zeros or 0


# What statistics are told to read.
DegreeSource = Release | Graph | Degrees | Profile | DegreeData


def released_policy(release: Release) -> EdgePolicy:
    """Return what counted as an edge, as the mechanism of a release of degrees has recorded it.

    Raises
    ------
    UsageError
        If it is not a release of degrees.

    Examples
    --------
    >>> from anonhist.mechanisms import release
    >>> released_policy(release(Profile([1], [9]), epsilon=1))
    Traceback (most recent call last):
    anonhist.errors.UsageError: This is not a release of degrees: make one with release_degrees.
    """
    return _degree_mechanism(release).policy


def _largest(profile: Profile) -> float:
    return float(profile.counts[-1]) if len(profile) else 0.0


def _degree_mechanism(release: Release) -> DegreeMechanism:
    if not isinstance(release.mechanism, DegreeMechanism):
        raise UsageError("This is not a release of degrees: make one with release_degrees.")
    return release.mechanism


def _of_release(release: Release) -> DegreeData:
    mechanism = _degree_mechanism(release)
    return DegreeData(
        release.profile,
        mechanism.policy,
        release.zeros,
        release.largest_count,
        tuple(zip(release.resimulate(), release.resimulate_zeros(), strict=True)),
        release.error,
        mechanism.nodes_reach,
        release.guarantee,
        (_MOSTLY_NOISE,) if release.mostly_noise else (),
    )

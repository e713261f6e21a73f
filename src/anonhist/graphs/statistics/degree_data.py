"""Data for statistics of degrees: a release with its runs, or the private degrees themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError, kind_of
from anonhist.graphs.graph import Degrees, Graph
from anonhist.graphs.kind import DegreeMechanism
from anonhist.graphs.policy import SIMPLE, Direction, EdgePolicy
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate
from anonhist.properties.levels import widening_factor
from anonhist.properties.statement import PLUS_MINUS, Holds, Statement
from anonhist.releases import Release, ReleaseError
from anonhist.releases.whole_interval import NORMAL_95

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from anonhist.privacy import Guarantee

_MOSTLY_NOISE = "The release is mostly noise: the graph may be much smaller, and this number very wrong."
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
        (profile, zeros) of runs of the mechanism on its release; none for private degrees, which are exact.
    error
        The errors that the release itself states.
    knows_nodes
        Whether the number of nodes is public, and so without noise.
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
    knows_nodes: bool = False
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
        return self if self.zeros is None else replace(self, zeros=None, knows_nodes=False)

    @property
    def assumes(self) -> str:
        """What intervals assume: they cover privacy noise and nothing else."""
        if self.max_degree is None:
            return ""
        return f"no edges were left out to bound degrees at {self.max_degree:,}: intervals do not cover edges left out"

    def values(self, statistic: Callable[[Profile, int], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return some numbers of each run, shape (runs, numbers)."""
        return np.array([statistic(run, self._zeros(zeros)) for run, zeros in self.runs])

    def estimate(
        self,
        statistic: Callable[[Profile, int], float],
        *,
        method: str,
        unit: str = "",
        ends: tuple[float, float] = (0.0, math.inf),
        step: float = 0.0,
        defined: bool = True,
        exact: bool = False,
    ) -> Estimate:
        """Estimate a number with its 95 % interval: ``f ± max(1.96·error, step)``, cut where numbers end.

        The error is ``sqrt(mean_b (f(R*_b) − f(R))²)`` with R the released degrees and R*_b the runs of the mechanism
        on R: bias of the mechanism included. Of private degrees it is zero.

        Parameters
        ----------
        statistic
            f, of a profile and a number of zeros.
        method
            Source of the number.
        unit
            What is counted.
        ends
            Range of the number.
        step
            The smallest change that noise can cause: identical runs do not make a number exact.
        defined
            Whether the number is defined.
        exact
            Whether it is public, and so without noise.
        """
        if not defined:
            low, high = ends
            value = low if math.isfinite(low) else 0.0
            return self._state(value, 0.0, (low, high), method=method, unit=unit, warnings=(_EMPTY,))
        value = statistic(self.profile, self._zeros(self.zeros))
        if exact:
            return self._state(value, 0.0, (value, value), method=method, unit=unit)
        if not self.is_known:
            low, high = ends
            around = min(low, value), max(high, value)
            return self._state(value, math.nan, around, method=method, unit=unit, statement=self.unknown)
        error = self.noise(value, statistic)
        half = max(NORMAL_95 * widening_factor(len(self.runs)) * error, step) if self.runs else 0.0
        low, high = value - half, value + half
        if half:
            # Floats skip whole numbers from 2^53 on.
            low, high = min(low, math.nextafter(value, -math.inf)), max(high, math.nextafter(value, math.inf))
        interval = min(max(low, ends[0]), value), max(min(high, ends[1]), value)
        return self._state(value, error, interval, method=method, unit=unit)

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
        mechanism.knows_nodes,
        release.guarantee,
        (_MOSTLY_NOISE,) if release.mostly_noise else (),
    )

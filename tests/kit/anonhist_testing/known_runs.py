"""Releases made up for tests: a profile, and known runs of a mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimate import Estimate
from anonhist.properties.most_frequent import covered_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from anonhist.profiles import Profile


class KnownRuns:
    """A release's estimates of prevalences, for a class with a profile and runs: whole numbers ± what the runs show."""

    profile: Profile
    where: ClassVar[None] = None
    bounded_unit: ClassVar[None] = None
    adds_groups: ClassVar[bool] = False

    def resimulate(self) -> Sequence[Profile]:
        """Return the runs."""
        raise NotImplementedError

    def prevalence(self, count: int) -> Estimate:
        """Return how many labels have exactly this count."""
        return self._estimate(self.profile.prevalence(count), [run.prevalence(count) for run in self.resimulate()])

    def k_plus(self, k: int) -> Estimate:
        """Return how many labels have at least this count."""
        return self._estimate(self.profile.k_plus(k), [run.k_plus(k) for run in self.resimulate()])

    def covered_share(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the shares that so many labels cover, plus and minus what the runs show."""
        share = covered_share(self.profile, labels)
        runs = np.array([covered_share(run, labels) for run in self.resimulate()])
        half = 1.96 * np.sqrt(((runs - share) ** 2).mean(axis=0))
        return np.maximum(share - half, 0.0), np.minimum(share + half, 1.0)

    def k_plus_ends(self, k: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the ends of the intervals of :meth:`k_plus`."""
        ends = np.array([self.k_plus(int(each)).interval for each in k])
        return ends[:, 0], ends[:, 1]

    def least_repeated(self) -> None:
        """Return nothing: no bounds of φ_{k+} were kept."""

    def _estimate(self, value: int, runs: list[int]) -> Estimate:
        error = (sum((run - value) ** 2 for run in runs) / len(runs)) ** 0.5
        half = max(1.0, 1.96 * error)
        return Estimate(float(value), error, (max(value - half, 0.0), value + half), "known runs")

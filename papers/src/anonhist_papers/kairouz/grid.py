"""The best of all parameters (k, C, h), as the slides have it: found in some runs, and then run again on fresh data.

The least of many errors is partly luck, so no error counts that was a reason to choose its setting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from anonhist_papers.experiment import Point
from anonhist_papers.kairouz.cohorts import CONSTRAINED, CohortSetting, losses
from anonhist_papers.kairouz.settings import geometric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The ℓ1 error at which the slides compare O-RR and O-RAPPOR.
TARGET = 0.20
# More people than that are not tried: the error is still above the target.
_MOST_PEOPLE = 10**15
_ROUNDS = 8
# Where the number of people is found: around the one of the search.
_AROUND = (0.8, 1.0, 1.25)
# Functions of all cohorts together: settings with more take most of the time, and further hashes do not help.
_MOST_FUNCTIONS = 1024
# The slowest fall of the error in the number of people that is believed.
_LEAST_SLOPE = -0.25


@dataclass(frozen=True)
class ParameterGrid:
    """Which parameters are tried, and in how many runs.

    Attributes
    ----------
    buckets, cohorts, hashes
        The values of k, C and h; h is at most k, and 1 for O-RR, and C·h at most 1024.
    kept
        How many settings are run again after the first run of all.
    again
        In how many runs, of which the best setting is chosen.
    trials
        Runs of the best setting.
    """

    buckets: tuple[int, ...]
    cohorts: tuple[int, ...]
    hashes: tuple[int, ...]
    kept: int
    again: int
    trials: int

    def settings(self, mechanism: str, alphabet: str, epsilon: float) -> Sequence[CohortSetting]:
        """Return all settings of a mechanism.

        Examples
        --------
        >>> len(FULL.settings("O-RR", "open", 1)), len(FULL.settings("O-RAPPOR", "open", 1))
        (84, 317)
        """
        hashes = self.hashes if mechanism == "O-RAPPOR" else (1,)
        return [
            CohortSetting(mechanism, alphabet, epsilon, k, c, h)
            for k, c, h in product(self.buckets, self.cohorts, hashes)
            if h <= k and c * h <= _MOST_FUNCTIONS
        ]


FULL = ParameterGrid(
    buckets=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096),
    cohorts=(1, 2, 4, 16, 64, 256, 1024),
    hashes=(1, 2, 4, 8, 16),
    kept=8,
    again=4,
    trials=10,
)
QUICK = ParameterGrid(buckets=(4, 64, 256, 1024), cohorts=(1, 2, 16, 1024), hashes=(1, 2), kept=2, again=2, trials=3)


class Search:
    """The errors of settings at one number of people: one run of each, and more runs of those that may be best.

    Parameters
    ----------
    grid
        How many runs.
    settings
        What is tried.
    users
        The number of people.
    rng
        Draws everything.
    """

    def __init__(
        self, grid: ParameterGrid, settings: Sequence[CohortSetting], users: int, rng: np.random.Generator
    ) -> None:
        self._grid, self._users, self._rng = grid, users, rng
        self._first = {setting: self._run(setting, 1) for setting in settings}
        self._again: dict[CohortSetting, Mapping[str, list[float]]] = {}

    def best(self, tried: Iterable[CohortSetting], decoder: str) -> CohortSetting:
        """Return the best of these settings in new runs, among those that were best in the first one."""
        kept = sorted(tried, key=lambda setting: self._first[setting][decoder][0])[: self._grid.kept]
        for setting in kept:
            if setting not in self._again:
                self._again[setting] = self._run(setting, self._grid.again)
        return min(kept, key=lambda setting: fmean(self._again[setting][decoder]))

    def rough_people(self, best: CohortSetting, decoder: str) -> int:
        """Return about how many people the best setting needs, from the runs that it was chosen in."""
        return int(self._users * (fmean(self._again[best][decoder]) / TARGET) ** 2)

    def fresh(self, setting: CohortSetting, decoder: str) -> list[float]:
        """Return the errors of a setting in runs that had no part in choosing it."""
        return self._run(setting, self._grid.trials)[decoder]

    def _run(self, setting: CohortSetting, trials: int) -> Mapping[str, list[float]]:
        return losses(setting, geometric(), self._users, trials=trials, rng=self._rng)


def rough_people(settings: Sequence[CohortSetting], rng: np.random.Generator) -> int:
    """Return about how many people some settings need for the target, the best of them."""
    users = 100_000
    for _ in range(_ROUNDS):
        tried = (losses(setting, geometric(), users, trials=1, rng=rng) for setting in settings)
        error = min(min(each[CONSTRAINED]) for each in tried)
        # Errors fall about as 1/√n, slower as long as they are large.
        factor = min(30.0, max(1 / 30, (error / TARGET) ** 2))
        users = min(_MOST_PEOPLE, max(100, int(users * factor)))
        if 0.8 < factor < 1.25:
            break
    return users


def people_needed(setting: CohortSetting, decoder: str, users: int, *, trials: int, rng: np.random.Generator) -> Point:
    """Return how many people a setting needs for the target, with its standard error, given about how many.

    A line is fitted to the logarithm of the error by that of the number of people.
    """
    for _ in range(_ROUNDS):
        numbers = [int(users * factor) for factor in _AROUND]
        runs = [losses(setting, geometric(), number, trials=trials, rng=rng)[decoder] for number in numbers]
        slope, _ = np.polyfit(np.log(numbers), [math.log(fmean(each)) for each in runs], 1)
        slope = min(float(slope), _LEAST_SLOPE)
        middle = fmean(map(math.log, numbers))
        height = fmean(math.log(fmean(each)) for each in runs)
        at = math.exp(middle + (math.log(TARGET) - height) / slope)
        if numbers[0] <= at <= numbers[-1]:
            break
        users = int(min(_MOST_PEOPLE, max(100, at)))
    spread = math.sqrt(fmean((np.std(each, ddof=1) / fmean(each)) ** 2 for each in runs) / (trials * len(runs)))
    return Point("", setting.mechanism, setting.epsilon, at, at * float(spread) / -slope, trials * len(runs))


def settings_by_value(settings: Iterable[CohortSetting], parameter: str) -> Mapping[int, list[CohortSetting]]:
    """Return the settings by the value of one parameter, ``"buckets"``, ``"cohorts"`` or ``"hashes"``."""
    found: dict[int, list[CohortSetting]] = {}
    for setting in settings:
        found.setdefault(getattr(setting, parameter), []).append(setting)
    return found

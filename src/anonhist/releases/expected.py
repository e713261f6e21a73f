"""The expected error of a whole release, from the means over runs, and the range that factors give it."""

from __future__ import annotations

from anonhist.properties.estimate import Estimate, widening_factor
from anonhist.releases.whole_interval import NORMAL_95

# On all shapes of bench/intervals.py, mean errors were within these factors of the error of the runs.
_LESS, _MORE = 1.25, 1.6
# When noise dominates, they were between 0.9 and 1.75 times the error of runs on the release, and at least half that of
# runs on no data. So the range, which begins at 0.8 times the value, begins at 0.88 of the former or half the latter.
_ABOVE_RELEASE, _OF_NOTHING = 1.1, 0.5 * _LESS
# If runs are not trusted with intervals, errors of small data were smaller by up to this factor.
_FAR_LESS = 2.0
METHOD = "normal interval from re-simulating the mechanism on the released profile and on no data"


def expected_distance(mean: float, spread: float, runs: int, *, method: str = METHOD) -> Estimate:
    """Return a mean over at least two runs with the interval from its standard error."""
    half = NORMAL_95 * widening_factor(runs - 1) * spread
    return Estimate(mean, spread, (max(0.0, mean - half), mean + half), method)


def by_factors(expected: Estimate, least: float, *, is_sure: bool) -> tuple[float, float]:
    """Return the range by factors that held on the shapes of bench/intervals.py.

    Parameters
    ----------
    expected
        The expected distance.
    least
        The same without what the misfit added, which may be chance.
    is_sure
        Whether the release has intervals for φ_{k+}.
    """
    low, high = expected.interval
    few = expected.value - low  # what the mean of so few runs may be off by
    return max(0.0, least - few) / (_LESS if is_sure else _FAR_LESS), max(expected.value * _MORE, high)


def compromise(on_release: float, on_nothing: float = 0.0) -> float:
    """Return the expected distance of the whole profile, from the means of both kinds of runs."""
    return max(on_release, min(on_nothing, _ABOVE_RELEASE * on_release), _OF_NOTHING * on_nothing)

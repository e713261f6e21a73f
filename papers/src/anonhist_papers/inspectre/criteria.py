"""When points confirm what the paper says of two curves, and when they leave it open: standard errors decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from anonhist_papers.experiment import select

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from anonhist_papers.experiment import Point

# "Indistinguishable", "near-indistinguishable" (Figures 2, 4, 5). The paper's errors are "averaged over 100
# iterations". The root of the mean of 100 squared normal errors has a relative standard error of 1/√200, so two such
# errors differ by up to 2·√2/√200 = 20 % by chance: curves that are nearer cannot be told apart in 100 iterations.
INDISTINGUISHABLE = 1.2
# "The cost of privacy is relatively small", and "the non-private sample complexity dominates the privacy requirement"
# (Figure 3): without privacy the mean squared error is more than what privacy adds to it.
DOMINATED = math.sqrt(2)
_OVER = "over"


@dataclass(frozen=True)
class Ratio:
    """The ratio of two errors, with its standard error, at one point of a figure."""

    value: float
    standard_error: float
    panel: str
    x: float

    def at_most(self, most: float, *, against: float = 2.0) -> bool | None:
        """Return whether it is at most ``most``, by two standard errors; None where it may be either.

        ``against`` is by how many standard errors it must be above to say that it is not.

        Examples
        --------
        >>> [Ratio(value, 0.1, "", 1).at_most(1.2) for value in (0.9, 1.1, 1.5)]
        [True, None, False]
        """
        if self.value + 2 * self.standard_error <= most:
            return True
        return False if self.value - against * self.standard_error > most else None


def each_at_most(found: Sequence[Ratio], most: float) -> list[bool | None]:
    """Return whether each of several ratios is at most ``most``.

    One of many is above by two standard errors by chance. So a ratio counts as above if it is so by as many standard
    errors as all of them together are by chance no more often than one is by two.

    Examples
    --------
    >>> ratio = Ratio(1.45, 0.1, "", 1)
    >>> each_at_most([ratio], 1.2), each_at_most([ratio] * 50, 1.2)[0]
    ([False], None)
    """
    once = NormalDist().cdf(-2.0)
    against = -NormalDist().inv_cdf(once / max(len(found), 1))
    return [ratio.at_most(most, against=against) for ratio in found]


def ratio_of(above: str, below: str) -> str:
    """Return the name of the ratio of two lines, where it was taken trial by trial."""
    return f"{above} {_OVER} {below}"


def without_ratios(points: Iterable[Point]) -> list[Point]:
    """Return the points of a figure alone.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> points = [Point("", name, 1, 2.0, 0.1, 9) for name in ("a", "b", ratio_of("a", "b"))]
    >>> [point.series for point in without_ratios(points)]
    ['a', 'b']
    """
    return [point for point in points if f" {_OVER} " not in point.series]


def ratios(points: Sequence[Point], above: str, below: str) -> list[Ratio]:
    """Return the ratios of two lines wherever both have a point, trial by trial where they were taken so.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> points = [Point("", "private", 1, 3.0, 0.3, 100), Point("", "plain", 1, 2.0, 0.2, 100)]
    >>> [(each.value, round(each.standard_error, 3)) for each in ratios(points, "private", "plain")]
    [(1.5, 0.212)]
    """
    found = []
    for panel in dict.fromkeys(point.panel for point in points):
        lower, taken = select(points, below, panel), select(points, ratio_of(above, below), panel)
        for x, upper in select(points, above, panel).items():
            if x in taken:
                found.append(Ratio(taken[x].mean, taken[x].standard_error, panel, x))
            elif x in lower and lower[x].mean > 0:
                value = upper.mean / lower[x].mean
                shares = [each.standard_error / each.mean if each.mean else 0.0 for each in (upper, lower[x])]
                found.append(Ratio(value, value * math.hypot(*shares), panel, x))
    return found


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Return False if one is, else None if one is open, else True; None of nothing.

    Examples
    --------
    >>> all_of([True, None]), all_of([True, None, False]), all_of([True, True]), all_of([])
    (None, False, True, None)
    """
    each = list(verdicts)
    if False in each:
        return False
    return None if None in each or not each else True


def counted(verdicts: Sequence[bool | None]) -> str:
    """Say how many are confirmed, contradicted and open.

    Examples
    --------
    >>> counted([True, True, None]), counted([True, True])
    ('2 of 3 points (1 open)', 'all 2 points')
    """
    yes, no, unsure = (sum(each is word for each in verdicts) for word in (True, False, None))
    if yes == len(verdicts):
        return f"all {yes} points"
    rest = ", ".join(f"{number} {word}" for number, word in ((no, "not"), (unsure, "open")) if number)
    return f"{yes} of {len(verdicts)} points ({rest})"


def largest(found: Sequence[Ratio]) -> str:
    """Return the largest ratio with its standard error and place.

    Examples
    --------
    >>> largest([Ratio(1.05, 0.02, "Zipf 1", 3), Ratio(1.01, 0.02, "Zipf 1", 1)])
    '1.05 ± 0.02 (Zipf 1, at 3)'
    """
    most = max(found, key=lambda ratio: ratio.value)
    where = f"{most.panel}, at {most.x:g}" if most.panel else f"at {most.x:g}"
    return f"{most.value:.2f} ± {most.standard_error:.2f} ({where})"

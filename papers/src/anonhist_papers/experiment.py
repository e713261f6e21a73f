"""What an experiment is: settings that are run one by one, points that come of them, and what the paper says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# The parameters of one setting, as JSON knows them.
Cell = Mapping[str, str | float]


class Size(Enum):
    """How much is run."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Point:
    """One point of a figure: a mean of runs, or the value of a formula.

    Attributes
    ----------
    panel, series
        Which panel of the figure, and which line in it.
    x, mean
        Where it is.
    standard_error
        Of the mean; 0 for a formula.
    runs
        How many runs the mean is of; 0 for a formula.
    """

    panel: str
    series: str
    x: float
    mean: float
    standard_error: float = 0.0
    runs: int = 0

    @classmethod
    def of(cls, values: Sequence[float], *, series: str, x: float, panel: str = "") -> Point:
        """Return the mean of two runs or more.

        Examples
        --------
        >>> Point.of([1.0, 3.0], series="PrivHist", x=0.5)
        Point(panel='', series='PrivHist', x=0.5, mean=2.0, standard_error=1.0, runs=2)
        """
        return cls(panel, series, x, fmean(values), stdev(values) / math.sqrt(len(values)), len(values))


@dataclass(frozen=True)
class Axes:
    """What the axes of all panels are called, and whether they are logarithmic."""

    x: str
    y: str
    log_x: bool = True
    log_y: bool = True


@dataclass(frozen=True)
class Verdict:
    """What the points say of what the paper says.

    Attributes
    ----------
    agrees
        None where these points cannot tell.
    sentence
        With the numbers that it rests on.
    """

    agrees: bool | None
    sentence: str


@dataclass(frozen=True)
class Experiment:
    """A figure, table or theorem of a paper, run again.

    Attributes
    ----------
    name
        Of its files, such as ``"figure-1"``.
    place
        Where it stands in the paper.
    title
        What is measured.
    setting
        On what data, with how many runs.
    says
        What the paper says, quoted where a figure cannot be read.
    axes
        Of the figure.
    cells
        The settings of a size, in the order in which they are run.
    run
        Runs one setting. The generator draws public data and simulates mechanisms on them.
    judge
        Compares all points with what the paper says.
    view
        Makes what is drawn and shown from all points, where those are more: the best of several settings, say.
    """

    name: str
    place: str
    title: str
    setting: str
    says: str
    axes: Axes
    cells: Callable[[Size], Sequence[Cell]]
    run: Callable[[Cell, np.random.Generator], Iterable[Point]]
    judge: Callable[[Sequence[Point]], Verdict]
    view: Callable[[Sequence[Point]], Sequence[Point]] = list


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments.

    Attributes
    ----------
    citation
        Authors, title, place and year.
    experiments
        In the order of the paper.
    left_out
        What of the paper is not run, and why.
    """

    citation: str
    experiments: tuple[Experiment, ...]
    left_out: tuple[str, ...] = ()


def select(points: Iterable[Point], series: str, panel: str | None = None) -> dict[float, Point]:
    """Return the points of one line by x, ascending.

    Examples
    --------
    >>> points = [Point("", "a", 2, 20.0), Point("", "a", 1, 10.0), Point("", "b", 1, 5.0)]
    >>> {x: point.mean for x, point in select(points, "a").items()}
    {1: 10.0, 2: 20.0}
    """
    found = {point.x: point for point in points if point.series == series and panel in (None, point.panel)}
    return dict(sorted(found.items()))

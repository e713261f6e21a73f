"""Exponents of growth, fitted to points, with their standard errors."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anonhist_papers.experiment import Point


def exponent(points: Mapping[float, Point]) -> tuple[float, float]:
    """Return the least-squares slope of ln mean against ln x, and its standard error from those of the means.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> found, spread = exponent({x: Point("", "", x, 3 * x**2, 0.03 * x**2, 9) for x in (1.0, 10.0, 100.0)})
    >>> round(found, 6), round(spread, 4)
    (2.0, 0.0031)
    """
    places = [math.log(x) for x in points]
    middle = sum(places) / len(places)
    square = sum((place - middle) ** 2 for place in places)
    pulls = [(place - middle) / square for place in places]
    means = list(points.values())
    slope = sum(pull * math.log(point.mean) for pull, point in zip(pulls, means, strict=True))
    spread = math.hypot(*(pull * point.standard_error / point.mean for pull, point in zip(pulls, means, strict=True)))
    return slope, spread


def steps(points: Mapping[float, Point]) -> Sequence[tuple[float, float]]:
    """Return the same for each two neighbors.

    Examples
    --------
    >>> from anonhist_papers.experiment import Point
    >>> points = {x: Point("", "", x, 5 * x**2) for x in (1.0, 10.0, 100.0)}
    >>> [round(slope, 6) for slope, _ in steps(points)]
    [2.0, 2.0]
    """
    return [exponent(dict(pair)) for pair in pairwise(points.items())]

"""Boxes along the boundary of a Young diagram, chosen so that what must be erred in them adds up to most.

The boundary is a path from the lower left, below the last row, to the upper right. A region is the rectangle between
two points of it; the diagram stays as it is outside the regions. A region holds a box of thick cells, which are equal
rectangles, or a chain of thick cells, filled row by row. docs/proofs/lower-bound.md says what this proves.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from boxes import certified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Whole = NDArray[np.int64]

OFFSETS = np.unique(np.round(np.geomspace(1, 1024, 50)).astype(np.int64))
CHAINS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40)
# Boxes that are tried hold so many diagrams at most: larger ones take minutes each.
DIAGRAMS = 91
# Cells in one thick cell, and how much budget may separate thick diagrams.
AREAS = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24, 25, 28, 30)
BUDGETS = (Fraction(1, 10), Fraction(4))
# Longer sides of rectangles count as this.
LONGEST = 2048


@dataclass(frozen=True)
class Filling:
    """What a region holds: ``height`` × ``width`` thick cells of ``rows`` × ``columns``, or a chain if ``rows`` is 0.

    The thick cells of a chain have ``columns`` cells each, and are filled row by row.
    """

    height: int
    width: int
    rows: int
    columns: int
    epsilon: Fraction

    @property
    def area(self) -> int:
        """Cells in a thick cell."""
        return max(self.rows, 1) * self.columns

    @cached_property
    def bound(self) -> Fraction:
        """The least that must be erred here, in cells of the diagram."""
        sides = sorted((self.height, self.width))
        return self.area * certified(sides[0], sides[1], self.epsilon * self.area)[1]

    def draw(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the rows of a diagram of thick cells, drawn from the least favorable prior."""
        low, high = sorted((self.height, self.width))
        certificate = certified(low, high, self.epsilon * self.area)[0]
        prior = certificate.prior / certificate.prior.sum()
        shape = certificate.box.shapes[rng.choice(len(prior), p=prior)]
        if self.height <= self.width:
            return shape
        return tuple(sum(row > j for row in shape) for j in range(self.height))


@dataclass(frozen=True)
class Region:
    """The rectangle of rows from ``top`` and columns from ``left`` on between two points of the boundary."""

    top: int
    bottom: int
    left: int
    right: int
    filling: Filling

    def drawn(self, old: _Whole, rng: np.random.Generator) -> _Whole:
        """Return the lengths of its rows in a member of the family."""
        shape, filling = self.filling.draw(rng), self.filling
        width = self.right - self.left
        if filling.rows == 0:
            cells = shape[0] * filling.columns
            return self.left + np.clip(cells - width * np.arange(len(old)), 0, width)
        # The box lies at the lower left; above it, rows are at least as long as it is wide.
        new = np.maximum(old, self.left + filling.width * filling.columns)
        lengths = self.left + filling.columns * np.repeat(np.array(shape), filling.rows)
        new[len(new) - len(lengths) :] = lengths
        return new


@dataclass(frozen=True)
class Fillings:
    """The best filling of a rectangle of any height and width, up to an area."""

    epsilon: Fraction
    largest: int
    diagrams: int = DIAGRAMS

    @property
    def side(self) -> int:
        """The longest side that is told apart."""
        return min(self.largest, LONGEST)

    @cached_property
    def listed(self) -> list[Filling]:
        """All that are tried."""
        low, high = BUDGETS
        tried = {*AREAS, *(10 * area for area in AREAS)}
        areas = sorted(area for area in tried if area == 1 or low <= area * self.epsilon <= high)
        sides = range(2, self.diagrams)
        boxes = [(a, b) for a in sides for b in sides if math.comb(a + b, a) <= self.diagrams]
        found = [Filling(1, k, 0, area, self.epsilon) for area in areas for k in CHAINS]
        for area in areas:
            for rows in (rows for rows in range(1, area + 1) if area % rows == 0):
                found += [Filling(height, width, rows, area // rows, self.epsilon) for height, width in boxes]
        return [filling for filling in found if filling.area * filling.height * filling.width <= self.largest]

    @cached_property
    def tables(self) -> tuple[NDArray[np.float64], _Whole]:
        """By height and width of a rectangle: what its best filling proves, and its place in the list."""
        sides = np.arange(self.side + 1)
        values = np.zeros((len(sides), len(sides)))
        places = np.full(values.shape, -1)
        chains = np.zeros(self.largest + 1)
        chain_places = np.full(self.largest + 1, -1)
        for place, filling in enumerate(self.listed):
            value = float(filling.bound)
            if filling.rows == 0:
                better = np.flatnonzero(chains < value)
                better = better[better >= filling.area * filling.width]
                chains[better], chain_places[better] = value, place
                continue
            at = filling.height * filling.rows, filling.width * filling.columns
            if max(at) <= self.side and value > values[at]:
                values[at], places[at] = value, place
        for axis in (0, 1):
            # Views, so that both are changed in place.
            by_line, places_by_line = np.moveaxis(values, axis, 0), np.moveaxis(places, axis, 0)
            for line in range(1, len(by_line)):
                better = by_line[line - 1] > by_line[line]
                by_line[line, better] = by_line[line - 1, better]
                places_by_line[line, better] = places_by_line[line - 1, better]
        areas = np.minimum(np.outer(sides, sides), self.largest)
        better = chains[areas] > values
        return np.where(better, chains[areas], values), np.where(better, chain_places[areas], places)


def points_of(profile: ah.Profile, reach: int) -> _Whole:
    """Return points of the boundary, from the lower left on: its corners, and points near them. Rows, then columns."""
    columns = np.concatenate([[0], profile.counts])
    below = np.concatenate([[profile.num_labels], profile.num_labels - np.cumsum(profile.prevalences)])
    corners = [(profile.num_labels + reach, 0)]
    for row, (left, right) in zip(below[:-1].tolist(), itertools.pairwise(columns.tolist()), strict=True):
        corners += [(row, left), (row, right)]
    corners += [(0, int(columns[-1])), (0, int(columns[-1]) + reach)]
    points = [np.array(corners[:1])]
    for (row, column), (next_row, next_column) in itertools.pairwise(corners):
        length = row - next_row + next_column - column
        offsets = OFFSETS[: np.searchsorted(OFFSETS, min(length // 2, reach), side="right")]
        along = np.unique(np.concatenate([offsets, length - offsets, [length]]))[:, None]
        step = np.array([-1, 0]) if column == next_column else np.array([0, 1])
        points.append(np.array([row, column]) + along * step)
    found: _Whole = np.concatenate(points)
    return found


def choose_regions(points: _Whole, fillings: Fillings) -> list[Region]:
    """Return disjoint regions between points of the boundary, whose bounds add up to the largest sum."""
    values, places = fillings.tables
    best = np.zeros(len(points))
    before = np.full(len(points), -1)
    low = 0
    for end in range(1, len(points)):
        rows, columns = points[:, 0], points[:, 1]
        while (rows[low] - rows[end]) * (columns[end] - columns[low]) > fillings.largest:
            low += 1
        heights = np.minimum(rows[low:end] - rows[end], fillings.side)
        widths = np.minimum(columns[end] - columns[low:end], fillings.side)
        sums = best[low:end] + values[heights, widths]
        at = int(np.argmax(sums))
        best[end] = best[end - 1]
        if sums[at] > best[end]:
            best[end], before[end] = sums[at], low + at
    regions = []
    end = len(points) - 1
    while end > 0:
        start = int(before[end])
        if start < 0:
            end -= 1
            continue
        (bottom, left), (top, right) = points[start].tolist(), points[end].tolist()
        place = places[min(bottom - top, fillings.side), min(right - left, fillings.side)]
        regions.append(Region(top, bottom, left, right, fillings.listed[place]))
        end = start
    return regions[::-1]


@dataclass(frozen=True)
class Family:
    """Diagrams that differ from a given one inside regions only, each drawn on its own."""

    profile: ah.Profile
    regions: list[Region]

    @classmethod
    def near(cls, profile: ah.Profile, epsilon: Fraction, *, diagrams: int = DIAGRAMS) -> Family:
        """Return the family whose bound is largest."""
        largest = math.ceil(100 / epsilon)
        return cls(profile, choose_regions(points_of(profile, largest), Fillings(epsilon, largest, diagrams)))

    @property
    def bound(self) -> Fraction:
        """What every ε-differentially private mechanism errs on average over the family, at least."""
        return sum((region.filling.bound for region in self.regions), Fraction(0))

    @property
    def area(self) -> int:
        """Cells in all regions: no member lies farther from the data."""
        return sum((region.bottom - region.top) * (region.right - region.left) for region in self.regions)

    def rows(self, region: Region) -> _Whole:
        """Return the lengths of the rows of a region in the data."""
        counts = np.append(self.profile.counts[::-1], 0)
        ends = np.cumsum(self.profile.prevalences[::-1])
        found: _Whole = counts[np.searchsorted(ends, np.arange(region.top, region.bottom), side="right")]
        return found

    def draw(self, rng: np.random.Generator) -> tuple[ah.Profile, int]:
        """Return a member, drawn from the least favorable priors, and its distance from the data."""
        old = [np.clip(self.rows(region), region.left, region.right) for region in self.regions]
        new = [region.drawn(rows, rng) for region, rows in zip(self.regions, old, strict=True)]
        before, after = np.concatenate(old), np.concatenate(new)
        counts = np.concatenate([self.profile.counts, before, after])
        labels = np.concatenate([self.profile.prevalences, np.full(len(before), -1), np.ones(len(after), dtype=int)])
        levels, inverse = np.unique(counts, return_inverse=True)
        numbers = np.zeros(len(levels), dtype=np.int64)
        np.add.at(numbers, inverse, labels)
        kept = (numbers != 0) & (levels > 0)
        member = ah.Profile.from_prevalences(dict(zip(levels[kept].tolist(), numbers[kept].tolist(), strict=True)))
        return member, int(np.abs(after - before).sum())

"""Released prevalences drawn with characters, both axes logarithmic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.releases import Release

MOST_COLUMNS, FEWEST_COLUMNS, MOST_ROWS = 72, 16, 13
_POINT = "•"


def terminal_plot(release: Release, *, width: int) -> str:
    """Draw how many labels have each count, in at most ``width`` columns where that leaves room to draw at all.

    A cell is marked if any released count falls into it. Both axes begin at 1 and end at the largest value, at 2 at
    least.
    """
    profile = release.profile
    if not len(profile):
        return "The released profile is empty."
    counts, prevalences = profile.counts.tolist(), profile.prevalences.tolist()
    right, top = max(2, counts[-1]), max(2, *prevalences)
    margin = max(len(short_number(mark)) for mark in ticks(top, most=4)) + 1
    columns = max(FEWEST_COLUMNS, min(MOST_COLUMNS, width - margin - 2))
    rows = min(MOST_ROWS, 5 + 4 * round(math.log10(top)))
    cells = [[" "] * columns for _ in range(rows)]
    for count, prevalence in zip(counts, prevalences, strict=True):
        cells[_place(prevalence, top, rows)][_place(count, right, columns)] = _POINT
    marked = {_place(mark, top, rows): short_number(mark) for mark in ticks(top, most=4)}
    words = release.words
    lines = [words.labels]
    for row in reversed(range(rows)):
        axis = "┤" if row in marked else "│"
        lines.append(f"{marked.get(row, ''):>{margin}} {axis}{''.join(cells[row])}".rstrip())
    title = f"{words.count} of a {words.label} (both scales logarithmic)"
    return "\n".join([*lines, *_below(right, columns, margin, title)])


def _below(right: int, columns: int, margin: int, title: str) -> list[str]:
    """Return the horizontal axis, its marks, and what it counts."""
    line, names = ["─"] * columns, [" "] * (columns + 4)
    taken = -1
    for mark in ticks(right, most=max(2, columns // 8)):
        at, name = _place(mark, right, columns), short_number(mark)
        line[at] = "┴"
        start = max(0, at - len(name) // 2)
        if start > taken:
            names[start : start + len(name)] = name
            taken = start + len(name)
    edge = f"{'':>{margin}} "
    return [
        f"{edge}└{''.join(line)}",
        f"{edge} {''.join(names).rstrip()}",
        f"{edge} {title:>{columns}}",
    ]


def ticks(largest: int, *, most: int) -> list[int]:
    """Return at most some ``most`` round numbers from 1 to ``largest``, evenly spread on a log scale.

    Examples
    --------
    >>> ticks(5, most=4), ticks(290_000, most=4)
    ([1, 2, 5], [1, 100, 10000])
    """
    decades = len(str(largest))  # of the marks 1, 10, …
    if decades <= 2:
        return [mark for mark in (1, 2, 5, 10, 20, 50) if mark <= largest]
    return [10**power for power in range(0, decades, math.ceil(decades / most))]


def short_number(value: int) -> str:
    """Write a power of ten, or one digit and zeros, in few characters.

    Examples
    --------
    >>> [short_number(value) for value in (1, 50, 10_000, 10**6, 10**10, 10**15)]
    ['1', '50', '10 k', '1 M', '10 G', '1 P']
    """
    thousands = (len(str(value)) - 1) // 3
    unit = ("", " k", " M", " G", " T", " P", " E")[thousands]
    return f"{value // 1000**thousands}{unit}"


def _place(value: int, largest: int, cells: int) -> int:
    return round(math.log(value) / math.log(largest) * (cells - 1))

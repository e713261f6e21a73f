"""All small partitions, their neighbors, and corner weights from the definition: slow and plain oracles."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import combinations, pairwise, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Partition = tuple[int, ...]


@lru_cache(maxsize=64)
def partitions(size: int, largest: int | None = None) -> tuple[Partition, ...]:
    """Return all partitions of ``size`` into parts of at most ``largest``, parts in descending order."""
    if size == 0:
        return ((),)
    bound = size if largest is None else min(size, largest)
    return tuple((part, *rest) for part in range(bound, 0, -1) for rest in partitions(size - part, part))


def partitions_up_to(size: int) -> tuple[Partition, ...]:
    """Return all partitions of 0, 1, …, ``size``."""
    return tuple(partition for n in range(size + 1) for partition in partitions(n))


@lru_cache(maxsize=1024)
def partitions_below(number: int, row: int = 1, longest: int | None = None) -> tuple[Partition, ...]:
    """Return all partitions with i·μ_i ≤ number, from their definition."""
    most = number // row if longest is None else min(longest, number // row)
    rest = ((part, *others) for part in range(1, most + 1) for others in partitions_below(number, row + 1, part))
    return ((), *rest)


def larger_neighbors(partition: Partition) -> Iterator[Partition]:
    """Yield every partition with one extra cell."""
    rows = [*partition, 0]
    for index, row in enumerate(rows):
        if index == 0 or rows[index - 1] > row:
            grown = rows.copy()
            grown[index] += 1
            yield tuple(part for part in grown if part)


def distance(first: Partition, second: Partition) -> int:
    """Return the sorted ℓ1 distance, row by row."""
    return sum(abs(a - b) for a, b in zip_longest(first, second, fillvalue=0))


def corners(partition: Partition) -> list[tuple[int, int]]:
    """Return the (row, column) of all addable and removable cells, from 0."""
    rows = [*partition, 0]
    addable = [(i, row) for i, row in enumerate(rows) if i == 0 or rows[i - 1] > row]
    removable = [(i, row - 1) for i, row in enumerate(partition) if rows[i + 1] < row]
    return addable + removable


def corner_weight(partition: Partition, z: float, most: int | None = None) -> float:
    """Return ``h_z(μ) = Σ (−z)^|S|`` over the sets S of corners that can be flipped together, from the definition.

    With ``most``, corners beyond the hyperbola (rows times columns, from 1, above it) are not flipped.
    """
    return sum(number * (-z) ** size for size, number in enumerate(_flippable_sets(partition, most)))


@lru_cache(maxsize=65536)
def _flippable_sets(partition: Partition, most: int | None) -> tuple[int, ...]:
    """Return how many sets of 0, 1, 2, … corners can be flipped together.

    A set can be flipped together iff the diagram is still a diagram after flipping any part of it; it is enough to
    check pairs of corners, because conflicts are between pairs.
    """
    cells = [each for each in corners(partition) if most is None or (each[0] + 1) * (each[1] + 1) <= most]
    conflicts = {pair for pair in combinations(range(len(cells)), 2) if not _is_diagram(partition, cells, pair)}

    @cache
    def numbers(free: tuple[int, ...]) -> list[int]:
        if not free:
            return [1]
        first, rest = free[0], free[1:]
        without, beside = numbers(rest), numbers(tuple(one for one in rest if (first, one) not in conflicts))
        return [left + right for left, right in zip_longest(without, [0, *beside], fillvalue=0)]

    return tuple(numbers(tuple(range(len(cells)))))


def _is_diagram(partition: Partition, cells: list[tuple[int, int]], flipped: tuple[int, int]) -> bool:
    """Return whether flipping two corners leaves rows without gaps that never grow."""
    rows = [*partition, 0]
    (first, _), (second, _) = (cells[index] for index in flipped)
    if first == second:
        return False  # its last cell is removed and the next one is added: a gap
    for row, column in (cells[index] for index in flipped):
        rows[row] += 1 if column == rows[row] else -1
    return all(above >= below for above, below in pairwise(rows))

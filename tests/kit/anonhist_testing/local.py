"""Checks of local mechanisms: whether a matrix keeps its promise, and whether a sampler follows its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

Matrix = Sequence[Sequence[Any]]


def largest_ratio(matrix: Matrix) -> Any:
    """Return ``max Q(y | x)/Q(y | x')`` over all values x, x' and reports y, exact if the entries are.

    Parameters
    ----------
    matrix
        Rows of probabilities, one for each value; the entries can be compared and divided.

    Raises
    ------
    AssertionError
        If a row does not add up to 1, an entry is negative, or a report is possible for some values only.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> largest_ratio([[F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]])
    Fraction(2, 1)
    """
    assert matrix, "there are no values"
    for row in matrix:
        assert _total(row) == 1, "a row does not add up to 1"
    worst: Any = None
    for column in {tuple(column) for column in zip(*matrix, strict=True)}:
        entries = set(column)
        low, high = min(entries), max(entries)
        assert low >= 0, "a probability is negative"
        if high == 0:
            continue
        assert low > 0, "a report gives away that some values are impossible"
        ratio = high / low
        worst = ratio if worst is None or ratio > worst else worst
    return worst


def _total(row: Sequence[Any]) -> Any:
    """Add up a row; equal entries are counted first, because exact quotients add up slowly."""
    often: dict[Any, int] = {}
    for entry in row:
        often[entry] = often.get(entry, 0) + 1
    total: Any = 0
    for entry, times in often.items():
        total = total + times * entry
    return total


def worst_deviation(observed: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return by how many standard errors the share of a report is off at worst.

    Parameters
    ----------
    observed
        How often each report was drawn, shape (m,).
    probabilities
        The probability of each report, shape (m,); reports that were drawn must be possible.

    Raises
    ------
    AssertionError
        If something impossible was drawn.

    Examples
    --------
    >>> worst_deviation(np.array([50, 50]), np.array([0.5, 0.5]))
    0.0
    """
    assert not observed[probabilities == 0].any(), "an impossible report was drawn"
    draws = int(observed.sum())
    possible = probabilities > 0
    errors = np.sqrt(draws * probabilities[possible] * (1 - probabilities[possible]))
    return float(np.max(np.abs(observed[possible] - draws * probabilities[possible]) / np.maximum(errors, 1e-9)))


def drawn_matrix(
    draw: Callable[[NDArray[np.int64]], NDArray[np.int64]], *, values: int, reports: int, repeats: int
) -> NDArray[np.int64]:
    """Return how often each value, randomized ``repeats`` times, gave each report, shape (values, reports)."""
    codes = np.repeat(np.arange(values), repeats)
    flat = codes * reports + draw(codes)
    return np.bincount(flat, minlength=values * reports).reshape(values, reports)

"""Exact proof that shares of edges are the best: prices of the nodes that agree with every arc."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.graphs.flow.ratios import Ratios

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Ints

# Two such products are added in 64 bits.
_LARGEST_PRODUCT = 2**62


def certified_sums(
    left: Ints, right: Ints, shares: Ratios, prices: tuple[Ratios, Ratios], *, bound: int
) -> tuple[Ratios, Ratios]:
    """Return how much each node gives or gets, if prices prove that the shares are optimal.

    The optimal shares minimize ``Σ_u (D − a_u)² + Σ_v (D − b_v)²`` over ``0 ≤ x ≤ 1``, ``a_u ≤ D``, ``b_v ≤ D``, where
    a_u is the sum of x over the arcs from u, b_v over those to v, and D the bound. By the Karush–Kuhn–Tucker
    conditions, shares are optimal if all nodes have a price, −(D − a_u) if a_u < D and at least 0 if a_u = D, so that x
    = 1 where the prices of both ends add up to less than 0, and x = 0 where they add up to more.

    Parameters
    ----------
    left, right : ndarray of int64, shape (arcs,)
        Where arcs begin and end.
    shares : Ratios, shape (arcs,)
        x. At each node, all fractional shares must have the same denominator.
    prices : pair of Ratios, shapes (lefts,) and (rights,)
        Of the nodes whose sum is D.
    bound
        D, from 1 to 2^31 − 1.

    Returns
    -------
    pair of Ratios, shapes (lefts,) and (rights,)
        a and b.

    Raises
    ------
    ArithmeticError
        If a condition fails. All comparisons are exact, in whole numbers.
    DataError
        If these numbers would not fit into 64 bits: if D times a squared denominator is 2^62 or more.

    Examples
    --------
    >>> star = np.zeros(3, dtype=np.int64), np.arange(3)
    >>> thirds = Ratios(np.full(3, 2), np.full(3, 3))
    >>> prices = Ratios(np.array([4]), np.array([3])), Ratios.of_whole(np.zeros(3, dtype=np.int64))
    >>> given, got = certified_sums(*star, thirds, prices, bound=2)
    >>> given.fractions(), got.fractions()
    ([Fraction(2, 1)], [Fraction(2, 3), Fraction(2, 3), Fraction(2, 3)])
    """
    below = np.concatenate([ratios.denominators for ratios in (shares, *prices)])
    _require(bool(np.all(below >= 1)))
    if bound * int(below.max(initial=1)) ** 2 >= _LARGEST_PRODUCT:
        raise DataError("The graph is too large for an exact flow: give a smaller `max_degree`, or use the projection.")
    sums = _sums(left, shares, prices[0].numerators.size), _sums(right, shares, prices[1].numerators.size)
    held = [_prices(sum_, price, bound) for sum_, price in zip(sums, prices, strict=True)]
    one, other = held[0].at(left), held[1].at(right)
    both = one.numerators * other.denominators + other.numerators * one.denominators
    is_empty, is_full = shares.numerators == 0, shares.numerators == shares.denominators
    is_share = (shares.numerators >= 0) & (shares.numerators <= shares.denominators)
    _require(bool(np.all(is_share & ((both >= 0) | is_full) & ((both <= 0) | is_empty))))
    return sums


def _sums(ends: Ints, shares: Ratios, nodes: int) -> Ratios:
    """Add the shares of each node up."""
    denominators = np.ones(nodes, dtype=np.int64)
    np.maximum.at(denominators, ends, shares.denominators)
    factors, rest = np.divmod(denominators[ends], shares.denominators)
    _require(not rest.any())
    numerators = np.zeros(nodes, dtype=np.int64)
    np.add.at(numerators, ends, shares.numerators * factors)
    return Ratios(numerators, denominators)


def _prices(sums: Ratios, given: Ratios, bound: int) -> Ratios:
    """Return the price of each node: minus what its sum lacks, or the given price if it lacks nothing."""
    missing = bound * sums.denominators - sums.numerators
    is_met = missing == 0
    is_price = (given.numerators >= 0) & (given.numerators <= bound * given.denominators)
    _require(bool(np.all(np.where(is_met, is_price, missing > 0))))
    return Ratios(np.where(is_met, given.numerators, -missing), np.where(is_met, given.denominators, sums.denominators))


def _require(holds: bool) -> None:  # noqa: FBT001 - an assertion
    if not holds:
        raise ArithmeticError("The shares could not be verified as optimal, so they must not be used.")

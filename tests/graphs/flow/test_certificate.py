"""Shares are accepted with prices that prove them, and with no others."""

from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.graphs.flow import Ratios, certified_sums

# A hub with three leaves and the cap 2: two thirds for each.
HUB, LEAVES = np.zeros(3, dtype=np.int64), np.arange(3)


def ratios(*values: Fraction | int) -> Ratios:
    exact = [Fraction(value) for value in values]
    return Ratios(np.array([value.numerator for value in exact]), np.array([value.denominator for value in exact]))


NO_PRICES = ratios(0, 0, 0)
THIRDS = (Fraction(2, 3),) * 3
PRICE = Fraction(4, 3)


def test_the_best_shares_are_accepted() -> None:
    given, got = certified_sums(HUB, LEAVES, ratios(*THIRDS), (ratios(PRICE), NO_PRICES), bound=2)
    assert given.fractions() == [2]
    assert got.fractions() == list(THIRDS)


@pytest.mark.parametrize(
    "shares",
    [
        (1, 1, 0),  # feasible, not even
        (Fraction(2, 3), Fraction(2, 3), Fraction(1, 3)),  # too little
        (Fraction(2, 3), Fraction(2, 3), Fraction(5, 6)),  # too much, and two denominators
        (1, 1, 1),  # above the cap
        (Fraction(4, 3), Fraction(2, 3), 0),  # an edge counted more than once
        (Fraction(4, 3), Fraction(4, 3), Fraction(-2, 3)),
        (Fraction(1, 2), Fraction(2, 3), Fraction(5, 6)),
        (0, 0, 0),
    ],
)
def test_other_shares_are_refused(shares: tuple[Fraction, ...]) -> None:
    for price in (0, Fraction(1), PRICE, Fraction(3, 2), 2):
        with pytest.raises(ArithmeticError, match="not be verified as optimal"):
            certified_sums(HUB, LEAVES, ratios(*shares), (ratios(price), NO_PRICES), bound=2)


def test_shares_beyond_an_edge_are_refused_where_all_nodes_are_full() -> None:
    # At prices of zero all else is right: an edge that counts twice, and one that is taken off to make room for others.
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(ArithmeticError, match="not be verified as optimal"):
        certified_sums(one, one, ratios(2), (ratios(0), ratios(0)), bound=2)
    left, right = np.array([0, 0, 0, 1, 2]), np.array([0, 1, 2, 0, 0])
    nobody = ratios(0, 0, 0)
    with pytest.raises(ArithmeticError, match="not be verified as optimal"):
        certified_sums(left, right, ratios(-1, 1, 1, 1, 1), (nobody, nobody), bound=1)


@pytest.mark.parametrize("price", [Fraction(5, 4), Fraction(3, 2), 0, 3, Fraction(-4, 3)])
def test_the_best_shares_are_refused_at_other_prices(price: Fraction) -> None:
    with pytest.raises(ArithmeticError, match="not be verified as optimal"):
        certified_sums(HUB, LEAVES, ratios(*THIRDS), (ratios(price), NO_PRICES), bound=2)


def test_a_price_between_what_is_full_and_what_is_empty_will_do() -> None:
    # The hub keeps its edges to three nodes with slack 2, and not that to a node with slack 1.
    left, right = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 1, 2, 3, 3, 3])
    shares, nobody = ratios(1, 1, 1, 0, 1, 1), ratios(0, 0, 0, 0)
    for price in (1, Fraction(3, 2), 2):
        given, got = certified_sums(left, right, shares, (ratios(price, 0, 0), nobody), bound=3)
        assert given.fractions() == [3, 1, 1]
        assert got.fractions() == [1, 1, 1, 2]
    for price in (Fraction(1, 2), Fraction(5, 2)):
        with pytest.raises(ArithmeticError, match="not be verified"):
            certified_sums(left, right, shares, (ratios(price, 0, 0), nobody), bound=3)


def test_negative_prices_of_full_nodes_are_refused() -> None:
    # First come, first served: 1 and 0, where halves are best.
    left, right = np.array([0, 1]), np.array([0, 0])
    with pytest.raises(ArithmeticError, match="not be verified"):
        certified_sums(left, right, ratios(1, 0), (ratios(-1, 0), ratios(1)), bound=1)
    certified_sums(left, right, ratios(Fraction(1, 2), Fraction(1, 2)), (ratios(0, 0), ratios(Fraction(1, 2))), bound=1)


def test_shares_outside_their_range_are_refused_even_if_all_sums_are_met() -> None:
    left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    for shares in ((2, -1, -1, 2), (Fraction(3, 2), Fraction(-1, 2), Fraction(-1, 2), Fraction(3, 2))):
        with pytest.raises(ArithmeticError, match="not be verified"):
            certified_sums(left, right, ratios(*shares), (ratios(0, 0), ratios(0, 0)), bound=1)
    certified_sums(left, right, ratios(1, 0, 0, 1), (ratios(0, 0), ratios(0, 0)), bound=1)


def test_denominators_that_do_not_divide_each_other_are_refused() -> None:
    left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    half, more = Fraction(1, 2), Fraction(2, 3)
    with pytest.raises(ArithmeticError, match="not be verified"):
        certified_sums(left, right, ratios(half, more, more, half), (ratios(0, 0), ratios(0, 0)), bound=1)


def test_bad_denominators_are_refused() -> None:
    one = np.zeros(1, dtype=np.int64)
    for below in (0, -1):
        shares = Ratios(one + below, one + below)
        with pytest.raises(ArithmeticError, match="not be verified"):
            certified_sums(one, one, shares, (ratios(0), ratios(0)), bound=2)


def test_products_beyond_64_bits_are_refused() -> None:
    one = np.zeros(1, dtype=np.int64)
    prices = Ratios(one, one + 2**31), ratios(0)
    with pytest.raises(DataError, match="too large"):
        certified_sums(one, one, ratios(1), prices, bound=1)

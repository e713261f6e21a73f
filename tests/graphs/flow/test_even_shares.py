"""Supplies are shared out evenly: known cases, an independent solver, and supplies that do not match."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import DataError
from anonhist.graphs.flow import even_shares


def random_supplies(rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Return supplies that fit, since some arcs chosen beforehand could carry them."""
    present = rng.random((5, 7)) < rng.choice([0.4, 0.8])
    left, right = (places.astype(np.int64) for places in np.nonzero(present))
    chosen = rng.random(left.size) < 0.5
    supplies = np.bincount(left[chosen], minlength=5)
    return left, right, supplies, rng.integers(-3, 12, 7)


@pytest.mark.slow
def test_rooms_that_are_left_are_the_most_even_and_prices_show_it() -> None:
    # Shares that agree with one price for each supply minimise the sum of squares, a convex function.
    rng = np.random.default_rng(2)
    divided = 0
    for _ in range(150):
        left, right, supplies, rooms = random_supplies(rng)
        shares, prices = (ratios.fractions() for ratios in even_shares(left, right, supplies, rooms))
        assert all(0 <= share <= 1 for share in shares)
        arcs = list(zip(left.tolist(), right.tolist(), shares, strict=True))
        for u, supply in enumerate(supplies.tolist()):
            assert sum(share for begin, _, share in arcs if begin == u) == supply
        rest = [room - sum(share for _, end, share in arcs if end == v) for v, room in enumerate(rooms.tolist())]
        for u, v, share in arcs:
            assert share == 1 or rest[v] <= prices[u]
            assert share == 0 or rest[v] >= prices[u]
            divided += 0 < share < 1
    assert divided > 100


def test_a_part_falls_apart_at_several_levels() -> None:
    # Supplies 1, 1, 1 in a chain of four rooms: 10 takes the first alone, the others share.
    left, right = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 3])
    shares, prices = even_shares(left, right, np.array([1, 1, 1]), np.array([10, 1, 2, 2]))
    assert shares.fractions()[:2] == [1, 0]
    assert prices.fractions()[1:] == [1, 1]
    assert shares.fractions()[2:4] == [Fraction(0), Fraction(1)]
    # Two thirds cannot be left everywhere: an arc carries 1 at most.
    shares, prices = even_shares(left, right, np.array([1, 1, 1]), np.array([10, 1, 1, 2]))
    half = Fraction(1, 2)
    assert shares.fractions() == [1, 0, half, half, 0, 1]
    assert prices.fractions()[1] == half


def test_what_has_too_little_room_from_the_start_gets_nothing() -> None:
    shares, _ = even_shares(np.array([0, 0]), np.array([0, 1]), np.array([1]), np.array([-4, 0]))
    assert shares.fractions() == [0, 1]


def test_nothing_is_shared_where_nothing_is_given() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    shares, prices = even_shares(nothing, nothing, np.array([0, 0]), np.array([3]))
    assert shares.fractions() == []
    assert prices.fractions() == [0, 0]


def test_arguments_are_left_as_they_are() -> None:
    supplies, rooms = np.array([1]), np.array([9, 0])
    even_shares(np.array([0, 0]), np.array([0, 1]), supplies, rooms)
    assert supplies.tolist() == [1]
    assert rooms.tolist() == [9, 0]


@pytest.mark.parametrize("supply", [3, 7])
def test_supplies_that_do_not_fit_are_refused(supply: int) -> None:
    with pytest.raises(ArithmeticError, match="do not match"):
        even_shares(np.array([0, 0]), np.array([0, 1]), np.array([supply]), np.array([5, 5]))


def test_capacities_beyond_32_bits_are_refused() -> None:
    arcs = np.zeros(3, dtype=np.int64), np.arange(3)
    with pytest.raises(DataError, match="too large"):
        even_shares(*arcs, np.array([2**30]), np.array([2**31, 2**31, 2**31]))

import numpy as np

from anonhist.numeric.projective_space import DIGITS, cyclic_order, cyclic_polynomial
from anonhist_testing.cases import each_of

SPACES = [(2, 2), (2, 3), (2, 9), (3, 4), (5, 3), (13, 2), (31, 3)]


@each_of(("field", "dimension"), SPACES)
def test_the_cycle_meets_every_point_and_every_item_once(field: int, dimension: int) -> None:
    order = cyclic_order(field, dimension)
    length = (field**dimension - 1) // (field - 1)
    np.testing.assert_array_equal(np.sort(order.points), np.arange(length))
    np.testing.assert_array_equal(np.sort(order.items), np.arange(length))


@each_of(("field", "dimension"), SPACES)
def test_powers_of_z_are_constant_once_round_the_cycle_only(field: int, dimension: int) -> None:
    polynomial = cyclic_polynomial(field, dimension)
    assert polynomial[-1] == 1
    length = (field**dimension - 1) // (field - 1)
    power, constants = [1] + [0] * (dimension - 1), []
    for exponent in range(1, length + 1):
        top = power[-1]
        power = [(a - top * b) % field for a, b in zip([0, *power[:-1]], polynomial, strict=False)]
        if not any(power[1:]):
            constants.append(exponent)
    assert constants == [length]
    assert power[0] != 0


@each_of("largest", [1, 2**DIGITS - 1, 2**DIGITS, 2**40])
def test_sums_of_many_digits_are_exact(largest: int) -> None:
    order = cyclic_order(2, 12)
    weights = np.random.default_rng(7).integers(0, largest, order.points.size, endpoint=True)
    # Item 0 is the constant 1: it is supported by the points without z^{t−1}, the first.
    assert order.sums(weights)[0] == weights[: 2**11 - 1].sum()
    assert order.sums(np.zeros_like(weights)).sum() == 0

"""Logarithms and exponentials whose digits follow from the number alone: right, and the same at every place."""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from anonhist.numeric import arrays
from anonhist_testing.cases import each_of

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def draw_numbers(low: float, high: float) -> NDArray[np.float64]:
    """Return numbers whose logarithms are evenly spread, and those whose neighbours are special."""
    rng = np.random.default_rng(17)
    found = np.exp(rng.uniform(math.log(low), math.log(high), size=400))
    special = [low, high, 0.5, 1.0, 2.0, math.sqrt(0.5), math.sqrt(2), math.sqrt(2) - 1, math.log(2) / 2]
    return np.concatenate((found, [each for each in special if low <= each <= high]))


SMALL = draw_numbers(1e-300, 0.99)
CASES: dict[str, tuple[Function, Callable[[Decimal], Decimal], NDArray[np.float64]]] = {
    "log": (
        arrays.log,
        lambda x: x.ln(),
        np.concatenate((draw_numbers(1e-300, 1e300), 1 + draw_numbers(1e-15, 1), 1 - SMALL)),
    ),
    "log1p": (
        arrays.log1p,
        lambda x: (1 + x).ln(),
        np.concatenate((draw_numbers(1e-250, 1e300), -draw_numbers(1e-250, 1 - 1e-9))),
    ),
    "exp": (arrays.exp, lambda x: x.exp(), np.concatenate((draw_numbers(1e-300, 709), -draw_numbers(1e-300, 700)))),
    "expm1": (
        arrays.expm1,
        lambda x: x.exp() - 1,
        np.concatenate((draw_numbers(1e-250, 709), -draw_numbers(1e-250, 700))),
    ),
}


@each_of("name", CASES)
def test_results_are_right_to_some_units_in_the_last_place(name: str) -> None:
    function, exact, numbers = CASES[name]
    numbers = numbers[numbers != 0]
    with localcontext(prec=40, Emin=-(10**6), Emax=10**6) as context:
        for number, found in zip(numbers.tolist(), function(numbers).tolist(), strict=True):
            # 1 + x needs as many more digits as x is small.
            context.prec = 40 + (int(-math.log10(abs(number))) if abs(number) < 1 else 0)
            truth = exact(Decimal(number))
            assert abs(Decimal(found) - truth) <= 3 * Decimal(2) ** -53 * abs(truth), number


@each_of("name", CASES)
def test_a_number_comes_to_the_same_at_every_place(name: str) -> None:
    function, _, numbers = CASES[name]
    alone = np.concatenate([function(numbers[at : at + 1]) for at in range(numbers.size)])
    for start in range(9):
        for length in (2, 3, 7, 8, 9, numbers.size - start):
            assert function(numbers[start : start + length]).tobytes() == alone[start : start + length].tobytes()
    # At any address and stride.
    spread = np.zeros(8 * (3 * numbers.size + 1), dtype=np.uint8)[3:-5].view(np.float64)[::3][: numbers.size]
    spread[:] = numbers
    assert function(spread).tobytes() == alone.tobytes()


def test_ends_of_the_range() -> None:
    assert arrays.exp(np.array([-math.inf, -800.0, 0.0])).tolist() == [0.0, 0.0, 1.0]
    assert arrays.expm1(np.array([-math.inf, -60.0, 0.0])).tolist() == [-1.0, -1.0, 0.0]
    assert arrays.log(np.array([1.0])).tolist() == arrays.log1p(np.array([0.0])).tolist() == [0.0]

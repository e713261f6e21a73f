"""Lists of fractions."""

from fractions import Fraction

import numpy as np

from anonhist.graphs.flow import Ratios


def test_fractions_are_put_and_taken() -> None:
    numbers = np.array([4, 5, 6])
    ratios = Ratios.of_whole(numbers)
    ratios.put(np.array([2, 0]), Ratios(np.array([1, 2]), np.array([3, 6])))
    assert ratios.fractions() == [Fraction(1, 3), Fraction(5), Fraction(1, 3)]
    assert ratios.at(np.array([False, True, False])).fractions() == [5]
    assert ratios.floats().tolist() == [2 / 6, 5.0, 1 / 3]
    assert numbers.tolist() == [4, 5, 6]

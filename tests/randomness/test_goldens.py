"""Ten draws of every sampler from one fixed tape: a change of any of them is a change of how words are used.

The tape is Weyl's sequence i·⌊2^64/φ⌋, i = 1, 2 and so on, modulo 2^64.
"""

from fractions import Fraction

import numpy as np

from anonhist.randomness import (
    bernoulli,
    bernoulli_bits,
    bernoulli_exp,
    categorical,
    categorical_rows,
    discrete_laplace,
    geometric,
    random_subsets,
    uniform_integers,
)
from anonhist_testing.sources import TapeSource

WEIGHTS = np.array([1.0, 2.0, 0.0, 3.5, 0.25])


def tape() -> TapeSource:
    return TapeSource([i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, 40)])


def test_ten_draws_each() -> None:
    drawn = {
        "bernoulli": bernoulli(Fraction(1, 3), 10, source=tape()).astype(int),
        "bernoulli_exp": bernoulli_exp(Fraction(1, 2), 10, source=tape()).astype(int),
        "geometric 1": geometric(Fraction(1), 10, source=tape()),
        "geometric 0.001": geometric(Fraction(1, 1000), 10, source=tape()),
        "discrete_laplace 1": discrete_laplace(Fraction(1), 10, source=tape()),
        "discrete_laplace 0.001": discrete_laplace(Fraction(1, 1000), 10, source=tape()),
        "categorical_rows": categorical_rows(np.broadcast_to(WEIGHTS, (10, 5)), source=tape()),
        "uniform_integers 1000": uniform_integers(1000, 10, source=tape()),
        "uniform_integers 10^12": uniform_integers(10**12, 3, source=tape()),
        "bernoulli_bits": bernoulli_bits(Fraction(1, 3), 2, 20, source=tape()),
        "random_subsets": random_subsets(20, 4, 3, source=tape()),
    }
    one_by_one = tape()
    drawn["categorical"] = np.array([categorical(WEIGHTS, source=one_by_one) for _ in range(10)])
    assert {name: draws.tolist() for name, draws in drawn.items()} == {
        "bernoulli": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
        "bernoulli_exp": [1, 1, 1, 0, 0, 0, 0, 1, 1, 1],
        "geometric 1": [0, 0, 0, 0, 3, 5, 3, 0, 0, 0],
        "geometric 0.001": [699, 703, 697, 989, 3482, 5214, 3031, 261, 633, 702],
        "discrete_laplace 1": [-1, -1, -1, -1, 3, 5, 3, 0, 0, -1],
        "discrete_laplace 0.001": [699, -704, 697, 989, 3482, 5214, 3031, 261, 633, -703],
        "categorical_rows": [3, 1, 3, 3, 0, 3, 1, 3, 3, 1],
        "uniform_integers 1000": [765, 586, 161, 503, 530, 524, 322, 470, 759, 223],
        "uniform_integers 10^12": [819323198485, 564936845354, 384260043839],
        "bernoulli_bits": [[14, 21, 11], [97, 229, 5]],
        "random_subsets": [[1, 3, 5, 6], [2, 4, 10, 12], [3, 8, 14, 19]],
        "categorical": [3, 1, 3, 3, 0, 3, 1, 3, 3, 1],
    }

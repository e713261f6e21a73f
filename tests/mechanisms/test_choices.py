"""Decisions of a chain, exact and simulated: each follows its distribution."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from anonhist.mechanisms.noise import Choices, ExactChoices, SimulatedChoices
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

DRAWS = 6_000
CHOICES: dict[str, Callable[[], Choices]] = {
    "exact": lambda: ExactChoices(SeededSource(3)),
    "simulated": lambda: SimulatedChoices(np.random.default_rng(3)),
}


def waiting(rate: float) -> dict[int, float]:
    """Distribution of k ≥ 0 with probability (1 − p)p^k, p = e^{−rate}, as far as a float can tell."""
    return {k: -math.expm1(-rate) * math.exp(-rate * k) for k in range(math.ceil(40 / rate))}


@pytest.mark.fresh
@pytest.mark.slow
@each_of(("c", "level"), [(0.3, 1), (0.25, 4)])
@each_of("kind", CHOICES)
def test_waiting_times_are_geometric(kind: str, c: float, level: int) -> None:
    choices = CHOICES[kind]()
    samples = [choices.geometric(c, level) for _ in range(DRAWS)]
    assert_pmf_equal(samples, waiting(c * level))
    for factor in (0.8, 1.25):
        assert_pmf_differs(samples, waiting(c * level * factor))


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize("kind", CHOICES)
def test_columns_are_picked_by_their_weights(kind: str) -> None:
    choices = CHOICES[kind]()
    weights = np.array([0.0, 3.0, 1.0, 0.0, 4.0, 0.0])
    for rows in (np.tile(weights, (DRAWS, 1)), weights[::-1] * 2.0 ** -np.arange(DRAWS).clip(0, 900)[:, None]):
        distribution = rows[0] / rows[0].sum()
        picked = choices.rows(rows).tolist()
        assert_pmf_equal(picked, dict(enumerate(distribution.tolist())))
        assert_pmf_differs(picked, dict(enumerate((distribution / 2 + np.array([0, 1, 1, 1, 1, 0]) / 8).tolist())))

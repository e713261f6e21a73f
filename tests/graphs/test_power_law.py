"""Exponents of power laws: the law and its fit, and where their intervals hold."""

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.graphs.power_law_tail import PowerLaw, log_zeta, power_law_tail
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds


@pytest.mark.slow
@pytest.mark.parametrize(("exponent", "start"), [(1.5, 1.0), (2.5, 7.0), (3.5, 999.0), (3.5, 1000.0), (19.0, 1200.0)])
def test_the_normalizer_is_the_sum(exponent: float, start: float) -> None:
    terms = start + np.arange(2_000_000)
    # In logs of ratios to the first term: none is too small; beyond the last, the integral.
    beyond = (terms[-1] + 0.5) / (exponent - 1) * (terms[-1] / start) ** -exponent
    total = math.log(float(((terms / start) ** -exponent).sum()) + beyond) - exponent * math.log(start)
    assert log_zeta(np.array([exponent]), np.array([start]))[0] == pytest.approx(total, abs=1e-9)


def power_law(exponent: float, size: int, *, start: int = 1, seed: int) -> NDArray[np.int64]:
    """Draw whole numbers from a power law, exactly, by its own cumulative sums."""
    rng = np.random.default_rng(seed)
    values = np.arange(start, start + 100_000, dtype=np.float64)
    sums = np.cumsum(values**-exponent)
    return start + np.searchsorted(sums, rng.random(size) * sums[-1])


def test_the_exponent_has_the_largest_likelihood() -> None:
    profile = Profile.from_counts(power_law(2.5, 500, seed=1))
    distribution = PowerLaw.of(profile)
    found = float(distribution.exponents(np.array([2.0]))[0])
    tail = profile.counts >= 2

    def likelihood(exponent: float) -> float:
        logs = -exponent * np.log(profile.counts[tail]) - log_zeta(np.array([exponent]), np.array([2.0]))
        return float(logs @ profile.prevalences[tail])

    assert all(likelihood(found) > likelihood(found + step) for step in (-1e-3, -1e-5, 1e-5, 1e-3))
    # The curvature, by the same likelihood.
    curvature = -(likelihood(found + 0.01) - 2 * likelihood(found) + likelihood(found - 0.01)) / 1e-4
    assert distribution.sampling_error(found, 2.0) == pytest.approx(curvature**-0.5, rel=1e-2)


def test_degrees_cut_down_to_a_bound_lead_to_the_same_exponent() -> None:
    degrees = power_law(2.0, 20_000, seed=2)
    cut = Profile.from_counts(np.minimum(degrees, 5))
    bounded = PowerLaw.of(cut, 5)
    error = bounded.sampling_error(2.0, 1.0)
    # Five standard errors: a chance of 6e-7 of being farther off.
    assert abs(float(bounded.exponents(np.ones(1))[0]) - 2.0) < 5 * error < 0.1
    assert abs(float(PowerLaw.of(cut).exponents(np.ones(1))[0]) - 2.0) > 10 * error
    # What was cut says less.
    assert error > PowerLaw.of(Profile.from_counts(degrees)).sampling_error(2.0, 1.0)


@pytest.mark.slow
def test_the_law_is_fitted_from_where_it_begins() -> None:
    mixed = np.concatenate((np.random.default_rng(3).integers(1, 12, 4000), power_law(2.5, 4000, start=12, seed=4)))
    tail = power_law_tail(Profile.from_counts(mixed))
    assert 9 <= tail.min_degree <= 20
    assert tail.exponent.interval[0] <= 2.5 <= tail.exponent.interval[1]
    assert tail.nodes == int((mixed >= tail.min_degree).sum())
    assert tail.distance < 0.03 < power_law_tail(Profile.from_counts(mixed), min_degree=1).distance


@pytest.mark.parametrize(
    "profile",
    # The second is farthest from the distribution right after a degree that occurs: none of the many above it does.
    [Profile.from_counts(power_law(2.2, 300, seed=6)), Profile([3, 4, 900], [100, 40, 1])],
    ids=["distribution", "gap"],
)
def test_the_distance_is_the_largest_difference_at_any_degree(profile: Profile) -> None:
    distribution, at, exponent = PowerLaw.of(profile), np.array([3.0]), np.array([2.4])
    every = np.arange(3, int(profile.counts[-1]) + 2)
    survival = np.exp(log_zeta(exponent, every.astype(float)) - log_zeta(exponent, at))
    difference = np.abs(survival - profile.cumulative_prevalence(every) / profile.k_plus(3)).max()
    assert distribution.distances(exponent, at, most=10_000)[0] == pytest.approx(difference, abs=1e-12)


def test_equal_degrees_have_no_exponent_and_say_so() -> None:
    tail = power_law_tail(Profile([3], [1000]))
    assert tail.exponent.interval[1] == math.inf
    assert any("arbitrarily large" in warning for warning in tail.exponent.warnings)


@pytest.mark.parametrize(("degree", "nodes"), [(1, 100), (1, 5), (5, 100)])
def test_of_equal_degrees_the_interval_begins_where_they_are_likely_enough(degree: int, nodes: int) -> None:
    exponent = power_law_tail(Profile([degree], [nodes]), min_degree=degree).exponent
    low, high = exponent.interval
    assert (exponent.statement.holds, high) == (Holds.AT_LEAST, math.inf)
    assert low < exponent.value
    likely = -low * math.log(degree) - float(log_zeta(np.array([low]), np.array([float(degree)]))[0])
    assert math.exp(nodes * likely) == pytest.approx(0.025, rel=1e-3)


def test_of_few_nodes_no_start_is_chosen() -> None:
    profile = Profile([1, 2, 9], [30, 15, 4])
    exponent = power_law_tail(profile).exponent
    assert (exponent.statement.holds, exponent.interval) == (Holds.NONE, (1.0, math.inf))
    assert "give `min_degree`" in str(exponent)
    assert power_law_tail(profile, min_degree=1).exponent.statement.holds is Holds.BOTH
    # One node more, and it is.
    assert power_law_tail(Profile([1, 2, 9], [31, 15, 4])).exponent.statement.holds is Holds.BOTH


def test_far_from_a_power_law_there_is_no_interval() -> None:
    humps = Profile([1, 2, 50, 51, 52], [10, 900, 300, 400, 300])
    exponent = power_law_tail(humps).exponent
    assert exponent.statement.holds is Holds.NONE
    assert "far from" in exponent.statement.reason
    # What is given is taken on trust: `distance` tells.
    given = power_law_tail(humps, min_degree=1)
    assert given.exponent.statement.holds is Holds.BOTH
    assert given.distance > 0.1


@pytest.mark.slow
def test_every_start_that_may_have_been_chosen_is_a_part_of_the_interval() -> None:
    mixed = np.concatenate((np.random.default_rng(3).integers(1, 8, 280), power_law(2.5, 120, start=8, seed=4)))
    profile = Profile.from_counts(mixed)
    tail = power_law_tail(profile)
    low, high = tail.exponent.interval
    given_low, given_high = power_law_tail(profile, min_degree=tail.min_degree).exponent.interval
    assert low <= given_low < given_high <= high
    assert high - low > 1.2 * (given_high - given_low)
    assert tail.exponent.parts[0][1] > 0


@pytest.mark.parametrize("start", [1.0, 2.0])
def test_ends_of_the_interval_lose_as_much_likelihood_as_stated(start: float) -> None:
    profile = Profile.from_counts(power_law(2.5, 60, seed=8))
    exponent = power_law_tail(profile, min_degree=int(start)).exponent
    reached = profile.counts >= start

    def likelihood(at: float) -> float:
        logs = -at * np.log(profile.counts[reached]) - log_zeta(np.array([at]), np.array([start]))
        return float(logs @ profile.prevalences[reached])

    for end in exponent.interval:
        assert 2 * (likelihood(exponent.value) - likelihood(end)) == pytest.approx(1.959964**2, rel=1e-4)


REDRAWN = 60


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "bench"))
    return import_module("power_law_intervals")


# Of 60 intervals that hold with 95%, 50 or more do but once in 10,000 times. The old ones held 62 to 81%: fewer than
# 50 of 60 with probabilities from 0.41 to 1.
@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize("name", ["pure 6", "pure 2.5", "2.5 from 8, 30%, flat below", "2.8 from 5, all"])
def test_the_choice_of_the_start_is_a_part_of_the_interval(name: str, bench: Any) -> None:
    _, exponent, _, nodes, shares = next(shape for shape in bench.SHAPES if shape[0] == name and shape[3] >= 50)
    rng, p = np.random.default_rng(5), shares()

    def draw() -> Profile:
        return Profile.from_counts(rng.choice(bench.DEGREES, size=nodes, p=p))

    held, said, _ = bench.coverage(draw, exponent, runs=REDRAWN, min_degree=None)
    assert said["no interval"] <= 6
    assert sum(held) >= 50 - said["no interval"]

"""The smoother fit of legs: its posterior is that of all legs, and its sums vary as multinomials do."""

import runpy
import sys
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def tried() -> Iterator[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        yield runpy.run_path(str(BENCH / "leg_refit.py"), run_name="leg_refit")
    for name in ("leg_chain", "bundled"):
        sys.modules.pop(name, None)


def test_posterior_is_that_of_all_legs(tried: dict[str, Any]) -> None:
    epsilon, sums, mean = 0.9, np.array([9, 5, 4, 0]), np.array([2.5, 1.5, 1.0, 1.0])
    noisy = tried["NoisyLegs"].of(sums, np.ones(4, dtype=bool), np.array([9, 6, 3, 1]), epsilon)
    for steps in tried["LAWS"]:
        found = tried["LegPosterior"](noisy, mean, steps)
        weights: dict[tuple[int, ...], float] = {}
        for legs in product(range(14), range(10), range(8), range(6)):
            if all(one > other for one, other in pairwise(legs)):
                totals = -np.diff(np.array(legs)) - 1.0
                law = np.prod(steps.law(totals, mean[:3], np.ones(3)))
                at = int(np.flatnonzero(noisy.states[-1] == legs[-1])[0])
                end = found._last(np.ones(4))[at]
                weights[legs] = float(law * end * np.exp(-epsilon * np.abs(np.array(legs) - sums).sum()))
        whole, every = np.array(list(weights.values())), np.array(list(weights))
        assert found.log_evidence == pytest.approx(np.log(whole.sum()), abs=0.01)
        np.testing.assert_allclose(found.means, whole @ every / whole.sum(), atol=0.02)
        for place, median in enumerate(found.medians):
            below = whole[every[:, place] < median].sum() / whole.sum()
            upto = whole[every[:, place] <= median].sum() / whole.sum()
            assert below <= 0.51
            assert upto >= 0.49


def test_sums_of_a_group_vary_as_multinomials_do(tried: dict[str, Any]) -> None:
    mean, total, first = np.array([3.0, 2.0, 1.0, 1.0]), 5, 20.0
    noisy = tried["NoisyLegs"].of(
        np.array([46, 46, 46, 3]), np.array([1, 0, 0, 1], bool), np.array([20, 16, 14, 3]), 0.5
    )
    found = tried["LegPosterior"](noisy, mean, tried["LAWS"][2])
    rng = np.random.default_rng(1)
    steps = rng.multinomial(total, mean[:3] / mean[:3].sum(), size=200_000)
    legs = first - np.column_stack((np.zeros(len(steps)), np.cumsum(1 + steps[:, :2], axis=1)))
    sums = legs.sum(axis=1)
    assert 3 * first - 3 - total * found._mean_part[0] == pytest.approx(sums.mean(), abs=0.02)
    assert total * found._part_variance[0] == pytest.approx(sums.var(), rel=0.02)
    # Legs of a group whose noisy sum is larger than expected are moved upwards, as far as they vary with it.
    expected = legs.mean(axis=0) + np.cov(legs.T, sums)[:3, 3] / (sums.var() + 2 / 0.5**2) * (46 - sums.mean())
    ends = np.array([first, first - 3 - total])
    f = 1 + (1 - 0.98**3) * total
    told = found.legs_of(ends)[:3] - legs.mean(axis=0)
    share = f * (sums.var() + 8) / (f * sums.var() + 8)
    np.testing.assert_allclose(told, share * (expected - legs.mean(axis=0)), atol=0.05)


@pytest.mark.parametrize(("counts", "factor"), [([50] * 500, 0.5), (list(range(1, 300)), 0.9)])
def test_legs_of_smooth_data_are_nearer(tried: dict[str, Any], counts: list[int], factor: float) -> None:
    profile = tried["ah"].Profile.from_counts(counts)
    _, released, fitted, *_ = tried["compare"](profile, "0.1", 8)
    assert fitted.mean() < factor * released.mean()


def test_fewer_than_four_legs_stay_as_released(tried: dict[str, Any]) -> None:
    assert tried["refit"](np.array([9, 5, 0]), np.ones(3, dtype=bool), np.array([9, 4, 0]), 1.0) is None

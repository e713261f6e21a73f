"""The rival of Kuo et al.: exact without noise, and it matches and merges as published."""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.profiles import Profile

BENCH = Path(__file__).parent.parent.parent / "bench"


@pytest.fixture(scope="module")
def kuo() -> dict[str, Any]:
    sys.path.insert(0, str(BENCH))
    found = runpy.run_path(str(BENCH / "kuo.py"), run_name="kuo")
    found["with_sums"] = runpy.run_path(str(BENCH / "hierarchies.py"), run_name="hierarchies")["with_sums"]
    sys.path.remove(str(BENCH))
    return found


def test_without_noise_it_releases_the_data(kuo: dict[str, Any]) -> None:
    leaves = {
        ("a", "x"): Profile.from_counts([9, 1, 1]),
        ("a", "y"): Profile.from_counts([3]),
        ("b", "x"): Profile.from_counts([2] * 7),
    }
    nodes = kuo["with_sums"](leaves)
    assert nodes["a",] == Profile.from_counts([9, 3, 1, 1])
    assert kuo["simulate_kuo"](nodes, "1000", np.random.default_rng(1)) == leaves


def test_children_take_turns_and_averages_follow_the_variances(kuo: dict[str, Any]) -> None:
    parent = kuo["Sizes"](np.array([1.0, 4.0, 10.0]), np.array([1.0, 1.0, 1.0]))
    parts = [kuo["Sizes"](np.array([2.0, 2.0]), np.array([1.0, 1.0])), kuo["Sizes"](np.array([6.0]), np.array([3.0]))]
    first, second = kuo["merge"](parent, parts)
    # 1 and 4 with the two twos, 10 with the six: half of each, and three quarters of the parent's.
    assert first.counts.tolist() == [1.5, 3.0]
    assert first.variances.tolist() == [0.5, 0.5]
    assert second.counts.tolist() == [9.0]
    assert second.variances.tolist() == [0.75]


def test_its_fit_is_as_near_as_any(kuo: dict[str, Any]) -> None:
    rng = np.random.default_rng(7)
    candidates = [np.array(c) for c in np.ndindex(5, 5, 5, 5) if all(np.diff(c) <= 0)]
    for _ in range(50):
        values = rng.integers(0, 5, 4)
        fit = kuo["decreasing_medians"](values)
        assert (np.diff(fit) <= 0).all()
        assert np.abs(fit - values).sum() == min(np.abs(c - values).sum() for c in candidates)

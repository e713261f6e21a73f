"""Rounding of expected numbers so that all levels add up."""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).parent.parent.parent / "bench"


@pytest.fixture(scope="module")
def whole_levels() -> dict[str, Any]:
    sys.path.insert(0, str(BENCH))
    found = runpy.run_path(str(BENCH / "whole_levels.py"), run_name="whole_levels")
    sys.path.remove(str(BENCH))
    return found


def test_leaves_are_profiles_that_add_up(whole_levels: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    leaves = [(str(i // 4), str(i)) for i in range(12)]
    for scale in (0.1, 1.0, 30.0):
        curves = -np.sort(-rng.gamma(0.3, scale, (12, 40)), axis=1)
        found = whole_levels["whole_leaves"](leaves, curves)
        assert (np.diff(found, axis=1) <= 0).all()
        assert found.min() >= 0
        assert (found.sum(axis=0) == np.rint(curves.sum(axis=0))).all()
        assert np.abs(found - curves).mean() < 0.6
        for block in range(3):
            part = slice(4 * block, 4 * block + 4)
            assert np.abs(found[part].sum(axis=0) - curves[part].sum(axis=0)).mean() < 0.6


def test_whole_curves_stay_as_they_are(whole_levels: dict[str, Any]) -> None:
    curves = np.array([[9.0, 4.0, 4.0, 0.0], [3.0, 3.0, 1.0, 1.0]])
    assert whole_levels["whole_leaves"]([("a",), ("b",)], curves).tolist() == curves.tolist()

"""The learned prior of a benchmark: on small diagrams its posterior is that of counting all of them."""

import itertools
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates, NoisyRows
from anonhist.profiles import FrobeniusCoordinates, Profile

BENCH = Path(__file__).parent.parent.parent / "bench"
EPSILON, TOP, LABELS = 1.5, 12, 2.0


@pytest.fixture(scope="module")
def group_posteriors() -> dict[str, Any]:
    sys.path.insert(0, str(BENCH))
    found = runpy.run_path(str(BENCH / "group_posteriors.py"), run_name="group_posteriors")
    sys.path.remove(str(BENCH))
    return found


def _diagrams() -> list[Profile]:
    rows = range(TOP + 1)
    some = (counts for size in range(5) for counts in itertools.combinations_with_replacement(rows[1:], size))
    return [Profile.from_counts(list(counts)) for counts in some]


def test_posterior_is_that_of_all_diagrams(group_posteriors: dict[str, Any]) -> None:
    rates = np.array([0.3, 0.02, 0.4, 0.1, *(0.01 / np.arange(5.0, TOP + 1))])
    arms, legs, size = np.array([[5, 0, 1, 0]]), np.array([[2, 1, 0, 0]]), np.array([1])
    noisy = NoisyCoordinates(size, NoisyRows.alone(arms), NoisyRows.alone(legs))
    prior = group_posteriors["LearnedPrior"](rates, np.array([LABELS]))
    found = group_posteriors["posteriors"]([(np.array([0]), noisy)], EPSILON, groups=1, top=TOP, prior=prior)

    means = LABELS * rates
    weights, curves = [], []
    for diagram in _diagrams():
        coordinates = FrobeniusCoordinates.of(diagram)
        if (diagram.durfee_size > 4) or (diagram.n and diagram.counts[-1] > TOP):
            continue
        sides = [np.pad(each, (0, 4 - each.size)) for each in (coordinates.arms, coordinates.legs)]
        apart = abs(diagram.durfee_size - 1) + np.abs(sides[0] - arms[0]).sum() + np.abs(sides[1] - legs[0]).sum()
        held = np.zeros(TOP)
        held[diagram.counts - 1] = diagram.prevalences
        weights.append(np.exp(-EPSILON * apart + (held * np.log(means / (1 + means))).sum()))
        curves.append(diagram.cumulative_prevalence(np.arange(1, TOP + 1)))
    expected = np.average(curves, axis=0, weights=weights)
    # Diagrams of more than four labels or longer rows are left out of the list.
    assert found.curves[0] == pytest.approx(expected, abs=0.02)
    # The cells that are more likely in than out.
    reached = np.array(curves)[:, :, None] >= np.arange(1, 5)
    cells = np.average(reached, axis=0, weights=weights)
    assert found.medians[0].cumulative_prevalence(np.arange(1, TOP + 1)).tolist() == (cells >= 0.5).sum(axis=1).tolist()


def test_rates_are_those_of_the_curves(group_posteriors: dict[str, Any]) -> None:
    curves = np.array([[10.0, 4.0, 4.0, 1.0, 0.0], [30.0, 12.0, 12.0, 3.0, 0.0]])
    prior = group_posteriors["LearnedPrior"].of(curves)
    assert prior.labels.tolist() == [10, 30]
    assert prior.rates[[0, 2]] == pytest.approx([0.6, 0.3])
    assert prior.rates[1] < 1e-6

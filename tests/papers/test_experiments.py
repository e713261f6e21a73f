"""Every experiment of every paper: it runs, what it yields is what it judges, and its verdict may go both ways."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from anonhist_papers.catalogue import PAPERS, load_paper
from anonhist_papers.experiment import Cell, Experiment, Point, Size

_ALL = [pytest.param(each, id=f"{name}-{each.name}") for name in PAPERS for each in load_paper(name).experiments]


def _small(cell: Cell) -> Cell:
    users = "50 100" if " " in str(cell.get("users")) else "100"
    return {**cell, "trials": 2, **({"users": users} if "users" in cell else {})}


@pytest.mark.slow
@pytest.mark.drawn(20)
@pytest.mark.parametrize("experiment", _ALL)
def test_each_experiment_runs(experiment: Experiment) -> None:
    cells = experiment.cells(Size.QUICK)
    assert len({str(cell) for cell in cells}) == len(cells) <= len(experiment.cells(Size.FULL))
    points = list(experiment.run(_small(cells[0]), np.random.default_rng()))
    assert points
    assert all(math.isfinite(point.mean) and point.mean >= 0 for point in points)
    assert experiment.view(points)
    assert experiment.setting.endswith(".")


def line(series: str, value: Callable[[float], float], xs: Sequence[float], panel: str = "") -> list[Point]:
    return [Point(panel, series, x, value(x), 0.001, 100) for x in xs]

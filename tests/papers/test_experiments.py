"""Every experiment of every paper: it runs, what it yields is what it judges, and its verdict may go both ways."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from anonhist_papers.catalogue import PAPERS, load_paper
from anonhist_papers.experiment import Cell, Experiment, Point, Size
from anonhist_papers.inspectre import experiments as inspectre

_ALL = [pytest.param(each, id=f"{name}-{each.name}") for name in PAPERS for each in load_paper(name).experiments]


def _small(cell: Cell) -> Cell:
    users = "50 100" if " " in str(cell.get("users")) else "100"
    return {**cell, "trials": 2, **({"users": users} if "users" in cell else {})}


@pytest.mark.slow
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


def test_coverage_is_confirmed_where_privacy_costs_little() -> None:
    def judged(factor: float) -> bool | None:
        points = line("smoothed Good–Toulmin", lambda _: 0.1, (1, 10), "Uniform")
        for noise in ("published", "exact"):
            points += line(
                f"private, {noise} noise, ε = 1", lambda x: 0.1 * (factor if x == 10 else 1), (1, 10), "Uniform"
            )
        return inspectre.FIGURE_3.judge(points).agrees

    assert judged(1.2) is True
    assert judged(3) is False


def test_entropy_is_confirmed_where_noise_adds_little_and_the_rivals_err_more() -> None:
    def judged(private: float, rival: float) -> bool | None:
        points = line("polynomial of the same degree", lambda _: 0.1, (100, 1000), "Zipf 1")
        points += line("private polynomial, exact noise", lambda _: private, (100, 1000), "Zipf 1")
        points += line("Miller–Madow", lambda _: rival, (100, 1000), "Zipf 1")
        return inspectre.FIGURE_2.judge(points).agrees

    assert [judged(0.11, 0.5), judged(0.3, 0.5), judged(0.11, 0.05)] == [True, False, False]


def test_the_degree_is_confirmed_where_it_is_near_the_best() -> None:
    def judged(best: float) -> bool | None:
        points = [
            point
            for factor in inspectre._FACTORS
            for point in line(f"L = {factor:g} ln k", lambda _, f=factor: math.exp(abs(f - best)), (500,), "Uniform")
        ]
        return inspectre.FIGURE_1.judge(points).agrees

    assert [judged(1.2), judged(0.3)] == [True, False]

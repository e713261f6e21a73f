"""Every experiment of every paper: it runs, what it yields is what it judges, and its verdict may go both ways."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from anonhist_papers.catalogue import PAPERS, load_paper
from anonhist_papers.experiment import Cell, Experiment, Point, Size
from anonhist_papers.kairouz import experiments as kairouz

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


def test_closed_alphabets_are_confirmed_where_the_curves_cross() -> None:
    def judged(crossing: float) -> bool | None:
        points = []
        for decoder in ("normalized", "projected"):
            points += line(f"k-RAPPOR, {decoder}", lambda _: 1.0, (1, 4, 7), "1,000 people")
            points += line(f"k-RR, {decoder}", lambda x: crossing / x, (1, 4, 7), "1,000 people")
        return kairouz.CLOSED_ALPHABETS.judge(points).agrees

    assert [judged(3.0), judged(0.5), judged(30.0)] == [True, False, False]


def test_open_alphabets_are_judged_by_the_people_needed_at_the_best_parameters() -> None:
    def judged(rr: float) -> tuple[bool | None, str]:
        points = line("O-RAPPOR, k = 512, C = 2, h = 1", lambda x: 2 * (100 / x) ** 0.5, (100, 100_000), "open, ε = 4")
        for k, factor in ((64, 1.0), (256, 5.0)):
            points += line(
                f"O-RR, k = {k}, C = 16, h = 1",
                lambda x, f=factor: f * rr * (100 / x) ** 0.5,
                (100, 100_000),
                "open, ε = 4",
            )
        verdict = kairouz.OPEN_ALPHABETS.judge(points)
        return verdict.agrees, verdict.sentence

    agrees, told = judged(1.0)
    assert agrees is True
    assert "open, ε = 4: 2,500 and 10,000" in told
    assert judged(4.0)[0] is False
    # Where O-RAPPOR never comes down to the target there is nothing to compare.
    none = [replace(point, mean=1.0) for point in line("O-RAPPOR, k = 1", lambda _: 1.0, (100, 200), "open, ε = 1")]
    assert kairouz.OPEN_ALPHABETS.judge(none).agrees is None


def test_parameters_are_confirmed_where_one_hash_and_more_cohorts_are_best() -> None:
    def judged(hashes: float, cohorts: float) -> bool | None:
        points = line("ε = 1", lambda h: abs(h - hashes) + 1, (1, 2, 4), "O-RAPPOR, open, varying h")
        points += line("ε = 1", lambda c: abs(c - cohorts) + 1, (1, 2, 16), "O-RR, open, varying C")
        return kairouz.PARAMETERS.judge(points).agrees

    assert [judged(1, 16), judged(4, 16), judged(1, 1)] == [True, False, False]

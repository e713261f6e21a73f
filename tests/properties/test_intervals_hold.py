"""What estimates say holds on shapes that nobody tuned to: a part of the table of bench/property_intervals.py."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

BENCH = Path(__file__).parents[2] / "bench"
RUNS, LABELS, ITEMS = 40, 100, 1000
# Of so many runs fewer have a probability below 1e-6 where the true rate is 0.95: with 3 shapes and 25 questions, a
# false alarm in one of 10,000 versions of the code.
FEWEST = int(binom.ppf(1e-6, RUNS, 0.95))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCH))
    return import_module("property_intervals")


@pytest.mark.slow
@pytest.mark.drawn(3)
@pytest.mark.parametrize("shape", ["geometric", "Zipf, 1", "drawn 9"])
def test_what_is_said_of_the_truth_holds(shape: str, bench: Any) -> None:
    p = np.sort(bench.shapes(LABELS)[shape])[::-1]
    cells = bench.coverage(p, ITEMS, runs=RUNS, rng=np.random.default_rng())
    assert {title: cell.held for title, cell in cells.items() if cell.held < FEWEST} == {}
    # What has two ends has them: an interval of all numbers would hold, and say nothing.
    for title in ("entropy, k known", "sample coverage", "power sum, q = 2", "support coverage, m = 0.5n"):
        assert cells[title].said == {"interval": RUNS}
        assert all(0 < length < 2 for length in cells[title].lengths), title

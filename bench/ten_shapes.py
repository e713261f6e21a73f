"""Distributions over labels on which intervals are checked: ten have names, and ten were chosen by nobody.

The named ones are the textbook shapes and three real data sets. The others are drawn from seeds that were fixed before
anything was measured on them, so no constant in the package was tuned to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Shares = NDArray[np.float64]

DATA = Path(__file__).parent.parent / "data"
REAL = {"trees": "bci_trees.csv", "passwords": "pw_phpbb.csv", "clicks": "kosarak_clicks.csv"}
SEED = 20_261_122


def named_shapes(labels: int) -> dict[str, Shares]:
    """Return seven shapes over about this many labels, and the shares of three real data sets, which have their own."""
    ranks = np.arange(1.0, labels + 1)
    shapes = {
        "uniform": np.ones(labels),
        "two-step": np.repeat([10.0, 1.0], [max(1, labels // 11), labels - max(1, labels // 11)]),
        "geometric": np.exp(-10 * ranks / labels),
        "Zipf, 0.7": ranks**-0.7,
        "Zipf, 1": ranks**-1.0,
        "Zipf, 1.5": ranks**-1.5,
        "staircase": ranks[::-1],
    }
    for name, file in REAL.items():
        shapes[name] = np.sort(ah.read_profile(DATA / file).partition().astype(np.float64))[::-1]
    return {name: weights / weights.sum() for name, weights in shapes.items()}


def random_shapes(labels: int, *, first: int = 0) -> dict[str, Shares]:
    """Return ten shapes over this many labels, each drawn from a seed of its own, from this number on."""
    return {f"drawn {number}": _draw_shape(labels, number) for number in range(first, first + 10)}


def _draw_shape(labels: int, number: int) -> Shares:
    rng = np.random.default_rng([SEED, number])
    families: list[Callable[[], Shares]] = [
        lambda: rng.lognormal(sigma=rng.uniform(0.3, 3), size=labels),
        lambda: rng.gamma(rng.uniform(0.1, 3), size=labels),
        lambda: 1 + rng.pareto(rng.uniform(0.6, 3), size=labels),
        lambda: np.repeat(rng.lognormal(sigma=2, size=5), rng.multinomial(labels, rng.dirichlet(np.ones(5)))),
        lambda: np.arange(1.0, labels + 1) ** -rng.uniform(0.3, 2) + rng.uniform(0, 2) / labels,
    ]
    weights = np.sort(families[number % 5]())[::-1]
    # No label is so rare that it is in no data at all: it could not be told from one that does not exist.
    weights = np.maximum(weights, weights.sum() / labels * 1e-4)
    return np.asarray(weights / weights.sum())

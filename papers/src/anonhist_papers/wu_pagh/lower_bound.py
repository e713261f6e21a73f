"""Theorem 1.2: Algorithm 4 run, and its error beside what it cannot come below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.wu_pagh.curves import MARGIN, last_decades
from anonhist_papers.wu_pagh.protocol import InnerProduct, least_error, posterior_mean
from anonhist_papers.wu_pagh.settings import all_of, mean_of, signed, slope, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

PROFILE, PUBLISHED = "profile of the updated sketch, f̂[2]", "Algorithm 4, with Bob's noise"
BEST = "best reading of Alice's sketch"
FLOOR, RATE = "no reading of this sketch errs less", "lower bound of equation (11), constant set to 1"


def root_mean_square(errors: Sequence[float], *, panel: str, series: str, x: float) -> Point:
    """Return the root of the mean square of some errors, with its standard error.

    Examples
    --------
    >>> root_mean_square([3.0, -3.0, 3.0], panel="", series="error", x=1).mean
    3.0
    """
    squares = Point.of([error**2 for error in errors], series=series, x=x)
    root = math.sqrt(squares.mean)
    return Point(panel, series, x, root, squares.standard_error / (2 * root) if root else 0.0, len(errors))


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    size, epsilon = int(cell["size"]), float(cell["epsilon"])
    protocol = InnerProduct(size, epsilon)
    errors: dict[str, list[float]] = {PROFILE: [], PUBLISHED: [], BEST: []}
    for _ in range(int(cell["trials"])):
        x, y = rng.integers(0, 2, (2, size))
        message = protocol.alice(x, rng=rng)
        share = protocol.bob_reads(message, y)
        answers = {
            PROFILE: share * size,
            PUBLISHED: protocol.bob_publishes(share, rng=rng),
            BEST: posterior_mean(message, y, epsilon),
        }
        for series, answer in answers.items():
            errors[series].append((answer - int(x @ y)) / size)
    panel = f"ε = {epsilon:g}"
    for series, own in errors.items():
        yield root_mean_square(own, panel=panel, series=series, x=size)
    yield Point(panel, FLOOR, size, least_error(size, epsilon) / size)
    yield Point(panel, RATE, size, math.exp(-epsilon) / (math.sqrt(size) * math.log(size)))


def _judge(points: Sequence[Point]) -> Verdict:
    panels = list(dict.fromkeys(point.panel for point in points))
    above, slopes, told = True, [], []
    for panel in panels:
        profile, published, floor, rate = (
            select(points, series, panel) for series in (PROFILE, PUBLISHED, FLOOR, RATE)
        )
        slopes.append(slope(last_decades(profile, 1)))
        above &= all(
            point.mean + 2 * point.standard_error >= max(floor[x].mean, rate[x].mean)
            for line in (profile, published)
            for x, point in line.items()
        )
        last = max(profile)
        times = (line[last].mean / floor[last].mean for line in (profile, published))
        told.append(f"{' and '.join(f'{each:.2f}' for each in times)} times at {panel}")
    found, error = mean_of(slopes)
    return Verdict(
        all_of(above, within(found + 0.5, error, 2 * MARGIN)),
        f"Over the last decade the error of the profile has the slope {signed(found)} ± {error:.3f} against d (−0.5 is "
        f"1/√d). It and the error of what Bob publishes are {'never' if above else 'somewhere'} below the lower "
        f"bounds; at the largest d they are {', '.join(told)} as large as the least that this sketch permits. No run "
        "can prove a lower bound; one below it would contradict it.",
    )


THEOREM_1_2 = Experiment(
    name="theorem-1-2",
    place="Theorem 1.2, Algorithm 4",
    title="inner products of two parties' bits",
    setting="x and y random bits, public. Alice sends the sketch of x; Bob adds y, decodes by Algorithms 2 and 3 with "
    "q = ∞ and n = 2, and publishes d·f̂[2] with Laplace noise for the sensitivity of f̂[2], computed as in Lemma G.1. "
    "Root mean square errors of ⟨x, y⟩, over d; 400 runs, 100 if quick. “No reading errs less” is ours: the spread of "
    "x given its sketch, which the mean of ⟨x, y⟩ given the sketch attains.",
    says="“The lower bound shows that an error of [order 1/√d] is unavoidable for such sketches.” (Section 1.1) Its "
    "constant is not printed, nor the one of equation (11), 1/(e^ε·√d·log d). Judged is whether the "
    "error falls as 1/√d and not faster.",
    axes=Axes("bits d", "root mean square error / d"),
    cells=lambda size: [
        {"size": 10**power, "epsilon": epsilon, "trials": 100 if size is Size.QUICK else 400}
        for epsilon in (0.5, 1.0, 2.0)
        for power in ((2, 3, 4, 5) if size is Size.QUICK else (2, 3, 4, 5, 6))
    ],
    run=_run,
    judge=_judge,
)

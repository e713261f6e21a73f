"""Section 2, Pure-DP: the exact privacy loss over all partitions of a small number of items."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from anonhist.mechanisms import calibrate
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

Partition = tuple[int, ...]
_PUBLISHED, _HALF, _EXACT = "at most N̂ items, c = ε/2", "below the hyperbola, c = ε/2", "below the hyperbola, exact c"


@cache
def partitions(items: int) -> Sequence[Partition]:
    """Return all partitions of at most so many items.

    Examples
    --------
    >>> partitions(2)
    ((), (1,), (1, 1), (2,))
    """
    return tuple(_below(lambda _, used: items - used, 1, items, 0))


@cache
def below_hyperbola(items: int) -> Sequence[Partition]:
    """Return all partitions whose row i is at most ``items / i``, for all i: they are closed under unions.

    Examples
    --------
    >>> set(below_hyperbola(2)) - set(partitions(2))
    {(2, 1)}
    """
    return tuple(_below(lambda row, _: items // row, 1, items, 0))


def _below(most: object, row: int, longest: int, used: int) -> Iterator[Partition]:
    yield ()
    for part in range(1, min(longest, most(row, used)) + 1):  # type: ignore[operator]
        for rest in _below(most, row + 1, part, used + part):
            yield (part, *rest)


def distance(first: Partition, second: Partition) -> int:
    """Return the ℓ1 distance.

    Examples
    --------
    >>> distance((3, 1), (2, 2, 1))
    3
    """
    return sum(abs(one - other) for one, other in zip_longest(first, second, fillvalue=0))


def privacy_loss(domain: Iterable[Partition], items: int, c: float) -> float:
    """Return the largest log-ratio of probabilities ``∝ e^{−c·distance}`` over a domain, of all neighbors.

    Neighbors are partitions of at most ``items`` items that differ in one.

    Examples
    --------
    >>> round(privacy_loss(partitions(1), 1, 1.0), 6)
    1.0
    """
    listed = tuple(domain)
    logs = {
        each: math.log(math.fsum(math.exp(-c * distance(each, other)) for other in listed))
        for each in partitions(items)
    }
    return max(
        max(abs(c * (distance(one, other) - distance(more, other)) + log - logs[more]) for other in listed)
        for one, log in logs.items()
        for more in _larger(one)
        if more in logs
    )


def _larger(partition: Partition) -> Iterator[Partition]:
    for row, part in enumerate((*partition, 0)):
        if row == 0 or part < partition[row - 1]:
            yield (*partition[:row], part + 1, *partition[row + 1 :])


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    del rng  # nothing is drawn
    epsilon, items = float(cell["epsilon"]), int(cell["items"])
    exact = calibrate(Fraction(repr(epsilon)), z=0.0, chains=2).c
    for name, domain, c in (
        (_PUBLISHED, partitions(items), epsilon / 2),
        (_HALF, below_hyperbola(items), epsilon / 2),
        (_EXACT, below_hyperbola(items), exact),
    ):
        yield Point(f"N̂ = {items}", name, epsilon, privacy_loss(domain, items, c) / epsilon, runs=1)


def _judge(points: Sequence[Point]) -> Verdict:
    largest = {
        name: max((point.mean, point.x) for point in points if point.series == name)
        for name in (_PUBLISHED, _HALF, _EXACT)
    }
    told = "; ".join(f"{name}: at most {most:.4f} (ε = {epsilon:g})" for name, (most, epsilon) in largest.items())
    last = max(point.x for point in points)
    spent = {point.series: point.mean for point in points if point.x == last}
    return Verdict(
        all(most <= 1 for most, _ in largest.values()),
        f"Loss as a share of ε, over all neighbors: {told}. At ε = {last:g} the published domain spends "
        f"{spent[_PUBLISHED]:.3f} of ε, the exact c {spent[_EXACT]:.3f}.",
    )


PURE = Experiment(
    name="pure-privacy",
    place="Section 2, Pure-DP",
    title="the exact loss with a public bound N̂",
    setting="By enumeration, nothing is drawn: all neighbors of at most N̂ = 10 items, 6 if quick, and all outputs. The "
    "bounded mechanism of anonhist has a larger domain, all partitions below the hyperbola i·μᵢ ≤ N̂, for which a "
    "larger c is known to be private, and cuts what it draws to N̂ items; its program bounds rounding, and states a δ "
    "below 10⁻¹⁹ (ε ≤ 1) for the band that it keeps.",
    says="“In this case it makes sense to define the exponential mechanism … over the restricted set of partitions "
    "P(≤ N̂). As it turns out there is a polynomial time algorithm (in N̂, 1/ε) to (exactly) sample from this "
    "distribution”; it “preserves pure ε-differential privacy”.",
    axes=Axes("ε", "largest privacy loss / ε", log_y=False),
    cells=lambda size: (
        [{"epsilon": epsilon, "items": items} for items, epsilons in ((6, (0.1, 1.0, 4.0)),) for epsilon in epsilons]
        if size is Size.QUICK
        else [{"epsilon": epsilon, "items": 10} for epsilon in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)]
    ),
    run=_run,
    judge=_judge,
)

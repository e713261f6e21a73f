"""How many samples a private estimate needs to be within α of the truth with probability 2/3."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.estimators.weights import WholeWeights
from anonhist.profiles import Profile
from anonhist_papers.experiment import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.properties.estimator import LinearStatistic

# The paper studies "the problem for β = 1/3".
BETA = 1 / 3
_PARTS = 5
FOR_GOOD = ", for good"
# Times as many samples as at first: less may be chance.
_AGAIN = 1.5
_LEAST = 0.05


@dataclass(frozen=True)
class Estimator:
    """A linear statistic for each number of samples, and the scale of its noise at ε = 1.

    Attributes
    ----------
    series
        Its name in the figure.
    statistic
        Of n samples.
    scale
        b of Laplace noise at ε = 1, for n samples; by default the exact sensitivity to one replaced item.
    """

    series: str
    statistic: Callable[[int], LinearStatistic]
    scale: Callable[[int], float] | None = None

    def scale_at(self, items: int) -> float:
        """Return b at ε = 1."""
        return sensitivity(self.statistic(items), items) if self.scale is None else self.scale(items)


@dataclass(frozen=True)
class Task:
    """What is estimated.

    Attributes
    ----------
    estimators
        Of which each is run on the same samples.
    populations
        Distributions; the hardest of them counts.
    truth
        The property of a distribution.
    tolerance
        The error allowed, in units of the property.
    sizes
        Numbers of samples that are tried, ascending.
    """

    estimators: Sequence[Estimator]
    populations: Mapping[str, NDArray[np.float64]]
    truth: Callable[[NDArray[np.float64]], float]
    tolerance: float
    sizes: Sequence[int]


def sensitivity(statistic: LinearStatistic, items: int) -> float:
    """Return the largest change by one replaced item (Definition 1), exactly.

    Examples
    --------
    >>> from anonhist.properties.entropy import PlugIn
    >>> round(sensitivity(PlugIn().statistic(1000), 1000), 5)
    0.00791
    """
    weights = WholeWeights.of(statistic, items)
    return weights.grid * weights.sensitivity_to_replacing


def samples_tried(least: float, middle: float, most: float) -> list[int]:
    """Return numbers of samples in geometric steps, of 12 % up to the middle and of 40 % beyond, where noise is all.

    Examples
    --------
    >>> samples_tried(100, 130, 300)
    [100, 112, 125, 140, 197, 275, 386]
    """
    found = [least]
    while found[-1] < most:
        found.append(found[-1] * (1.12 if found[-1] < middle else 1.4))
    return [round(each) for each in found]


def samples_needed(task: Task, epsilons: Sequence[float], *, trials: int, rng: np.random.Generator) -> Iterator[Point]:
    """Yield, by estimator and ε, the least number of samples with which a third of the errors exceed the tolerance.

    The noise is not drawn: given the error without it, the probability is a formula, so all ε share the samples. An ε
    of infinity is without privacy. Where no number tried is enough there is no point. Where more samples exceed the
    tolerance again, a second point, "for good", has the number from which on they do not. The standard error is the
    jackknife's over five parts of the trials.
    """
    off = [
        np.array([_errors(task, p, items, trials=trials, rng=rng) for items in task.sizes])
        for p in task.populations.values()
    ]
    part = np.arange(trials) % _PARTS
    for place, estimator in enumerate(task.estimators):
        scales = np.array([estimator.scale_at(items) for items in task.sizes])[:, None]
        for epsilon in epsilons:
            missed = np.array([failing(each[:, place], scales / epsilon, task.tolerance) for each in off])
            worst = [missed[..., part != left].mean(axis=2).max(axis=0) for left in range(-1, _PARTS)]
            first, last = (
                _jackknife([crossing(task.sizes, each, at_last=end) for each in worst]) for end in (False, True)
            )
            if first is not None:
                yield Point("", estimator.series, epsilon, *first, trials)
            if first is not None and last is not None and last[0] > _AGAIN * first[0]:
                yield Point("", f"{estimator.series}{FOR_GOOD}", epsilon, *last, trials)


def crossing(sizes: Sequence[int], missed: NDArray[np.float64], *, at_last: bool = False) -> float:
    """Return where the share missed first comes down to a third, or where at last; infinite if it does not.

    Examples
    --------
    >>> missed = np.array([0.9, 0.1, 0.5, 0.1])
    >>> [round(crossing([10, 20, 40, 80], missed, at_last=end), 1) for end in (False, True)]
    [14.5, 50.1]
    """
    below = np.flatnonzero(missed <= BETA)
    if at_last:
        above = np.flatnonzero(missed > BETA)
        first = int(above[-1]) + 1 if above.size else 0
    else:
        first = int(below[0]) if below.size else len(sizes)
    if first == len(sizes):
        return math.inf
    if not first:
        return float(sizes[0])
    # With noise alone, the share missed is e^(−cn). A share of nothing has no logarithm.
    before, after, wanted = (math.log(max(float(each), _LEAST)) for each in (missed[first - 1], missed[first], BETA))
    return sizes[first - 1] + (before - wanted) / (before - after) * (sizes[first] - sizes[first - 1])


def _jackknife(found: Sequence[float]) -> tuple[float, float] | None:
    """Return the first number, of all parts, and its standard error from the others, of all parts but one."""
    if not all(map(math.isfinite, found)):
        return None
    parts = np.array(found[1:])
    return found[0], math.sqrt((_PARTS - 1) / _PARTS * float(((parts - parts.mean()) ** 2).sum()))


def failing(errors: NDArray[np.float64], scale: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """Return ``P(|e + X| > a)`` for errors e and Laplace noise X of a scale, which may be 0.

    Examples
    --------
    >>> failing(np.array([[0.0, 2.0]]), np.array([[1.0]]), 1.0).round(3).tolist()  # e^−1, and 1 − (e^−1 − e^−3)/2
    [[0.368, 0.841]]
    """

    def above(room: NDArray[np.float64]) -> NDArray[np.float64]:
        tail = 0.5 * np.exp(-np.abs(room) / np.maximum(scale, 1e-9 * tolerance))
        return np.where(room >= 0, tail, 1 - tail)

    return above(tolerance - errors) + above(tolerance + errors)


def _errors(
    task: Task, p: NDArray[np.float64], items: int, *, trials: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the errors without noise of all estimators in all trials."""
    truth = task.truth(p)
    statistics = [estimator.statistic(items) for estimator in task.estimators]
    found = np.empty((len(statistics), trials))
    for trial in range(trials):
        profile = Profile.from_counts(rng.multinomial(items, p))
        found[:, trial] = [statistic.of(profile) - truth for statistic in statistics]
    return found

"""Attempts to beat leaves summed, and bounds on what they could reach. Run as ``python bench/groups_tries.py``.

Nothing here is part of a release. All attempts post-process the noisy coordinates of "leaves summed", with the same
noise for all attempts of a run, at ε below 1.1, where a release uses the Frobenius mechanism:

- means: expected numbers of labels are summed over the leaves and then rounded;
- learned prior: mean prevalences over all leaves, times an expected number of labels for each leaf, replace the prior
  of Zipf's shape; they are learned in three rounds. For "truth", the prior comes from the truth, which gives a bound
  for such priors;
- drawn to the mean: expected numbers of labels of each leaf are drawn to their mean over the leaves (over the 41
  nearest in n, if there are more than 60), by factors for bins of counts, which are found by one simulated release of
  what was released. For "truth", the factors come from the truth, which gives a bound for such factors;
- both, whole: expected numbers of labels under the learned prior are drawn to their mean, and rounded so that leaves
  are whole and all levels add up (``whole_levels.py``): this could be released.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.frobenius.mechanism import CoordinateNoise
from anonhist.mechanisms.noise import simulated_noise
from group_posteriors import LearnedPrior, posteriors
from groups_accuracy import classes, show
from hierarchies import NAMES, read_leaves, with_sums
from whole_levels import whole_leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    import anonhist as ah
    from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates
    from hierarchies import Nodes

    _Numbers = NDArray[np.float64]
    _Drawn = list[tuple[NDArray[np.int64], NoisyCoordinates]]

EPSILONS = ("1", "0.3", "0.1")
_ALL, _NEAR, _ROUNDS = 60, 41, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=NAMES, choices=NAMES, help="these hierarchies")
    parser.add_argument("--epsilon", nargs="*", default=EPSILONS)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.only, options.epsilon = 2, NAMES[:1], ("1",)
    rng = np.random.default_rng()
    for name in options.only:
        leaves = read_leaves(name)
        nodes = with_sums(leaves)
        titles = classes(name, nodes)
        at = list(leaves)
        top = int(1.3 * max(int(leaf.counts[-1]) for leaf in leaves.values())) + 100
        truth = curves_of(list(leaves.values()), top)
        # Which leaves each column is about: one row for each node, of the leaves below it.
        below = {
            title: np.array([[leaf[: len(node)] == node for leaf in at] for node in some], dtype=np.float64)
            for title, some in titles.items()
        }
        print(f"\n#### {name}\n")
        heads = [f"{title} ({len(some):,})" for title, some in titles.items()]
        print(f"| ε | try | {' | '.join(heads)} |\n|---|---{'|---' * len(heads)}|")
        for epsilon in options.epsilon:
            errors: dict[str, list[list[float]]] = {}
            for _ in range(options.runs):
                for title, curves in tries(leaves, truth, epsilon, rng):
                    found = [error(members, curves, truth) for members in below.values()]
                    errors.setdefault(title, []).append(found)
            for title, rows in errors.items():
                means, spreads = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / options.runs**0.5
                cells = [show(mean, spread) for mean, spread in zip(means, spreads, strict=True)]
                print(f"| {epsilon} | {title} | {' | '.join(cells)} |", flush=True)


def tries(hierarchy: Nodes, truth: _Numbers, epsilon: str, rng: np.random.Generator) -> Iterator[tuple[str, _Numbers]]:
    """Yield the name and the estimated numbers of labels of each try, all from the same noise."""
    leaves, rate, top = list(hierarchy.values()), float(epsilon), truth.shape[1]
    drawn = draw(leaves, epsilon, rng)
    now = posteriors(drawn, rate, groups=len(leaves), top=top)
    yield "leaves summed", curves_of(now.medians, top)
    yield "means", now.curves
    learned = now
    for _ in range(_ROUNDS):
        learned = posteriors(drawn, rate, groups=len(leaves), top=top, prior=LearnedPrior.of(learned.curves))
    yield "learned prior", curves_of(learned.medians, top)
    known = posteriors(drawn, rate, groups=len(leaves), top=top, prior=LearnedPrior.of(truth))
    yield "learned prior, truth", curves_of(known.medians, top)
    again = posteriors(draw(now.medians, epsilon, rng), rate, groups=len(leaves), top=top)
    order = np.argsort(now.curves.sum(axis=1), kind="stable")
    factors = slopes(again.curves, curves_of(now.medians, top), order)
    yield "drawn to the mean", draw_to_mean(now.curves, factors, order)
    yield "drawn to the mean, truth", draw_to_mean(now.curves, slopes(now.curves, truth, order), order)
    prior = LearnedPrior.of(learned.curves)
    again = posteriors(draw(learned.medians, epsilon, rng), rate, groups=len(leaves), top=top, prior=prior)
    factors = slopes(again.curves, curves_of(learned.medians, top), order)
    yield "both, whole", whole_leaves(list(hierarchy), draw_to_mean(learned.curves, factors, order)).astype(np.float64)


def draw(leaves: Sequence[ah.Profile], epsilon: str, rng: np.random.Generator) -> _Drawn:
    """Draw noisy coordinates of public profiles."""
    return list(CoordinateNoise(Fraction(epsilon), simulated_noise(rng)).on_each(leaves))


def curves_of(leaves: Sequence[ah.Profile], top: int) -> _Numbers:
    """Return the number of labels with each count or more, one row for each leaf; larger counts are cut to the top."""
    counts = np.arange(1, top + 1)
    return np.array([leaf.cumulative_prevalence(counts) for leaf in leaves], dtype=np.float64)


def error(members: _Numbers, curves: _Numbers, truth: _Numbers) -> float:
    """Return the mean distance of sums over leaves, rounded."""
    return float(np.abs(np.rint(members @ curves) - members @ truth).sum(axis=1).mean())


def near(order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the leaves that a leaf is compared with begin and end, in the order."""
    width = order.size if order.size <= _ALL else _NEAR
    begins = np.clip(np.arange(order.size) - width // 2, 0, order.size - width)
    return begins, begins + width


def window_means(values: _Numbers, order: NDArray[np.int64]) -> _Numbers:
    """Return for each leaf the mean over the leaves that it is compared with.

    Examples
    --------
    >>> window_means(np.array([[1.0], [3.0]]), np.array([1, 0])).ravel().tolist()
    [2.0, 2.0]
    """
    begins, ends = near(order)
    sums = np.vstack((np.zeros(values.shape[1]), np.cumsum(values[order], axis=0)))
    found = np.empty_like(values)
    found[order] = (sums[ends] - sums[begins]) / (ends - begins)[:, None]
    return found


def slopes(curves: _Numbers, truth: _Numbers, order: NDArray[np.int64]) -> _Numbers:
    """Return the factors, in bins of counts, with which curves drawn to their mean are nearest to the truth in ℓ2."""
    begins = [1]
    while begins[-1] < truth.shape[1]:
        begins.append(max(begins[-1] + 1, int(begins[-1] * 1.3)))
    starts = np.array(begins[:-1]) - 1
    middle = window_means(curves, order)
    apart = curves - middle
    both = (np.add.reduceat(apart * other, starts, axis=1) for other in (truth - middle, apart))
    above, below = (window_means(sums, order) for sums in both)
    widths = np.diff(starts, append=truth.shape[1])
    return np.repeat(np.clip(above / np.maximum(below, 1e-9), 0, 1), widths, axis=1)


def draw_to_mean(curves: _Numbers, factors: _Numbers, order: NDArray[np.int64]) -> _Numbers:
    """Draw the curves to their mean, and make each decreasing."""
    middle = window_means(curves, order)
    return np.minimum.accumulate(middle + factors * (curves - middle), axis=1)


if __name__ == "__main__":
    main()

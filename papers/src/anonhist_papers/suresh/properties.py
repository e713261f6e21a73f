"""Corollary 1: linear estimators of properties on a released profile, with the released N or the profile's own sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.entropy import Polynomial
from anonhist.properties.support_size import Chebyshev
from anonhist.properties.uniformity import DistanceToUniformity
from anonhist.properties.unseen_labels import SmoothedPoisson
from anonhist_papers.experiment import Point
from anonhist_papers.inspectre.errors import distributions
from anonhist_papers.suresh.errors import SHORT, privhist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anonhist.properties.estimator import LinearStatistic
    from anonhist_papers.experiment import Cell

LABELS = 1000
PLAIN = "without privacy"
WITH_N, WITH_SUM = "released N", "sum of the profile"
_FEW_STEPS = 2**14


@dataclass(frozen=True)
class Property:
    """A property of a distribution over k labels, from 0 to ``largest``, and its linear estimator.

    Attributes
    ----------
    statistic
        The estimator for n items, ``Σ_r f(r, n)·φ_r``, times ``unit(n)`` when it is normalized.
    truth
        The property of a distribution, for samples of n items.
    largest
        f_max.
    unit
        What a statistic is divided by.
    on
        The distributions on which it is measured.
    """

    statistic: Callable[[int], LinearStatistic]
    truth: Callable[[NDArray[np.float64], int], float]
    largest: float
    unit: Callable[[int], float]
    on: tuple[str, ...]


def properties(labels: int, draws: int) -> dict[str, Property]:
    """Return the properties that the paper names: the first three with Corollary 1, the last behind it.

    Entropy by the polynomial of Wu and Yang; labels of at least the probability 1/(2k), over 2k, by their Chebyshev
    weights; labels in m draws, over m, by the smoothed series; and the distance of the sample to uniformity.

    Parameters
    ----------
    labels
        k.
    draws
        m.

    Examples
    --------
    >>> found = properties(1000, 2000)
    >>> uniform = np.full(1000, 0.001)
    >>> [round(each.truth(uniform, 1000), 3) for each in found.values()]
    [6.908, 0.5, 0.432, 0.0]
    """
    all_four, no_rarer = ("uniform", "two steps", "Zipf 1/2", "Zipf 1"), ("uniform", "two steps")
    return {
        "entropy": Property(
            Polynomial(labels).statistic, lambda p, _: -float(p @ np.log(p)), math.log(labels), lambda _: 1.0, all_four
        ),
        "support size": Property(
            # Half of 1/k is the least probability of the two distributions.
            Chebyshev(2 * labels).statistic,
            lambda p, _: p.size / (2 * labels),
            1.0,
            lambda _: 2.0 * labels,
            no_rarer,
        ),
        "support coverage": Property(
            lambda items: SmoothedPoisson(max(draws, items + 1)).statistic(items),
            lambda p, _: -float(np.expm1(draws * np.log1p(-p)).sum()) / draws,
            1.0,
            lambda _: float(draws),
            all_four,
        ),
        "distance to uniformity": Property(
            DistanceToUniformity(labels).statistic,
            lambda p, _: float(np.abs(p - 1 / labels).sum()),
            2 - 2 / labels,
            lambda _: 1.0,
            all_four,
        ),
    }


def estimate(chosen: Property, profile: Profile, items: int) -> float:
    """Return ``Σ_r f(r, N)·φ_r(H)``, the estimator of Corollary 1, cut to possible values.

    Parameters
    ----------
    chosen
        The property.
    profile
        H, released or exact.
    items
        N: a number of items that may differ from the sum of the profile; at least 1 is used.

    Examples
    --------
    >>> entropy = properties(1000, 2000)["entropy"]
    >>> profile = Profile.from_prevalences({1: 40, 20: 48})
    >>> round(estimate(entropy, profile, profile.n), 3), round(estimate(entropy, profile, 900), 3)
    (4.165, 4.51)
    """
    number = max(items, 1)
    value = chosen.statistic(number).of(profile) / chosen.unit(number)
    return min(max(value, 0.0), chosen.largest)


def property_errors(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return mean absolute errors from n samples of each distribution: without privacy, and from releases of each."""
    items, epsilon = int(cell["items"]), str(cell["epsilon"])
    found = properties(LABELS, 2 * items)
    mechanisms = privhist(epsilon)
    errors: dict[tuple[str, str], list[float]] = {}
    for name in ("uniform", "two steps", "Zipf 1/2", "Zipf 1"):
        p = distributions(LABELS, rng)[name]
        for _ in range(int(cell["trials"])):
            profile = Profile.from_counts(rng.multinomial(items, p))
            used = {PLAIN: (profile, items)}
            for shares, mechanism in mechanisms.items():
                release = mechanism.release(profile)
                used[f"{SHORT[shares]}, {WITH_N}"] = release.profile, release.n
                used[f"{SHORT[shares]}, {WITH_SUM}"] = release.profile, release.profile.n
            for title, chosen in found.items():
                if name not in chosen.on:
                    continue
                truth = chosen.truth(p, items)
                for series, (data, number) in used.items():
                    far = abs(estimate(chosen, data, number) - truth)
                    errors.setdefault((f"{title}, ε = {epsilon} ({name})", series), []).append(far)
    for (panel, series), each in errors.items():
        yield Point.of(each, panel=panel, series=series, x=items)


def lipschitz_exponents(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return the exponent of each estimator for n samples over n labels."""
    del rng
    items = int(cell["items"])
    for title, chosen in properties(items, 2 * items).items():
        yield Point("", title, items, max(lipschitz_exponent(chosen, items), 0.0))


def lipschitz_exponent(chosen: Property, items: int) -> float:
    """Return ``β = 1 + ln L/ln n`` with ``L = max(|f(1, n)|, max_r |f(r, n) − f(r+1, n)|)``.

    Examples
    --------
    >>> found = properties(1000, 2000)
    >>> [round(abs(lipschitz_exponent(each, 1000)), 2) for each in found.values()]
    [0.31, 0.12, 0.0, 0.0]
    """
    constant = largest_step(chosen.statistic(items), items) / chosen.unit(items)
    return 1 + math.log(constant) / math.log(items)


def largest_step(statistic: LinearStatistic, items: int) -> float:
    """Return the largest step of the weights up to n, that from 0 to 1 included.

    With φ_0 = k − S_obs, f(1, n) is the step from count 0. Beyond the head and kinks steps are monotone, so the last
    one bounds them.

    Examples
    --------
    >>> round(largest_step(DistanceToUniformity(10).statistic(100), 100), 6)
    0.01
    """
    first = np.arange(min(statistic.head + 2, items, _FEW_STEPS))
    ends = np.array([*statistic.kinks, items - 1], dtype=np.int64)
    counts = np.unique(np.concatenate((first, ends)))
    return float(np.abs(statistic.weights(counts + 1) - statistic.weights(counts)).max())

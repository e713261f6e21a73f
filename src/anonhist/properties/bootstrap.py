"""Bootstrap samples from an estimated population, drawn as profiles: no labels are created."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.numeric.pulse import pulsing
from anonhist.profiles import Profile
from anonhist.properties.assemblage import Assemblage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

# Up to this many labels are drawn one by one, with n fixed.
_FEW = 4096
REACH = 8.0
# The generator takes no more items, and no more labels in a group.
LARGEST = 2**62


def resample(profile: Profile, *, size: int, rng: np.random.Generator) -> Iterator[Profile]:
    """Draw samples from the population that :class:`~anonhist.properties.assemblage.Assemblage` makes of a profile.

    With up to 4,096 labels, counts are multinomial, so every sample has n items. With more labels, a label of mean
    count λ has a Poisson(λ) count, so the number of items varies by about √n; :func:`spread` removes this variation.
    For each group of L labels of equal λ, the numbers of labels that occur j times are one multinomial draw, in
    O(t·width) time for any number of labels. From a population of more than 2⁶² items, 2⁶² are drawn.

    Parameters
    ----------
    profile
        A profile with at least one item.
    size
        Number of samples.
    rng
        Random generator.

    Yields
    ------
    Profile
        One sample.

    Examples
    --------
    >>> profile = Profile.from_counts([5, 3, 1, 1])
    >>> [sample.n for sample in resample(profile, size=2, rng=np.random.default_rng(1))]
    [10, 10]
    """
    population = Assemblage.of(profile)
    items = min(profile.n, LARGEST)
    if float(population.labels.sum()) <= _FEW:
        # The largest comes last: the sampler subtracts each share from the rest, and rounding would leave the rare ones
        # nothing.
        shares = np.sort(np.repeat(population.probabilities, population.labels.astype(np.int64)))
        for _ in range(size):
            yield Profile.from_counts(rng.multinomial(items, shares / shares.sum()))
        return
    means = items * population.probabilities
    drawn = means > 0
    means, labels = means[drawn], population.labels[drawn]
    # Labels are drawn one by one if they are fewer than the counts they may have, else count by count.
    few = labels <= 2 * REACH * np.sqrt(means)
    alone = np.repeat(means[few], labels[few].astype(np.int64))
    groups = [(*_poisson(mean), many) for mean, many in zip(means[~few].tolist(), labels[~few].tolist(), strict=True)]
    values = np.concatenate([group[0] for group in groups]) if groups else np.zeros(0, dtype=np.int64)
    for _ in range(size):
        numbers = [draw_numbers(pmf, many, rng) for _, pmf, many in groups]
        counts = np.concatenate([rng.poisson(alone), values])
        yield merged_profile(counts, np.concatenate([np.ones(alone.size, dtype=np.int64), *numbers]))


def spread(
    profile: Profile, statistic: Callable[[Profile], NDArray[np.float64]], *, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the standard error of each value of a statistic over samples of n items.

    Values are regressed on the number of items drawn, and the error is the spread of the residuals: correct to first
    order, as :func:`~anonhist.properties.sampling.sampling_error` is.

    Parameters
    ----------
    statistic
        Values of a fixed shape for any profile, including an empty one.
    size
        Number of samples, ≥ 3.

    Examples
    --------
    >>> counted = lambda profile: np.array([profile.n, profile.num_labels], dtype=float)
    >>> errors = spread(Profile([1, 2], [6000, 900]), counted, size=20, rng=np.random.default_rng(1))
    >>> float(errors[0]), bool(10 < errors[1] < 100)  # n is fixed
    (0.0, True)
    """
    samples = list(resample(profile, size=size, rng=rng))
    values = np.array(list(pulsing(statistic(sample) for sample in samples)), dtype=np.float64)
    items = np.array([float(sample.n) for sample in samples])
    return spread_off_items(values, items)


def spread_off_items(values: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of values of samples about their line as a function of the items drawn."""
    # Relative to the first sample, so that equal values leave no rounding error.
    values, items = values - values[0], items - items[0]
    values, items = values - values.mean(axis=0), items - items.mean()
    variation = float(items @ items)
    if not variation:
        return np.asarray(np.sqrt((values**2).sum(axis=0) / (items.size - 1)))
    slopes = np.tensordot(items, values, axes=1) / variation
    left = (values**2).sum(axis=0) - variation * slopes**2
    # A difference of equal numbers leaves only rounding.
    left = np.where(left > 1e-12 * (values**2).sum(axis=0), left, 0.0)
    return np.asarray(np.sqrt(left / (items.size - 2)))


def poisson_pmf(mean: float, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probabilities of successive values of a Poisson variable, near its mean, scaled to add up to 1."""
    # From one value to the next the distribution changes by mean/value; starting at the likeliest nothing underflows.
    logs = np.append(0.0, np.cumsum(math.log(mean) - np.log(values[1:])))
    pmf = np.exp(logs - logs.max())
    return np.asarray(pmf / pmf.sum())


def draw_numbers(pmf: NDArray[np.float64], labels: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many of a number of labels have each count; if there are more than 2⁶² labels, the first count is 0."""
    if labels <= LARGEST:
        return rng.multinomial(int(labels), pmf)
    # Nearly all labels have count 0, so the numbers of labels of count 1, 2, … are independent.
    return np.append(0, rng.poisson(labels * pmf[1:]))


def merged_profile(counts: NDArray[np.int64], prevalences: NDArray[np.int64]) -> Profile:
    """Return the profile of counts in any order with their prevalences; equal counts are merged, zeros dropped."""
    seen = (counts > 0) & (prevalences > 0)
    counts, prevalences = counts[seen], prevalences[seen]
    order = np.argsort(counts, kind="stable")
    first = np.flatnonzero(np.diff(counts[order], prepend=0))
    if not first.size:
        return Profile([], [])
    return Profile(counts[order][first], np.add.reduceat(prevalences[order], first))


def _poisson(mean: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the values of a Poisson distribution and their probabilities."""
    width = REACH * math.sqrt(mean) + 20
    values = np.arange(max(int(mean - width), 0), int(mean + width) + 1)
    return values, poisson_pmf(mean, values)

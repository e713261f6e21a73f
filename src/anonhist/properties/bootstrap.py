"""Bootstrap samples from an estimated population, as profiles: no label is made."""

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

# So many labels are drawn one by one, with n fixed.
_FEW = 4096
_REACH = 8.0
# More items, or labels of one group, than the generator takes.
_LARGEST = 2**62


def resample(profile: Profile, *, size: int, rng: np.random.Generator) -> Iterator[Profile]:
    """Draw samples from the population that :class:`~anonhist.properties.assemblage.Assemblage` makes of a profile.

    Of up to 4,096 labels the counts are multinomial, so every sample has n items. Of more, each label of mean count λ
    has a Poisson(λ) count, so the number of items varies by about √n: of L labels of equal λ, the numbers that occur
    j times are one multinomial draw over the width of that distribution, O(t·width) time in all, however many labels
    there are. :func:`spread` takes that variation off again. Of more than 2^62 items, 2^62 are drawn.

    Parameters
    ----------
    profile
        A profile with at least one item.
    size
        How many samples.
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
    items = min(profile.n, _LARGEST)
    if float(population.labels.sum()) <= _FEW:
        # The largest last: the sampler takes each off what is left, and rounding would leave the rare ones nothing.
        shares = np.sort(np.repeat(population.probabilities, population.labels.astype(np.int64)))
        for _ in range(size):
            yield Profile.from_counts(rng.multinomial(items, shares / shares.sum()))
        return
    means = items * population.probabilities
    drawn = means > 0
    means, labels = means[drawn], population.labels[drawn]
    # Labels one by one where they are fewer than the counts they may have, else counts one by one.
    few = labels <= 2 * _REACH * np.sqrt(means)
    alone = np.repeat(means[few], labels[few].astype(np.int64))
    groups = [(*_poisson(mean), many) for mean, many in zip(means[~few].tolist(), labels[~few].tolist(), strict=True)]
    values = np.concatenate([group[0] for group in groups]) if groups else np.zeros(0, dtype=np.int64)
    for _ in range(size):
        numbers = [_numbers(pmf, many, rng) for _, pmf, many in groups]
        counts = np.concatenate([rng.poisson(alone), values])
        yield _profile(counts, np.concatenate([np.ones(alone.size, dtype=np.int64), *numbers]))


def spread(
    profile: Profile, statistic: Callable[[Profile], NDArray[np.float64]], *, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the standard error of each value of a statistic over samples of n items.

    The values are regressed on the number of items drawn, which n fixes, and what is left is spread: right to first
    order, as :func:`~anonhist.properties.sampling.sampling_error` is.

    Parameters
    ----------
    statistic
        Of a profile, maybe an empty one, values of any one shape.
    size
        How many samples, ≥ 3.

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
    # From the first sample on: of equal values no rounding is left.
    values, items = values - values[0], items - items[0]
    values, items = values - values.mean(axis=0), items - items.mean()
    variation = float(items @ items)
    if not variation:
        return np.asarray(np.sqrt((values**2).sum(axis=0) / (size - 1)))
    slopes = np.tensordot(items, values, axes=1) / variation
    left = (values**2).sum(axis=0) - variation * slopes**2
    # What is left of a difference of equal numbers is rounding.
    left = np.where(left > 1e-12 * (values**2).sum(axis=0), left, 0.0)
    return np.asarray(np.sqrt(left / (size - 2)))


def _poisson(mean: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the values of a Poisson distribution, and their probabilities."""
    width = _REACH * math.sqrt(mean) + 20
    values = np.arange(max(int(mean - width), 0), int(mean + width) + 1)
    logs = np.append(0.0, np.cumsum(math.log(mean) - np.log(values[1:])))
    pmf = np.exp(logs - logs.max())
    return values, pmf / pmf.sum()


def _numbers(pmf: NDArray[np.float64], labels: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw how many of so many labels have each count."""
    if labels <= _LARGEST:
        return rng.multinomial(int(labels), pmf)
    # Nearly all of so many labels are not seen: the numbers of those that are do not feel each other.
    return np.append(0, rng.poisson(labels * pmf[1:]))


def _profile(counts: NDArray[np.int64], prevalences: NDArray[np.int64]) -> Profile:
    seen = (counts > 0) & (prevalences > 0)
    counts, prevalences = counts[seen], prevalences[seen]
    order = np.argsort(counts, kind="stable")
    first = np.flatnonzero(np.diff(counts[order], prepend=0))
    if not first.size:
        return Profile([], [])
    return Profile(counts[order][first], np.add.reduceat(prevalences[order], first))

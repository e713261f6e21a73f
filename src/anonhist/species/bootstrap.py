"""Samples drawn anew from the community that a reference sample lets expect, species that it missed included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.sampling import resample
from anonhist.species.hill import unseen_species
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.sample import ReferenceSample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anonhist.species.sample import SiteData


def draw_again(data: SiteData, *, times: int, rng: np.random.Generator) -> Iterator[ReferenceSample]:
    """Draw reference samples of the same size, for standard errors.

    For individuals, the community is that of :class:`~anonhist.properties.sampling.Assemblage`. For sampling units,
    a species found in Y of T units is found in a unit with probability ``(Y/T)·(1 − W·(1 − Y/T)^T)``, and each of
    ``⌈Q_0⌉`` further ones, Q_0 by Chao2, with ``(U/T)·(1 − C)/⌈Q_0⌉``. C is the sample coverage, and W makes the
    probabilities add up to U/T.

    Source: Chao and others 2013; Chao and others 2014, appendix G.

    Parameters
    ----------
    data
        At least two individuals or units, and one species.
    times
        How many samples.
    rng
        Random generator: the samples are no privacy noise.
    """
    if isinstance(data, Profile):
        for profile in resample(data, size=times, rng=rng):
            yield ReferenceSample.of(profile)
        return
    chances, species = _detection(ReferenceSample.of(data))
    each = np.repeat(chances, species)
    for _ in range(times):
        found = rng.binomial(data.sampling_units, each)
        yield ReferenceSample.of(IncidenceFrequencies(data.sampling_units, Profile.from_counts(found)))


def _detection(sample: ReferenceSample) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities that species are found in a unit, and how many species have each."""
    units = float(sample.size)
    share = sample.counts / units
    with np.errstate(divide="ignore"):
        lost = share * np.exp(units * np.log1p(-share))
    missing = sample.total / units * (1.0 - sample.coverage(sample.size))
    unseen = math.ceil(unseen_species(sample))
    all_lost = float(sample.prevalences @ lost)
    weight = missing / all_lost if unseen and all_lost > 0 else 0.0
    # Where nearly all species were found once, W would take more from them than they have.
    seen = np.maximum(share - weight * lost, 0.0)
    further = min(missing / unseen, 1.0) if unseen else 0.0
    return np.append(seen, further), np.append(sample.prevalences, unseen)

"""Runs of a mechanism on its release, drawn in batches of fixed size and order, so that results are reproducible."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonhist.numeric.pulse import tell_share
from anonhist.profiles import Profile
from anonhist.releases.evidence import TellsMisfit
from anonhist.releases.protocols import runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.releases.protocols import Mechanism

# A mechanism prepares once per batch: batches are large enough to share that, and small enough for large profiles.
_BATCH, _LARGE_BATCH, _LARGE = 32, 8, 2**12
# The share of time for drawing runs; the rest is for using them.
_DRAWING = 0.7


class Run(NamedTuple):
    """One run.

    Attributes
    ----------
    profile
        The profile it released.
    zeros
        Its number of labels of count zero, if that is released.
    misfit
        Distance of its noisy values from its profile, if the mechanism reports it.
    """

    profile: Profile
    zeros: int | None
    misfit: float | None


def draw_runs(
    mechanism: Mechanism,
    profile: Profile,
    zeros: int | None,
    *,
    size: int,
    rng: np.random.Generator,
    with_misfit: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Run]:
    """Yield ``size`` independent runs on public data.

    Parameters
    ----------
    mechanism, profile, zeros
        The mechanism, and the public data it runs on.
    size
        Number of runs, ≥ 0.
    rng
        Simulation randomness; nothing secret depends on it.
    with_misfit
        Whether each run reports its misfit; ignored if the mechanism cannot.
    progress
        Called with the share done, in (0, 1], also during a batch.
    """
    batch = _BATCH if profile.durfee_size < _LARGE else _LARGE_BATCH
    done = 0
    while done < size:
        count = min(batch, size - done)
        drawn_share = (done + _DRAWING * count) / size
        with tell_share(progress, done / size, drawn_share):
            if with_misfit and isinstance(mechanism, TellsMisfit):
                told = mechanism.simulate_with_misfit(profile, size=count, rng=rng)
                # If zeros are released, the set of labels is public: labels not in a run have count zero.
                labels = None if zeros is None else zeros + profile.num_labels
                drawn = [Run(run, None if labels is None else labels - run.num_labels, far) for run, far in told]
            else:
                drawn = [Run(*found, None) for found in runs_of(mechanism, profile, zeros, size=count, rng=rng)]
        done += count
        for left, run in zip(range(count - 1, -1, -1), drawn, strict=True):
            yield run
            if progress is not None:
                progress((done - (1 - _DRAWING) * left) / size)


def nothing_like(profile: Profile, zeros: int | None) -> tuple[Profile, int | None]:
    """Return an empty profile, and its number of zeros: all labels, if their set is known."""
    return Profile([], [], unit=profile.unit), None if zeros is None else zeros + profile.num_labels


def generator_of(mechanism: Mechanism, profile: Profile, zeros: int | None) -> np.random.Generator:
    """Return a generator seeded with the release, so that simulations of a release are reproducible.

    This is post-processing of public values: privacy does not depend on it.
    """
    told = hashlib.sha256(repr((mechanism.name, sorted(mechanism.parameters.items()), zeros)).encode())
    for array in (profile.counts, profile.prevalences):
        told.update(array.astype("<i8").tobytes())
    return np.random.default_rng(int.from_bytes(told.digest()[:16]))


def part_of(progress: Callable[[float], None] | None, first: float, last: float) -> Callable[[float], None] | None:
    """Return a progress callback for a part of the work, from the share ``first`` to the share ``last``."""
    return None if progress is None else lambda share: progress(first + (last - first) * share)

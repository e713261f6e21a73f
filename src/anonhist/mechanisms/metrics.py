"""Errors of a release against a known truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile, sorted_l1, sorted_l2
from anonhist.properties.guessing_curve import covered_share, log_grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.releases import Release

_MARKS = 200


@dataclass(frozen=True)
class Metric:
    """A metric of a release: lower is better.

    Attributes
    ----------
    name
        As in CSV tables: ``"sorted_l1"``.
    title, unit
        As in displayed tables.
    meaning
        Its meaning, in a few words.
    """

    name: str
    title: str
    unit: str
    meaning: str


def singletons_error(truth: Profile, release: Release) -> float:
    """Return ``|φ̃_1 − φ_1|``, in labels: the error of the number of labels that occur once."""
    return abs(release.profile.prevalence(1) - truth.prevalence(1))


def labels_error(truth: Profile, release: Release) -> float:
    """Return ``|φ̃_{1+} − φ_{1+}|``, in labels: the error of the number of labels."""
    return abs(release.profile.num_labels - truth.num_labels)


def items_error(truth: Profile, release: Release) -> float:
    """Return ``|ñ − n|``, in items, with ñ the released number of items, as :attr:`Release.n` gives it."""
    return abs(release.n - truth.n)


def sorted_l1_error(truth: Profile, release: Release) -> float:
    """Return ``Σ_i |λ̃_i − λ_i|``, in items: see :func:`anonhist.profiles.sorted_l1`."""
    return float(sorted_l1(truth, release.profile))


def sorted_l2_error(truth: Profile, release: Release) -> float:
    """Return ``sqrt(Σ_i (λ̃_i − λ_i)²)``, in items: see :func:`anonhist.profiles.sorted_l2`."""
    return sorted_l2(truth, release.profile)


def guessing_error(truth: Profile, release: Release) -> float:
    """Return the mean of ``|Λ̃_β − Λ_β|`` over β, a share of the items in [0, 1].

    ``Λ_β = Σ_{i≤β} λ_i / n`` is the share that the β most frequent labels cover. β runs through at most 200 whole
    numbers from 1 to the true number of labels, evenly spaced on a log scale, so that few guesses have as much weight
    as many.

    Examples
    --------
    >>> from anonhist.mechanisms.frobenius.mechanism import FrobeniusMechanism
    >>> truth = Profile.from_counts([5, 3, 2])
    >>> guessing_error(truth, FrobeniusMechanism(epsilon=60).release(truth))
    0.0
    """
    marks = np.array(log_grid(max(1, truth.num_labels), points=_MARKS), dtype=np.int64)
    return float(np.abs(covered_share(release.profile, marks) - covered_share(truth, marks)).mean())


# In order of interest.
ERRORS: dict[Metric, Callable[[Profile, Release], float]] = {
    Metric(
        "sorted_l1", "Sorted ℓ1", "items", "items to move between labels, add or remove to correct the release"
    ): sorted_l1_error,
    Metric(
        "sorted_l2",
        "Sorted ℓ2",
        "items",
        "the Euclidean distance, in which a few large errors weigh more than many small ones",
    ): sorted_l2_error,
    Metric("items", "Number of items, n", "items", "error of the released number of items"): items_error,
    Metric(
        "singletons", "Labels seen once, φ₁", "labels", "error of the number of labels that occur exactly once"
    ): singletons_error,
    Metric("labels", "Number of labels", "labels", "error of the number of different labels"): labels_error,
    Metric(
        "guessing",
        "Guessing curve",
        "share of items",
        "error of the share of items that the β most frequent labels cover, a mean over β on a log scale",
    ): guessing_error,
}
SECONDS = Metric("seconds", "Time", "seconds", "how long one release takes on this machine, data in memory")
METRICS = (*ERRORS, SECONDS)

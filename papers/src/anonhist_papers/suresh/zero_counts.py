"""Histograms that include zero counts: of k known labels, released ones beyond the k largest are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.mechanisms.privhist import top_labels
from anonhist.profiles import Profile, sorted_l1
from anonhist_papers.experiment import Point
from anonhist_papers.inspectre.errors import distributions
from anonhist_papers.suresh.errors import privhist

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from anonhist_papers.experiment import Cell

LABELS = 10_000
RELEASED, KNOWN, ZEROS = "as released", "at most k labels", "labels of count 0"


def zero_count_errors(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return sorted ℓ1 errors of all k counts, zeros included, and errors of φ_0, as shares of √n."""
    items, epsilon, shape = int(cell["items"]), str(cell["epsilon"]), str(cell["shape"])
    p = distributions(LABELS, rng)[shape]
    errors: dict[str, list[float]] = {RELEASED: [], KNOWN: [], ZEROS: []}
    (mechanism, *_) = privhist(epsilon).values()
    for _ in range(int(cell["trials"])):
        profile = Profile.from_counts(rng.multinomial(items, p))
        release = mechanism.release(profile)
        errors[RELEASED].append(sorted_l1(profile, release.profile) / items**0.5)
        errors[KNOWN].append(sorted_l1(profile, top_labels(release.profile, LABELS)) / items**0.5)
        never = release.prevalence(0, alphabet_size=LABELS).value
        errors[ZEROS].append(abs(never - (LABELS - profile.num_labels)) / items**0.5)
    for series, each in errors.items():
        yield Point.of(each, panel=f"{shape}, ε = {epsilon}", series=series, x=items)

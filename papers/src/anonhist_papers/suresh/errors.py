"""Errors and run times of PrivHist and its rivals, behind Theorems 1 and 2."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anonhist.mechanisms import (
    FrobeniusMechanism,
    IsotonicMechanism,
    PartitionMechanism,
    PrivHistMechanism,
    staircase_profile,
    zipf_profile,
)
from anonhist.profiles import sorted_l1
from anonhist_papers.blocki.exponential import ExponentialMechanism
from anonhist_papers.experiment import Point
from anonhist_papers.inspectre.coverage import sample
from anonhist_papers.suresh.bounds import block_height, hard_profile, high_privacy_rate, lower_bound

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from anonhist.mechanisms import CentralMechanism
    from anonhist.profiles import Profile
    from anonhist_papers.experiment import Cell

THIRDS, FIFTIETH = "PrivHist, equal thirds", "PrivHist, 1/50 for n"
SHORT = {THIRDS: "equal thirds", FIFTIETH: "1/50 for n"}
ISOTONIC, FROBENIUS, PARTITION = "isotonic (Hay et al.)", "Frobenius mechanism", "partition mechanism"
EXPONENTIAL = "exponential mechanism"
BOUND, RATE = "lower bound for every mechanism", "√(n ln(2/ε)/ε)"


def privhist(epsilon: str) -> dict[str, CentralMechanism]:
    """Return PrivHist with the shares of the paper, and with those that it recommends for practice."""
    return {
        THIRDS: PrivHistMechanism(epsilon, shares="thirds"),
        FIFTIETH: PrivHistMechanism(epsilon),
    }


def data(name: str) -> Profile:
    """Return a profile: ``"Zipf, 10^6 items"``, ``"all counts different, 10^6 items"`` or ``"words of Hamlet"``.

    Examples
    --------
    >>> [data(name).n for name in ("Zipf, 10^4 items", "words of Hamlet")]
    [9998, 31999]
    """
    if name == "words of Hamlet":
        return sample("hamlet")
    shape, _, power = name.removesuffix(" items").partition(", 10^")
    return (zipf_profile if shape == "Zipf" else staircase_profile)(10 ** int(power))


def errors_by_items(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return errors over √n where all counts differ."""
    profile, epsilon = staircase_profile(10 ** int(cell["power"])), str(cell["epsilon"])
    panel, root = f"ε = {epsilon}", profile.n**0.5
    for series, mechanism in privhist(epsilon).items():
        runs = mechanism.simulate(profile, size=int(cell["trials"]), rng=rng)
        yield Point.of([sorted_l1(profile, run) / root for run in runs], panel=panel, series=series, x=profile.n)
    yield Point(panel, BOUND, profile.n, lower_bound(profile.n, float(epsilon)) / root)


def errors_by_epsilon(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return errors in items of PrivHist and its rivals."""
    profile, epsilon, panel = data(str(cell["data"])), str(cell["epsilon"]), str(cell["data"])
    mechanisms = privhist(epsilon) | {
        ISOTONIC: IsotonicMechanism(epsilon, public_labels=profile.num_labels),
        FROBENIUS: FrobeniusMechanism(epsilon),
    }
    for series, mechanism in mechanisms.items():
        runs = mechanism.simulate(profile, size=int(cell["trials"]), rng=rng)
        yield Point.of([sorted_l1(profile, run) for run in runs], panel=panel, series=series, x=float(epsilon))
    yield Point(panel, BOUND, float(epsilon), lower_bound(profile.n, float(epsilon)))
    if float(epsilon) <= 1:
        yield Point(panel, RATE, float(epsilon), high_privacy_rate(profile.n, float(epsilon)))


def errors_of_items(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return how far the released N, and the sum of the released profile, are from n."""
    del rng  # N comes with a real release only
    profile, epsilon = data(str(cell["data"])), str(cell["epsilon"])
    for series, mechanism in privhist(epsilon).items():
        releases = [mechanism.release(profile) for _ in range(int(cell["trials"]))]
        for title, found in (
            (f"N, {SHORT[series]}", [each.n for each in releases]),
            (f"sum of the profile, {SHORT[series]}", [each.profile.n for each in releases]),
        ):
            far = [abs(each - profile.n) for each in found]
            yield Point.of(far, panel=str(cell["data"]), series=title, x=float(epsilon))


def errors_on_hard_data(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return errors over √n on data drawn anew from the family behind the lower bound."""
    epsilon = str(cell["epsilon"])
    height = block_height(float(epsilon))
    mechanisms = privhist(epsilon) | {FROBENIUS: FrobeniusMechanism(epsilon), PARTITION: PartitionMechanism(epsilon)}
    errors: dict[str, list[float]] = {}
    for _ in range(int(cell["trials"])):
        profile = hard_profile(int(cell["items"]), height, rng)
        for series, mechanism in mechanisms.items():
            (run,) = mechanism.simulate(profile, size=1, rng=rng)
            errors.setdefault(series, []).append(sorted_l1(profile, run) / profile.n**0.5)
    panel = f"n = {int(cell['items']):,}"
    for series, each in errors.items():
        yield Point.of(each, panel=panel, series=series, x=float(epsilon))
    yield Point(panel, BOUND, float(epsilon), lower_bound(1, float(epsilon), height))


# The largest power of ten that a rival is run at: beyond, a release takes minutes, or does not fit in memory.
LARGEST = {"PrivHist": 13, ISOTONIC: 7, EXPONENTIAL: 9}


def seconds_by_items(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Return processor seconds of real releases of a Zipf profile, given as pairs of counts and prevalences."""
    del rng
    power, epsilon = int(cell["power"]), str(cell["epsilon"])
    profile = zipf_profile(10**power)
    mechanisms = {
        "PrivHist": PrivHistMechanism(epsilon, shares="thirds"),
        ISOTONIC: IsotonicMechanism(epsilon, public_labels=min(profile.num_labels, 10 ** LARGEST[ISOTONIC])),
        EXPONENTIAL: ExponentialMechanism.at(epsilon),
    }
    for series, mechanism in mechanisms.items():
        if power > LARGEST[series]:
            continue
        # The first release loads what all later ones use.
        mechanism.release(zipf_profile(100))
        seconds = []
        for _ in range(int(cell["trials"])):
            start = time.process_time()
            mechanism.release(profile)
            seconds.append(time.process_time() - start)
        yield Point.of(seconds, panel=f"ε = {epsilon}", series=series, x=profile.n)

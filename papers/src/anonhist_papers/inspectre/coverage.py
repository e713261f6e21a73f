"""Errors of support coverage estimates: Figures 3 to 5 of INSPECTRE, and smaller supports."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.estimators.support import SupportCoverageMechanism
from anonhist.mechanisms.noise import simulated_noise
from anonhist.profiles import Profile
from anonhist.properties.unseen_labels import SmoothedPoisson, poisson_rate
from anonhist_papers.inspectre.errors import DISTRIBUTIONS, SUBSTITUTE, ErrorRow, Errors, distributions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.noise import Noise

COVERAGE_LABELS, COVERAGE_REACH = 20_000, (1, 2, 3, 5, 10)
COVERAGE_EPSILONS, TEXT_EPSILONS = (1, 2, 10), (0.5, 0.1)
_COMPARED = ("smoothed Good–Toulmin",)
TEXTS, SHARES = ("hamlet", "surnames"), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def coverage_of(p: NDArray[np.float64], draws: int) -> float:
    """Return ``S_m(p) = Σ_x (1 − (1 − p(x))^m)``.

    Examples
    --------
    >>> coverage_of(np.array([0.5, 0.5]), 2)
    1.5
    """
    with np.errstate(divide="ignore"):
        return -float(np.expm1(draws * np.log1p(-p)).sum())


def coverage_errors(
    *,
    trials: int,
    rng: np.random.Generator,
    labels: int = COVERAGE_LABELS,
    reaches: Sequence[float] = COVERAGE_REACH,
    epsilons: Sequence[float] = COVERAGE_EPSILONS,
) -> Iterator[ErrorRow]:
    """Run Figure 3: labels in n·(1 + t) draws, from samples of n = k/2 over k labels, Poisson smoothing."""
    n = labels // 2
    noise = simulated_noise(rng)
    for reach in reaches:
        draws = round(n * (1 + reach))
        tables = {name: Errors() for name in DISTRIBUTIONS}
        for _ in range(trials):
            for name, p in distributions(labels, rng).items():
                profile = Profile.from_counts(rng.multinomial(n, p))
                _add(tables[name], profile, draws, coverage_of(p, draws), epsilons, noise)
        for name, errors in tables.items():
            yield from errors.rows("coverage", name, reach, unit=1 / (n * reach), over=_COMPARED)


def text_errors(
    *,
    trials: int,
    rng: np.random.Generator,
    texts: Sequence[str] = TEXTS,
    shares: Sequence[float] = SHARES,
    epsilons: Sequence[float] = TEXT_EPSILONS,
) -> Iterator[ErrorRow]:
    """Run Figures 4 and 5: labels of a whole text from a part of it.

    The texts are the words of Hamlet and a sample of surnames of the census of 2000.
    """
    noise = simulated_noise(rng)
    for text in texts:
        whole = sample(text)
        counts = whole.partition()
        for share in shares:
            items = round(share * whole.n)
            errors = Errors()
            for _ in range(trials):
                part = rng.multivariate_hypergeometric(counts, items, method="marginals")
                profile = Profile.from_counts(part)
                _add(errors, profile, whole.n, float(whole.num_labels), epsilons, noise)
            yield from errors.rows("texts", text, share, unit=1.0, over=_COMPARED)


def sample(name: str) -> Profile:
    """Return the profile of a text that comes with the package: ``"hamlet"`` or ``"surnames"``.

    Examples
    --------
    >>> sample("hamlet").n, sample("surnames").num_labels
    (31999, 20412)
    """
    text = files("anonhist_papers").joinpath("inspectre", "samples", f"{name}.csv").read_text(encoding="utf-8")
    pairs = (line.split(",") for line in text.splitlines()[1:])
    return Profile.from_prevalences((int(count), int(prevalence)) for count, prevalence in pairs)


def published_coverage_scale(items: int, draws: int, *, rate: float | None = None) -> float:
    """Return ``2·(1 + e^(r·(t−1)))``, the noise scale that follows from Lemma 3, at ε = 1; 4 up to t = 1.

    The default r is that of the experiments, ``ln(n·(t+1)²/(t−1))/(2t)``. Below t = 1 nothing is published: r would not
    be a number.

    Examples
    --------
    >>> published_coverage_scale(1000, 2000)
    4.0
    """
    reach = (draws - items) / items
    r = poisson_rate(items, reach) if rate is None else rate
    return 2 * (1 + math.exp(r * max(reach - 1, 0.0)))


def _add(errors: Errors, profile: Profile, draws: int, truth: float, epsilons: Sequence[float], noise: Noise) -> None:
    errors.add("smoothed Good–Toulmin", SmoothedPoisson(draws).statistic(profile.n).of(profile) - truth)
    for epsilon in epsilons:
        mechanism = SupportCoverageMechanism(epsilon, relation=SUBSTITUTE, draws=draws, method="smoothed-poisson")
        published = published_coverage_scale(profile.n, draws) / epsilon
        errors.add_private("private", mechanism, profile, truth, noise, published=published)
        recommended = SupportCoverageMechanism(epsilon, relation=SUBSTITUTE, draws=draws)
        errors.add_private("private, recommended", recommended, profile, truth, noise)

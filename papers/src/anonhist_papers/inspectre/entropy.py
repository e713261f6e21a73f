"""Errors of entropy estimates: Figures 1 and 2 of INSPECTRE, and other alphabets and budgets."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma
from scipy.stats import betabinom, binom

from anonhist.mechanisms.estimators.entropy import EntropyMechanism, PolynomialParameters
from anonhist.mechanisms.noise import simulated_noise
from anonhist.profiles import Profile
from anonhist.properties.entropy import Polynomial
from anonhist_papers.inspectre.errors import DISTRIBUTIONS, PRIORS, SUBSTITUTE, ErrorRow, Errors, distributions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from anonhist.properties.estimator import LinearStatistic

DEGREE_LABELS = 2000
ENTROPY_LABELS, ENTROPY_ITEMS = 1000, (100, 300, 500, 1000)
BITS = 1 / math.log(2)
_COMPARED = "plug-in", "Miller–Madow", "polynomial", "private plug-in", "private polynomial, twin"


def entropy_of(p: NDArray[np.float64]) -> float:
    """Return the Shannon entropy of a distribution, in nats.

    Examples
    --------
    >>> entropy_of(np.array([0.5, 0.5, 0.0])) == math.log(2)
    True
    """
    return -float(p[p > 0] @ np.log(p[p > 0]))


def entropy_errors(
    *,
    trials: int,
    rng: np.random.Generator,
    sizes: Sequence[int] = ENTROPY_ITEMS,
    labels: int = ENTROPY_LABELS,
    epsilon: float = 1,
) -> Iterator[ErrorRow]:
    """Run Figure 2: entropy of samples from distributions over k labels, one item replaced.

    Without privacy: the plug-in value, Miller–Madow, and the polynomial with the parameters of Wu and Yang. Private
    estimators are the polynomial with the parameters of INSPECTRE, with noise of the exact sensitivity and with that of
    the authors' program ("published noise", taken over all counts, so that it is independent of the data); the
    polynomial with recommended parameters; and the plug-in value.
    """
    usual = PolynomialParameters.of_inspectre(labels)
    published = EntropyMechanism(epsilon, relation=SUBSTITUTE, alphabet_size=labels, polynomial=usual)
    recommended = EntropyMechanism(epsilon, relation=SUBSTITUTE, alphabet_size=labels)
    plug_in = EntropyMechanism(epsilon, relation=SUBSTITUTE, method="plug-in")
    miller_madow = EntropyMechanism(epsilon, relation=SUBSTITUTE, method="miller-madow")
    plain = Polynomial(labels)
    noise = simulated_noise(rng)
    for items in sizes:
        tables = {name: Errors() for name in DISTRIBUTIONS}
        scale = program_entropy_scale(published.statistic(items), usual.threshold) / epsilon
        for _ in range(trials):
            for name, p in distributions(labels, rng).items():
                profile = Profile.from_counts(rng.multinomial(items, p))
                truth = entropy_of(p)
                errors = tables[name]
                errors.add("plug-in", plug_in.statistic(items).of(profile) - truth)
                errors.add("Miller–Madow", miller_madow.statistic(items).of(profile) - truth)
                errors.add("polynomial", plain.statistic(items).of(profile) - truth)
                errors.add_private("private polynomial", published, profile, truth, noise, published=scale)
                errors.add_private("private polynomial, recommended", recommended, profile, truth, noise)
                errors.add_private("private plug-in", plug_in, profile, truth, noise)
        for name, errors in tables.items():
            yield from errors.rows("entropy", name, items, unit=BITS, over=_COMPARED)


def degree_errors(
    *, trials: int, rng: np.random.Generator, items: int, degrees: Sequence[int]
) -> Iterator[tuple[int, ErrorRow]]:
    """Run Figure 1: the private polynomial estimate over 2,000 labels, ε = 1, of each degree."""
    mechanisms = {degree: degree_mechanism(degree) for degree in degrees}
    noise = simulated_noise(rng)
    tables = {(name, degree): Errors() for name in DISTRIBUTIONS for degree in degrees}
    for _ in range(trials):
        for name, p in distributions(DEGREE_LABELS, rng).items():
            profile = Profile.from_counts(rng.multinomial(items, p))
            truth = entropy_of(p)
            for degree, mechanism in mechanisms.items():
                tables[name, degree].add_private("private polynomial", mechanism, profile, truth, noise, published=0.0)
    for (name, degree), errors in tables.items():
        for row in errors.rows("degree", name, items, unit=BITS):
            yield degree, row


def degree_mechanism(degree: int) -> EntropyMechanism:
    """Return the private polynomial estimate of Figure 1, of one degree.

    Examples
    --------
    >>> degree_mechanism(3).scale(1000) < degree_mechanism(16).scale(1000)
    True
    """
    usual = replace(PolynomialParameters.of_inspectre(DEGREE_LABELS), degree=degree)
    return EntropyMechanism(1, relation=SUBSTITUTE, alphabet_size=DEGREE_LABELS, polynomial=usual)


def exact_bias(name: str, statistic: LinearStatistic, items: int, labels: int) -> float:
    """Return the bias of an entropy estimate for samples of one of the test distributions, in nats.

    Under a Dirichlet prior it is the mean over distributions.

    Examples
    --------
    >>> from anonhist.properties.entropy import PlugIn
    >>> round(exact_bias("uniform", PlugIn().statistic(2), 2, 2), 4)  # half of the samples have both labels
    -0.3466
    """
    mean = float(expected_prevalences(name, items, labels) @ statistic.weights(np.arange(items + 1)))
    return mean - expected_entropy(name, labels)


@lru_cache(maxsize=16)
def expected_prevalences(name: str, items: int, labels: int) -> NDArray[np.float64]:
    """Return the expected number of labels with each count from 0 to n, for samples of a test distribution.

    Counts are binomial, under a symmetric Dirichlet prior beta-binomial.

    Examples
    --------
    >>> expected_prevalences("uniform", 2, 2).round(3).tolist()
    [0.5, 1.0, 0.5]
    """
    counts = np.arange(items + 1)
    if name in PRIORS:
        a = PRIORS[name]
        return np.asarray(labels * betabinom.pmf(counts, items, a, a * (labels - 1)))
    p = distributions(labels, np.random.default_rng(0))[name]
    each, times = np.unique(p, return_counts=True)
    return np.asarray(times @ binom.pmf(counts, items, each[:, None]))


def expected_entropy(name: str, labels: int) -> float:
    """Return the entropy of a test distribution; ``ψ(k·a + 1) − ψ(a + 1)`` on average under a Dirichlet prior.

    Examples
    --------
    >>> round(expected_entropy("Dirichlet 1", 2), 6)
    0.5
    """
    if name in PRIORS:
        a = PRIORS[name]
        return float(digamma(labels * a + 1) - digamma(a + 1))
    return entropy_of(distributions(labels, np.random.default_rng(0))[name])


def program_entropy_scale(statistic: LinearStatistic, threshold: int) -> float:
    """Return twice the largest step of weights up to the threshold; the authors' program takes it over observed counts.

    It leaves out the step across the threshold, so it is no bound on the sensitivity.
    """
    weights = statistic.weights(np.arange(threshold + 1))
    return 2 * float(np.abs(np.diff(weights)).max(initial=0.0))

"""Reproduction of the experiments of INSPECTRE (Acharya et al. 2018): errors of private and other estimators."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from anonhist.mechanisms.basis.noise import simulated_noise
from anonhist.mechanisms.estimators.entropy import EntropyMechanism, PolynomialParameters
from anonhist.mechanisms.estimators.support_coverage import SupportCoverageMechanism
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import Profile
from anonhist.properties.entropy.polynomial import Polynomial
from anonhist.properties.support_coverage.smoothed import SmoothedPoisson, poisson_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
    from anonhist.properties.linear import LinearStatistic

SUBSTITUTE = NeighboringRelation.SUBSTITUTE
DEGREE_LABELS = 2000
ENTROPY_LABELS, ENTROPY_ITEMS = 1000, (100, 300, 500, 1000)
COVERAGE_LABELS, COVERAGE_ITEMS, COVERAGE_REACH = 20_000, 10_000, (1, 2, 3, 5, 10)
COVERAGE_EPSILONS, TEXT_EPSILON = (1, 2, 10), 0.5
TEXTS, SHARES = ("hamlet", "surnames"), (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
_BITS, _ONE = 1 / math.log(2), Fraction(1)


@dataclass(frozen=True)
class ErrorRow:
    """The error of one estimator in one setting.

    Attributes
    ----------
    experiment
        ``"degree"`` or ``"entropy"`` (errors in bits), ``"coverage"`` (errors as a share of n·t) or ``"texts"``
        (errors in labels).
    data
        A distribution, or a text.
    x
        Number of items, ratio t of further draws to items, or share of the text.
    estimator
        Its name. "not cut" is the estimate before it is clipped to possible values, and "twin" is the same without
        noise: their squared errors differ by the noise alone.
    epsilon
        0 if it is not private.
    rmse, standard_error
        Root mean squared error over the trials, and the standard error of that.
    noise
        Standard deviation of the noise, predicted from its scale; 0 without noise.
    trials
        Number of trials.
    """

    experiment: str
    data: str
    x: float
    estimator: str
    epsilon: float
    rmse: float
    standard_error: float
    noise: float
    trials: int


class Errors:
    """Errors of several estimators in one setting, trial by trial."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, float], list[float]] = {}
        self._noise: dict[tuple[str, float], float] = {}

    def add(self, estimator: str, error: float, *, epsilon: float = 0, noise: float = 0.0) -> None:
        """Record one error, and the standard deviation of its noise."""
        self._errors.setdefault((estimator, epsilon), []).append(error)
        self._noise[estimator, epsilon] = noise

    def rows(self, experiment: str, data: str, x: float, *, unit: float) -> list[ErrorRow]:
        """Return one row per estimator, errors multiplied by ``unit``."""
        found = []
        for (estimator, epsilon), errors in self._errors.items():
            squares = (unit * np.array(errors)) ** 2
            rmse = math.sqrt(float(squares.mean()))
            spread = float(squares.std(ddof=1)) / math.sqrt(squares.size)
            error = spread / (2 * rmse) if rmse else 0.0
            noise = unit * self._noise[estimator, epsilon]
            found.append(ErrorRow(experiment, data, x, estimator, epsilon, rmse, error, noise, squares.size))
        return found


def distributions(labels: int, rng: np.random.Generator) -> Mapping[str, NDArray[np.float64]]:
    """Return the test distributions; those from Dirichlet priors are drawn anew."""
    ranks = np.arange(1.0, labels + 1)
    shapes = {
        "uniform": np.ones(labels),
        "two steps": np.where(ranks <= labels // 2, 1.0, 3.0),
        "Zipf 1/2": ranks**-0.5,
        "Zipf 1": 1 / ranks,
        "Dirichlet 1": rng.gamma(1.0, size=labels),
        "Dirichlet 1/2": rng.gamma(0.5, size=labels),
    }
    return {name: shape / shape.sum() for name, shape in shapes.items()}


def entropy_errors(
    *, trials: int, rng: np.random.Generator, sizes: Sequence[int] = ENTROPY_ITEMS
) -> Iterator[ErrorRow]:
    """Run Figure 2: entropy of samples from distributions over 1,000 labels, ε = 1, one item replaced.

    Private estimators are the polynomial with the published parameters, with our noise and with noise of the published
    scale (taken over all counts, so that it is independent of the data); the polynomial with recommended parameters;
    and the plug-in value.
    """
    k = ENTROPY_LABELS
    published = EntropyMechanism(
        _ONE, relation=SUBSTITUTE, alphabet_size=k, polynomial=PolynomialParameters.of_inspectre(k)
    )
    recommended = EntropyMechanism(_ONE, relation=SUBSTITUTE, alphabet_size=k)
    plug_in = EntropyMechanism(_ONE, relation=SUBSTITUTE, method="plug-in")
    miller_madow = EntropyMechanism(_ONE, relation=SUBSTITUTE, method="miller-madow")
    noise = simulated_noise(rng)
    for items in sizes:
        tables = {name: Errors() for name in distributions(2, rng)}
        scale = _published_entropy_scale(published.statistic(items), PolynomialParameters.of_inspectre(k).threshold)
        for _ in range(trials):
            for name, p in distributions(k, rng).items():
                profile = Profile.from_counts(rng.multinomial(items, p))
                truth = -float(p[p > 0] @ np.log(p[p > 0]))
                errors = tables[name]
                errors.add("plug-in", plug_in.statistic(items).of(profile) - truth)
                errors.add("Miller–Madow", miller_madow.statistic(items).of(profile) - truth)
                errors.add("polynomial", Polynomial(k).point(profile).value - truth)
                _private(errors, "private polynomial", published, profile, truth, noise, published=scale)
                _private(errors, "private polynomial, recommended", recommended, profile, truth, noise)
                _private(errors, "private plug-in", plug_in, profile, truth, noise)
        for name, errors in tables.items():
            yield from errors.rows("entropy", name, items, unit=_BITS)


def degree_errors(
    *, trials: int, rng: np.random.Generator, items: int, factors: Sequence[float]
) -> Iterator[tuple[float, ErrorRow]]:
    """Run Figure 1: the private polynomial estimate over 2,000 labels, ε = 1, of degree L = ⌈factor·ln k⌉ each."""
    k = DEGREE_LABELS
    usual = PolynomialParameters.of_inspectre(k)
    mechanisms = {
        factor: EntropyMechanism(
            _ONE,
            relation=SUBSTITUTE,
            alphabet_size=k,
            polynomial=replace(usual, degree=math.ceil(factor * math.log(k))),
        )
        for factor in factors
    }
    noise = simulated_noise(rng)
    tables = {(name, factor): Errors() for name in distributions(2, rng) for factor in factors}
    for _ in range(trials):
        for name, p in distributions(k, rng).items():
            profile = Profile.from_counts(rng.multinomial(items, p))
            truth = -float(p[p > 0] @ np.log(p[p > 0]))
            for factor, mechanism in mechanisms.items():
                _private(tables[name, factor], "private polynomial", mechanism, profile, truth, noise, published=0.0)
    for (name, factor), errors in tables.items():
        for row in errors.rows("degree", name, items, unit=_BITS):
            yield factor, row


def coverage_errors(
    *,
    trials: int,
    rng: np.random.Generator,
    reaches: Sequence[float] = COVERAGE_REACH,
    epsilons: tuple[float, ...] = COVERAGE_EPSILONS,
) -> Iterator[ErrorRow]:
    """Run Figure 3: labels in n·(1 + t) draws, from samples of 10,000 over 20,000 labels, Poisson smoothing."""
    n = COVERAGE_ITEMS
    noise = simulated_noise(rng)
    for reach in reaches:
        draws = round(n * (1 + reach))
        tables = {name: Errors() for name in distributions(2, rng)}
        for _ in range(trials):
            for name, p in distributions(COVERAGE_LABELS, rng).items():
                profile = Profile.from_counts(rng.multinomial(n, p))
                truth = -float(np.expm1(draws * np.log1p(-p)).sum())
                _coverage(tables[name], profile, draws, truth, epsilons, noise)
        for name, errors in tables.items():
            yield from errors.rows("coverage", name, reach, unit=1 / (n * reach))


def text_errors(
    *, trials: int, rng: np.random.Generator, texts: Sequence[str] = TEXTS, shares: Sequence[float] = SHARES
) -> Iterator[ErrorRow]:
    """Run Figures 4 and 5: labels of a whole text from a part of it, ε = 1/2.

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
                _coverage(errors, profile, whole.n, float(whole.num_labels), (TEXT_EPSILON,), noise)
            yield from errors.rows("texts", text, share, unit=1.0)


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


def _coverage(
    errors: Errors, profile: Profile, draws: int, truth: float, epsilons: tuple[float, ...], noise: Noise
) -> None:
    errors.add("smoothed Good–Toulmin", SmoothedPoisson(draws).point(profile).value - truth)
    for epsilon in epsilons:
        mechanism = SupportCoverageMechanism(epsilon, relation=SUBSTITUTE, draws=draws, method="smoothed-poisson")
        published = published_coverage_scale(profile.n, draws) / epsilon
        _private(errors, "private", mechanism, profile, truth, noise, published=published)
        recommended = SupportCoverageMechanism(epsilon, relation=SUBSTITUTE, draws=draws)
        _private(errors, "private, recommended", recommended, profile, truth, noise)


def _private(
    errors: Errors,
    title: str,
    mechanism: StatisticMechanism,
    profile: Profile,
    truth: float,
    noise: Noise,
    *,
    published: float | None = None,
) -> None:
    """Record the error of a private estimate; with a published scale, also with that scale and without noise.

    The published noise is ours, rescaled, so that the two do not differ by chance.
    """
    items, epsilon = profile.n, float(mechanism.epsilon)
    noised = mechanism.release_with(profile, noise)
    root = math.sqrt(2)
    value = mechanism.clip(noised.value, items)
    errors.add(title, value - truth, epsilon=epsilon, noise=root * noised.scale)
    if published is None:
        return
    twin = mechanism.statistic(items).of(profile)
    errors.add(f"{title}, not cut", noised.value - truth, epsilon=epsilon, noise=root * noised.scale)
    errors.add(f"{title}, twin", twin - truth, epsilon=epsilon)
    errors.add(f"{title}, without noise", mechanism.clip(twin, items) - truth, epsilon=epsilon)
    loud = mechanism.clip(twin + (noised.value - twin) * published / noised.scale, items)
    errors.add(f"{title}, published noise", loud - truth, epsilon=epsilon, noise=root * published)


def _published_entropy_scale(statistic: LinearStatistic, threshold: int) -> float:
    """Return twice the largest step of weights up to the threshold; published code takes it over observed counts."""
    weights = statistic.weights(np.arange(threshold + 1))
    return 2 * float(np.abs(np.diff(weights)).max(initial=0.0))


def published_coverage_scale(items: int, draws: int) -> float:
    """Return ``2·(1 + e^(r·(t−1)))``, the published noise scale at ε = 1; 4 up to t = 1.

    Examples
    --------
    >>> published_coverage_scale(1000, 2000)
    4.0
    """
    reach = (draws - items) / items
    return 2 * (1 + math.exp(poisson_rate(items, reach) * max(reach - 1, 0.0)))

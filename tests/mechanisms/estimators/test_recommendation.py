"""Recommendations: predicted errors are those of simulation, and what is recommended has the least."""

import math

import numpy as np
import pytest

from anonhist.mechanisms.estimators.entropy import EntropyMechanism, PolynomialParameters, recommended_polynomial
from anonhist.mechanisms.estimators.statistic_mechanism import mean_error, populations
from anonhist.mechanisms.estimators.support import SupportCoverageMechanism, recommended_smoothing
from anonhist.privacy import NeighboringRelation
from anonhist.profiles import Profile
from anonhist.properties.entropy import PlugIn
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.sampling import SampleDistribution

SUBSTITUTE = NeighboringRelation.SUBSTITUTE


@pytest.mark.slow
def test_predicted_errors_are_those_of_samples() -> None:
    rng = np.random.default_rng(1)
    items, statistic = 400, PlugIn().statistic(400)
    for population in populations(300):
        p = np.repeat(population.probabilities, population.labels.astype(int))
        truth = -float(p @ np.log(p))
        assert population.entropy == pytest.approx(truth)
        assert population.coverage(700) == pytest.approx(float((1 - (1 - p) ** 700).sum()))
        drawn = [statistic.of(Profile.from_counts(rng.multinomial(items, p / p.sum()))) for _ in range(300)]
        found = float(np.mean((np.array(drawn) - truth) ** 2))
        assert mean_error(statistic, [(SampleDistribution(population, items), truth)], 0.0) ** 2 == pytest.approx(
            found, rel=0.1
        )


def test_bias_spread_and_noise_all_count() -> None:
    (uniform, *_) = populations(100)
    distribution = SampleDistribution(uniform, 100)
    reference = (distribution, 100.0)

    def seen_statistic(weight: float) -> LinearStatistic:
        return LinearStatistic(lambda counts: weight * (counts > 0), head=1)

    mean, variance = distribution.moments(seen_statistic(1.0).weights)
    for weight, noise in ((0.0, 0.0), (1.0, 0.0), (1.0, 50.0), (1.5, 7.0)):
        expected = math.sqrt((weight * mean - 100) ** 2 + weight**2 * variance + noise)
        assert mean_error(seen_statistic(weight), [reference], noise) == pytest.approx(expected)
    # Errors are averaged, not their squares.
    both = [(distribution, mean), (distribution, 3 * mean)]
    expected = (math.sqrt(variance) + math.sqrt(4 * mean**2 + variance)) / 2
    assert mean_error(seen_statistic(1.0), both, 0.0) == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("items", [100, 1000, 30_000])
def test_recommended_polynomials_promise_no_more_error_than_published_ones(items: int) -> None:
    mechanism = EntropyMechanism(1, relation=SUBSTITUTE, alphabet_size=1000)
    public = PolynomialParameters.of_inspectre(1000)

    def error(parameters: PolynomialParameters) -> float:
        statistic = parameters.statistic(items, 1000)
        references = [(SampleDistribution(each, items), each.entropy) for each in populations(1000)]
        return mean_error(statistic, references, mechanism.noise_variance(statistic, items))

    assert error(recommended_polynomial(mechanism, items)) <= error(public)


@pytest.mark.slow
def test_more_privacy_takes_smoother_weights() -> None:
    scales = []
    for epsilon in ("10", "0.01"):
        mechanism = SupportCoverageMechanism(epsilon, relation=SUBSTITUTE, draws=30_000)
        scales.append(mechanism.scale(5000) * float(mechanism.epsilon))
    assert scales[1] < 0.7 * scales[0]
    assert recommended_smoothing(SupportCoverageMechanism(1, draws=1500), 1000).method


def test_references_are_distributions_of_the_stated_shapes() -> None:
    for labels in (1, 2, 3, 17, 1000, 10**7):
        uniform, steps, half, zipf = populations(labels)
        for population in (uniform, steps, half, zipf):
            assert float(population.probabilities @ population.labels) == pytest.approx(1)
            assert population.labels.sum() == labels
        assert np.ptp(uniform.probabilities) == 0
        if labels >= 2:
            assert steps.probabilities.max() == pytest.approx(3 * steps.probabilities.min())
            assert zipf.probabilities[0] / zipf.probabilities[1] == pytest.approx(
                (half.probabilities[0] / half.probabilities[1]) ** 2
            )

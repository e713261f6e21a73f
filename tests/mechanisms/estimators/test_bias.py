"""The largest bias of a linear statistic: no distribution has more, and one has nearly as much."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import anonhist as ah
from anonhist.mechanisms.estimators.weights import largest_bias, new_labels, surprise
from anonhist.profiles import Profile
from anonhist.properties.entropy import Jackknife, Polynomial
from anonhist.properties.estimate import Holds
from anonhist.properties.estimator import LinearStatistic
from anonhist.properties.sampling import Assemblage, SampleDistribution
from anonhist.properties.unseen_labels import GoodToulmin
from anonhist.randomness import RandomSource
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ITEMS, LABELS = 1000, 200
SEEN = LinearStatistic(lambda counts: (counts > 0) * 1.0, head=1)
POPULATIONS = {
    "uniform": np.ones(LABELS),
    "two-step": np.repeat([30.0, 1.0], [20, 180]),
    "geometric": 0.95 ** np.arange(LABELS),
    "half missing": np.repeat([1.0, 1e-9], 100),
}
STATISTICS: dict[str, tuple[LinearStatistic, Callable[[np.ndarray], np.ndarray]]] = {
    "jackknife": (Jackknife().statistic(ITEMS), surprise(ITEMS)),
    "polynomial": (Polynomial(alphabet_size=LABELS).statistic(ITEMS), surprise(ITEMS)),
    "observed": (SEEN, new_labels(math.inf)),
    "good-toulmin": (GoodToulmin(1800).statistic(ITEMS), new_labels(1.8)),
}


@each_of("name", STATISTICS)
def test_no_distribution_has_a_larger_bias(name: str) -> None:
    statistic, truth = STATISTICS[name]
    known = largest_bias(statistic, truth, ITEMS, alphabet_size=LABELS)
    any_number = largest_bias(statistic, truth, ITEMS, alphabet_size=None)
    for weights in POPULATIONS.values():
        shares = weights / weights.sum()
        labels = np.ones(LABELS)
        mean, _ = SampleDistribution(Assemblage(shares, labels), ITEMS).moments(statistic.weights)
        # The statistic counts labels that do not exist by its first weight; here all k exist.
        off = mean - float(truth(ITEMS * shares).sum())
        # The bounds are read off a grid, to about a hundredth.
        assert -1.02 * known[0] - 1e-9 <= off <= 1.02 * known[1] + 1e-9
        if statistic.alphabet_size is None:
            assert -1.02 * any_number[0] - 1e-9 <= off <= 1.02 * any_number[1] + 1e-9


def test_the_bound_is_reached() -> None:
    # Of k labels seen n/k times on average each, a share e^(−n/k) is missed: no other distribution misses more.
    low, high = largest_bias(SEEN, new_labels(math.inf), ITEMS, alphabet_size=LABELS, least=ITEMS / LABELS)
    assert (low, high) == (pytest.approx(LABELS * math.exp(-ITEMS / LABELS), rel=1e-3), pytest.approx(0, abs=1e-9))


Private = Callable[[Profile, RandomSource], ah.Estimate]


@pytest.mark.slow
@each_of(
    ("estimate", "holds"),
    [
        (lambda p, s: ah.private.entropy(p, epsilon=1, source=s), Holds.AT_LEAST),
        (lambda p, s: ah.private.entropy(p, epsilon=1, alphabet_size=LABELS, source=s), Holds.BOTH),
        (lambda p, s: ah.private.support_size(p, epsilon=1, source=s), Holds.AT_LEAST),
    ],
)
def test_private_estimates_say_what_holds(estimate: Private, holds: Holds) -> None:
    # At a true rate of 0.95 fewer than 45 of 60 have a probability below 1e-6.
    rng, held = np.random.default_rng(), 0
    shares = POPULATIONS["two-step"] / POPULATIONS["two-step"].sum()
    entropy = -float(shares @ np.log(shares))
    for seed in range(60):
        found = estimate(Profile.from_counts(rng.multinomial(ITEMS, shares)), SeededSource(seed))
        truth = entropy if found.unit == "nats" else LABELS
        assert found.statement.holds is holds
        held += found.interval[0] <= truth <= found.interval[1]
    assert held >= 45


def test_the_labels_seen_need_no_room_for_sampling() -> None:
    # 225 labels of 21,457 items, one replaced by another: the noise alone, e^(−|x|) at its quantile of 95%.
    profile = Profile.from_prevalences({1: 25, 107: 199, 139: 1})
    substitute = ah.mechanisms.NeighboringRelation.SUBSTITUTE
    found = ah.private.support_size(profile, epsilon=1, relation=substitute, source=SeededSource(3))
    assert found.value - found.interval[0] == pytest.approx(-math.log(0.05), rel=1e-6)

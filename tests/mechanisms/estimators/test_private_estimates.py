"""Private estimates: what they come to without noise, between which ends, and how their errors are told."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
from anonhist.mechanisms.estimators.entropy import (
    EntropyMechanism,
    PolynomialParameters,
    PowerSumMechanism,
    UniformityMechanism,
)
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support import (
    SampleCoverageMechanism,
    SupportCoverageMechanism,
    SupportSizeMechanism,
)
from anonhist.mechanisms.noise import exact_noise
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.by_name import PROPERTIES
from anonhist.properties.entropy import Polynomial
from anonhist_testing.cases import each_of
from anonhist_testing.estimators import MECHANISMS
from anonhist_testing.sources import SeededSource

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM = PrivacyUnit.item()
PROFILE = Profile.from_prevalences({1: 400, 2: 150, 3: 60, 9: 20, 200: 2})
CERTAIN = 10**9

# What private estimates are of, with the same method and settings.
TWINS: dict[str, dict[str, Any]] = {
    "entropy": {"method": "jackknife"},
    "support-size": {"method": "observed"},
    "support-coverage": {"draws": 3000, "method": "smoothed-binomial-b"},
    "sample-coverage": {},
    "renyi-entropy": {"order": 2},
    "power-sum": {"order": 3},
    "distance-to-uniformity": {"alphabet_size": 1000},
}
_UNLIKE = {"renyi-entropy": {"method": "unbiased"}}


@pytest.mark.slow
@each_of("relation", NeighboringRelation)
@each_of("name", PRIVATE_PROPERTIES)
def test_without_noise_to_speak_of_they_are_the_estimates_themselves(name: str, relation: NeighboringRelation) -> None:
    options = TWINS[name]
    private = PRIVATE_PROPERTIES[name].estimate(
        PROFILE, epsilon=CERTAIN, relation=relation, source=SeededSource(3), **options
    )
    plain = PROPERTIES[name].estimate(PROFILE, **{**options, **_UNLIKE.get(name, {})})
    assert private.value == pytest.approx(plain.value, rel=1e-6)
    assert private.unit == plain.unit
    assert private.guarantee is not None
    assert (private.guarantee.epsilon, private.guarantee.relation) == (CERTAIN, relation)


def test_methods_with_an_alphabet_are_their_statistics() -> None:
    size = ah.private.support_size(PROFILE, epsilon=CERTAIN, alphabet_size=5000, relation=SUBSTITUTE)
    assert size.value == pytest.approx(ah.support_size(PROFILE, alphabet_size=5000).value, rel=1e-6)
    covered = SupportSizeMechanism(CERTAIN, relation=SUBSTITUTE, method="coverage", alphabet_size=2000)
    draws = math.ceil(2000 * math.log(30))
    recommended = ah.private.support_coverage(PROFILE, epsilon=CERTAIN, draws=draws, relation=SUBSTITUTE)
    assert covered.estimate(PROFILE).value == pytest.approx(recommended.value, rel=1e-6)
    parameters = PolynomialParameters(7, 20.0, 9)
    entropy = EntropyMechanism(CERTAIN, relation=SUBSTITUTE, alphabet_size=5000, polynomial=parameters)
    statistic = Polynomial(alphabet_size=5000, degree=7, interval=20.0, threshold=9).statistic(PROFILE.n)
    assert entropy.estimate(PROFILE).value == pytest.approx(statistic.of(PROFILE), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "least", "most"),
    [
        (EntropyMechanism("0.01", alphabet_size=50, polynomial=PolynomialParameters(3, 8.0, 4)), 0.0, math.log(50)),
        (EntropyMechanism("0.01", method="plug-in"), 0.0, math.inf),
        (SupportSizeMechanism("0.01", alphabet_size=50), 1.0, 50.0),
        (SupportSizeMechanism("0.01", method="observed"), 1.0, math.inf),
        (SupportCoverageMechanism("0.01", draws=30), 1.0, 30.0),
        (SupportCoverageMechanism("0.01", draws=30, alphabet_size=9), 1.0, 9.0),
        (SampleCoverageMechanism("0.01"), 0.0, 1.0),
        (PowerSumMechanism("0.01", order=2, alphabet_size=50), 1 / 50, 1.0),
        (UniformityMechanism("0.01", alphabet_size=50), 0.0, 2 * 49 / 50),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, StatisticMechanism) else "",
)
def test_values_and_intervals_stay_between_the_public_ends(
    mechanism: StatisticMechanism, least: float, most: float
) -> None:
    profile = Profile.from_counts([3, 2, 1, 1])
    found = [mechanism.estimate(profile, source=SeededSource(seed)) for seed in range(30)]
    for estimate in found:
        low, high = estimate.interval
        assert least <= low <= estimate.value <= high <= most
    values = {estimate.value for estimate in found}
    # So much noise reaches both ends, where there are two.
    assert least in values
    assert most in values or most == math.inf


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_parts_are_the_noise_and_at_most_the_sampling(relation: NeighboringRelation) -> None:
    mechanism = EntropyMechanism(1, ITEM, relation, method="plug-in")
    found = mechanism.estimate(PROFILE, source=SeededSource(1))
    parts = dict(found.parts)
    assert math.hypot(*parts.values()) == pytest.approx(found.standard_error)
    noised = mechanism.release_with(PROFILE, exact_noise(SeededSource(1)))
    assert parts["privacy noise"] == pytest.approx(math.sqrt(2) * noised.scale)
    assert noised.scale == pytest.approx(mechanism.scale(noised.items))
    # √n·Δ/2, and what one item more does times the standard deviation of the noise on n, of rate 1/3.
    replaced = EntropyMechanism(1, ITEM, SUBSTITUTE, method="plug-in").scale(noised.items)
    assert parts["sampling, at most"] == pytest.approx(math.sqrt(noised.items) * replaced / 2, rel=1e-3)
    on_items = parts.get("privacy noise on the number of items, at most")
    if relation is SUBSTITUTE:
        assert on_items is None
    else:
        ratio = math.exp(-1 / 3)
        assert on_items == pytest.approx(replaced / 2 * math.sqrt(2 * ratio) / (1 - ratio), rel=1e-3)


def test_intervals_hold_at_least_the_noise() -> None:
    mechanism = SampleCoverageMechanism(1, relation=SUBSTITUTE)
    found = mechanism.estimate(PROFILE, level=0.9, source=SeededSource(1))
    low, high = found.interval
    noise, sampling = mechanism.scale(PROFILE.n) * math.log(10), dict(found.parts)["sampling, at most"]
    assert (high - low) / 2 == pytest.approx(math.hypot(noise, 1.6448536 * sampling), rel=1e-6)
    assert found.level == 0.9


@pytest.mark.slow
def test_intervals_hold_the_truth() -> None:
    # Of 300 samples, at a true rate of 0.95 fewer than 265 happen with a probability below 1e-5.
    rng = np.random.default_rng(3)
    p = 1 / np.arange(1.0, 201.0)
    p /= p.sum()
    truth = -float(p @ np.log(p))
    held = 0
    for seed in range(300):
        profile = Profile.from_counts(rng.multinomial(2000, p))
        estimate = ah.private.entropy(profile, epsilon=1, alphabet_size=200, source=SeededSource(seed))
        held += estimate.interval[0] <= truth <= estimate.interval[1]
    assert held >= 265


@pytest.mark.slow
def test_a_private_interval_is_no_wider_than_it_need_be_for_the_noise_alone() -> None:
    # 1,000,000 items: sampling matters little, and the interval of the noise holds its value at the stated rate.
    profile = Profile.from_counts([500_000, 300_000, 200_000])
    mechanism = SupportSizeMechanism("0.05", method="observed", relation=SUBSTITUTE)
    noise = mechanism.scale(profile.n)
    values = np.array([mechanism.release_with(profile, exact_noise(SeededSource(seed))).value for seed in range(400)])
    held = int((np.abs(values - 3) <= -noise * math.log1p(-0.95)).sum())
    assert 355 <= held <= 398


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@each_of("parts", [(), (1,), (1, 1), (2**62,), (2**61, 1, 1)])
@each_of("relation", NeighboringRelation)
def test_small_and_huge_data_give_numbers(name: str, parts: tuple[int, ...], relation: NeighboringRelation) -> None:
    profile = Profile.from_counts(parts)
    found = MECHANISMS[name](1, ITEM, relation).estimate(profile, source=SeededSource(2))
    low, high = found.interval
    assert low <= found.value <= high
    assert math.isfinite(found.value)
    assert math.isfinite(found.standard_error)


def test_a_number_of_items_beyond_all_is_taken_as_the_largest() -> None:
    mechanism = SampleCoverageMechanism(1)
    profile = Profile([2**62], [1])
    noised = mechanism.release_with(profile, lambda _, size: np.full(size, 2**62, dtype=np.int64))
    assert noised.items == 2**63 - 1


@pytest.mark.parametrize("make", MECHANISMS.values(), ids=list(MECHANISMS))
def test_labels_are_not_protected_this_way(make: Callable[..., StatisticMechanism]) -> None:
    with pytest.raises(UsageError, match="make a release: it has the number of labels with each count"):
        make(1, PrivacyUnit.label(max_count=5))


def test_the_unit_is_that_of_the_data_unless_more_is_asked_for() -> None:
    users = PROFILE.with_unit(PrivacyUnit.user(max_items=3))
    assert ah.private.entropy(users, epsilon=1).guarantee.unit == PrivacyUnit.user(max_items=3)
    more = ah.private.entropy(users, epsilon=1, unit=PrivacyUnit.user(max_items=7))
    assert more.guarantee.unit == PrivacyUnit.user(max_items=7)
    with pytest.raises(UsageError, match="protects less"):
        ah.private.entropy(users, epsilon=1, unit=PrivacyUnit.item())


@each_of(
    ("call", "said"),
    [
        (lambda: ah.private.entropy(PROFILE, epsilon=0), "greater than zero"),
        (lambda: ah.private.entropy(PROFILE, epsilon=1, method="chao-shen"), "no method 'chao-shen'"),
        (lambda: ah.private.entropy(PROFILE, epsilon=1, method="polynomial"), "needs alphabet_size"),
        (lambda: ah.private.entropy(PROFILE, epsilon=1, level=1), "between 0 and 1"),
        (lambda: ah.private.entropy(PROFILE, epsilon=1, base=1), "base must be"),
        (lambda: ah.private.support_size(PROFILE, epsilon=1, method="chebyshev"), "needs alphabet_size"),
        (lambda: ah.private.support_coverage(PROFILE, epsilon=1, draws=0), "draws must be"),
        (lambda: ah.private.renyi_entropy(PROFILE, epsilon=1, order=1), "order must be"),
        (lambda: ah.private.power_sum(PROFILE, epsilon=1, order=2.5), "order must be"),
        (lambda: ah.private.distance_to_uniformity(PROFILE, epsilon=1, alphabet_size=0), "alphabet_size must be"),
        (lambda: ah.private.sample_coverage(PROFILE, epsilon=1, known_items=0), "known_items must be"),
        (lambda: ah.private.entropy([3, 1], epsilon=1), "A profile is needed"),
        (lambda: ah.private.entropy(ah.release(PROFILE, epsilon=1), epsilon=1), "already a release"),
    ],
)
def test_what_is_impossible_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        call()


@pytest.mark.slow
def test_recommended_parameters_err_less_than_published_ones_where_those_are_poor() -> None:
    # Ten items a label: the published interval ends far below the probabilities.
    rng = np.random.default_rng(9)
    k, n = 300, 3000
    published = EntropyMechanism(
        1, relation=SUBSTITUTE, alphabet_size=k, polynomial=PolynomialParameters.of_inspectre(k)
    )
    recommended = EntropyMechanism(1, relation=SUBSTITUTE, alphabet_size=k)
    errors: dict[str, list[float]] = {"published": [], "recommended": []}
    for seed in range(40):
        profile = Profile.from_counts(rng.multinomial(n, np.full(k, 1 / k)))
        for name, mechanism in (("published", published), ("recommended", recommended)):
            noised = mechanism.release_with(profile, exact_noise(SeededSource(seed)))
            errors[name].append((noised.value - math.log(k)) ** 2)
    assert np.mean(errors["recommended"]) < 0.5 * np.mean(errors["published"])


def test_known_items_are_taken_at_their_word_and_the_promise_holds_for_all_data() -> None:
    right = SampleCoverageMechanism(1, known_items=PROFILE.n)
    assert right.guarantee.spending == ()
    assert right.scale(PROFILE.n) == pytest.approx(SampleCoverageMechanism(1).scale(PROFILE.n) * Fraction(2, 3))
    wrong = SampleCoverageMechanism(CERTAIN, known_items=PROFILE.n // 2)
    # 400 of so many fewer items are singletons, as far as it knows.
    assert wrong.estimate(PROFILE).value != pytest.approx(1 - 400 / PROFILE.n, abs=0.01)


@each_of("items", [1, 3, 7, 1000, 10**7])
def test_statistics_that_n_fixes_are_released_too(items: int) -> None:
    # One draw shows one label, whatever the data: what is left of the weights is rounding.
    for relation in NeighboringRelation:
        mechanism = SupportCoverageMechanism(1, ITEM, relation, draws=1)
        for seed in range(10):
            found = mechanism.estimate(Profile.from_counts([items]), source=SeededSource(seed))
            assert found.value == 1.0


@each_of("order", [2, 3])
@each_of("exponent", [0.0, 1.0])
def test_sampling_of_power_sums_is_bounded_by_what_was_released(order: int, exponent: float) -> None:
    p = np.arange(1.0, 301.0) ** -exponent
    p /= p.sum()
    rng = np.random.default_rng(6)
    mechanism = PowerSumMechanism(100, relation=SUBSTITUTE, order=order)
    weights = mechanism.weights(3000)
    values = [weights.grid * weights.value(Profile.from_counts(rng.multinomial(3000, p))) for _ in range(300)]
    bound = mechanism.sampling_error(weights, float((p**order).sum()), 0.0)
    spread = float(np.std(values))
    # Chance moves the spread of 300 samples by some 4%.
    assert 0.85 * spread <= bound
    # A uniform distribution has hardly any spread of its own, which the sum alone does not say.
    assert bound <= (4 if exponent else 30) * spread
    assert bound < 0.5 * StatisticMechanism.sampling_error(mechanism, weights, 0.5, 0.0)
    # Noise may hide a larger sum.
    assert mechanism.sampling_error(weights, 0.001, 0.01) > 2 * mechanism.sampling_error(weights, 0.001, 0.0)


def test_the_interval_of_a_private_collision_entropy_is_of_use() -> None:
    profile = Profile.from_prevalences({1: 10**6, 100: 10**4, 10**5: 20})
    found = ah.private.renyi_entropy(profile, epsilon=1)
    assert found.interval[1] - found.interval[0] < 0.1


@pytest.mark.slow
def test_what_is_cut_keeps_its_interval_and_says_why() -> None:
    # 500 singletons cannot come from two labels.
    found = ah.private.entropy(Profile([1], [500]), epsilon=1, alphabet_size=2, relation=SUBSTITUTE)
    low, high = found.interval
    assert found.value == high == pytest.approx(math.log(2))
    assert low < 0.6
    assert any("far outside the possible range" in warning for warning in found.warnings)
    assert ah.private.entropy(Profile([1], [500]), epsilon=1, alphabet_size=10**4).warnings == ()


def test_rarefaction_beyond_the_items_says_what_was_taken_instead() -> None:
    found = ah.private.support_coverage(PROFILE, epsilon=1, draws=5000, method="rarefaction", relation=SUBSTITUTE)
    assert found.warnings
    assert found.warnings[0].endswith(f"{found.method.removeprefix('private ')} was used.")
    assert ah.private.support_coverage(PROFILE, epsilon=1, draws=50, method="rarefaction").warnings == ()

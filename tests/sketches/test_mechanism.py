"""What a release remembers of its sketch: it is read, and simulated, exactly as it came about."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.sketches import DomainSketch, Isotonic, ThreeTap
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, Prevalences, SmoothDecoder
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.release import SketchMechanism, noisy
from anonhist_testing.sources import SeededSource

USER = PrivacyUnit.user(max_items=2)
# Noise that is never seen: p = e^(−100).
QUIET = NoiseDistribution.of([(Fraction(100), Fraction(1))])


@dataclass(frozen=True)
class Plain(Decoder):
    """Takes counters for counts."""

    name: ClassVar[str] = "plain"

    def _decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        del setting
        return Prevalences(observed.values, observed.numbers.astype(np.float64))


@dataclass(frozen=True)
class Moved(Plain, SmoothDecoder):
    """Reads simulations one count higher."""

    def _fit(self, *_: object) -> Prevalences:
        raise AssertionError

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        del rng
        return Prevalences(observed.values + 1, self.decode(observed, setting).numbers)


def _mechanism(**given: Any) -> SketchMechanism:
    decoder: Decoder = given.pop("decoder", Plain())
    distribution: NoiseDistribution = given.pop("distribution", QUIET)
    settings: dict[str, Any] = {
        "counters": 1000,
        "domain_size": None,
        "sampling_rate": Fraction(1),
        "setting": CounterSetting(distribution, is_hashed=given.get("domain_size") is None),
        "decoder": decoder,
        "guarantee": Guarantee(USER, NeighboringRelation.ADD_OR_REMOVE, Fraction(1)),
    }
    return SketchMechanism(**settings | given)


def _runs(mechanism: SketchMechanism, profile: Profile, size: int) -> list[Profile]:
    return mechanism.simulate(profile, size=size, rng=np.random.default_rng(7))


def _check_moments(found: list[int], mean: float, variance: float) -> None:
    """Means within 5 standard errors, variances within 5 of normal numbers' (2 in a million fail of either)."""
    assert np.mean(found) == pytest.approx(mean, abs=5 * (variance / len(found)) ** 0.5)
    assert np.var(found) == pytest.approx(variance, rel=5 * (2 / len(found)) ** 0.5)


def test_a_domain_is_simulated_label_by_label() -> None:
    profile = Profile([1, 5, 2**61], [300, 20, 1], unit=USER)
    (run,) = _runs(_mechanism(domain_size=1000), profile, 1)
    assert run == profile


@pytest.mark.slow
def test_a_sample_of_a_domain_is_one_without_replacement() -> None:
    profile = Profile([1, 2], [400, 300])
    mechanism = _mechanism(counters=100, domain_size=1000, sampling_rate=Fraction(1, 9))
    runs = _runs(mechanism, profile, 400)
    for count, share in ((1, 0.4), (2, 0.3)):
        # 10 times a hypergeometric number.
        variance = 100 * 100 * share * (1 - share) * 900 / 999
        _check_moments([run.prevalence(count) for run in runs], 1000 * share, variance)


def test_a_sample_of_labels_that_all_occur_has_all_labels_of_the_domain() -> None:
    # 52 labels are sampled of 150, which is not what the share says: each stands for 150/52.
    labels = [str(number) for number in range(150)]
    sketch = DomainSketch(alphabet=labels, epsilon=50, sampling_rate="1/3", source=SeededSource(7))
    sketch.update(labels)
    assert sketch.addresses.size != 50
    release = sketch.reconstruct("three-tap", simulations=2)
    assert release.profile == Profile([1], [150])
    assert release.k_plus(1).standard_error == 0


@pytest.mark.slow
def test_hashed_labels_meet_in_counters() -> None:
    profile = Profile([1], [100])
    runs = _runs(_mechanism(counters=50), profile, 400)
    assert {run.n for run in runs} == {100}
    # Of 50 counters those without any of 100 labels: mean and variance of the occupancy problem.
    none, two = (1 - 1 / 50) ** 100, (1 - 2 / 50) ** 100
    variance = 50 * none + 50 * 49 * two - (50 * none) ** 2
    _check_moments([run.num_labels for run in runs], 50 * (1 - none), variance)


def test_hashed_labels_are_sampled_one_by_one() -> None:
    mechanism = _mechanism(counters=2**16, sampling_rate=Fraction(1, 4))
    runs = _runs(mechanism, Profile([3], [200]), 50)
    # 4 times a binomial number; two labels meet in one run of 50.
    _check_moments([run.k_plus(1) for run in runs], 200, 16 * 200 * 0.25 * 0.75)


def test_huge_counts_meet_without_wrapping_around() -> None:
    (run,) = _runs(_mechanism(counters=1), Profile([2**61], [3]), 1)
    assert run == Profile([3 * 2**61], [1], unit=USER)


def test_simulations_are_read_as_the_decoder_rereads() -> None:
    profile = Profile([4], [10], unit=USER)
    mechanism = _mechanism(domain_size=1000, decoder=Moved())
    assert mechanism.read(Counters(np.array([0, 4]), np.array([990, 10])))[0] == profile
    (run,) = _runs(mechanism, profile, 1)
    assert run == Profile([1, 5], [990, 10], unit=USER)


@pytest.mark.parametrize(("places", "number"), [(30_000, 3), (2, 50_000)])
def test_noise_is_added_to_every_counter(places: int, number: int) -> None:
    distribution = NoiseDistribution.of([(Fraction(1), Fraction(1)), (Fraction(1, 2), Fraction(1, 3))])
    public = Counters(1000 * np.arange(places), np.full(places, number))
    found = noisy(public, distribution, rng=np.random.default_rng(7))
    assert found.size == public.size
    reach = 4
    noise = (found.values + 500) % 1000 - 500
    seen = np.array([found.numbers[noise == each].sum() for each in range(-reach, reach + 1)])
    expected = public.size * distribution.pmf(reach)
    # Each of 9 frequencies within 5 standard errors: 5 in a million fail.
    assert (np.abs(seen - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("decoder", [ThreeTap(), Isotonic()])
def test_noise_of_any_width_is_simulated(decoder: Decoder) -> None:
    distribution = NoiseDistribution.of([(Fraction(1, 2**40), Fraction(1))])
    (run,) = _runs(
        _mechanism(counters=5, domain_size=5, distribution=distribution, decoder=decoder), Profile([1], [5]), 1
    )
    assert run.num_labels <= 5


def test_it_says_what_it_is() -> None:
    parts = [(Fraction(1, 2), Fraction(1)), (Fraction(1, 3), Fraction(3, 2))]
    hashed = _mechanism(distribution=NoiseDistribution.of(parts), decoder=ThreeTap())
    assert hashed.name == "hashed-sketch"
    assert hashed.parameters == {
        "counters": 1000,
        "sample_share": "1",
        "noise": "1/3^3/2,1/2",
        "method": "three-tap",
    }
    listed = _mechanism(domain_size=4000, sampling_rate=Fraction(1, 4), decoder=ThreeTap())
    assert listed.name == "domain-sketch"
    assert listed.parameters["domain_size"] == 4000

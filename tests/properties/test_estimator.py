"""From an estimator to an estimate: scales, parts, warnings, and what intervals do at their ends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds, check_level, quantile, widening_factor
from anonhist.properties.estimator import Interval, LowerEnd, NormalInterval, Point, Sample, apply, value_of
from anonhist.properties.sampling import resample
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.properties.support_size import SupportSizeInterval, log_normal_ends
from anonhist_testing.cases import each_of
from anonhist_testing.known_runs import KnownRuns
from anonhist_testing.strategies import repeatable

SEEN = Profile([1, 2], [4, 2])
PROMISE = Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1))


@dataclass(frozen=True)
class Labels:
    """The number of labels, with an error of your choice."""

    error: float | None = 2.0
    name: ClassVar[str] = "counted"
    assumes: ClassVar[str] = "nothing"

    def point(self, profile: Profile) -> Point:
        return Point(float(profile.num_labels), standard_error=self.error, warnings=("Beware.",))


@dataclass(frozen=True)
class QuickLabels(Labels):
    """The same, where the number alone is had for less."""

    def point(self, profile: Profile) -> Point:
        raise AssertionError(profile)

    def value(self, profile: Profile) -> float:
        return float(profile.num_labels)


@dataclass(frozen=True)
class Released(KnownRuns):
    """A release with known runs."""

    profile: Profile
    runs: Sequence[Profile]
    mostly_noise: bool = False
    guarantee: Guarantee = PROMISE

    def resimulate(self) -> Sequence[Profile]:
        return self.runs


def test_a_profile_has_one_cause_of_error() -> None:
    found = apply(SEEN, Labels(), NormalInterval(0.0), level=0.9, unit="labels")
    assert (found.value, found.standard_error, found.method, found.assumes) == (6, 2, "counted", "nothing")
    assert found.interval == pytest.approx((6 - 2 * 1.6448536269514722, 6 + 2 * 1.6448536269514722))
    assert (found.level, found.unit, found.parts, found.guarantee) == (0.9, "labels", (), None)
    assert found.warnings == ("Beware.",)


def test_a_scale_multiplies_all_but_the_profile() -> None:
    one, bits = (apply(SEEN, Labels(), NormalInterval(5.0, 7.0), scale=scale) for scale in (1.0, 3.0))
    assert one.interval == (5, 7)
    assert (bits.value, bits.standard_error, bits.interval) == (18, 6, (15, 21))


def test_without_weights_nothing_is_known_of_the_error() -> None:
    assert apply(SEEN, Labels(None), NormalInterval()).interval == (6, 6)


def test_a_release_joins_two_causes_in_squares() -> None:
    runs = [Profile([1], [labels]) for labels in (9, 6, 2)] + [Profile([], [])]
    released = Released(SEEN, runs)
    found = apply(released, Labels(), NormalInterval(), scale=2.0)
    noise = 2 * math.sqrt((9 + 0 + 16 + 36) / 4)  # of no item the number is 0
    assert found.parts == (("sampling", 4.0), ("privacy noise", pytest.approx(noise)))
    assert found.standard_error == pytest.approx(math.hypot(4, noise))
    low, high = found.interval
    assert (low + high) / 2 == pytest.approx(12)
    assert high - low == pytest.approx(2 * 1.959963984540054 * math.hypot(4, widening_factor(4) * noise))
    assert found.guarantee is released.guarantee
    assert (found.method, found.warnings) == ("counted, from a release", ("Beware.",))


def test_mostly_noise_is_warned_of() -> None:
    (warning,) = apply(Released(SEEN, [SEEN], mostly_noise=True), Labels(), NormalInterval()).warnings[1:]
    assert warning.startswith("The release is mostly noise")


@pytest.mark.parametrize("unit", [PrivacyUnit.label(max_count=2), PrivacyUnit.node(max_distance=4)], ids=str)
def test_what_rests_on_counts_that_were_cut_has_no_interval(unit: PrivacyUnit) -> None:
    released = Released(SEEN, [SEEN], guarantee=replace(PROMISE, unit=unit))
    found = apply(released, Labels(), NormalInterval(0.0, 9.0))
    assert (found.value, found.interval, found.statement.holds) == (6, (0, 9), Holds.NONE)
    assert " were " in found.statement.reason
    kept = apply(released, Labels(), NormalInterval(0.0, 9.0), needs_counts=False)
    assert kept.statement.holds is Holds.BOTH
    curve = rarefaction_curve(released, points=4)
    assert curve.low.tolist() == [0] * 4
    assert np.array_equal(curve.high, curve.x)
    assert curve.why_unknown.startswith(("counts of 2", "edges of nodes"))


def test_a_bound_on_users_is_assumed_to_leave_out_nothing_of_its_own() -> None:
    promise = replace(PROMISE, unit=PrivacyUnit.user(max_items=3))
    told = "the items of a user beyond 3, which were left out, are like the others"
    assert apply(Released(SEEN, [SEEN], guarantee=promise), Labels(), NormalInterval()).assumes == f"nothing; {told}"
    assert told in rarefaction_curve(Released(SEEN, [SEEN], guarantee=promise), points=4).assumes


def test_an_empty_release_says_nothing_of_the_truth_and_keeps_its_noise() -> None:
    found = apply(Released(Profile([], []), [SEEN]), Labels(), NormalInterval(0.0))
    assert (found.value, found.standard_error, found.interval) == (0, 6, (0, math.inf))
    assert found.statement.holds is Holds.NONE


def test_of_an_empty_profile_the_interval_is_all_there_can_be_and_holds_0() -> None:
    for least, low in ((1.0, 0.0), (0.0, 0.0), (-2.0, -6.0)):
        found = apply(Profile([], []), Labels(), NormalInterval(least, 5.0), scale=3.0)
        assert (found.value, found.standard_error, found.interval) == (0, 0, (low, 15))
        assert found.statement.holds is Holds.NONE


def test_numbers_alone_come_the_quick_way_where_there_is_one() -> None:
    assert value_of(Labels(), SEEN) == value_of(QuickLabels(), SEEN) == 6
    assert value_of(Labels(), Profile([], [])) == value_of(QuickLabels(), Profile([], [])) == 0


@each_of("data", [None, [3, 1], "events.csv", Profile])
def test_what_is_no_data_is_refused(data: object) -> None:
    with pytest.raises(UsageError, match="A Profile or a Release is needed"):
        apply(data, Labels(), NormalInterval())  # type: ignore[arg-type]


@each_of("level", [0, 1, -0.1, 95, math.nan, math.inf, True, "0.95", None])
def test_levels_are_probabilities(level: object) -> None:
    with pytest.raises(UsageError, match=r"The level of an interval must be a number between 0 and 1, such as 0\.95"):
        check_level(level)


@each_of(
    ("level", "z"),
    [
        (0.5, 0.674489750196082),
        (0.95, 1.959963984540054),
        (0.999, 3.290526731491925),
        (math.nextafter(1, 0), 8.292361075813597),
    ],
)
def test_quantiles_reach_to_the_last_float(level: float, z: float) -> None:
    assert quantile(level) == pytest.approx(z, rel=1e-12)


def test_quantiles_start_at_0() -> None:
    assert quantile(5e-324) == 0
    assert quantile(0.001) == pytest.approx(0.001 * math.sqrt(math.pi / 2), rel=1e-6)


def labels_interval(value: float, error: float, *, level: float = 0.95, most: float = math.inf) -> tuple[float, float]:
    low, high = log_normal_ends(Sample(SEEN, level), value, error)
    # The upper end is cut at what there can be; the lower one is that of Chao1, and both hold the value.
    found = SupportSizeInterval(most).of(Sample(SEEN, level), value, error)
    assert found.low <= value <= found.high == max(min(high, most), value)
    return min(low, value), found.high


def test_labels_not_seen_are_log_normal() -> None:
    low, high = labels_interval(8.0, 2.0)
    # Chao 1987: with T = 2 and error 2, K = exp(1.96·sqrt(ln 2)).
    ratio = math.exp(1.959963984540054 * math.sqrt(math.log(2)))
    assert (low, high) == pytest.approx((6 + 2 / ratio, 6 + 2 * ratio), rel=1e-12)
    # Small errors are those of a normal distribution, to all digits.
    low, high = labels_interval(8.0, 2e-9)
    assert (8 - low, high - 8) == (pytest.approx(3.92e-9, rel=1e-3), pytest.approx(3.92e-9, rel=1e-3))


@pytest.mark.slow
@repeatable
@given(st.floats(6, 1e19), st.floats(0, 1e19), st.floats(0, 1e19), st.sampled_from((0.5, 0.95, math.nextafter(1, 0))))
def test_intervals_of_labels_grow_with_the_error(value: float, one: float, other: float, level: float) -> None:
    small, large = sorted((one, other))
    inner, outer = (labels_interval(value, error, level=level) for error in (small, large))
    slack = 1e-12 * value
    assert 6 <= outer[0] <= inner[0] + slack
    assert inner[0] <= value <= inner[1] <= outer[1] + slack
    assert math.isfinite(outer[1])
    # However many times the labels not seen it is, the error is not forgotten.
    assert outer[1] >= value + quantile(level) * large - 1e-12 * outer[1]


@each_of("error", [1e3, 1e9, 1e200, 1e308])
def test_errors_far_beyond_the_labels_not_seen_widen_the_interval(error: float) -> None:
    low, high = labels_interval(6.001, error)
    assert 6 <= low < 6.001
    assert high >= 1.9599 * min(error, 9e307)


def test_labels_end_where_the_alphabet_does() -> None:
    assert labels_interval(8.0, 50.0, most=9.0)[1] == 9
    # More labels in a release than there can be: the value is in its interval all the same.
    assert labels_interval(7.0, 1.0, most=5.0)[1] == 7
    assert SupportSizeInterval(5.0).of_nothing() == (0, 5)


def test_fewer_labels_than_seen_are_in_their_interval() -> None:
    # EstimateS, eq. 14: each of the labels missed with probability P = exp(−n/S).
    missed = math.exp(-SEEN.n / 5)
    assert labels_interval(5.0, 1.0) == pytest.approx((5, (5 + 1.959963984540054) / (1 - missed)))


@each_of(
    ("interval", "expected"),
    [
        (NormalInterval(0.0, 90.0), (6 - 2 * 1.959963984540054, 6 + 2 * 1.959963984540054, Holds.BOTH)),
        # That of another estimator, whose error is 1, up to the most there can be.
        (LowerEnd(Labels(1.0), "more", NormalInterval(0.0, 90.0)), (6 - 1.959963984540054, 90.0, Holds.AT_LEAST)),
    ],
)
def test_what_an_interval_says(interval: Interval, expected: tuple[float, float, Holds]) -> None:
    found = apply(SEEN, Labels(), interval)
    assert found.interval == pytest.approx(expected[:2])
    assert found.statement.holds is expected[2]


def test_numbers_of_a_release_widen_with_the_level() -> None:
    released = Released(SEEN, [Profile([1], [3])])  # 6 ± 3, at 95%
    narrow, usual, wide = (Sample(SEEN, level, released).labels for level in (0.5, 0.95, 0.999))
    assert narrow == usual == pytest.approx((6 - 1.96 * 3, 6 + 1.96 * 3))
    assert wide == pytest.approx((0, 6 + 3.290526731491925 * 3), rel=1e-4)
    assert Sample(SEEN, 0.999).labels == (6, 6)


def test_weights_become_a_sampling_error() -> None:
    @dataclass(frozen=True)
    class Singletons:
        name: ClassVar[str] = "singletons"
        assumes: ClassVar[str] = ""

        def point(self, profile: Profile) -> Point:
            return Point(float(profile.prevalence(1)), lambda counts: (counts == 1) * 1.0)

    profile, rng = Profile([1, 3, 20], [300, 200, 50]), np.random.default_rng(3)
    error = apply(profile, Singletons(), NormalInterval()).standard_error
    drawn = [sample.prevalence(1) for sample in resample(profile, size=400, rng=rng)]
    assert error == pytest.approx(float(np.std(drawn)), rel=0.15)  # 400 draws: 3.5%, so four standard errors

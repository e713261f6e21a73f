"""The rarefaction curve: iNEXT's numbers, its bands, and every edge."""

import math
from dataclasses import FrozenInstanceError, dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.curve import Axes, Curve, estimated_curve
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist_testing.cases import each_of
from anonhist_testing.known_runs import KnownRuns

# Spiders on girdled trees (Sackett et al. 2011), the example of iNEXT.
SPIDERS = Profile.from_prevalences({1: 12, 2: 4, 4: 1, 6: 2, 8: 1, 9: 1, 15: 2, 17: 1, 22: 1, 46: 1})


def curve_of(profile: Profile, **options: float | str | None) -> Curve:
    return rarefaction_curve(profile, rng=np.random.default_rng(1), **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class PublishedRuns(KnownRuns):
    """A release whose mechanism was re-simulated."""

    profile: Profile
    runs: tuple[Profile, ...]
    mostly_noise: bool = False
    guarantee: Guarantee = field(
        default_factory=lambda: Guarantee(PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, Fraction(1))
    )

    def resimulate(self) -> tuple[Profile, ...]:
        return self.runs


def knots(n: int, endpoint: int, number: int) -> list[int]:
    """Return where iNEXT computes its curves."""
    if endpoint <= n:
        marks = np.linspace(1, endpoint, number)
    else:
        first, last = np.linspace(1, n - 1, number // 2 - 1), np.linspace(n + 1, endpoint, number // 2)
        marks = np.concatenate([first, [n], last])
    return sorted(set(np.floor(marks + 1e-9).astype(int).tolist()))


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "points"), [(None, 40), (500, 40), (100, 40), (168, 10), (169, 4), (340, 5)])
def test_points_are_those_of_inext(draws: int | None, points: int) -> None:
    curve = curve_of(SPIDERS, draws=draws, points=points)
    assert curve.x.tolist() == knots(168, draws or 336, points)
    kinds = {"observed" if x == 168 else "interpolated" if x < 168 else "extrapolated": x for x in curve.x}
    assert set(curve.kinds) == set(kinds)
    assert [kind for x, kind in zip(curve.x, curve.kinds, strict=True) if x == 168] == ["observed"] * (168 in curve.x)
    assert len(curve) == curve.x.size


def test_values_are_those_of_the_formulas() -> None:
    curve = curve_of(SPIDERS, method="inext")
    counts = SPIDERS.partition().tolist()
    unseen = 167 / 168 * 12**2 / 8
    assert 26 + unseen == pytest.approx(43.893, abs=5e-4)  # iNEXT's asymptote
    for x, value, _, _, kind in curve.rows():
        draws = int(x)
        if kind == "extrapolated":
            expected = 26 + unseen * (1 - (1 - 12 / (168 * unseen + 12)) ** (draws - 168))
        else:
            ways = math.comb(168, draws)
            expected = sum(float(1 - Fraction(math.comb(168 - r, draws), ways)) for r in counts)
        assert value == pytest.approx(expected, rel=1e-12)
    assert curve.value[0] == pytest.approx(1)
    assert bool(np.all(np.diff(curve.value) > 0))


def test_where_nothing_was_seen_twice_the_other_form_of_chao_is_used() -> None:
    curve = curve_of(Profile.from_prevalences({1: 6, 5: 2}), draws=32, method="inext")
    unseen = 15 / 16 * 6 * 5 / 2
    assert curve.value[-1] == pytest.approx(8 + unseen * (1 - (1 - 6 / (16 * unseen + 6)) ** 16))


def test_band_is_the_normal_one_around_the_bootstrap_error() -> None:
    curve = curve_of(SPIDERS, level=0.9, bootstraps=20)
    half = 1.6448536269514722 * curve.standard_error
    low, observed = np.maximum(curve.value - half, 0), curve.kinds.index("observed")
    # More draws show no fewer labels.
    low[observed:] = np.maximum(low[observed:], low[observed])
    assert curve.low == pytest.approx(low)
    assert curve.high == pytest.approx(np.maximum(np.minimum(curve.value + half, curve.x), curve.value))
    assert (curve.level, curve.parts, curve.guarantee) == (0.9, (), None)
    assert curve.standard_error[0] == pytest.approx(0, abs=1e-12)
    assert bool(np.all(curve.standard_error[1:] > 0))


@pytest.mark.slow
def test_band_holds_the_truth_as_often_as_stated_up_to_n() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    shares = 1 / np.arange(1, 301) ** 1.2
    shares /= shares.sum()
    size, held = 100, np.zeros(5)
    for _ in range(size):
        # From 30 samples instead of 50 errors are off by 13 % instead of 10: bands hold hardly less for it.
        profile = Profile.from_counts(rng.multinomial(600, shares))
        curve = rarefaction_curve(profile, draws=600, points=5, bootstraps=30, rng=rng)
        truth = -np.expm1(curve.x[:, None] * np.log1p(-shares)).sum(axis=1)
        held += (curve.low - 1e-9 <= truth) & (truth <= curve.high + 1e-9)
    # If each interval holds the truth 90% of the time or more, all 5 counts are this large but once in 2,000 times.
    assert bool(np.all(held >= stats.binom(size, 0.90).ppf(1e-4)))


@pytest.mark.slow
@each_of(
    ("profile", "draws", "expected"),
    [
        (Profile([1], [1]), 1, [1]),
        (Profile([50], [1]), None, [1.0] * 40),
        (Profile([], []), None, [0]),
        (Profile([], []), 3, [0, 0, 0]),
    ],
)
def test_conventions(profile: Profile, draws: int | None, expected: list[float]) -> None:
    curve = curve_of(profile, draws=draws)
    assert curve.value.tolist() == pytest.approx(expected)
    if not profile.n:
        assert curve.low.tolist() == [0] * len(curve)
        assert curve.high.tolist() == curve.x.tolist()
        assert curve.why_unknown == "the profile is empty"


@pytest.mark.slow
def test_of_singletons_every_draw_is_new() -> None:
    curve = curve_of(Profile([1], [30]), draws=30)
    assert curve.value.tolist() == pytest.approx(curve.x.tolist())


@each_of(
    "profile",
    [
        Profile([1], [10**15]),
        Profile([10**15], [1]),
        Profile([1, 2, 3, 10**14], [10**14, 10**13, 10**6, 5]),
        Profile([1, 2**62], [2**62 - 2, 1]),
    ],
)
def test_of_huge_profiles(profile: Profile) -> None:
    curve = curve_of(profile, bootstraps=5)
    for values in (curve.value, curve.low, curve.high, curve.standard_error):
        assert bool(np.isfinite(values).all())
    assert bool(np.all(curve.low <= curve.value))
    assert bool(np.all(curve.value <= curve.high))
    # Whole numbers beyond 2^53 may be one float.
    assert bool(np.all(np.diff(curve.x) >= 0))
    assert curve.value[curve.kinds.index("observed")] == profile.num_labels


@pytest.mark.slow
def test_of_a_release_privacy_noise_is_a_part() -> None:
    runs = (Profile([], []), Profile.from_prevalences({1: 20, 2: 10, 30: 2}))
    curve = rarefaction_curve(PublishedRuns(SPIDERS, runs, mostly_noise=True), rng=np.random.default_rng(1))
    own = curve_of(SPIDERS)
    other = np.array([curve_of(runs[1], draws=int(x), points=4, bootstraps=3).value[-1] for x in curve.x])
    noise = np.sqrt((own.value**2 + (other - own.value) ** 2) / 2)
    (sampling, first), (privacy, second) = curve.parts
    assert (sampling, privacy) == ("sampling", "privacy noise")
    assert first == pytest.approx(own.standard_error)
    assert second == pytest.approx(noise)
    assert curve.standard_error == pytest.approx(np.hypot(first, second))
    assert curve.value.tolist() == own.value.tolist()
    assert curve.guarantee is not None
    assert "mostly noise" in curve.warnings[-1]
    assert curve.method.endswith("from a release")


@pytest.mark.slow
def test_the_curve_of_inext_warns_beyond_twice_the_items() -> None:
    assert curve_of(SPIDERS, method="inext").warnings == ()
    assert "too low" in curve_of(SPIDERS, draws=337, method="inext").warnings[0]
    assert curve_of(SPIDERS, draws=337).warnings == ()
    assert "too many draws" in curve_of(SPIDERS, draws=2000).warnings[0]


@each_of(
    "options",
    [
        {"method": "chao"},
        {"draws": 0},
        {"draws": 1.5},
        {"points": 3},
        {"bootstraps": 2},
        {"level": 1.0},
        {"draws": 2**64 + 1},
    ],
)
def test_refuses_impossible_numbers(options: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        rarefaction_curve(SPIDERS, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Profile or a Release"):
        rarefaction_curve([3, 1])  # type: ignore[arg-type]


def test_a_curve_of_anything_is_a_frozen_value_with_rows() -> None:
    orders = np.array([0.0, 1.5])
    # A value outside its range stays inside its band.
    axes = Axes("order", "effective labels", orders, ("observed", "observed"), least=30.0)
    curve = estimated_curve(
        SPIDERS,
        lambda profile: np.full(2, float(profile.num_labels)),
        axes,
        method="hill",
        assumes="all",
        rng=np.random.default_rng(1),
    )
    assert curve.header == ("order", "effective labels", "low", "high", "kind")
    first, second = curve.rows()
    assert first[:2] == (0, 26)
    assert second[0] == 1.5
    assert first[2] == 26 < first[3]
    assert (curve.method, curve.assumes) == ("hill", "all")
    with pytest.raises(FrozenInstanceError):
        curve.method = "other"  # type: ignore[misc]
    with pytest.raises(UsageError, match="Profile or a Release"):
        estimated_curve([1], lambda _: orders, axes, method="hill")  # type: ignore[arg-type]

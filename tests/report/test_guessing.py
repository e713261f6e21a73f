"""The guessing curve: against the plain definition, and its errors by hand."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile, sorted_l1
from anonhist.properties.estimate import Estimate, widening_factor
from anonhist.properties.most_frequent import covered_share
from anonhist.releases import Evidence, KPlusBand, Release
from anonhist.releases.covered import farthest
from anonhist.releases.evidence import NORMAL_95
from anonhist.report import Guessing, guessing_figure
from anonhist.report.figures import k_plus_figure, prevalences_figure


class Alternating(FrobeniusMechanism):
    """Runs that are the profile itself and the profile with one label of the largest count more, in turn."""

    of_nothing = Profile([], [])
    runs_fall_short = ""

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        assert isinstance(rng, np.random.Generator)
        if not profile.n:
            return [self.of_nothing] * size
        partition = profile.partition().tolist()
        return [Profile.from_counts([*partition, partition[0]] if run % 2 else partition) for run in range(size)]


def _at_most(made: Release, curve: Guessing) -> Any:
    found = made.error.expected_range
    assert found is not None
    return farthest(curve.share, items=made.profile.n, distance=found[1])


def test_no_profile_at_a_distance_has_a_share_farther_off() -> None:
    rng = np.random.default_rng(1)
    nearest = 1.0
    for _ in range(300):
        counts = rng.integers(1, 30, size=rng.integers(1, 12))
        other = np.maximum(counts + rng.integers(-3, 4, size=counts.size), 0)
        profile, true = Profile.from_counts(counts), Profile.from_counts(other[other > 0])
        labels = np.arange(1, counts.size + 1)
        share = covered_share(profile, labels)
        most = farthest(share, items=profile.n, distance=sorted_l1(profile, true))
        off = np.abs(covered_share(true, labels) - share)
        assert (off <= most + 1e-12).all()
        nearest = min(nearest, float((most - off).min()))
    # The bound is reached, so a smaller one would be false.
    assert nearest < 1e-12
    assert farthest(np.array([0.3]), items=5, distance=5).tolist() == [1.0]


def test_errors_are_root_mean_squares_over_the_runs(make_release: Callable[..., Release]) -> None:
    profile = Profile.from_counts([6, 3, 1])
    made = make_release(profile, Alternating(1))
    curve = Guessing.of(made)
    assert curve.labels.tolist() == [1, 2, 3]
    assert curve.share.tolist() == pytest.approx([0.6, 0.9, 1.0])
    off = np.array([6 / 16, 12 / 16, 15 / 16]) - curve.share
    # Of 10 items, to the next whole one; and no less than the whole profile may be off.
    reach = np.ceil(10 * NORMAL_95 * widening_factor(32) * np.abs(off) / 2**0.5) / 10
    reach = np.maximum(reach, _at_most(made, curve))
    low, high = curve.band
    assert low.tolist() == pytest.approx(np.maximum(curve.share - reach, 0).tolist())
    assert high.tolist() == pytest.approx(np.minimum(curve.share + reach, 1).tolist())
    assert curve.is_known


def test_runs_that_all_agree_leave_room_for_an_item(make_release: Callable[..., Release]) -> None:
    class Same(Alternating):
        def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
            return super().simulate(profile, size=1, rng=rng) * size

    made = make_release(Profile.from_counts([600, 300, 100]), Same(1))
    none = Estimate(0.0, 0.0, (0.0, 0.0), "")
    curve = Guessing.of(replace(made, recorded_error=replace(made.error, sorted_l1=none)))
    assert (curve.share - curve.band[0]).tolist() == pytest.approx([1 / 1000] * 3)


def test_no_run_is_made_for_the_curve_alone(make_release: Callable[..., Release]) -> None:
    made = replace(make_release(Profile.from_counts([6, 3, 1]), Alternating(1)), recorded_error=None).with_error()
    asked: list[int] = []

    class Refusing(Alternating):
        def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
            asked.append(size)
            return super().simulate(profile, size=size, rng=rng)

    object.__setattr__(made, "mechanism", Refusing(1))
    Guessing.of(made)
    assert asked == []


def test_without_simulations_there_is_no_band(make_release: Callable[..., Release]) -> None:
    made = make_release(Profile.from_counts([6, 3, 1]), Alternating(1))
    none = replace(made, recorded_error=None, simulations=0)
    curve = Guessing.of(none)
    assert not curve.is_known
    assert [set(end.tolist()) for end in curve.band] == [{0.0}, {np.inf}]
    assert not guessing_figure(none).axes[0].collections
    assert not k_plus_figure(none).axes[0].collections
    assert not prevalences_figure(none).axes[0].collections


@pytest.mark.slow
def test_the_same_release_gives_the_same_curve(release: Release) -> None:
    # As if it were read from a file twice: what was simulated is not kept there.
    first, again = (Guessing.of(replace(release)) for _ in range(2))
    assert [end.tolist() for end in first.band] == [end.tolist() for end in again.band]


def test_marks_are_whole_ascending_and_hold_every_power_of_ten(release: Release) -> None:
    curve, total = Guessing.of(release), release.profile.num_labels
    labels = curve.labels.tolist()
    assert labels == sorted(set(labels))
    assert labels[0] == 1
    assert labels[-1] == max(1, total)
    assert {10**power for power in range(len(str(max(1, total))))} <= set(labels)
    assert len(labels) < 430
    assert (np.diff(curve.share) >= -1e-12).all()
    assert curve.share[-1] == pytest.approx(1.0 if total else 0.0)


def test_as_many_labels_as_there_can_be(make_release: Callable[..., Release]) -> None:
    class Still(Alternating):
        def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
            assert isinstance(rng, np.random.Generator)
            return [profile] * size

    curve = Guessing.of(make_release(Profile([1], [2**63 - 1]), Still(1)))
    assert curve.labels[-1] == 2**63 - 1
    assert (np.diff(curve.labels.astype(object)) > 0).all()


@pytest.mark.slow
def test_the_figure_draws_the_curve_it_is_given(named: Callable[[str], Release], monkeypatch: Any) -> None:
    release = named("item")
    curve = Guessing.of(release)

    def refuse(_: object) -> None:
        raise AssertionError("computed twice")

    monkeypatch.setattr(Guessing, "of", refuse)
    (axes,) = guessing_figure(release, guessing=curve).axes
    (line,), (band,) = axes.lines, axes.collections
    assert line.get_ydata().tolist() == curve.share.tolist()
    drawn = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    for ends in curve.band:
        assert set(zip(curve.labels.tolist(), ends.tolist(), strict=True)) <= drawn


def test_where_k_plus_counts_have_a_band_the_shares_are_bounded_by_it() -> None:
    release = FrobeniusMechanism(1).release(Profile.from_prevalences({1: 30, 2: 12, 7: 3, 20: 1}))
    assert release.error.band is not None
    counts = np.arange(1, max(int(release.error.band.ends[-1]), int(release.profile.counts[-1])) + 1)
    least, most = release.error.k_plus_interval(release.profile, counts)
    curve = Guessing.of(replace(release, simulations=0))
    assert curve.is_known
    for index, beta in enumerate(curve.labels.tolist()):
        few, rest_of_few = np.minimum(least, beta).sum(), np.maximum(least - beta, 0).sum()
        many, rest_of_many = np.minimum(most, beta).sum(), np.maximum(most - beta, 0).sum()
        assert curve.band[0][index] == pytest.approx(few / (few + rest_of_many))
        assert curve.band[1][index] == pytest.approx(many / (many + rest_of_few))
        assert curve.band[0][index] <= curve.share[index] + 1e-12
        assert curve.share[index] <= curve.band[1][index] + 1e-12


def test_a_band_of_nothing_says_nothing() -> None:
    release = FrobeniusMechanism(1).release(Profile([1], [1]))
    empty = replace(release, profile=Profile([], []), evidence=Evidence(KPlusBand([], [], [])), simulations=0)
    curve = Guessing.of(empty)
    assert [end.tolist() for end in curve.band] == [[0.0], [1.0]]

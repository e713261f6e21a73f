"""Runs of a release: drawn once for all that rests on them, as many as a public rule says, or none at all."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, t

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism, PrevalenceMechanism, release
from anonhist.numeric.pulse import pulse, pulsing, tell_share
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds, widening_factor
from anonhist.releases import Release, ReleaseError
from anonhist.releases.made import LEAST_RUNS, USUAL_RUNS, simulation_work, simulations_of
from anonhist.releases.runs import draw_runs, generator_of
from anonhist.sketches import HashedSketch
from anonhist_testing.cases import each_of
from anonhist_testing.progress import assert_moves
from anonhist_testing.sources import SeededSource

TWO, OTHER = Profile.from_counts([4, 1]), Profile.from_counts([4, 2, 1])
WIDE = FrobeniusMechanism("0.1")


def a_sketch() -> HashedSketch:
    sketch = HashedSketch(buckets=300, epsilon=1, key=b"a key of the test", source=SeededSource(3))
    sketch.update([str(label) for label in range(200)], counts=[1 + label % 7 for label in range(200)])
    return sketch


def test_errors_and_properties_rest_on_the_same_runs(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER)
    runs = made.resimulate()
    recorded = made.with_error()
    assert recorded.resimulate()[0] is runs[0]
    ah.entropy(recorded)
    ah.support_size(recorded)
    ah.properties.rarefaction_curve(recorded)
    # Four runs on what was released, and four on the same made flatter; the script does not count those on no data.
    assert made.mechanism.sizes == [4, 4]


def test_whoever_asks_draws_the_same_runs() -> None:
    made = release(Profile.from_counts([9, 4, 1, 1]), epsilon=1, source=SeededSource(5))
    again = Release(
        made.profile,
        made.guarantee,
        made.mechanism,
        reason=made.reason,
        library_version=made.library_version,
        evidence=made.evidence,
    )
    assert made.resimulate() == again.resimulate()
    assert made.error.sorted_l1 == again.error.sorted_l1
    assert made.error.k_plus_errors.tolist() == again.error.k_plus_errors.tolist()
    other = release(Profile.from_counts([9, 4, 1, 1]), epsilon=2, source=SeededSource(5))
    drawn = [generator_of(each.mechanism, made.profile, None).integers(2**62) for each in (made, made, other)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_runs_too_large_to_keep_are_measured_as_they_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    made = release(Profile.from_counts([9, 4, 1, 1]), epsilon=1, source=SeededSource(5))
    streamed, seen = release(Profile.from_counts([9, 4, 1, 1]), epsilon=1, source=SeededSource(5)), list[float]()
    monkeypatch.setattr("anonhist.releases.release._MOST_KEPT", 0)
    error = streamed.with_error(progress=seen.append).error
    assert "_simulated_runs" not in vars(streamed)
    monkeypatch.undo()
    assert error.k_plus_errors.tolist() == made.error.k_plus_errors.tolist()
    assert_moves(seen, most=0.5)


@each_of(
    ("work", "runs"), [(0, 32), (2**18, 32), (2**19, 16), (2**23 // 9, 9), (2**20, 8), (2**23, 8), (2**60, LEAST_RUNS)]
)
def test_how_many_runs_there_are_follows_from_their_work(work: int, runs: int) -> None:
    assert simulations_of(TWO, None, work=work) == runs
    # What is asked for is done, whatever the work.
    assert simulations_of(TWO, 100, work=work) == 100


def test_work_is_known_from_what_is_public() -> None:
    assert WIDE.simulation_work(TWO) > FrobeniusMechanism("0.5").simulation_work(TWO)
    assert simulation_work(PrevalenceMechanism(1, public_cap=9), TWO) == 4 * len(TWO)
    assert simulations_of(TWO, None, work=simulation_work(FrobeniusMechanism(1), TWO)) == USUAL_RUNS
    assert LEAST_RUNS <= WIDE.release(TWO, source=SeededSource(1)).simulations < USUAL_RUNS
    # Two data sets that are released alike are simulated equally often.
    assert a_sketch().reconstruct().simulations == LEAST_RUNS


@each_of("runs", [4, 5, 8, 16, 32, 100, 1000])
def test_intervals_from_few_runs_are_as_wide_as_student_says(runs: int) -> None:
    assert widening_factor(runs) == pytest.approx(t.ppf(0.975, runs) / norm.ppf(0.975), rel=1.5e-3)


def test_without_simulations_nothing_is_run_and_nothing_made_up(make_release: Any) -> None:
    made = make_release(TWO, TWO, OTHER, simulations=0).with_error()
    assert made.mechanism.sizes == []
    assert (made.error.sorted_l1, made.error.expected_range, made.error.simulations) == (None, None, 0)
    assert made.resimulate() == ()
    assert not made.mostly_noise
    for found in (made.prevalence(1), made.k_plus(2), made.prevalence(900)):
        assert found.statement.holds is Holds.NONE
        assert np.isnan(found.standard_error)
        assert "no interval: no error was simulated" in str(found)
        assert "nan" not in str(found)
    entropy = ah.entropy(made)
    assert entropy.statement.holds is Holds.NONE
    assert "not simulated (0 simulations)" in str(entropy)
    assert [cause for cause, _ in entropy.parts] == ["sampling"]
    curve = ah.properties.rarefaction_curve(made)
    assert "not simulated (0 simulations)" in curve.why_unknown


@pytest.mark.full
def test_without_simulations_intervals_from_noisy_values_stay() -> None:
    profile = Profile.from_counts([40, 9, 4, 1, 1])
    made = release(profile, epsilon=1, mechanism="frobenius", simulations=0)
    for held in (made.k_plus(1), made.prevalence(1)):
        assert held.interval[1] < np.inf
        assert "nan" not in str(held)
    made = release(profile, epsilon=1, mechanism="partition", simulations=0)
    assert made.k_plus(1).statement.holds is made.prevalence(1).statement.holds is Holds.NONE
    sketch = a_sketch()
    quick, slow = sketch.reconstruct(simulations=0), sketch.reconstruct(simulations=2)
    for level in (1, 3, 7):
        assert quick.prevalence(level) == slow.prevalence(level) == slow.with_error().prevalence(level)
        assert quick.k_plus(level) == slow.k_plus(level) == slow.with_error().k_plus(level)


def test_intervals_of_a_sketch_need_no_simulation() -> None:
    made = a_sketch().reconstruct()
    assert made.prevalence(1).interval[1] < np.inf
    assert not [name for name in vars(made) if name.startswith("_simulated")]


def test_tables_of_errors_and_their_runs_belong_together() -> None:
    none, one = np.zeros(0), np.ones(1)
    for expected, runs, table in ((None, 32, one), (None, 0, one)):
        with pytest.raises(ah.DataError, match="if nothing was simulated"):
            ReleaseError(expected, runs, table.astype(np.int64), table, table)
    assert ReleaseError(None, 0, none.astype(np.int64), none, none).expected_range is None


def test_a_bar_moves_with_every_step_of_long_work() -> None:
    seen: list[float] = []
    with tell_share(seen.append, 0.2, 0.7):
        for _ in range(2000):
            pulse()
    assert len(seen) == 2001
    assert_moves([0.2, *seen, 1.0], most=0.31)
    steps = np.diff([0.2, *seen[:-1]])
    assert steps.min() > 0
    assert steps.max() <= 0.5 / 500
    with tell_share(None, 0.0, 1.0):
        pulse()
    assert list(pulsing(iter([1, 2]))) == [1, 2]


class Watched:
    """Counts what happens between two reports: fits of a smooth rate, rows of a posterior, whole runs."""

    def __init__(self) -> None:
        self.since, self.most, self.shares = 0, 0, list[float]()

    def work(self) -> None:
        self.since += 1
        self.most = max(self.most, self.since)

    def tell(self, share: float) -> None:
        self.since = 0
        self.shares.append(share)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watched:
    from anonhist.mechanisms.frobenius.row_weights import RowWeights
    from anonhist.sketches.likelihood import Compound

    counted = Watched()
    for owner, name in ((RowWeights, "at"), (Compound, "curvature")):
        original = getattr(owner, name)

        def counting(*given: Any, original: Any = original) -> Any:
            counted.work()
            return original(*given)

        monkeypatch.setattr(owner, name, counting)
    return counted


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["frobenius", "sketch"])
def test_no_step_between_two_reports_is_longer_than_a_row_or_a_climb(watch: Watched, kind: str) -> None:
    made = (
        FrobeniusMechanism("0.02").release(TWO, source=SeededSource(1))
        if kind == "frobenius"
        else a_sketch().reconstruct()
    )
    made = replace(made, simulations=2)
    watch.since = watch.most = 0
    made.with_error(progress=watch.tell)
    assert len(watch.shares) > 300
    # Of hundreds of rows and climbs, three at most without a report: less than 1% of the work.
    assert watch.most <= 3
    assert_moves(watch.shares, most=0.5)


def test_runs_know_their_zeros_and_misfits() -> None:
    drawn = list(draw_runs(WIDE, TWO, None, size=3, rng=np.random.default_rng(1), with_misfit=True))
    assert [run.zeros for run in drawn] == [None] * 3
    assert all(run.misfit is not None and run.misfit >= 0 for run in drawn)
    with pytest.raises(UsageError, match="does not release"):
        list(draw_runs(WIDE, TWO, 4, size=1, rng=np.random.default_rng(1)))

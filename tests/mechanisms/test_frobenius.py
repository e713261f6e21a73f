"""The Frobenius mechanism: what its noise goes on, and that nothing else of the data reaches the outside."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.frobenius import mechanism as frobenius
from anonhist.mechanisms.frobenius import posterior as frobenius_posterior
from anonhist.mechanisms.frobenius.posterior import Medians
from anonhist.mechanisms.frobenius.row_weights import REACH, NoisyRows, noisy_rows
from anonhist.mechanisms.skeletons import bounded_profile
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import FrobeniusCoordinates, Profile, sorted_l1
from anonhist.randomness import discrete_laplace_pmf
from anonhist.releases import Evidence, KPlusBand
from anonhist_testing.audit import audit
from anonhist_testing.partitions import Partition, larger_neighbors, partitions, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

ITEM = PrivacyUnit.item()
# So many rows are released one by one at any budget.
ALONE = 5


def of(partition: Partition) -> FrobeniusCoordinates:
    return FrobeniusCoordinates.of(Profile.from_partition(partition))


def pad(coordinates: FrobeniusCoordinates, length: int) -> NDArray[np.int64]:
    sides = (coordinates.arms, coordinates.legs)
    filled = [np.concatenate((side, np.zeros(length - side.size, dtype=np.int64))) for side in sides]
    return np.concatenate(([coordinates.durfee_size], *filled))


@pytest.mark.slow
def test_one_cell_changes_one_coordinate_by_one() -> None:
    pairs = [(fewer, more) for n in range(12) for fewer in partitions(n) for more in larger_neighbors(fewer)]
    assert len(pairs) > 500
    for fewer, more in pairs:
        change = np.abs(pad(of(fewer), 12) - pad(of(more), 12))
        assert change.sum() == 1


@pytest.mark.slow
def test_coordinates_are_an_isometry() -> None:
    profiles = [Profile.from_partition(one) for one in partitions_up_to(8)]
    vectors = [pad(FrobeniusCoordinates.of(one), 9) for one in profiles]
    for first, a in zip(profiles, vectors, strict=True):
        for second, b in zip(profiles, vectors, strict=True):
            assert np.abs(a - b).sum() == sorted_l1(first, second)


class Recorder:
    """Catches what the mechanism hands to its post-processing: all that leaves the budgeted step."""

    def __init__(self) -> None:
        self.seen: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], float]] = []

    def __call__(
        self,
        sizes: NDArray[np.int64],
        arms: NoisyRows,
        legs: NoisyRows,
        *,
        epsilon: float,
        reach: float,
        with_errors: bool,
    ) -> list[Medians]:
        assert arms.begins[:, 0].all()
        assert legs.begins[:, 0].all()
        assert reach == REACH
        assert with_errors
        self.seen.append((sizes.copy(), arms.sums.copy(), legs.sums.copy(), epsilon))
        empty = np.zeros(0, dtype=np.int64)
        return [Medians(empty, empty, 0.0, 0.0, 0.0)] * len(sizes)


def noisy(
    monkeypatch: pytest.MonkeyPatch, mechanism: FrobeniusMechanism, partition: Partition, seeds: range
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], float]]:
    recorder = Recorder()
    monkeypatch.setattr(frobenius, "posterior_medians", recorder)
    # What is made of noisy values afterwards takes most of a release's time.
    monkeypatch.setattr(frobenius, "unsmoothed_misfit", lambda arms, *_: [0.0] * len(arms))
    nothing = Evidence(KPlusBand(*np.zeros((3, 0), dtype=np.int64)))
    monkeypatch.setattr(frobenius, "evidence_of", lambda released, *_, **__: [nothing] * len(released))
    for seed in seeds:
        mechanism.release(Profile.from_partition(partition, unit=mechanism.unit), source=SeededSource(seed))
    return recorder.seen


@pytest.mark.parametrize(
    ("unit", "relation", "per_cell"),
    [
        (ITEM, NeighboringRelation.ADD_OR_REMOVE, Fraction(1)),
        (ITEM, NeighboringRelation.SUBSTITUTE, Fraction(1, 2)),
        (PrivacyUnit.user(max_items=4), NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 4)),
        (PrivacyUnit.user(max_items=2), NeighboringRelation.SUBSTITUTE, Fraction(1, 4)),
    ],
)
def test_all_noise_is_of_the_rate_that_a_unit_pays_for(
    monkeypatch: pytest.MonkeyPatch, unit: PrivacyUnit, relation: NeighboringRelation, per_cell: Fraction
) -> None:
    monkeypatch.setattr(frobenius, "posterior_medians", Recorder())
    mechanism, rates = FrobeniusMechanism(1, unit, relation), set()
    assert mechanism.epsilon_per_cell == per_cell

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        rates.add(gamma)
        return np.zeros(size, dtype=np.int64)

    mechanism._run(Profile.from_partition((200, 4, 4, 1)), noise)
    assert rates == {per_cell}


@pytest.mark.fresh
@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "relation", "per_cell", "runs"),
    # Rows one by one, and in groups; all else that a promise decides is the rate. A run draws the noise on the size
    # once: so many runs show a rate that is off by 13/20 with probability 1 - 10^-9 (``min_samples_for``).
    [
        (ITEM, NeighboringRelation.ADD_OR_REMOVE, Fraction(1), 2300),
        (PrivacyUnit.user(max_items=2), NeighboringRelation.SUBSTITUTE, Fraction(1, 4), 8000),
    ],
)
def test_every_coordinate_gets_noise_of_the_stated_distribution(
    monkeypatch: pytest.MonkeyPatch, unit: PrivacyUnit, relation: NeighboringRelation, per_cell: Fraction, runs: int
) -> None:
    mechanism, partition = FrobeniusMechanism(1, unit, relation), (9, 4, 4, 1)
    truth = pad(of(partition), ALONE)
    size, on_arms, on_legs, beyond = [], [], [], []
    for sizes, arms, legs, _ in noisy(monkeypatch, mechanism, partition, range(runs)):
        size.append(int(sizes[0]) - truth[0])
        # Positions whose being there was decided by the noise on the size alone.
        there = min(ALONE, max(1, int(sizes[0]) + math.ceil(8 / per_cell)))
        on_arms += (arms[0, :there] - truth[1:][:there]).tolist()
        on_legs += (legs[0, :there] - truth[1 + ALONE :][:there]).tolist()
        beyond.append(int(arms[0, -1]) if arms.shape[1] > truth[0] else 0)
    off = Fraction(13, 20)
    for noise in (size, on_arms, on_legs):
        assert_pmf_equal(np.array(noise), lambda k: discrete_laplace_pmf(per_cell, k))
        for wrong in (off, 1 / off):
            assert_pmf_differs(np.array(noise), lambda k, wrong=wrong: discrete_laplace_pmf(per_cell * wrong, k))
    assert np.std(beyond) > 0


@pytest.mark.slow
def test_stopping_looks_at_released_values_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # The same noise on neighbours: as long as the changed cell is not where K is read off, K is the same.
    mechanism = FrobeniusMechanism(Fraction(1, 2))
    pairs = [((5, 3, 1), (6, 3, 1)), ((5, 3, 1), (5, 3, 1, 1)), ((2,), (3,))]
    seen = {one: noisy(monkeypatch, mechanism, one, range(100)) for pair in pairs for one in pair}
    for fewer, more in pairs:
        for (size, arms, legs, _), (other_size, other_arms, other_legs, _) in zip(seen[fewer], seen[more], strict=True):
            assert size == other_size
            assert arms.shape == other_arms.shape
            assert np.abs(arms - other_arms).sum() + np.abs(legs - other_legs).sum() == 1


@pytest.mark.slow
def test_length_follows_the_noisy_size_and_long_arms_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = FrobeniusMechanism(1)
    for size, arms, legs, _ in noisy(monkeypatch, mechanism, (3, 2), range(300)):
        shortest = max(1, int(size[0]) + 8)
        assert arms.shape[1] >= shortest
        # Every position after the shortest is there because the one before stood out.
        for k in range(shortest - 1, arms.shape[1] - 1):
            assert max(arms[0, k], legs[0, k]) > 8
        assert max(arms[0, -1], legs[0, -1]) <= 8


@pytest.mark.parametrize("missing", [29, 100])
@pytest.mark.parametrize("profile", [Profile.from_prevalences({10**6: 30}), Profile.from_prevalences({30: 10**6})])
def test_what_stands_out_beyond_a_size_drawn_too_small_is_kept(
    monkeypatch: pytest.MonkeyPatch, profile: Profile, missing: int
) -> None:
    recorder = Recorder()
    monkeypatch.setattr(frobenius, "posterior_medians", recorder)
    sizes = iter([np.array([-missing])])

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        assert gamma == 8
        return next(sizes, np.zeros(size, dtype=np.int64))

    truth = FrobeniusCoordinates.of(profile)
    mechanism = FrobeniusMechanism(8)
    mechanism._run(profile, noise)
    (_, arms, legs, _) = recorder.seen[0]
    # Thirty long rows or columns, and the first that does not stand out.
    assert arms[0].tolist() == [*truth.arms.tolist(), 0]
    assert legs[0].tolist() == [*truth.legs.tolist(), 0]


def test_post_processing_gets_nothing_but_noisy_values(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two profiles, noise chosen so that the noisy values agree: the published profiles agree too.
    noisy_size, noisy_arms, noisy_legs = 2, np.array([[5, 1, 0, -1]]), np.array([[3, 0, 1, 0]])
    published = []
    for partition in ((6, 3, 2), (9,)):
        truth = of(partition)
        vector = pad(truth, 4)
        wanted = iter(
            [
                np.array([[noisy_size - truth.durfee_size]]),
                noisy_arms - vector[1:5],
                noisy_legs - vector[5:9],
            ]
        )
        monkeypatch.setattr(frobenius, "MARGIN", 2)
        mechanism = FrobeniusMechanism(1)
        released, evidence = mechanism._run(Profile.from_counts(partition), lambda *_, wanted=wanted: next(wanted))
        steps = [side.tolist() for side in (evidence.band.ends, evidence.band.lows, evidence.band.highs)]
        published.append((released, evidence.misfit, steps))
    assert published[0] == published[1]
    assert published[0][2][0]


@pytest.mark.slow
def test_audit_stays_below_epsilon_and_catches_too_little_noise() -> None:
    empty, one = Profile.from_partition(()), Profile.from_partition((1,))
    rate = 1e-6

    def audit_bound(epsilon: int, draws: int) -> float:
        mechanism = FrobeniusMechanism(epsilon)
        rng = np.random.default_rng(2)
        # In parts: many runs at once have a long one among them, and all take its length.
        hits = [
            sum(run.n == 0 for _ in range(draws // 250) for run in mechanism.simulate(x, size=250, rng=rng))
            for x in (empty, one)
        ]
        return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=rate).epsilon_bound

    # At 2 the empty profile comes out of itself so often that few draws say much.
    assert 0.9 < audit_bound(2, draws=750) <= 2
    assert audit_bound(4, draws=500) > 2  # what a mechanism that claims 2 but draws half of the noise looks like


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "unit"), [("0.2", ITEM), ("5", ITEM), ("5", PrivacyUnit.user(max_items=5))])
def test_simulation_and_release_have_the_same_distribution(epsilon: str, unit: PrivacyUnit) -> None:
    profile = Profile.from_prevalences({1: 40, 2: 10, 7: 3, 90: 1})
    mechanism = FrobeniusMechanism(epsilon, unit)
    simulated = [sorted_l1(profile, one) for one in mechanism.simulate(profile, size=50, rng=np.random.default_rng(1))]
    released = [sorted_l1(profile, mechanism.release(profile, source=SeededSource(seed)).profile) for seed in range(50)]
    spread = math.hypot(np.std(simulated), np.std(released)) / 50**0.5
    assert abs(np.mean(simulated) - np.mean(released)) < 5 * spread + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.05", "1", "30"])
@pytest.mark.parametrize(
    "profile",
    [
        Profile.from_counts([]),
        Profile.from_counts([2**63 - 1]),
        Profile.from_prevalences({1: 2**63 - 1}),
        Profile.from_prevalences({2**61: 3}),
    ],
)
def test_extremes_give_valid_profiles(epsilon: str, profile: Profile) -> None:
    for seed in range(3):
        released = FrobeniusMechanism(epsilon).release(profile, source=SeededSource(seed)).profile
        assert 0 <= released.n <= 2**63 - 1
        if profile.n and epsilon == "30":
            assert sorted_l1(released, profile) < 1000


def test_bounded_profile_cuts_to_what_int64_holds() -> None:
    top = 2**63 - 1
    for arms, legs in [
        ([top - 1, 5], [3, 0]),
        ([top // 2, top // 2 - 1], [top // 2, 0]),
        ([top - 2, top - 3], [top - 2, top - 3]),
    ]:
        assert top - 2 <= bounded_profile(np.array(arms), np.array(legs)).n <= top
    assert bounded_profile(np.array([4, 1]), np.array([2, 0])).n == 9
    # No more is cut than must be.
    assert bounded_profile(np.array([top - 1]), np.array([0])).n == top
    assert bounded_profile(np.array([top - 1, 5]), np.array([3, 0])).n == top


def test_noise_saturates_at_the_end_of_int64() -> None:
    lengths = np.array([[2**63 - 4, 2**63 - 1, 5]])
    noise = np.array([[2, 1, -9, 3], [7, -1, 0, -3]])
    top = 2**63 - 1
    seen = noisy_rows(lengths, noise, np.array([2, 2]), epsilon=1.0).sums
    assert seen.tolist() == [[2**63 - 2, top, -4, 3], [top, top - 1, 5, -3]]


def test_prior_scale_and_grid_are_public() -> None:
    # The post-processing is a pure function of its arguments.
    sides = [NoisyRows.alone(np.array([side])) for side in ([7, 3, 1, 0, 0, 0], [4, 2, 0, 1, 0, -1])]
    arguments = (np.array([3]), *sides)
    first = frobenius_posterior.posterior_medians(*arguments, epsilon=0.3)
    second = frobenius_posterior.posterior_medians(*arguments, epsilon=0.3)
    assert [tuple(map(bytes, each[:2])) for each in first] == [tuple(map(bytes, each[:2])) for each in second]
    assert [each[2:] for each in first] == [each[2:] for each in second]


def enumerate_partitions(
    size: int, noisy: NDArray[np.int64], epsilon: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return all small partitions, as rows of a table, and how likely they are once their coordinates were seen.

    A priori the numbers of equal rows, and columns, beyond the diagonal are geometric.
    """
    most, k = noisy.shape[1], np.arange(1, noisy.shape[1] + 1)
    table = np.array([(*one, *(0,) * (26 - len(one))) for one in partitions_up_to(26)])
    table = table[table[:, most] <= most]
    on_diagonal = table[:, :most] >= k
    sides = np.stack((table[:, :most], (table[:, :, None] >= k).sum(axis=1)))
    distances = np.abs(on_diagonal.sum(axis=1) - size)
    distances += np.abs((sides - k) * on_diagonal - noisy[:, None]).sum(axis=(0, 2))
    shares = size**2 / (size**2 + sides**2) * (1 + (size / k) ** 2)
    weights = np.exp(-epsilon * distances) * np.where(on_diagonal, shares, 1).prod(axis=(0, 2))
    return table, weights / weights.sum()


@pytest.mark.slow
def test_posterior_medians_are_those_of_the_enumerated_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frobenius_posterior, "SIZE_IS_ENOUGH", 0.0)
    epsilon, size = 1.1, 2
    seen = np.array([[3, 1, 0, 0], [2, 2, 1, -1]])
    table, weights = enumerate_partitions(size, seen, epsilon)
    # Entry (row, column): how likely that cell is.
    likely = weights @ (table[:, :12, None] > np.arange(12)).reshape(len(table), -1)
    expected = (likely.reshape(12, 12) >= 0.5).sum(axis=1).tolist()
    sides = (NoisyRows.alone(side[None]) for side in seen)
    found = frobenius_posterior.posterior_medians(np.array([size]), *sides, epsilon=epsilon)[0]
    fitted = FrobeniusCoordinates(found.arms, found.legs).profile()
    assert fitted.partition().tolist() == [row for row in expected if row]
    apart = [sorted_l1(fitted, Profile.from_partition([row for row in rows.tolist() if row])) for rows in table]
    assert found.apart + found.apart_legs + found.beyond == pytest.approx(weights @ apart, rel=0.02)


def test_settings_are_checked() -> None:
    with pytest.raises(UsageError):
        FrobeniusMechanism(0)
    with pytest.raises(UsageError, match="protects less"):
        FrobeniusMechanism(1).release(Profile.from_counts([1], unit=PrivacyUnit.user(max_items=2)))


def test_budgets_without_noise_release_the_truth() -> None:
    profile = Profile.from_counts([5, 3, 3, 1, 90])
    for epsilon in (101, 2000, 10**6):
        assert FrobeniusMechanism(epsilon).release(profile).profile == profile

"""PrivHist: the cut changes one number, every step spends what it says, and what is published follows the paper."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.mechanisms import BudgetShares, PrivHistMechanism, zipf_profile
from anonhist.mechanisms import privhist as privhist_high
from anonhist.mechanisms.noise import simulated_noise
from anonhist.mechanisms.picking import from_parameters
from anonhist.mechanisms.privhist import (
    block_sums,
    border_width,
    boundaries,
    cut,
    high_privacy,
    low_privacy,
    noisy_blocks,
    top_labels,
    without_nearest,
)
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.randomness import discrete_laplace_pmf
from anonhist_testing.audit import audit
from anonhist_testing.cases import each_of
from anonhist_testing.partitions import Partition, larger_neighbors, partitions_up_to
from anonhist_testing.sources import SeededSource

BORDER = 3


@cache
def cut_parts(partition: Partition, threshold: int, shift: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    small, large = cut(Profile.from_partition(partition), threshold, BORDER, shift=shift)
    return small, large


@pytest.mark.slow
def test_cut_follows_its_definition() -> None:
    for partition, threshold, shift in itertools.product(partitions_up_to(7), (1, 2, 4), (-5, -3, 0, 2, 4)):
        prevalences = {r: partition.count(r) for r in range(1, 12)}
        prevalences[threshold] += BORDER - shift
        prevalences[threshold + 1] += BORDER + shift
        small, large = cut_parts(partition, threshold, shift)
        assert small.tolist() == [
            max(0, sum(prevalences[s] for s in range(r, threshold + 1))) for r in range(1, threshold + 1)
        ]
        reached, expected = 0, []
        for r in range(threshold + 1, 12):
            so_far = max(0, sum(prevalences[s] for s in range(threshold + 1, r + 1)))
            expected += [r] * (so_far - reached)
            reached = so_far
        assert large.tolist() == expected[::-1]


@pytest.mark.slow
def test_one_item_more_changes_one_number_or_the_border_noise_by_one() -> None:
    crossed = 0
    for fewer in partitions_up_to(8):
        for more, threshold, shift in itertools.product(larger_neighbors(fewer), (1, 2, 3), range(-5, 6)):
            (grown,) = (set(more) ^ set(fewer)) & set(more) or {max(more, key=more.count)}
            crosses = sum(part > threshold for part in more) > sum(part > threshold for part in fewer)
            before = np.concatenate(cut_parts(fewer, threshold, shift))
            after = np.concatenate(cut_parts(more, threshold, shift - crosses))
            assert before.size == after.size, grown
            assert np.abs(before - after).sum() <= (0 if crosses else 1)
            crossed += crosses
    assert crossed > 500


SHIFTS = range(-60, 61)


def log_likelihoods(
    partition: Partition, threshold: int, gamma: Fraction, outputs: list[tuple[int, ...]]
) -> list[float]:
    """Exact log-probabilities of what steps 2 to 4 let out, (φ^cs, N^cl): summed over the border noise."""
    chance = discrete_laplace_pmf(gamma, np.arange(-200, 201))
    # By length, for each value of the border noise: its chance, and what is cut.
    parts = defaultdict(list)
    for shift in SHIFTS:
        truth = np.concatenate(cut_parts(partition, threshold, shift))
        parts[truth.size].append((chance[shift + 200], truth))
    found = []
    for output in outputs:
        weights, truths = zip(*parts.get(len(output), [(0.0, np.array(output))]), strict=True)
        total = math.fsum(np.array(weights) * chance[output - np.array(truths) + 200].prod(axis=1))
        found.append(math.log(total) if total else -math.inf)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("threshold", [1, 2])
def test_exact_loss_of_the_cut_on_all_neighbours(threshold: int, gamma: Fraction) -> None:
    # Outputs: what is cut for many values of the border noise, as it is and with one number changed.
    outputs = set()
    for partition, shift in itertools.product(partitions_up_to(4), range(-6, 7)):
        plain = np.concatenate(cut_parts(partition, threshold, shift))
        outputs.add(tuple(plain.tolist()))
        for index, step in itertools.product(range(min(plain.size, 3)), (-2, 2)):
            outputs.add(tuple((plain + step * (np.arange(plain.size) == index)).tolist()))
    listed = sorted(outputs)
    logs = {one: log_likelihoods(one, threshold, gamma, listed) for one in partitions_up_to(4)}
    worst = 0.0
    for fewer in partitions_up_to(3):
        for more in larger_neighbors(fewer):
            for first, second in zip(logs[fewer], logs[more], strict=True):
                if max(first, second) > -math.inf:
                    worst = max(worst, abs(first - second))
    assert 0.99 * float(gamma) < worst <= float(gamma) + 1e-9


@pytest.mark.slow
def test_one_item_more_changes_one_block_sum_by_one_or_none() -> None:
    for levels in ([1, 2, 3, 9], [1, 4], [2, 3, 5]):
        boundary = np.array(levels)
        for fewer in partitions_up_to(9):
            for more in larger_neighbors(fewer):
                change = block_sums(Profile.from_partition(more), boundary) - block_sums(
                    Profile.from_partition(fewer), boundary
                )
                assert sorted(set(change.tolist())) in ([0, 1], [0], [1])
                assert change.sum() <= 1
                if max(more) <= levels[-1]:
                    assert change.sum() == 1


def smooth(partition: Partition, levels: list[int]) -> list[float]:
    """Cumulative φ^v of step H3 as the paper defines it: each label divided between the boundaries beside it."""
    share = dict.fromkeys(levels, 0.0)
    for count in partition:
        clipped = min(count, levels[-1])
        above = next(level for level in levels if level >= clipped)
        below = max((level for level in levels if level < above), default=0)
        share[above] += (clipped - below) / (above - below)
        if below:
            share[below] += (above - clipped) / (above - below)
    return [sum(share[level] for level in levels[index:]) for index in range(len(levels))]


@pytest.mark.parametrize("levels", [[1, 2, 3, 7, 12], [1, 5], [1, 2, 4, 8, 16]])
def test_block_sums_are_the_smoothed_prevalences_times_the_widths(levels: list[int]) -> None:
    widths = np.diff(levels, prepend=0)
    for partition in partitions_up_to(9):
        sums = block_sums(Profile.from_partition(partition), np.array(levels))
        assert (sums / widths).tolist() == pytest.approx(smooth(partition, levels), abs=1e-12)


def silent(_: Fraction, size: int) -> NDArray[np.int64]:
    return np.zeros(size, dtype=np.int64)


def test_high_privacy_without_noise_publishes_the_rounded_smoothed_prevalences() -> None:
    profile, items, threshold = zipf_profile(3000), 2990, 39
    large = np.array([700, 650, 400], dtype=np.int64)
    levels = boundaries(large, items=items, threshold=threshold, epsilon=0.4)
    found = noisy_blocks(profile, large, items=items, threshold=threshold, rate=Fraction(2, 5), noise=silent)
    assert found[0].tolist() == levels.tolist()
    released = high_privacy(*found)
    wanted = np.rint(smooth(tuple(profile.partition().tolist()), levels.tolist()))
    assert released.cumulative_prevalence(levels).tolist() == wanted.tolist()
    assert set(released.counts.tolist()) <= set(levels.tolist())


@pytest.mark.slow
@each_of("epsilon", [0.01, 0.3, 0.99])
@each_of("items", [1, 7, 4000, 10**9, 2**63 - 1])
def test_boundaries_rise_from_one_to_twice_the_items(items: int, epsilon: float) -> None:
    threshold = min(math.ceil(math.sqrt(items * epsilon)), 2**16)
    large = np.array([5, 10**6, 2**62], dtype=np.int64)
    levels = boundaries(large, items=items, threshold=threshold, epsilon=epsilon)
    last = min(2 * items, 2**63 - 1)
    assert levels[0] == 1
    assert levels[-1] == last
    assert (np.diff(levels) > 0).all()
    assert set(range(1, min(threshold, last) + 1)) <= set(levels[: threshold + 1].tolist())
    farthest = math.ceil(10 * math.sqrt(items / epsilon**3))
    for count in large.tolist():
        if farthest <= count <= last:
            assert count in levels
    if farthest > 4 * threshold:
        # Evenly spaced logarithms between T and T'.
        between = levels[(levels >= threshold) & (levels < min(farthest, last))]
        step = math.sqrt(max(math.log(1 / epsilon), 0.1) / (items * epsilon))
        widest = max(math.log1p(step), math.log(farthest / threshold) / 2**22)
        assert (between[1:] <= between[:-1] * (math.exp(widest) + 1e-12) + 2).all()


@pytest.mark.slow
def test_low_privacy_takes_the_made_up_labels_out_again() -> None:
    # Without noise H^e is H: at T + 1 and T the made-up labels are taken, and as many as were made up.
    for partition, threshold in itertools.product(partitions_up_to(8), (1, 2, 3)):
        small, large = cut_parts(partition, threshold, 0)
        assert low_privacy(small, large, border=BORDER) == Profile.from_partition(partition)


def test_low_privacy_smooths_small_counts_and_lifts_large_ones() -> None:
    # φ^cs = 9, 12, 3 smooths to 10.5, 10.5, 3 → 10, 10, 3; large 7, 5 and 1, which is lifted to T = 3.
    released = low_privacy(np.array([9, 12, 3]), np.array([7, 5, 1]), border=1)
    # In all 2: 7, 3: 3 + 1, 5: 1, 7: 1. Nearest to 4 of equally near 3 and 5: 5. Nearest to 3: one of the 3s.
    assert released == Profile.from_prevalences({2: 7, 3: 3, 7: 1})


def test_deletion_takes_the_nearest_and_of_equally_near_ones_the_larger() -> None:
    values, labels = np.array([2, 4, 5, 6, 9]), np.array([3, 2, 1, 2, 4])
    assert without_nearest(values, labels, 5, 0).tolist() == [3, 2, 1, 2, 4]
    assert without_nearest(values, labels, 5, 2).tolist() == [3, 2, 0, 1, 4]
    assert without_nearest(values, labels, 5, 4).tolist() == [3, 1, 0, 0, 4]
    assert without_nearest(values, labels, 5, 100).tolist() == [0] * 5


def record_calls(mechanism: PrivHistMechanism, profile: Profile) -> tuple[list[tuple[Fraction, int]], Profile, int]:
    calls = []

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        calls.append((gamma, size))
        return np.zeros(size, dtype=np.int64)

    released, items, _ = mechanism._run(profile, noise)
    return calls, released, items


def test_every_step_draws_noise_of_the_rate_it_pays_for() -> None:
    profile = zipf_profile(5000)
    calls, released, items = record_calls(PrivHistMechanism(2), profile)
    threshold = math.ceil(math.sqrt(profile.n))
    large = profile.k_plus(threshold + 1) + border_width(profile.n, Fraction(49, 25))
    first, second = Fraction(1, 25), Fraction(49, 25)
    assert calls == [(first, 1), (second, 1), (second, threshold), (second, large)]
    assert (released, items) == (profile, profile.n)

    calls, _, items = record_calls(PrivHistMechanism("0.5", shares=BudgetShares.thirds()), profile)
    threshold = math.ceil(math.sqrt(profile.n / 2))
    third = Fraction(1, 6)
    large = profile.k_plus(threshold + 1) + border_width(profile.n, third)
    assert calls[:3] == [(third, 1), (third, 1), (third, large)]
    (last,) = calls[3:]
    levels = boundaries(np.zeros(0, dtype=np.int64), items=items, threshold=threshold, epsilon=1 / 6)
    assert last[0] == third
    assert last[1] >= levels.size


@pytest.mark.parametrize(
    ("unit", "relation", "cells"),
    [
        (PrivacyUnit.item(), NeighboringRelation.ADD_OR_REMOVE, 1),
        (PrivacyUnit.user(max_items=3), NeighboringRelation.SUBSTITUTE, 6),
    ],
)
def test_a_unit_of_more_cells_gets_as_much_less_of_the_budget(
    unit: PrivacyUnit, relation: NeighboringRelation, cells: int
) -> None:
    mechanism = PrivHistMechanism(12, unit, relation)
    calls, _, _ = record_calls(mechanism, zipf_profile(500))
    assert [gamma for gamma, _ in calls[:2]] == [Fraction(12, 50 * cells), Fraction(12 * 49, 50 * cells)]
    assert sum(spent for _, spent in mechanism.guarantee.spending) == 12


def test_regime_changes_at_one_and_the_promise_says_what_is_spent() -> None:
    low, high = PrivHistMechanism("1.001").guarantee, PrivHistMechanism(1).guarantee
    assert [str(spent) for _, spent in low.spending] == ["1001/50000", "49049/50000"]
    assert [str(spent) for _, spent in high.spending] == ["1/50", "12/25", "1/2"]
    thirds = PrivHistMechanism(3, shares=BudgetShares.thirds()).guarantee
    assert thirds.epsilon == 2
    assert [spent for _, spent in thirds.spending] == [1, 1]
    assert PrivHistMechanism("0.3", shares=BudgetShares.thirds()).guarantee.epsilon == Fraction(3, 10)


def test_shares_must_add_up_to_one() -> None:
    for wrong in (("0.3", "0.3", "0.3"), ("0.5", "0.5", "0.5")):
        with pytest.raises(UsageError, match="must add up to 1, not"):
            BudgetShares(*wrong)
    for wrong in ((0, "0.5", "0.5"), ("1.5", "-0.5", "0"), ("0.5", 0, "0.5"), ("a", "0.5", "0.5")):
        with pytest.raises(UsageError, match="The share"):
            BudgetShares(*wrong)
    with pytest.raises(UsageError, match="three numbers"):
        BudgetShares.parse("0.5,0.5")
    assert BudgetShares.parse("thirds") == BudgetShares.parse("1/3, 1/3,1/3") == BudgetShares.thirds()
    with pytest.raises(UsageError, match="block sums need a share"):
        PrivHistMechanism(1, shares=BudgetShares("0.1", "0.9", 0))
    assert PrivHistMechanism("1.1", shares=BudgetShares("0.1", "0.9", 0)).guarantee.epsilon == Fraction(11, 10)
    with pytest.raises(UsageError, match="BudgetShares"):
        PrivHistMechanism(1, shares=(0.1, 0.9, 0))


def test_parameters_make_it_again() -> None:
    for shares in (None, BudgetShares.thirds(), BudgetShares("0.1", "0.2", "0.7")):
        mechanism = PrivHistMechanism("0.7", PrivacyUnit.user(max_items=2), shares=shares)
        assert from_parameters("privhist", mechanism.parameters) == mechanism


def test_the_number_of_items_is_released_on_its_own() -> None:
    profile = zipf_profile(10**7)
    errors = []
    for seed in range(40):
        release = PrivHistMechanism("0.5").release(profile, source=SeededSource(seed))
        assert release.n == release.items
        errors.append((abs(release.n - profile.n), abs(release.profile.n - profile.n)))
    own, of_profile = np.mean(errors, axis=0)
    assert own == pytest.approx(100, rel=0.5)
    assert own < of_profile


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("epsilon", "extremes"),
    [
        # Bands and block sums of millions of levels take seconds: each kind of large data at some of the budgets.
        ("0.02", ({}, {2**31: 2**20}, {1: 1})),
        ("1", ({}, {2**63 - 1: 1}, {1: 2**63 - 1}, {1: 1})),
        ("1.5", ({}, {2**63 - 1: 1}, {1: 2**63 - 1}, {1: 1})),
        ("30", ({}, {2**63 - 1: 1}, {2**31: 2**20}, {1: 1})),
    ],
)
def test_extremes_give_valid_profiles(epsilon: str, extremes: tuple[dict[int, int], ...]) -> None:
    for profile in map(Profile.from_prevalences, extremes):
        release = PrivHistMechanism(epsilon).release(profile, source=SeededSource(3))
        assert 0 <= release.profile.n <= 2**63 - 1
        assert 0 <= release.n <= 2**63 - 1
        if epsilon == "30" and profile.n < 2**52:
            assert sorted_l1(profile, release.profile) < 10


def test_labels_beyond_the_largest_number_are_left_out_one_cell_at_a_time() -> None:
    for fewer in partitions_up_to(7):
        for more in larger_neighbors(fewer):
            both = [top_labels(Profile.from_partition(one), 2) for one in (fewer, more)]
            assert sorted_l1(*both) <= 1
            assert both[0].num_labels <= 2


@pytest.mark.slow
def test_audit_stays_below_epsilon_and_catches_too_little_noise() -> None:
    # The empty profile against one item, told apart by N: a step that is given nearly everything here.
    shares = BudgetShares("0.9", "0.1", 0)
    pair = (Profile([], []), Profile([1], [1]))

    def audit_bound(epsilon: int, draws: int) -> float:
        mechanism, rng = PrivHistMechanism(epsilon, shares=shares), np.random.default_rng(6)
        noise = simulated_noise(rng)
        hits = [sum(mechanism._run(one, noise)[1] == 0 for _ in range(draws)) for one in pair]
        return audit(hits=hits[0], other_hits=hits[1], draws=draws, false_alarm_rate=1e-6).epsilon_bound

    assert 1.2 < audit_bound(2, draws=1_500) <= 2
    assert audit_bound(4, draws=750) > 2


def test_error_grows_like_the_root_of_n() -> None:
    rng, means = np.random.default_rng(1), []
    for items in (10**4, 10**6):
        profile = zipf_profile(items)
        runs = PrivHistMechanism("0.5").simulate(profile, size=30, rng=rng)
        means.append(np.mean([sorted_l1(profile, run) for run in runs]))
    assert 5 < means[1] / means[0] < 20


def test_labels_are_taken_out_at_the_upper_border_first() -> None:
    # One label each with 2, 4 and 5: nearest to T + 1 = 4 is 4, then nearest to T = 3 is 2; the other way round 4, 5.
    assert low_privacy(np.array([1, 1, 0]), np.array([5, 4]), border=1) == Profile([5], [1])


def test_wide_blocks_weigh_by_the_square_of_their_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privhist_high, "boundaries", lambda *_, **__: np.array([1, 2, 10]))

    def noise(_: Fraction, size: int) -> NDArray[np.int64]:
        assert size == 3
        return np.array([2, 6, 80])

    # Means 2, 6 and 10 of blocks of 1, 1 and 8 rise: all are (2 + 6 + 64·10)/66 = 9.8, not (2 + 6 + 8·10)/10.
    none = np.zeros(0, dtype=np.int64)
    found = noisy_blocks(Profile([], []), none, items=5, threshold=2, rate=Fraction(1), noise=noise)
    released = high_privacy(*found)
    assert released == Profile([10], [10])

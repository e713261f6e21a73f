"""The exact draw of the partition mechanism: its distribution on every sequence of decisions, and each of its steps."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import accumulate, count, pairwise, product

import numpy as np
import pytest

from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.exponential import boundary_walk
from anonhist.mechanisms.exponential.boundary_walk import Coins, draw_turns
from anonhist.mechanisms.noise import ExactChoices
from anonhist.mechanisms.skeletons import cut_to
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.exact import DecidedChoices, Decisions, OutputDistribution, output_distribution
from anonhist_testing.partitions import Partition, corner_weight, distance, partitions_up_to
from anonhist_testing.sources import SeededSource
from anonhist_testing.statistics import assert_pmf_differs, assert_pmf_equal

# ln 3 lies between them.
BELOW_LN_3, ABOVE_LN_3 = "1.09861228866810969", "1.09861228866810970"


@pytest.fixture(autouse=True)
def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide nothing that is not used."""
    monkeypatch.setattr(boundary_walk, "_AT_ONCE", 1)


def distribution(reference: Partition, gamma: float, *, unexplored: float, cells: int = 1) -> OutputDistribution:
    """Follow the mechanism's own run through every sequence of decisions; ε = γ·cells."""
    mechanism = PartitionMechanism(Fraction(gamma) * cells, PrivacyUnit.user(max_items=cells))
    profile = Profile.from_partition(reference)

    def run(decisions: Decisions) -> Partition:
        (drawn,) = mechanism._run(profile, 1, DecidedChoices(decisions))
        return tuple(drawn.partition().tolist())

    return output_distribution(run, unexplored=unexplored)


def probability(reference: Partition, output: Partition, gamma: float) -> float:
    """The distribution by its definition; the normalizer is 1."""
    z = 1 / (math.exp(gamma) + 1)
    return math.exp(-gamma * distance(reference, output)) * corner_weight(output, z)


def check(found: OutputDistribution, reference: Partition, gamma: float) -> None:
    assert math.fsum(found.probabilities.values()) + found.unexplored == pytest.approx(1, abs=1e-9)
    for output, chance in found.probabilities.items():
        exact = probability(reference, output, gamma)
        assert chance <= exact * (1 + 1e-9)
        assert exact - chance <= found.unexplored * (1 + 1e-9)


REFERENCES = [*partitions_up_to(4), (3, 2), (3, 2, 1), (3, 3, 1), (5, 1), (4, 4), (2, 2, 1, 1)]


@each_of("reference", REFERENCES)
def test_every_path_adds_up_to_the_distribution(reference: Partition) -> None:
    check(distribution(reference, 3.5, unexplored=0.03), reference, 3.5)


def test_a_budget_for_several_cells_is_shared_among_them() -> None:
    check(distribution((2, 1), 3.5, unexplored=0.03, cells=3), (2, 1), 3.5)


def decided_steps(reference: Partition, gamma: float, *, unexplored: float, flags: bool = True) -> OutputDistribution:
    """Follow the walk with steps of the stated probabilities: fewer decisions, so that more of it is followed."""

    def decide(gap: int, decisions: Decisions, *, away: bool, flagged: bool) -> Step:
        stated = weights(gamma, min(gap, 40), away=away, flagged=flagged)
        edges, leaves, flag = [*stated][decisions.choose([*stated.values()])]
        # Beyond 40 edges, only those near the mark count.
        return (edges if away or flagged else gap - min(gap, 40) + edges), leaves, flag and flags

    def run(decisions: Decisions) -> Partition:
        drawn = boundary_walk.walk_around(Profile.from_partition(reference), decisions)  # type: ignore[arg-type]
        return tuple(drawn.partition().tolist())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boundary_walk, "_draw_back", partial(decide, away=True))
        for name, flagged in (("_draw_flagged", True), ("_draw_stretch", False)):
            patch.setattr(boundary_walk, name, partial(decide, away=False, flagged=flagged))
        return output_distribution(run, unexplored=unexplored)


@pytest.mark.slow
@each_of("gamma", [1.1, 2.0])
@each_of("reference", REFERENCES)
def test_steps_of_the_stated_probabilities_add_up_to_the_distribution(gamma: float, reference: Partition) -> None:
    check(decided_steps(reference, gamma, unexplored=0.1 if gamma < 2 else 0.005), reference, gamma)


def test_steps_that_forget_their_flags_are_seen() -> None:
    with pytest.raises(AssertionError):
        check(decided_steps((2, 1), 1.1, unexplored=0.1, flags=False), (2, 1), 1.1)


def test_no_output_tells_neighbours_apart_by_more_than_epsilon() -> None:
    found = {one: distribution(one, 3.0, unexplored=0.03) for one in partitions_up_to(3)}
    # Neighbors by one cell, and by two, of a budget for both.
    for one, other in product(found, repeat=2):
        if (cells := distance(one, other)) > 2:
            continue
        for output, chance in found[one].probabilities.items():
            most = found[other].probabilities.get(output, 0.0) + found[other].unexplored
            assert chance <= math.exp(3 * cells) * most
    # The bound is met: the empty profile and one item, at the output without items.
    ratio = distribution((), 3.0, unexplored=1e-4).probabilities[()]
    ratio /= distribution((1,), 3.0, unexplored=1e-4).probabilities[()]
    assert ratio == pytest.approx(math.exp(3), rel=0.01)


Step = tuple[int, bool, bool]
UNEXPLORED = 1e-4


def steps(gamma: float, gap: int, *, away: bool, flagged: bool) -> dict[Step, float]:
    """Return the distribution of one step of the program: (edges, leads away, flag)."""

    def run(decisions: Decisions) -> Step:
        coins = Coins.of(Fraction(gamma), DecidedChoices(decisions))
        if away:
            return boundary_walk._draw_back(gap, coins, flagged=flagged)
        return (boundary_walk._draw_flagged if flagged else boundary_walk._draw_stretch)(gap, coins)

    found = output_distribution(run, unexplored=UNEXPLORED).probabilities
    # Steps too rare to be followed are listed with 0.
    return {step: found.get(step, 0.0) for step in {*found, *weights(gamma, gap, away=away, flagged=flagged)}}  # type: ignore[misc]


def weights(gamma: float, gap: int, *, away: bool, flagged: bool) -> dict[Step, float]:
    """Return it by the weights of all endings (docs/proofs/pure-partition.md §3)."""
    q = math.exp(-gamma)
    z, x = q / (1 + q), 1 + flagged

    def endings(gap: int, x: float, *, away: bool) -> float:
        return 1 - z * x * (1 if away else q**gap)

    corner = {False: 1 - 2 * z * x, True: z * x}
    if away:
        found = {(1, False, flag): corner[flag] * endings(gap - 1, 1 + flag, away=False) for flag in corner}
        found[1, True, False] = q**gap * endings(0, 1, away=True)
    elif flagged:
        found = {(1, True, flag): corner[flag] * q**gap * endings(0, 1 + flag, away=True) for flag in corner}
        found[1, False, False] = endings(gap - 1, 1, away=False)
    else:
        found = {
            (gap - left + 1, True, flag): corner[flag] * q**left * endings(0, 1 + flag, away=True)
            for left in range(1, gap + 1)
            for flag in corner
        }
        found[gap, False, False] = endings(0, 1, away=False)
    total = endings(gap, x, away=away)
    assert math.fsum(found.values()) == pytest.approx(total, rel=1e-12)
    return {step: weight / total for step, weight in found.items() if weight}


@each_of("gamma", [1.1, 2.5])
@each_of("gap", [1, 2, 4])
@each_of(("away", "flagged"), [(True, False), (True, True), (False, True), (False, False)])
def test_each_step_has_the_probabilities_of_the_proof(gamma: float, gap: int, *, away: bool, flagged: bool) -> None:
    expected = weights(gamma, gap, away=away, flagged=flagged)
    assert steps(gamma, gap, away=away, flagged=flagged) == pytest.approx(expected, abs=UNEXPLORED)


WRONG: dict[str, Callable[[Coins], Coins]] = {
    "a coin of probability 2z for z": lambda coins: Coins(coins.wait, coins.twice, coins.twice, coins.share),
    "a coin of probability z for 2z": lambda coins: Coins(coins.wait, coins.once, coins.once, coins.share),
    "no flags after flags": lambda coins: Coins(coins.wait, coins.once, coins.twice, lambda: False),
    "a limit on how far": lambda coins: Coins(lambda: min(coins.wait(), 2), coins.once, coins.twice, coins.share),
}


@pytest.mark.first(3)
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_coins_are_seen(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Coins.of
    monkeypatch.setattr(Coins, "of", lambda gamma, choices: WRONG[wrong](right(gamma, choices)))
    settings = [(gap, away, flagged) for gap in (1, 2, 4) for away in (True, False) for flagged in (True, False)]
    assert any(
        steps(1.1, gap, away=away, flagged=flagged)
        != pytest.approx(weights(1.1, gap, away=away, flagged=flagged), abs=2 * UNEXPLORED)
        for gap, away, flagged in settings
    )
    if wrong == "a coin of probability 2z for z":
        # Outputs show it, too.
        with pytest.raises(AssertionError):
            check(distribution((2, 1), 3.5, unexplored=0.03), (2, 1), 3.5)


def test_endings_of_any_path_add_up_to_a_power_of_q() -> None:
    # §2: from a position and a displacement on, over all that can follow, by brute force.
    q = 0.25
    z, reference = q / (1 + q), "VVHVHHVHVVHHH"
    for u, displaced, endless in (
        (0, 0, False),
        (1, 2, False),
        (-2, 1, False),
        (2, 6, False),
        (-4, 10, False),
        (-8, 0, True),
    ):
        total = math.fsum(_endings(reference, u, q, z, reach=13 + 6))
        assert total == pytest.approx(0 if endless else q**displaced, rel=2e-3, abs=1e-9)


def _endings(reference: str, u: int, q: float, z: float, *, reach: int) -> list[float]:
    """Return the weights of boundaries that go on from a displacement and return within a reach."""
    runs = [1.0, 1 - z]
    while len(runs) <= reach:
        runs.append(runs[-1] - z * runs[-2])
    follows, found = reference.ljust(reach, "H"), list[float]()
    # Displacement, last edge, length of the run of corners that ends here, weight without that run.
    paths: dict[tuple[int, str, int], float] = {(u, "", 0): 1.0}
    for edge in follows:
        after = dict[tuple[int, str, int], float]()
        for (at, last, run), weight in paths.items():
            for chosen in "VH":
                moved = at + (chosen == "H") - (edge == "H")
                corner = bool(last) and chosen != last
                key = (moved, chosen, run + 1 if corner else 0)
                gained = weight * q ** abs(moved) * (1 if corner else runs[run])
                after[key] = after.get(key, 0.0) + gained
        paths = {key: weight for key, weight in after.items() if abs(key[0]) <= 9}
    found.extend(weight * runs[run] for (at, last, run), weight in paths.items() if at == 0 and last == "H")
    return found


@pytest.mark.fresh
@pytest.mark.slow
@each_of("reference", [(5, 3, 3, 1), (1, 1, 1, 1), (9, 9, 2)])
def test_exact_draws_follow_the_distribution_and_no_other(
    reference: Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boundary_walk, "_AT_ONCE", 1024)
    gamma, more = 1.3, "more"
    coins, profile = Coins.of(Fraction(gamma), ExactChoices(SeededSource(5))), Profile.from_partition(reference)
    drawn = [tuple(boundary_walk.walk_around(profile, coins).partition().tolist()) for _ in range(20_000)]
    samples = [one if distance(reference, one) <= 4 else more for one in drawn]
    near = [one for one in partitions_up_to(sum(reference) + 4) if distance(reference, one) <= 4]
    for rate, assert_pmf in ((gamma, assert_pmf_equal), (gamma * 1.15, assert_pmf_differs)):
        pmf: dict[Partition | str, float] = {one: probability(reference, one, rate) for one in near}
        assert_pmf(samples, pmf | {more: 1 - math.fsum(pmf.values())}, false_fail_rate=1e-9)


def test_draws_are_pure_from_the_logarithm_of_three_on() -> None:
    assert PartitionMechanism(BELOW_LN_3).delta > 0
    for epsilon in (ABOVE_LN_3, "1.1", "20"):
        guarantee = PartitionMechanism(epsilon).guarantee
        assert guarantee.delta == 0
        assert "exact" in str(guarantee)
    chosen = PartitionMechanism(2, member=PartitionMechanism("1.9").family)
    assert chosen.delta > 0


def test_no_data_are_refused_and_large_numbers_do_not_overflow() -> None:
    profiles = [{2**20 + 1: 2**20 + 1}, {2**31: 2**31}, {2**63 - 1: 1}, {1: 2**63 - 1}]
    for profile in map(Profile.from_prevalences, profiles):
        for _ in range(8):
            released = PartitionMechanism(3).release(profile).profile
            assert released.n <= 2**63 - 1
            assert sorted_l1(profile, released) < 50


def test_more_than_int64_holds_is_cut_from_the_top() -> None:
    top = 2**63 - 1
    assert cut_to([(1, top + 5)], top) == Profile.from_prevalences({1: top})
    assert cut_to([(2, 1), (top + 9, 1)], top) == Profile.from_prevalences({2: 1, top - 2: 1})
    assert cut_to([(3, 2), (5, 1), (6, 2)], 19) == Profile.from_prevalences({3: 2, 4: 2, 5: 1})
    assert cut_to([(3, 2), (9, 1)], 5) == Profile.from_prevalences({1: 1, 2: 2})


def test_coins_are_taken_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundary_walk, "_AT_ONCE", 7)
    wait = Coins.of(Fraction(2), ExactChoices(SeededSource(1))).wait
    source = ExactChoices(SeededSource(1))
    assert [wait() for _ in range(21)] == [k for _ in range(3) for k in source.waits(Fraction(2), 7).tolist()]


def test_a_walk_that_never_leaves_is_the_reference() -> None:
    never = Coins(lambda: 0, lambda: False, lambda: False, lambda: False)
    for reference in partitions_up_to(7):
        profile = Profile.from_partition(reference)
        assert boundary_walk.walk_around(profile, never) == profile
    ends = [*accumulate([0, 2, 1, 4, 3]), 2**80]
    assert draw_turns(ends, never) == ends[:-1]
    # Turned off at every second chance it still returns to a diagram.
    chances = count()
    turns = draw_turns(ends, Coins(lambda: 0, lambda: next(chances) % 4 == 1, lambda: False, lambda: False))
    assert all(earlier < later for earlier, later in pairwise(turns))
    assert turns != ends[:-1]


@pytest.mark.slow
def test_simulated_runs_have_the_error_of_releases() -> None:
    profile, mechanism = Profile.from_prevalences({1: 40, 2: 11, 5: 3, 30: 1}), PartitionMechanism("1.2")
    simulated = mechanism.simulate(profile, size=400, rng=np.random.default_rng(2))
    released = [mechanism.release(profile, source=SeededSource(seed)).profile for seed in range(400)]
    means = [np.mean([sorted_l1(profile, one) for one in runs]) for runs in (simulated, released)]
    assert means[0] == pytest.approx(means[1], rel=0.15)

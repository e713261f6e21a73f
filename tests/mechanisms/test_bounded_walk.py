"""The walk of the bounded partition mechanism, whole: each step with the probabilities of its coins, each output."""

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import product

import pytest

from anonhist.mechanisms.exponential import boundary_walk
from anonhist.mechanisms.exponential.boundary_walk import Coins
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of
from anonhist_testing.exact import Decisions, output_distribution
from anonhist_testing.partitions import Partition, corner_weight, distance, partitions_below, partitions_up_to

Step = tuple[int, bool, bool]
STEPS: dict[str, Callable[..., Step]] = {
    name: getattr(boundary_walk, name)
    for name in ("_draw_back", "_draw_flagged", "_draw_stretch", "_draw_back_inside", "_draw_stretch_inside")
}
# Gaps are shorter here, but those to an edge that never comes.
NEVER = 2**60


@cache
def step_law(name: str, gamma: float, gap: int, ahead: tuple[int, ...], flags: frozenset[str]) -> dict[Step, float]:
    """Return the distribution of one step of the program, from its coins, all but 1e-14 of it."""
    q = math.exp(-gamma)
    # A step is the same for all waits that are as long as the gap, or as the part of it where the count may rise.
    z, room = q / (1 + q), max(1, gap - sum(ahead))
    far = room if room < NEVER else 1
    waits = [*((1 - q) * q**wait for wait in range(far)), q**far]

    def run(decisions: Decisions) -> Step:
        def bit(chance: float) -> Callable[[], bool]:
            return lambda: decisions.choose([1 - chance, chance]) == 1

        coins = Coins(lambda: decisions.choose(waits), bit(z), bit(2 * z), bit(2 * z / (1 - 2 * z)))
        named = {"_draw_back": ("flagged",), "_draw_back_inside": ("rose",)}.get(name, ())
        return STEPS[name](gap, *ahead, coins, **{flag: flag in flags for flag in named})

    return output_distribution(run, unexplored=1e-14).probabilities  # type: ignore[return-value]


def distribution(reference: Partition, number: int, gamma: float) -> dict[Partition, float]:
    """Return the distribution of the walk before anything is cut, along all paths."""
    profile = Profile.from_partition(reference)

    def decide(name: str, gap: int, *others: object, **flags: bool) -> Step:
        *ahead, decisions = others
        law = step_law(name, gamma, gap, tuple(ahead), frozenset(flag for flag in flags if flags[flag]))  # type: ignore[arg-type]
        return [*law][decisions.choose([*law.values()])]  # type: ignore[attr-defined]

    def run(decisions: Decisions) -> Partition:
        drawn = boundary_walk.walk_around(profile, decisions, number)  # type: ignore[arg-type]
        return tuple(part for count, labels in reversed([*drawn]) for part in [count] * labels)  # type: ignore[misc]

    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(boundary_walk, name, partial(decide, name))
        patch.setattr(boundary_walk, "cut_to", lambda prevalences, _: [*prevalences])
        return output_distribution(run, unexplored=1e-12).probabilities  # type: ignore[return-value]


def check(reference: Partition, number: int, gamma: float) -> None:
    z, found = 1 / (math.exp(gamma) + 1), distribution(reference, number, gamma)
    assert {*found} <= {*partitions_below(number)}
    for output in partitions_below(number):
        exact = math.exp(-gamma * distance(reference, output)) * corner_weight(output, z, number)
        assert found.get(output, 0.0) == pytest.approx(exact, rel=1e-9, abs=1e-11)


@each_of("gamma", [1.1, 2.0])
@each_of("number", [1, 2, 3, 4, 5])
def test_the_walk_has_the_stated_distribution(number: int, gamma: float) -> None:
    for reference in partitions_up_to(number):
        check(reference, number, gamma)


@pytest.mark.slow
@each_of(("number", "reference"), [(6, one) for one in partitions_up_to(6)] + [(8, (3, 3, 2)), (8, (8,)), (8, ())])
def test_the_walk_has_the_stated_distribution_below_larger_hyperbolas(number: int, reference: Partition) -> None:
    check(reference, number, 1.1)


def test_no_output_tells_neighbors_apart_by_more_than_epsilon() -> None:
    gamma, found = 1.1, {one: distribution(one, 4, 1.1) for one in partitions_up_to(4)}
    worst = {
        cells: max(
            math.log(found[one][output] / found[other][output])
            for one, other in product(found, repeat=2)
            if distance(one, other) == cells
            for output in found[one]
            if found[one][output] > 1e-6
        )
        for cells in (1, 2)
    }
    # Attained, so that nothing of the budget is left.
    assert worst == pytest.approx({1: gamma, 2: 2 * gamma}, rel=1e-6)

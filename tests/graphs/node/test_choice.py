"""The private choice of a largest degree: its distribution, exactly."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, log

import pytest

from anonhist.errors import UsageError
from anonhist.graphs.bounding import CANDIDATES, DegreeChoice
from anonhist.mechanisms.choosing import scores as scores_of
from anonhist.privacy import NeighboringRelation
from anonhist_testing.sources import SeededSource

ADDED, REPLACED = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE


def distribution(
    choice: DegreeChoice, kept: dict[int, int], noise: dict[int, float], *, rate: float | None = None
) -> list[float]:
    """Compute the chances of permute-and-flip from what the docstring says, in floats."""
    epsilon = float(choice.epsilon)
    losses = [noise[bound] - kept[bound] + bound**1.5 / (2 * epsilon) for bound in choice.candidates]
    scores = [
        max((q - p) / (2 * max(i, j)) for p, j in zip(losses, choice.candidates, strict=True))
        for q, i in zip(losses, choice.candidates, strict=True)
    ]
    speed = epsilon / 2 if rate is None else rate
    heads = [exp(-speed * (score - min(scores))) for score in scores]
    chances = [0.0] * len(heads)
    for shown in product((False, True), repeat=len(heads)):
        chance = 1.0
        for is_head, head in zip(shown, heads, strict=True):
            chance *= head if is_head else 1 - head
        for index, is_head in enumerate(shown):
            chances[index] += chance / sum(shown) if is_head else 0
    return chances


NOISE = {1: 5.0, 2: 9.5, 4: 20.0, 8: 60.0}


@pytest.mark.slow
def test_draws_follow_the_distribution() -> None:
    choice = DegreeChoice(Fraction(2), (1, 2, 4, 8))
    kept = {1: 20, 2: 40, 4: 62, 8: 90}
    source = SeededSource(7)
    drawn = Counter(choice.draw(kept, NOISE, ADDED, source=source) for _ in range(2000))
    for bound, chance in zip(choice.candidates, distribution(choice, kept, NOISE), strict=True):
        # Five standard errors: wrong for a right program once in a million times.
        assert abs(drawn[bound] / 2000 - chance) < 5 * (chance * (1 - chance) / 2000) ** 0.5 + 1e-9


@pytest.mark.slow
def test_replacing_halves_the_rate() -> None:
    choice = DegreeChoice(Fraction(2), (1, 8))
    kept = {1: 0, 8: 100}
    source = SeededSource(7)
    drawn = Counter(choice.draw(kept, NOISE, REPLACED, source=source) for _ in range(2000))
    chance = distribution(choice, kept, NOISE, rate=0.5)[0]
    assert 0.05 < chance < 0.4
    assert abs(drawn[1] / 2000 - chance) < 5 * (chance * (1 - chance) / 2000) ** 0.5


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6)])
def test_one_node_changes_no_chance_by_more_than_the_budget(epsilon: Fraction) -> None:
    choice = DegreeChoice(epsilon, (1, 2, 4))
    largest = 0.0
    for kept in ({1: 30, 2: 50, 4: 70}, {1: 0, 2: 0, 4: 0}, {1: 10, 2: 14, 4: 300}):
        before = distribution(choice, kept, NOISE)
        # One node raises what a candidate keeps by 0 to 2θ, each by itself at worst.
        for rises in product((0, 1, 2), (0, 2, 4), (0, 4, 8)):
            after = distribution(choice, {i: kept[i] + rise for i, rise in zip((1, 2, 4), rises, strict=True)}, NOISE)
            for first, second in zip(before, after, strict=True):
                largest = max(largest, abs(log(first / second)))
    assert largest <= float(epsilon) + 1e-9
    assert largest > 0.4 * float(epsilon)


def test_twice_the_rate_would_be_caught() -> None:
    choice = DegreeChoice(Fraction(2), (1, 2, 4))
    largest = 0.0
    for kept in ({1: 30, 2: 50, 4: 70}, {1: 0, 2: 0, 4: 0}, {1: 10, 2: 14, 4: 300}):
        before = distribution(choice, kept, NOISE, rate=2.0)
        for rises in product((0, 2), (0, 4), (0, 8)):
            after = distribution(
                choice, {i: kept[i] + rise for i, rise in zip((1, 2, 4), rises, strict=True)}, NOISE, rate=2.0
            )
            largest = max(largest, *(abs(log(first / second)) for first, second in zip(before, after, strict=True)))
    assert largest > 2


def test_scores_are_exact_and_change_by_one_at_most() -> None:
    losses, sensitivities = [Fraction(1, 3), Fraction(-50), Fraction(7)], (2, 8, 32)
    before = scores_of(losses, sensitivities)
    assert before == [Fraction(151, 24), Fraction(0), Fraction(57, 32)]
    for falls in product((0, 1, 2), (0, 3, 8), (0, 10, 32)):
        moved = scores_of([loss - fall for loss, fall in zip(losses, falls, strict=True)], sensitivities)
        assert all(abs(a - b) <= 1 for a, b in zip(moved, before, strict=True))


def test_the_best_is_chosen_with_a_large_budget() -> None:
    choice = DegreeChoice(Fraction(200))
    kept = {bound: min(bound, 64) * 1000 for bound in CANDIDATES}
    noise = {bound: 10.0 * bound for bound in CANDIDATES}
    assert {choice.draw(kept, noise, ADDED, source=SeededSource(seed)) for seed in range(20)} == {64}


@pytest.mark.parametrize("candidates", [(), (2, 1), (1, 1), (0, 1), (1, 2**20 + 1), tuple(range(1, 66)), (1.5,)])
def test_impossible_candidates_are_refused(candidates: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="candidate"):
        DegreeChoice(Fraction(1), candidates)


def test_parameters_are_text() -> None:
    assert DegreeChoice(Fraction(1, 3), (1, 64)).parameters == {"choice_epsilon": "1/3", "choice_candidates": "1,64"}

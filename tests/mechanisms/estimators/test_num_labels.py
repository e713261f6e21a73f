"""The number of labels for users with any number: its exact privacy loss, its lower end, and how much it misses."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise
from typing import Any

import numpy as np
import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.mechanisms.choosing import least_loss, least_loss_pmf, pmf_by_scores
from anonhist.mechanisms.estimators import num_labels
from anonhist.mechanisms.estimators.num_labels import NumLabelsMechanism, noise_bound
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.user_labels import UserLabels
from anonhist.randomness import discrete_laplace_pmf
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
Labels = tuple[int, ...]
Users = tuple[Labels, ...]
Matched = Callable[[Users], tuple[int, ...]]
SUBSETS: list[Labels] = [chosen for size in range(1, 5) for chosen in combinations(range(4), size)]


def held_by(users: Iterable[Sequence[int]]) -> UserLabels:
    return UserLabels.from_pairs((user, label) for user, labels in enumerate(users) for label in labels)


@cache
def matched_in(users: Users) -> tuple[int, ...]:
    return tuple(map(held_by(users).num_matched, (1, 2, 3)))


def neighbors(relation: NeighboringRelation) -> Iterable[tuple[Users, Users]]:
    """Yield all neighboring tables with at most three users and four labels."""
    for size in range(3):
        for others in combinations_with_replacement(SUBSETS, size):
            grown = [tuple(sorted((*others, labels))) for labels in SUBSETS]
            yield from ((others, each) for each in grown) if relation is ADD else combinations(grown, 2)


def worst_losses(
    mechanism: NumLabelsMechanism, pairs: Iterable[tuple[Users, Users]], matched: Matched = matched_in
) -> tuple[float, float]:
    """Return the largest loss of the choice, and that of the choice and the noisy number together."""

    @cache
    def chances(numbers: tuple[int, ...]) -> list[float]:
        found = pmf_by_scores(mechanism.scores(numbers), mechanism.choice_rate)
        return [math.log(each) for each in found]

    of_choice = of_both = 0.0
    for one, other in {(matched(one), matched(other)) for one, other in pairs}:
        for place, (before, after) in enumerate(zip(chances(one), chances(other), strict=True)):
            # Far outside both numbers, the noise adds its whole distance, with the sign of the loss.
            farther = float(mechanism.noise_rate(mechanism.candidates[place])) * abs(one[place] - other[place])
            of_choice, of_both = max(of_choice, abs(before - after)), max(of_both, abs(before - after) + farther)
    return of_choice, of_both


@pytest.mark.slow
@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_no_loss_exceeds_epsilon_between_any_small_tables(epsilon: str, relation: NeighboringRelation) -> None:
    mechanism = NumLabelsMechanism(epsilon, relation, max_per_user=3)
    assert mechanism.candidates == (1, 2, 3)
    of_choice, of_both = worst_losses(mechanism, neighbors(relation))
    assert of_choice <= 0.4 * float(epsilon) * (1 + 1e-9)
    # The noise alone takes three fifths.
    assert 0.6 * float(epsilon) < of_both <= float(epsilon) * (1 + 1e-9)


def of_owners() -> list[tuple[Users, Users]]:
    """Return neighbors of users with up to eight labels of their own, which move differences the most."""

    def owners(sizes: Iterable[int]) -> Users:
        return tuple(tuple(range(8 * user, 8 * user + size)) for user, size in enumerate(sizes))

    tables = [[size] * users for users in range(7) for size in (1, 2, 4, 8)]
    return [(owners(sizes), owners([*sizes, more])) for sizes in tables for more in (1, 2, 4, 8)]


@cache
def matched_to_eight(users: Users) -> tuple[int, ...]:
    return tuple(map(held_by(users).num_matched, (1, 2, 4, 8)))


def test_users_with_labels_of_their_own_lose_no_more() -> None:
    assert worst_losses(NumLabelsMechanism(1, max_per_user=8), of_owners(), matched_to_eight)[1] <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "divisor",
    [lambda own, _: own, lambda _, other: other, min, lambda *_: 1],
    ids=["own", "other", "smaller", "none"],
)
def test_scores_with_a_smaller_divisor_lose_too_much(
    divisor: Callable[[int, int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(losses: Sequence[Any], sensitivities: Sequence[int]) -> list[Fraction]:
        both = list(zip(losses, sensitivities, strict=True))
        return [max(Fraction(q - p) / divisor(own, other) for p, other in both) for q, own in both]

    monkeypatch.setattr(num_labels, "scores", wrong)
    assert worst_losses(NumLabelsMechanism(1, max_per_user=8), of_owners(), matched_to_eight)[0] > 1.2 * 0.4


@pytest.mark.slow
def test_labels_chosen_by_rarity_instead_of_a_matching_lose_too_much() -> None:
    def by_rarity(users: Users) -> tuple[int, ...]:
        often = {label: sum(label in each for each in users) for label in range(7)}
        ranked = [sorted(each, key=lambda label: (often[label], label)) for each in users]
        return tuple(len({label for each in ranked for label in each[:most]}) for most in (1, 2, 3))

    users = (*((0, own) for own in range(1, 7)), *([tuple(range(1, 7))] * 4))
    pair = users, (*users, tuple(range(1, 7)))
    mechanism = NumLabelsMechanism(1, max_per_user=3)
    assert worst_losses(mechanism, [pair], by_rarity)[1] > 2.5
    assert worst_losses(mechanism, [pair])[1] <= 1


@pytest.mark.slow
def test_too_little_noise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NumLabelsMechanism, "noise_rate", lambda self, _: self.epsilon * Fraction(3, 5))
    assert worst_losses(NumLabelsMechanism(1, max_per_user=3), neighbors(ADD))[1] > 1.9


@each_of(("users", "most", "share"), [(3000, 2, 0.99), (200, 8, 0.98), (40, 100, 0.95)])
def test_large_numbers_per_user_are_chosen_where_they_are_worth_their_noise(
    users: int, most: int, share: float
) -> None:
    # Divided by ℓ, the losses of all large ℓ are alike: each of eleven was drawn in about one of eleven cases.
    mechanism = NumLabelsMechanism(3)
    held = UserLabels.from_pairs((user, most * user + label) for user in range(users) for label in range(most))
    matched = mechanism.matched(held)
    chances = pmf_by_scores(mechanism.scores(matched), mechanism.choice_rate)
    low = [max(number - taken, 0) for number, taken in zip(matched, mechanism.taken_off, strict=True)]
    assert float(chances @ low) > share * max(low)


def test_the_draw_has_the_stated_probabilities() -> None:
    losses, sensitivities, rate = [3, 0, 9], [1, 2, 4], Fraction(1, 2)
    expected = least_loss_pmf(losses, sensitivities, rate)
    assert expected.sum() == pytest.approx(1)
    source, runs = SeededSource(4), 4000
    drawn = np.bincount([least_loss(losses, sensitivities, rate, source=source) for _ in range(runs)], minlength=3)
    # Of fixed seed: all within four standard deviations.
    assert np.all(np.abs(drawn - runs * expected) < 4 * np.sqrt(runs * expected))


@each_of("rate", [Fraction(1, 1000), Fraction(1, 7), Fraction(3), Fraction(900)])
@each_of("level", [0.3, 0.5, 0.95, 1 - 1e-9])
def test_the_noise_exceeds_its_bound_as_rarely_as_stated(rate: Fraction, level: float) -> None:
    bound = noise_bound(rate, 1 - Fraction(str(level)))
    beyond = bound + 1 + np.arange(int(60 / rate) + 2)
    tail = float(discrete_laplace_pmf(rate, beyond).sum())
    assert tail <= (1 - level) * (1 + 1e-9)
    if bound:
        assert tail + float(discrete_laplace_pmf(rate, bound)) > 1 - level


# A thousand users: most with a few labels, some with very many.
def made_up() -> UserLabels:
    rng = np.random.default_rng(7)
    sizes = np.minimum((2 * (rng.pareto(1.2, 1000) + 1)).astype(int), 400)
    weights = 1 / np.arange(1, 20_001) ** 0.8
    labels = [rng.choice(20_000, size, replace=False, p=weights / weights.sum()).tolist() for size in sizes]
    return held_by(labels)


@pytest.mark.slow
def test_the_lower_end_is_right_as_often_as_stated_and_near() -> None:
    held = made_up()
    truth = np.unique(held.labels).size
    mechanism, source = NumLabelsMechanism(2, level=0.8), SeededSource(3)
    found = [mechanism.estimate(held, source=source) for _ in range(60)]
    lows = np.array([each.interval[0] for each in found])
    assert all(each.interval[1] == math.inf for each in found)
    # It is wrong if the noise exceeds its quantile, and the matching misses nothing: less than one in five times.
    assert (lows > truth).sum() <= 12
    assert np.median(lows) > 0.6 * truth


@pytest.mark.slow
def test_a_matching_misses_fewer_labels_than_a_random_choice() -> None:
    held, rng = made_up(), np.random.default_rng(8)
    shuffled = rng.permutation(held.users.size)
    order = shuffled[np.argsort(held.users[shuffled], kind="stable")]
    users, labels = held.users[order], held.labels[order]
    place = np.arange(users.size) - np.searchsorted(users, users)
    truth, matching, chosen = np.unique(labels).size, [], []
    for most in NumLabelsMechanism(1).candidates:
        matching.append(truth - held.num_matched(most) + most)
        chosen.append(truth - np.unique(labels[place < most]).size + most)
    assert all(fewer >= more for fewer, more in pairwise(sorted(chosen, reverse=True)))
    # What is missed and the scale of the noise, at the best ℓ.
    assert all(one <= other for one, other in zip(matching, chosen, strict=True))
    assert min(matching) < 0.8 * min(chosen)


def test_with_hardly_any_noise_it_is_the_number_of_labels() -> None:
    found = NumLabelsMechanism(10**9).estimate(held_by([tuple(range(50)), (50, 51), (0, 51)]))
    assert (found.value, found.interval) == (52, (52, math.inf))
    # All from 64 on are as good.
    assert re.fullmatch("private matching, at most (64|128|256|512|1,024) labels per user", found.method)
    assert str(found).startswith("at least 52 labels (95% confidence), estimate 52: users with more than ")


@each_of("relation", NeighboringRelation)
def test_it_promises_all_of_a_user(relation: NeighboringRelation) -> None:
    promised = NumLabelsMechanism("0.5", relation, max_per_user=7).guarantee
    assert (promised.epsilon, promised.delta, promised.relation) == (Fraction(1, 2), 0, relation)
    assert str(promised.unit) == "one user with all their items"
    assert promised.unit.not_covered.startswith("Anyone with several users")
    assert [spent for _, spent in promised.spending] == [Fraction(1, 5), Fraction(3, 10)]
    assert promised.for_neighbors(PrivacyUnit.user(max_items=5)).epsilon == promised.epsilon


def test_nothing_of_the_data_is_in_an_estimate_of_no_data() -> None:
    found = NumLabelsMechanism(1, max_per_user=1).estimate(held_by([]), source=SeededSource(1))
    assert found.interval[0] == 0
    assert found.value >= 0
    assert "more than one label may" in found.statement.reason
    assert found.left_out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_per_user": 0}, "max_per_user must be"),
        ({"max_per_user": 2**20 + 1}, "max_per_user must be"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "1e-7"}, "too small for 1,024 labels per user"),
        ({"level": 1}, "level"),
        ({"relation": "substitute"}, "relation must be"),
    ],
)
def test_impossible_requests_are_refused_before_data_are_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ah.private.num_labels("missing.csv", user="user", **{"epsilon": 1, **options})


def test_too_little_memory_is_said_without_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise MemoryError("Unable to allocate 12,345 bytes")

    monkeypatch.setattr(UserLabels, "num_matched", fail)
    with pytest.raises(DataError, match="not enough memory") as raised:
        NumLabelsMechanism(1).estimate(held_by([(1,)]))
    assert "12,345" not in str(raised.value)

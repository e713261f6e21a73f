"""Labels matched to users: against another algorithm, and how far one user moves them, in all small cases."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.profiles import user_labels as module
from anonhist.profiles.user_labels import UserLabels

CIRCLE = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 0])
# The labels of one user, and of all users.
Labels = tuple[int, ...]
Users = tuple[Labels, ...]
SUBSETS: list[Labels] = [chosen for size in range(1, 5) for chosen in combinations(range(4), size)]


def held_by(users: Iterable[Sequence[int]]) -> UserLabels:
    return UserLabels.from_pairs((user, label) for user, labels in enumerate(users) for label in labels)


def by_augmenting_paths(users: Sequence[Sequence[int]], most: int) -> int:
    """Match labels to copies of users one by one, by Kuhn's algorithm."""
    holder: dict[int, int] = {}

    def takes_one(user: int, seen: set[int]) -> bool:
        for label in users[user]:
            if label in seen:
                continue
            seen.add(label)
            if label not in holder or takes_one(holder[label], seen):
                holder[label] = user
                return True
        return False

    return sum(takes_one(user, set()) for user in range(len(users)) for _ in range(min(most, len(users[user]))))


@pytest.mark.parametrize("left", ["some", "all"])
def test_another_algorithm_matches_as_many(left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if left == "all":
        # The flow gets all pairs.
        monkeypatch.setattr(module, "_settled", lambda users, labels, most: (users, labels, np.full(9, most), 0))
    rng = np.random.default_rng(1)
    for _ in range(150):
        present = rng.random((rng.integers(0, 9), rng.integers(1, 9))) < rng.random()
        users = [np.flatnonzero(row).tolist() for row in present]
        for most in (1, 2, 3, 5):
            assert held_by(users).num_matched(most) == by_augmenting_paths(users, most)


def test_pairs_that_no_rule_settles_reach_the_flow() -> None:
    # Everybody has two labels of three, and each label is had by two.
    users, _, supplies, settled = module._settled(*CIRCLE, 1)
    assert (users.size, supplies.tolist(), settled) == (6, [1, 1, 1], 0)
    assert UserLabels(*CIRCLE).num_matched(1) == 3


def test_more_arcs_than_the_flow_can_number_are_too_much_for_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ARCS", 12)
    with pytest.raises(MemoryError):
        UserLabels(*CIRCLE).num_matched(1)


def moves(matched: Callable[[Users], tuple[int, ...]]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return how far the numbers move if a user is added, and if a user is replaced, to at most three users."""
    added, replaced = set(), set()
    for size in range(3):
        for others in combinations_with_replacement(SUBSETS, size):
            before = matched(others)
            after = {matched(tuple(sorted((*others, labels)))) for labels in SUBSETS}
            added |= {tuple(b - a for a, b in zip(before, each, strict=True)) for each in after}
            replaced |= {tuple(b - a for a, b in zip(one, each, strict=True)) for one in after for each in after}
    return list(added), list(replaced)


SIZES = (1, 2, 3)


@cache
def matched_in(users: Users) -> tuple[int, ...]:
    return tuple(map(held_by(users).num_matched, SIZES))


@pytest.mark.slow
def test_one_user_moves_the_number_by_at_most_l_and_differences_by_at_most_the_larger() -> None:
    added, replaced = moves(matched_in)
    for place, most in enumerate(SIZES):
        assert (min(each[place] for each in added), max(each[place] for each in added)) == (0, most)
        assert max(abs(each[place]) for each in replaced) == most
        for before, fewer in enumerate(SIZES[:place]):
            changes = {each[place] - each[before] for each in added}
            # It can fall: what a smaller number gains, a larger one may have had.
            assert -fewer <= min(changes) < 0
            assert max(changes) == most - fewer
            assert max(abs(each[place] - each[before]) for each in replaced) <= most


def test_a_choice_of_rare_labels_by_each_user_moves_farther() -> None:
    # Six users have label 0 and one of their own, and four more have all of those: with a fifth, 0 is as rare.
    users = [(0, own) for own in range(1, 7)] + [tuple(range(1, 7))] * 4

    def by_rarity(users: list[Labels]) -> int:
        often = {label: sum(label in each for each in users) for label in range(7)}
        return len({min(each, key=lambda label: (often[label], label)) for each in users})

    one_more = [*users, tuple(range(1, 7))]
    assert (by_rarity(users), by_rarity(one_more)) == (6, 2)
    assert (held_by(users).num_matched(1), held_by(one_more).num_matched(1)) == (7, 7)


@pytest.mark.parametrize(
    ("users", "labels"), [([0], [0, 1]), ([0, 0], [1, 1]), ([-1], [0]), ([0], [2**31]), ([[0]], [[0]])]
)
def test_what_are_no_distinct_numbered_pairs_is_refused(users: list[int], labels: list[int]) -> None:
    with pytest.raises(DataError, match=r"numbered|as many|twice"):
        UserLabels(users, labels)


def test_it_shows_nothing() -> None:
    assert repr(held_by([(1, 2), (3,)])) == "UserLabels()"

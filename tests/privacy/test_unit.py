"""Whom a promise protects, and what covers what."""

import copy
import pickle
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonhist
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist_testing.cases import each_of

ITEM = PrivacyUnit.item()
USERS = [PrivacyUnit.user(max_items=m) for m in (1, 2, 5)]
LABELS = [PrivacyUnit.label(max_count=c) for c in (1, 2, 5)]
EDGES = [PrivacyUnit.edge(degrees=2), PrivacyUnit.edge(degrees=1)]
NODES = [PrivacyUnit.node(max_distance=d) for d in (1, 16, 64)]
ALL = [ITEM, *USERS, *LABELS, *EDGES, *NODES]


@each_of(
    ("unit", "kind", "bound", "words"),
    [
        (ITEM, "item", 1, "one item"),
        (USERS[0], "user", 1, "one user with all their items (at most 1 of them counts)"),
        (
            PrivacyUnit.user(max_items=np.int64(1500)),
            "user",
            1500,
            "one user with all their items (at most 1,500 of them count)",
        ),
        (LABELS[2], "label", 5, "one label with all its items (counts of 5 or more are taken together)"),
        (PrivacyUnit.edge(), "edge", 2, "one edge"),
        (EDGES[1], "edge", 1, "one edge"),
        (NODES[1], "node", 16, "one node with all its edges"),
    ],
)
def test_kinds(unit: PrivacyUnit, kind: str, bound: int, words: str) -> None:
    assert (unit.kind, unit.bound, unit.max_distance) == (kind, bound, bound)
    assert type(unit.bound) is int
    assert str(unit) == words
    assert PrivacyUnit(kind, bound) == unit
    assert copy.deepcopy(unit) == pickle.loads(pickle.dumps(unit)) == unit  # noqa: S301  # our own pickle
    assert len({unit, PrivacyUnit(kind, bound)}) == 1


@each_of(
    ("unit", "max_items", "max_count", "degrees", "needs_bounded_degrees", "people"),
    [
        (ITEM, None, None, None, False, None),
        (USERS[2], 5, None, None, False, "users"),
        (LABELS[2], None, 5, None, False, "labels"),
        (EDGES[1], None, None, 1, False, None),
        (NODES[1], None, None, None, True, "nodes"),
    ],
)
def test_units_say_what_follows_from_their_kind(
    unit: PrivacyUnit,
    max_items: int | None,
    max_count: int | None,
    degrees: int | None,
    needs_bounded_degrees: bool,  # noqa: FBT001  # an expected value
    people: str | None,
) -> None:
    assert (unit.max_items, unit.max_count, unit.degrees) == (max_items, max_count, degrees)
    assert (unit.needs_bounded_degrees, unit.people) == (needs_bounded_degrees, people)


def test_nobody_tells_units_apart_by_their_kind() -> None:
    package = Path(anonhist.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path.stem != "strategies"}
    compared = {path.name for path, text in texts.items() if re.search(r"unit\.kind (==|!=|in|not in) ", text)}
    assert compared == {"made.py", "conversion.py"}


def test_units_are_frozen_and_differ() -> None:
    with pytest.raises(AttributeError):
        ITEM.bound = 2  # type: ignore[misc]  # it is frozen
    assert len(set(ALL)) == len(ALL)


@each_of(
    "bound", [0, -1, True, False, 1.0, 2.5, float("nan"), "3", None, [1], 2**62 + 1, 10**30, np.True_, np.float64(3)]
)
def test_impossible_bounds_are_refused(bound: Any) -> None:
    with pytest.raises(UsageError, match=r"^max_items must be a whole number from 1 to 2\^62, not "):
        PrivacyUnit.user(max_items=bound)
    with pytest.raises(UsageError, match=r"^max_count must be a whole number from 1 to 2\^62, not "):
        PrivacyUnit.label(max_count=bound)
    with pytest.raises(UsageError):
        PrivacyUnit("item", bound)


@each_of("kind", ["items", "", "Item", None, 1, ["item"]])
def test_unknown_kinds_are_refused(kind: Any) -> None:
    with pytest.raises(UsageError, match="an item, a user or a label"):
        PrivacyUnit(kind, 1)


def test_the_item_unit_has_one_item() -> None:
    with pytest.raises(UsageError, match="exactly one item"):
        PrivacyUnit("item", 2)


def test_an_edge_has_two_ends() -> None:
    with pytest.raises(UsageError, match="two ends"):
        PrivacyUnit.edge(degrees=3)
    with pytest.raises(UsageError, match=r"^degrees must be a whole number"):
        PrivacyUnit.edge(degrees=0)
    with pytest.raises(UsageError, match=r"^max_distance must be a whole number"):
        PrivacyUnit.node(max_distance=0)


def test_protection_is_a_partial_order_on_users_and_items() -> None:
    for unit in ALL:
        assert unit.protects(unit)
    for first, second, third in product(ALL, repeat=3):
        if first.protects(second) and second.protects(third):
            assert first.protects(third)


def test_who_covers_whom() -> None:
    for unit in ALL:
        # A profile of plain degrees changes without bound when a node goes.
        assert unit.protects(ITEM) == (unit not in NODES)
    for node, other in product(NODES, NODES):
        assert node.protects(other) == (node.bound >= other.bound)
    for first, second in product([*EDGES, *NODES], ALL[1:]):
        if first.kind != second.kind:
            assert not first.protects(second)
            assert not second.protects(first)
    assert EDGES[0].protects(EDGES[1])
    assert not EDGES[1].protects(EDGES[0])
    for user, other in product(USERS, USERS):
        assert user.protects(other) == (user.bound >= other.bound)
    # The cap says how counts are shown, not who is protected.
    for label, other in product(LABELS, LABELS):
        assert label.protects(other)
    for user, label in product(USERS, LABELS):
        assert not user.protects(label)
        assert not label.protects(user)
    for unit in ALL[1:]:
        assert not ITEM.protects(unit)


def test_relations() -> None:
    assert [relation.distance for relation in NeighboringRelation] == [1, 2]
    assert [relation.value for relation in NeighboringRelation] == ["add-or-remove", "substitute"]


@each_of(("value", "least", "most"), [(2, 2, 5), (5, 2, 5), (np.uint8(3), 1, 3), (0, 0, 0), (2**62, 1, 2**62)])
def test_whole_numbers_in_range(value: Any, least: int, most: int) -> None:
    number = parse_whole_number(value, name="size", least=least, most=most)
    assert number == value
    assert type(number) is int


@each_of(
    ("value", "message"),
    [
        (1, "size must be a whole number from 2 to 1,000, not 1."),
        (1001, "size must be a whole number from 2 to 1,000, not 1001."),
        (2.0, "size must be a whole number from 2 to 1,000, not 2.0."),
        ("2", "size must be a whole number from 2 to 1,000, not '2'."),
        (True, "size must be a whole number from 2 to 1,000, not True."),
    ],
)
def test_whole_numbers_out_of_range(value: Any, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_whole_number(value, name="size", least=2, most=1000)
    assert str(refused.value) == message


def test_a_user_may_have_items_in_each_of_several_sketches() -> None:
    unit = PrivacyUnit.user(max_items=5, sketches=3)
    assert (unit.bound, unit.sketches, unit.max_distance) == (5, 3, 15)
    assert str(unit) == "one user with all their items (at most 5 of them count in each of 3 sketches)"
    assert unit.total_unit == PrivacyUnit.user(max_items=15)
    assert PrivacyUnit.user(max_items=2**62, sketches=2).total_unit == PrivacyUnit.user(max_items=2**62)
    assert not USERS[2].protects(unit)
    assert unit.protects(PrivacyUnit.user(max_items=15))
    assert not unit.protects(PrivacyUnit.user(max_items=16))
    with pytest.raises(UsageError, match="Only users can have items in several sketches"):
        PrivacyUnit("item", 1, 2)
    for sketches in (0, True, 2.0):
        with pytest.raises(UsageError, match="sketches must be a whole number"):
            PrivacyUnit("user", 5, sketches)  # type: ignore[arg-type]


def test_a_unit_may_have_a_name_that_changes_nothing_but_sentences() -> None:
    viewer = PrivacyUnit.user(max_items=5, name="viewer")
    assert viewer == PrivacyUnit.user(max_items=5)
    assert str(viewer) == "one viewer with all their items (at most 5 of them count)"
    assert str(viewer.total_unit) == str(viewer.in_at_most(1)) == str(viewer)
    by_label = PrivacyUnit.label(max_count=9, name="viewer")
    assert str(by_label) == "one viewer with all their items (counts of 9 or more are taken together)"
    assert viewer.not_covered.startswith("More than 5 items of one viewer: ")
    assert [PrivacyUnit.item(name=name).one for name in ("", "view", "order")] == [
        "an item",
        "a view",
        "an order",
    ]
    for name in ("a" * 41, "a  b", " a", "a1", "<b>", "a\n", "\u202ea", 3, None):
        with pytest.raises(UsageError, match="unit_name must be one word or a few, of at most 40 letters"):
            PrivacyUnit("item", 1, name=name)  # type: ignore[arg-type]

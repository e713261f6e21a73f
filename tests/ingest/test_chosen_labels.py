"""Bounds of labels that are chosen: by what is counted, on every engine, and what is read with them then."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import polars as pl
import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.group_names import key_of
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.random_order import _digest
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]
Drawn = list[tuple[Mapping[int, int], ...]]
KEY = "0" * 32
ASKED = ChosenBound(1, 100, candidates=(1, 3, 6), group_candidates=(1, 2, 3))
ITEMS = ChosenBound(1, 100, candidates=(1, 3, 6))
# Labels have up to three listed groups; others lack a label or a listed group.
COUNTS = {
    ("a", "g0"): 2,
    ("a", "g1"): 9,
    ("a", "g2"): 1,
    ("b", "g1"): 4,
    ("b", "g2"): 4,
    ("c", "g0"): 1,
    ("d", "g9"): 5,
}
ROWS = [(label, group) for (label, group), many in COUNTS.items() for _ in range(many)]
ROWS += [(None, "g0")] * 3 + [("a", None)] * 2
TABLE: Table = dict(zip(("label", "group"), map(list, zip(*ROWS, strict=True)), strict=True))
SAID: dict[str, Any] = {"label": "label", "by": "group", "groups": ["g0", "g1", "g2"], "order_key": KEY}
CAP = PrivacyUnit.label(max_count=6)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Keep what bounds are chosen by; the choice is always the second but last."""
    found: Drawn = []

    def draw(choice: PreparedChoice, *places: Mapping[int, int], **_: Any) -> PrivacyUnit:
        found.append(places)
        return choice.units[-2]

    monkeypatch.setattr(PreparedChoice, "draw", draw)
    return found


def by_definition(most: int) -> list[Counter[int]]:
    """Return the sizes of the first groups of labels, of the second and so on, by hashes made here."""
    listed = {pair: many for pair, many in COUNTS.items() if pair[1] in ("g0", "g1", "g2")}
    places = [Counter[int]() for _ in range(3)]
    for label in {label for label, _ in listed}:
        groups = [group for other, group in listed if other == label]
        groups.sort(key=lambda group: _digest(f"{KEY}1 {label}\n={key_of((group,))}"))
        for place, group in enumerate(groups):
            places[place][min(most, listed[label, group])] += 1
    return places


def test_pairs_are_chosen_by_the_first_groups_of_each_label(hold: Held, drawn: Drawn) -> None:
    with hold(TABLE) as (source, said):
        read = read_groups(source, max_count=ASKED, max_groups_per_label=ASKED, **SAID, **said)
        given = read_groups(source, unit=PrivacyUnit.label(max_count=3), max_groups_per_label=3, **SAID, **said)
    assert list(drawn[0]) == by_definition(6)
    assert read == given
    assert (read.unit, read.choice) == (PrivacyUnit.label(max_count=3, groups=3), ASKED)


def test_one_of_the_two_may_be_given(drawn: Drawn) -> None:
    table = pl.DataFrame(TABLE)
    groups = read_groups(table, unit=CAP, max_groups_per_label=ASKED, **SAID)
    assert (groups.unit, groups.unit.groups) == (PrivacyUnit.label(max_count=6, groups=2), 2)
    assert groups == read_groups(table, unit=CAP, max_groups_per_label=2, **SAID)
    assert groups.choice is not None
    assert groups.choice.candidates == (6,)
    items = read_groups(table, max_count=ITEMS, max_groups_per_label=2, **SAID)
    assert items.unit == PrivacyUnit.label(max_count=3, groups=2)
    assert list(drawn[0]) == by_definition(6)
    # With two groups given, what is in a third does not count.
    assert list(drawn[1]) == by_definition(6)[:2]


def test_counted_data_are_chosen_by_alike(drawn: Drawn) -> None:
    table = pl.DataFrame([(*pair, many) for pair, many in COUNTS.items()], ["label", "group", "count"], orient="row")
    read_groups(table, count="count", max_count=ASKED, max_groups_per_label=ASKED, **SAID)
    assert list(drawn[0]) == by_definition(6)
    wrong = table.with_columns(count=pl.when(pl.col("label") == "c").then(-1).otherwise(pl.col("count")))
    with pytest.raises(DataError, match="whole numbers"):
        read_groups(wrong, count="count", max_count=ASKED, max_groups_per_label=ASKED, **SAID)
    assert len(drawn) == 1


def test_missing_labels_are_one_label_if_they_count(drawn: Drawn) -> None:
    read_groups(pl.DataFrame(TABLE), max_count=ASKED, max_groups_per_label=ASKED, keep_null=True, **SAID)
    assert drawn[0][0] == by_definition(6)[0] + Counter({3: 1})


def test_a_cap_of_one_profile_is_chosen_by_its_own_counts(hold: Held, drawn: Drawn) -> None:
    with hold(TABLE) as (source, said):
        read = read_profile(source, label="label", max_count=ITEMS, **said)
    counts = {"a": 14, "b": 8, "c": 1, "d": 5}
    assert drawn[0] == (Counter(counts.values()),)
    assert (read, read.choice) == (
        ah.Profile.from_counts([*counts.values()], unit=PrivacyUnit.label(max_count=3)),
        ITEMS,
    )


@pytest.mark.parametrize(
    "source", [["a", "b", "a"], {"a": 2, "b": 1}, {1: 1, 2: 1}], ids=["labels", "counts", "prevalences"]
)
def test_data_in_memory_are_chosen_by_alike(source: Any, drawn: Drawn) -> None:
    form: Any = "prevalences" if 1 in source else "counts" if isinstance(source, dict) else None
    read = read_profile(source, max_count=ITEMS, format=form)
    assert (drawn, read.n, read.unit.bound) == ([({1: 1, 2: 1},)], 3, 3)


def test_a_release_states_both_parts() -> None:
    read = read_groups(pl.DataFrame(TABLE), max_count=ASKED, max_groups_per_label=ASKED, **SAID)
    told = ah.release_groups(read, epsilon=1, simulations=0).guarantee
    assert told.epsilon == 1
    assert told.spending[0][0] == "choosing how many items of each label count, and in how many groups"
    assert told.unit == read.unit
    of_one = ah.release(read_profile(["a", "b", "a"], max_count=ITEMS), epsilon=1, simulations=0)
    assert of_one.guarantee.spending[0][0] == "choosing how many items of each label count"
    assert max(of_one.profile.counts, default=0) <= of_one.guarantee.unit.bound


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"max_count": ASKED, "max_groups_per_label": 2}, "by one request"),
        ({"max_count": ITEMS, "max_groups_per_label": ASKED}, "by one request"),
        ({"max_count": 5, "max_groups_per_label": 2}, "a part of the unit"),
        ({"max_groups_per_label": ASKED}, "only to a label unit"),
        ({"max_count": ITEMS}, "max_groups_per_label"),
        ({"max_count": ITEMS, "max_groups_per_label": 2, "unit": PrivacyUnit.label(max_count=5)}, "leave unit"),
        ({"max_count": ITEMS, "max_groups_per_label": 2, "user": "u", "max_per_user": 2}, "one of the two"),
        ({"max_count": ASKED, "max_groups_per_label": ASKED, "levels": "crossing"}, "without crossing levels"),
        ({"user": "group", "max_per_user": ASKED, "order_key": None}, "group_candidates"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_groups(pl.DataFrame(TABLE), **{**SAID, **given})


def test_contradictions_of_one_profile_are_refused() -> None:
    for given, told in (
        ({"max_count": ASKED}, "group_candidates"),
        ({"max_count": 5}, "a part of the unit"),
        ({"max_count": ITEMS, "unit": PrivacyUnit.item()}, "leave unit"),
        ({"max_count": ITEMS, "user": "group", "max_per_user": 3}, "one of the two"),
    ):
        with pytest.raises(UsageError, match=told):
            read_profile(pl.DataFrame(TABLE), label="label", **given)

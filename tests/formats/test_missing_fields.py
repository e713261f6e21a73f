"""Every field is in every file: one that is missing is refused, and null is only what a value need not have."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonhist.accounting import Receipt
from anonhist.catalogue import Levels
from anonhist.errors import DataError
from anonhist.formats.files import read, write
from anonhist.local import KRR
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.grouping import release_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.grouped import Group, GroupedProfile
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

USER, KEY = PrivacyUnit.user(max_items=3), "0123456789abcdef" * 2
RECEIPT = Receipt("0123456789abcdef" * 2, 12, "fedcba9876543210" * 4)
COUNTS = CumulativeCounts(
    (1, 3), ("2026-11-01", "2026-11-02"), [[40, 7], [20, 3]], unit=USER, order_key=KEY, where="n = 7"
)
GROUPS: dict[Group, Profile] = {(g, h): Profile.from_counts([5, 3]) for g in "ab" for h in "xy"}


def _groups(levels: Levels) -> Any:
    above = tuple(
        GroupedProfile(by, dict.fromkeys(groups, Profile.from_counts([6, 2])), unit=PrivacyUnit.item())
        for by, groups in (((), [()]), (("g",), [("a",), ("b",)]))
    )
    if levels is Levels.CROSSING:
        grouped = GroupedProfile(("g", "h"), GROUPS, unit=PrivacyUnit.item(), levels=levels, above=above)
        return release_groups(grouped, epsilon=2, simulations=2)
    units = BoundedUnits(3, Profile.from_counts([1, 4, 5]), Bounded.ITEMS_OF_USERS)
    grouped = GroupedProfile(("g", "h"), GROUPS, unit=USER, order_key=KEY, where="n = 7", levels=levels, units=units)
    return release_groups(grouped, epsilon=2, excess_share="1/4", simulations=2)


def _release() -> Any:
    made = FrobeniusMechanism("0.5", USER).release(Profile.from_counts([9, 4, 4, 1]), source=SeededSource(1))
    return replace(made, simulations=2, order_key=KEY, where="n = 7", receipt=RECEIPT)


MADE: dict[str, Callable[[], Any]] = {
    "release": _release,
    "nested groups": lambda: _groups(Levels.NESTED),
    "crossing groups": lambda: _groups(Levels.CROSSING),
    "windows": lambda: replace(release_cumulative(COUNTS, epsilon=1), receipt=RECEIPT),
    "windows of groups": lambda: release_cumulative_groups(
        GroupedCumulativeCounts(("g",), {("a",): COUNTS, ("b",): COUNTS}), epsilon=1
    ),
    "survey": lambda: replace(KRR(alphabet=["a", "b", "c"], epsilon=1), receipt=RECEIPT),
    "tally": lambda: KRR(alphabet=3, epsilon=1).tally(KRR(alphabet=3, epsilon=1).randomize([0, 2, 2])),
}
# What a value need not have, wherever it is.
MAY_BE_NULL = {"order_key", "where", "excess", "items", "zeros", "draw", "receipt", "party_epsilon", "found_with"}
MAY_BE_NULL |= {"nested", "crossing", "range", "zeros_standard_error", "band", "prevalence_band", "zeros_interval"}
MAY_BE_NULL |= {"items_interval", "adjusted"}


def _document(value: Any, path: Path) -> Any:
    write(value, path, overwrite=True)
    return json.loads(path.read_text(encoding="utf-8"))


def _places(value: Any, *above: Any) -> Iterator[tuple[Any, ...]]:
    """Yield where fields are; of a list, in its first object alone. What mechanisms need, their own tests ask."""
    if isinstance(value, list) and value:
        yield from _places(value[0], *above, 0)
    if isinstance(value, dict):
        for name, inside in value.items():
            yield (*above, name)
            if name != "parameters":
                yield from _places(inside, *above, name)


def _changed(document: Any, place: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    whole = deepcopy(document)
    inside = whole
    for step in place[:-1]:
        inside = inside[step]
    change(inside, place[-1])
    return whole


@pytest.mark.full
@each_of("name", MADE)
def test_a_missing_field_is_refused(tmp_path: Path, name: str) -> None:
    document = _document(MADE[name](), tmp_path / "good.json")
    for place in _places(document):
        changed = _changed(document, place, lambda inside, last: inside.pop(last))
        (tmp_path / "bad.json").write_text(json.dumps(changed), encoding="utf-8")
        wrong: dict[Any, str] = {
            ("format",): "its format is not one of",
            # Also of what the releases of groups share.
            "format": "its format is not",
            "version": "its version is not 1",
        }
        told = wrong.get(place, wrong.get(place[-1], "exactly the fields|each group must have"))
        with pytest.raises(DataError, match=told):
            pytest.fail(f"{place} is missing, and {read(tmp_path / 'bad.json')} was read")


@pytest.mark.slow
@each_of("name", MADE)
def test_null_is_only_what_a_value_need_not_have(tmp_path: Path, name: str) -> None:
    document = _document(MADE[name](), tmp_path / "good.json")
    assert _document(read(tmp_path / "good.json"), tmp_path / "again.json") == document
    for place in _places(document):
        changed = _changed(document, place, lambda inside, last: inside.update({last: None}))
        (tmp_path / "null.json").write_text(json.dumps(changed), encoding="utf-8")
        try:
            found = read(tmp_path / "null.json")
        except DataError:
            assert changed != document
            continue
        assert place[-1] in MAY_BE_NULL, place
        assert _document(found, tmp_path / "again.json") == changed


@pytest.mark.full
def test_every_field_that_may_be_null_is_tried(tmp_path: Path) -> None:
    documents = [_document(make(), tmp_path / "a.json") for make in MADE.values()]
    assert {place[-1] for document in documents for place in _places(document)} >= MAY_BE_NULL

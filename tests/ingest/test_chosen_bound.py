"""A bound that is chosen: by which rows, on every engine, and what is read with it then."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import polars as pl
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.mechanisms.bound_choosing import PreparedChoice
from anonhist.privacy import PrivacyUnit
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]
KEY = "0" * 32
ASKED = ChosenBound(1, 100, candidates=(1, 3, 6))
# Users have 1, 2, 3, 4, 5, 9 rows that count; others lack a user, a label or the condition.
SIZES = (1, 2, 3, 4, 5, 9, 9)
ROWS = [(f"u{at}", f"v{number % 4}", "yes") for at, size in enumerate(SIZES) for number in range(size)]
ROWS += [(None, "v1", "yes")] * 3 + [("u0", None, "yes")] * 2 + [("u1", "v2", "no")] * 4 + [("u99", "v2", "no")] * 7
TABLE: Table = dict(zip(("user", "label", "kept"), map(list, zip(*ROWS, strict=True)), strict=True))
SAID: dict[str, Any] = {"label": "label", "user": "user", "order_key": KEY, "where": "kept = 'yes'"}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[int, int]]:
    """Keep what a bound is chosen by; the choice is always 3."""
    found: list[Mapping[int, int]] = []

    def draw(choice: PreparedChoice, sizes: Mapping[int, int], **_: Any) -> PrivacyUnit:
        found.append(sizes)
        return choice.units[1]

    monkeypatch.setattr(PreparedChoice, "draw", draw)
    return found


def test_it_is_chosen_by_the_rows_that_a_release_counts(hold: Held, drawn: list[Mapping[int, int]]) -> None:
    with hold(TABLE) as (source, said):
        read = read_profile(source, max_per_user=ASKED, **SAID, **said)
        given = read_profile(source, max_per_user=3, **SAID, **said)
        with_null = read_profile(source, max_per_user=ASKED, keep_null=True, **SAID, **said)
    # Numbers above the largest candidate count as it.
    assert drawn[0] == Counter(min(size, 6) for size in SIZES)
    assert drawn[1] == Counter((3, *(min(size, 6) for size in SIZES[1:])))
    assert read == given
    assert (read.unit, read.choice) == (PrivacyUnit.user(max_items=3), ASKED)
    assert (read.where, read.order_key, given.choice) == (given.where, KEY, None)
    # Two rows without a label are of the first user, who then has three.
    assert with_null.n == 3 + 2 + 5 * 3


def test_a_value_without_a_name_is_refused_before_anything_is_chosen(drawn: list[Mapping[int, int]]) -> None:
    # With the bound, the order would leave it out.
    rows = pl.DataFrame({"user": [1] * 9, "label": [*map(float, range(8)), 2.0**60], "when": range(9)})
    with pytest.raises(DataError, match="whole numbers"):
        read_profile(rows, label="label", user="user", order_by="when", max_per_user=ASKED)
    assert drawn == []


def test_the_choice_uses_the_given_randomness() -> None:
    rows = pl.DataFrame(TABLE)
    bounds = {
        read_profile(rows, max_per_user=ASKED, randomness=SeededSource(seed), **SAID).unit.bound for seed in range(30)
    }
    assert bounds <= {1, 3, 6}
    assert len(bounds) > 1
    again = [read_profile(rows, max_per_user=ASKED, randomness=SeededSource(5), **SAID).unit for _ in range(2)]
    assert again[0] == again[1]


def test_no_rows_at_all_are_chosen_for_alike(drawn: list[Mapping[int, int]]) -> None:
    nothing = pl.DataFrame(TABLE).clear()
    assert read_profile(nothing, max_per_user=ASKED, **SAID).n == 0
    assert drawn == [{}]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"count_users": True}, "count_users"),
        ({"unit": PrivacyUnit.user(max_items=9)}, "leave unit"),
        ({"user": None, "order_key": None}, "must be given together"),
        ({"max_per_user": "auto"}, "must be a whole number"),
    ],
)
def test_contradictions_are_refused_before_rows_are_read(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_profile(pl.DataFrame(TABLE), **{"max_per_user": ASKED, **SAID, **given})


def test_parts_have_their_bounds_already(tmp_path: Any) -> None:
    with pytest.raises(UsageError, match="choose it from the events"):
        read_profile(str(tmp_path / "day.counts"), max_per_user=ASKED)

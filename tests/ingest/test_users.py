"""The user bound, on every engine, against the same rule in plain Python."""

import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.ingest import read_profile, user_bounds
from anonhist.ingest.columns import Schema
from anonhist.ingest.delimited import Layout
from anonhist.ingest.files import Form, form_of
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import BoundedUnits, Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable
from anonhist_testing.user_bound import items_of_users, kept_items

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Read = Callable[..., Profile]
Refused = Callable[..., str]
# Tests of what no engine decides run on one of each kind.
a_few_engines = pytest.mark.parametrize("engine", ["csv", "polars lazy", "sqlite"], indirect=True)
Row = tuple[str | None, str | None, str]

KEY = "0" * 32
# Text that sorts by code point, as every engine here sorts it, and the names of the query's own columns.
LABELS = st.sampled_from([None, "10", "9", "A", "a", "b", "label", "user", "é", "日"])
USERS = st.sampled_from([None, "u", "v", "w", "None", "nan"])
ROWS = st.lists(st.tuples(USERS, LABELS, st.sampled_from("xyz")), max_size=25)
few = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=5,
    suppress_health_check=[HealthCheck.too_slow],
)


def table(rows: list[Row]) -> dict[str, list[Any]]:
    # A first row of text that is left out always: a column of nulls alone would have no type.
    whole = [(None, "text", "x"), *rows, ("typed", None, "x")]
    return {"who": [row[0] for row in whole], "what": [row[1] for row in whole], "when": [row[2] for row in whole]}


def count_rows(rows: list[Row], *, bound: int, order_by: str | None = None, keep_null: bool = False) -> Profile:
    """Count what is kept of each user; the row that ``table`` adds has a user and a null label."""
    ordered = [(who, what, when if order_by else None) for who, what, when in [*rows, ("typed", None, "x")]]
    kept = kept_items(ordered, bound=bound, key=KEY, keep_null=keep_null)
    return Profile.from_counts(list(kept.values()), unit=PrivacyUnit.user(max_items=bound))


@pytest.mark.slow
@given(rows=ROWS, bound=st.integers(1, 4), order_by=st.sampled_from([None, "when"]), keep_null=st.booleans())
@few
def test_bound_is_the_rule(engine: Read, rows: list[Row], bound: int, order_by: str | None, keep_null: bool) -> None:  # noqa: FBT001
    options: dict[str, Any] = {"order_by": order_by, "keep_null": keep_null}
    options |= {"order_key": KEY, "count_users": True}
    profile = engine(table(rows), label="what", user="who", max_per_user=bound, **options)
    assert profile == count_rows(rows, bound=bound, order_by=order_by, keep_null=keep_null)
    assert profile.users == users_of(rows, bound=bound, keep_null=keep_null)


def users_of(rows: list[Row], *, bound: int, keep_null: bool = False) -> BoundedUnits:
    """Count the users of ``table(rows)`` by how many items they have."""
    items = items_of_users([*rows, ("typed", None, "x")], keep_null=keep_null)
    return BoundedUnits(bound, Profile.from_counts(items.values()))


OWN = st.lists(st.tuples(LABELS, st.sampled_from("xyz")), min_size=1)


@pytest.mark.slow
@settings(repeatable, max_examples=60)
@given(rows=ROWS, own=OWN, bound=st.integers(1, 4), order_by=st.sampled_from([None, "when"]))
def test_by_the_rule_one_user_moves_at_most_the_bound(
    rows: list[Row], own: list[tuple[str | None, str]], bound: int, order_by: str | None
) -> None:
    added: list[Row] = [("new", what, when) for what, when in own]
    without, with_user = (
        count_rows(each, bound=bound, order_by=order_by, keep_null=True) for each in (rows, [*added, *rows])
    )
    assert with_user.n - without.n == min(bound, len(own))
    assert sorted_l1(without, with_user) == min(bound, len(own))


# Every engine keeps to the rule above, and to the bound with one user more of any type in test_neighbors.py.
@pytest.mark.slow
@given(rows=ROWS, own=OWN, bound=st.integers(1, 4))
@few
@a_few_engines
def test_one_user_moves_at_most_the_bound(
    engine: Read, rows: list[Row], own: list[tuple[str | None, str]], bound: int
) -> None:
    added = [("new", what, when) for what, when in own]
    options: dict[str, Any] = {"label": "what", "user": "who", "max_per_user": bound, "keep_null": True}
    options["order_key"] = KEY
    without, with_user = engine(table(rows), **options), engine(table([*added, *rows]), **options)
    assert with_user.n - without.n == min(bound, len(own))
    assert sorted_l1(without, with_user) == min(bound, len(own))


@each_of("keep_null", [False, True])
def test_no_row_without_a_user_is_kept(engine: Read, keep_null: bool) -> None:  # noqa: FBT001
    rows: list[Row] = [(None, "a", "x")] * 9 + [(None, None, "x")] * 9 + [("u", "b", "x")]
    profile = engine(table(rows), label="what", user="who", max_per_user=1, keep_null=keep_null)
    assert profile.n == 1 + keep_null


def test_null_labels_are_bounded(engine: Read) -> None:
    rows: list[Row] = [("u", None, "x")] * 9 + [("v", None, "x")]
    profile = engine(table(rows), label="what", user="who", max_per_user=2, keep_null=True)
    # Two of u, one of v, one of the user in every table here.
    assert dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True)) == {4: 1}


def test_duplicates_count_toward_the_bound(engine: Read) -> None:
    rows: list[Row] = [("u", "a", "x")] * 5 + [("u", "b", "x")]
    profile = engine(table(rows), label="what", user="who", max_per_user=3, order_key=KEY)
    assert profile == count_rows(rows, bound=3)
    assert profile.n == 3


@pytest.mark.first(12)
@pytest.mark.parametrize(
    ("label", "user", "order_by"),
    [
        ("count", "label", "one"),
        ("label", "user", None),
        ("user", "count", "rank"),
        ("is_null", "prevalence", "rank_by"),
    ],
)
def test_columns_may_have_the_names_of_the_query(engine: Read, label: str, user: str, order_by: str | None) -> None:
    columns = {user: ["u", "u", "v", None], label: ["b", "a", "a", "c"], "one": list("1234")}
    columns |= {"rank": list("2134"), "rank_by": list("1234")}
    profile = engine(columns, label=label, user=user, max_per_user=1, order_by=order_by, order_key=KEY)
    rows = zip(columns[user], columns[label], columns[order_by or user], strict=True)
    kept = kept_items([(who, what, by if order_by else None) for who, what, by in rows], bound=1, key=KEY)
    assert profile == Profile.from_counts(kept.values(), unit=PrivacyUnit.user(max_items=1))


def test_numbers_are_ordered_as_numbers_where_the_engine_knows_them(typed_engine: Read) -> None:
    columns = {"user": [1, 1, 2], "label": ["b", "a", "b"], "time": [9, 10, 1]}
    profile = typed_engine(columns, label="label", user="user", max_per_user=1, order_by="time")
    assert profile.counts.tolist() == [2]


def test_what_was_left_out_goes_to_the_operator_alone(engine: Read, capfd: pytest.CaptureFixture[str]) -> None:
    rows: list[Row] = [(None, "a", "x"), ("u", "a", "x"), ("u", "b", "x"), ("v", None, "x"), ("w", None, "x")]
    notes: list[str] = []
    profile = engine(table(rows), label="what", user="who", max_per_user=1, order_key=KEY, notify=notes.append)
    assert profile == count_rows(rows, bound=1)
    assert len(notes) == 1
    assert "6 of 7 rows were left out: 2 without a user" in notes[0]
    assert capfd.readouterr() == ("", "")


@a_few_engines
def test_nothing_is_said_where_nothing_was_left_out(engine: Read) -> None:
    notes: list[str] = []
    columns = {"user": ["u", "v"], "label": ["a", "a"]}
    assert engine(columns, label="label", user="user", max_per_user=1, notify=notes.append).n == 2
    assert notes == []


@each_of("keep_null", [False, True])
def test_null_labels_without_users(engine: Read, keep_null: bool) -> None:  # noqa: FBT001
    notes: list[str] = []
    columns = {"what": ["a", None, "a", None, None, "b"], "other": list("123456")}
    profile = engine(columns, label="what", keep_null=keep_null, notify=notes.append)
    assert profile.counts.tolist() == ([1, 2, 3] if keep_null else [1, 2])
    assert len(notes) == (not keep_null)
    assert keep_null or "3 items without a label" in notes[0]


def test_text_for_null_is_a_label(engine: Read) -> None:
    columns = {"what": ["nan", "None", "NULL", "null", "<NA>", "NaN", "\\N", None], "other": list("12345678")}
    assert engine(columns, label="what").n == 7


def test_only_distinct_counts_are_fetched(engine: Read, rows_fetched: list[int]) -> None:
    labels = [f"{number}" for number in range(50) for _ in range(1 + number % 3)]
    profile = engine({"what": labels, "who": labels}, label="what", user="who", max_per_user=5)
    assert (profile.n, profile.num_labels, len(profile)) == (99, 50, 3)
    assert rows_fetched == [3]
    # Nothing more is asked for, unless it was said: a row for each number of items that a user has.
    read_again = engine({"what": labels, "who": labels}, label="what", user="who", max_per_user=1, count_users=True)
    assert rows_fetched == [3, 1, 3]
    assert read_again.users is not None
    assert (profile.users, read_again.users.above, read_again.users.excess(1), read_again.users.excess(9)) == (
        None,
        33,
        33,
        49,
    )


@pytest.mark.full
@a_few_engines
def test_the_unit_comes_with_the_bound(engine: Read) -> None:
    columns = {"user": ["u"], "label": ["a"]}
    assert engine(columns, label="label", user="user", max_per_user=3).unit == PrivacyUnit.user(max_items=3)
    assert engine(columns, label="label").unit == PrivacyUnit.item()
    more = PrivacyUnit.user(max_items=5)
    assert engine(columns, label="label", user="user", max_per_user=3, unit=more).unit == more


@each_of(
    ("options", "says"),
    [
        ({"user": "u"}, "max_per_user"),
        ({"max_per_user": 1}, "user"),
        ({"user": "u", "max_per_user": 0}, "at least 1"),
        ({"user": "u", "max_per_user": -1}, "at least 1"),
        ({"user": "u", "max_per_user": True}, "whole number"),
        ({"user": "u", "max_per_user": 1.5}, "whole number"),
        ({"user": "u", "max_per_user": "2"}, "whole number"),
        ({"user": "u", "max_per_user": np.float64(2)}, "whole number"),
        ({"order_by": "t"}, "requires user"),
        ({"order_key": KEY}, "requires user"),
        ({"count_users": True}, "requires user"),
        ({"user": "u", "max_per_user": 2, "order_key": "0x1"}, "32 hexadecimal digits"),
        ({"user": "u", "max_per_user": 2, "order_key": 7}, "32 hexadecimal digits"),
        ({"user": "u", "max_per_user": 2, "unit": PrivacyUnit.item()}, "protects less"),
        ({"user": "u", "max_per_user": 2, "unit": PrivacyUnit.user(max_items=1)}, "protects less"),
        ({"user": "u", "max_per_user": 2, "unit": PrivacyUnit.label(max_count=2)}, "one of the two"),
    ],
)
def test_half_a_bound_is_refused_before_reading(refuse: Refused, options: dict[str, Any], says: str) -> None:
    assert says in refuse(UsageError, "there-is-no-such-file.csv", label="label", **options)


@a_few_engines
@each_of("option", ["label", "user", "order_by"])
def test_missing_column_names_those_there_are(engine: Read, option: str) -> None:
    options = {"label": "what", "user": "who", "order_by": "when"} | {option: "nowhere"}
    with pytest.raises(DataError) as caught:
        engine(table([]), max_per_user=1, **options)
    assert "There is no column 'nowhere'" in str(caught.value)
    _assert_names_are_told(caught.value, "who", "what", "when")


@a_few_engines
def test_the_label_must_be_named_among_several_columns(engine: Read) -> None:
    with pytest.raises(UsageError) as caught:
        engine(table([]))
    assert "(label)" in str(caught.value)
    _assert_names_are_told(caught.value, "who", "what", "when")


def _assert_names_are_told(error: Any, *names: str) -> None:
    """In the sentence where they are schema, beside it where they are the first line of a text."""
    assert error.columns == names
    assert ", ".join(map(repr, names)) in error.for_operator
    if "header=False" in str(error):
        assert "there are 3 columns" in str(error)
        assert not any(repr(name) in str(error) for name in names)
    else:
        assert error.sentence == error.for_operator


@pytest.mark.full
@each_of("name", ["a.csv", "a.tsv", "a.txt", "a.csv.gz", "a.c*", "a.parquet", "a.p*"])
@each_of("label", ["label", None])
def test_first_rows_are_not_quoted_as_names(
    tmp_path: Path, write_table: Callable[..., str], name: str, label: str | None
) -> None:
    written = name.replace("c*", "csv").replace("p*", "parquet").replace("txt", "tsv")
    write_table(tmp_path / written, {"hunter2": ["a"], "1": ["2"]})
    if name == "a.txt":
        (tmp_path / "a.tsv").rename(tmp_path / "a.txt")
    if name == "a.txt" and label is None:
        return  # It is not even opened: what its lines are must be said.
    with pytest.raises(AnonhistError) as caught:
        read_profile(tmp_path / name, label=label)
    error: Any = caught.value
    assert error.columns == ("hunter2", "1")
    assert ("hunter2" in str(error)) == (name in ("a.parquet", "a.p*"))


@each_of("source", ["file:///a.csv", "file:///a.tsv.gz", "https://host/a.csv?key=a.parquet", "s3://b/a.txt"])
def test_first_rows_of_remote_texts_are_not_names_either(source: str) -> None:
    assert form_of(source, None) is Form.DELIMITED
    assert [Layout(",", True, header).schema for header in (True, False)] == [Schema.FIRST_LINE, Schema.FOUND]
    columns = source.replace(".csv", ".parquet").replace(".tsv", ".jsonl").replace(".txt", ".pq")
    assert form_of(columns, None) is not Form.DELIMITED


@pytest.mark.first(12)
@pytest.mark.parametrize("keep_null", [False, True])
@pytest.mark.parametrize("user", [None, "user"])
def test_nan_is_no_user_and_no_label(typed_engine: Read, user: str | None, keep_null: bool) -> None:  # noqa: FBT001
    nan = float("nan")
    columns = {"user": [nan, nan, None, 1.5, 1.5, 2.5, 2.5], "label": [9.5, 9.5, 9.5, 0.5, nan, None, nan]}
    bound = {"user": user, "max_per_user": 2} if user else {}
    profile = typed_engine(columns, label="label", keep_null=keep_null, **bound)
    # With users, the one label of 1.5, and three rows without a label; without users, three of 9.5 more.
    expected_sizes = {(True, False): (1, 1), (True, True): (4, 2), (False, False): (4, 2), (False, True): (7, 3)}
    assert (profile.n, profile.num_labels) == expected_sizes[user is not None, keep_null]


@pytest.mark.parametrize("bound", [np.int64(2), np.uint8(2)])
def test_numbers_of_numpy_bound_users(bound: Any) -> None:
    table = pa.table({"user": ["u"] * 5, "label": list("abcde")})
    profile = read_profile(table, label="label", user="user", max_per_user=bound)
    assert (profile.n, profile.unit) == (2, PrivacyUnit.user(max_items=2))


def test_the_largest_bounds_count_everything(engine: Read) -> None:
    rows: list[Row] = [("u", "a", "x")] * 3 + [("v", "a", "x")]
    for bound in (2**31, 2**62):
        profile = engine(table(rows), label="what", user="who", max_per_user=bound)
        assert profile.counts.tolist() == [4], bound


@a_few_engines
def test_a_single_column_needs_no_name(engine: Read) -> None:
    assert engine({"anything": ["a", "b", "a"]}).counts.tolist() == [1, 2]


def test_plain_labels_have_no_users(refuse: Refused) -> None:
    assert "no columns" in refuse(UsageError, ["a"], user="u", max_per_user=1)


@a_few_engines
def test_the_users_are_in_no_text_of_a_profile(engine: Read, capfd: pytest.CaptureFixture[str]) -> None:
    rows: list[Row] = [("u", "a", "x")] * 771 + [("v", "a", "x")]
    notes: list[str] = []
    options: dict[str, Any] = {"label": "what", "user": "who", "max_per_user": 1, "order_key": KEY}
    counted, plain = (engine(table(rows), count_users=each, notify=notes.append, **options) for each in (True, False))
    assert counted.users is not None
    assert (counted.users.within, counted.users.above, counted.users.excess(1000)) == (1, 1, 770)
    assert repr(counted.users) == str(counted.users) == "BoundedUnits(bound=1)"
    assert repr(counted) == repr(plain)
    assert counted == plain
    # The operator is told what was always told.
    assert len(notes) == 2
    assert notes[0] == notes[1]
    assert capfd.readouterr() == ("", "")


def test_ties_are_cut_without_looking_at_other_users() -> None:
    import polars as pl

    # All of a user's rows tie, in any order of the table: the choice is among equals.
    rows = [("u", "a"), ("v", "b"), ("u", "a"), ("v", "b")]
    for turned in (rows, rows[::-1]):
        frame = pl.DataFrame(turned, schema=["user", "label"], orient="row")
        profile = read_profile(frame, label="label", user="user", max_per_user=1, order_key=KEY)
        assert profile == count_rows([(who, what, "x") for who, what in turned], bound=1)


def test_the_key_is_drawn_anew_and_kept() -> None:
    frame = pa.table({"user": ["u"], "label": ["a"]})
    keys = [read_profile(frame, label="label", user="user", max_per_user=1).order_key for _ in "ab"]
    assert keys[0] != keys[1]
    assert all(key is not None and re.fullmatch("[0-9a-f]{32}", key) for key in keys)
    given = read_profile(frame, label="label", user="user", max_per_user=1, order_key="A" * 32)
    assert given.with_unit(PrivacyUnit.user(max_items=2)).order_key == "a" * 32
    assert pickle.loads(pickle.dumps(given)).order_key == "a" * 32  # noqa: S301  # made here
    assert read_profile(frame, label="label").order_key is None


def test_the_users_go_along_with_the_profile() -> None:
    frame = pa.table({"user": ["u", "u"], "label": ["a", "a"]})
    profile = read_profile(frame, label="label", user="user", max_per_user=1, count_users=True)
    assert profile.users == BoundedUnits(1, Profile([2], [1]))
    assert profile.with_unit(PrivacyUnit.user(max_items=2)).users == profile.users
    assert pickle.loads(pickle.dumps(profile)).users == profile.users  # noqa: S301  # made here


@pytest.mark.slow
@each_of("bound", [1, 3, 8])
def test_each_item_of_a_user_has_the_same_chance(bound: int) -> None:
    # Of nine items of each user, six are a, two are b and one is c.
    labels, users = "aaaaaabbc", 2_000
    frame = pa.table({"user": np.repeat(np.arange(users), 9), "label": list(labels) * users})
    profile = read_profile(frame, label="label", user="user", max_per_user=bound, order_key=KEY)
    assert profile.n == users * bound
    # A user keeps the mean of each label, rounded up or down: six standard deviations off with a chance of 2 in 10^9.
    for count, copies in zip(profile.counts.tolist(), (1, 2, 6), strict=True):
        mean = bound * copies / 9
        variance = (mean % 1) * (1 - mean % 1)
        assert abs(count - users * mean) <= 6 * math.sqrt(users * variance)


@each_of("kind", ["polars", "relation"])
def test_products_that_would_be_too_large_are_not_formed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb
    import polars as pl

    monkeypatch.setattr(user_bounds, "_LARGEST", 20)
    # With two of each user, ten rows are the most: u has one more, and w is not above the bound.
    rows = [*(("u", f"a{row}") for row in range(11)), *(("v", f"b{row}") for row in range(10)), ("w", "c"), ("w", "c")]
    held = pa.table({"user": [user for user, _ in rows], "label": [label for _, label in rows]})
    source: Any = pl.from_arrow(held) if kind == "polars" else duckdb.from_arrow(held)
    profile = read_profile(source, label="label", user="user", max_per_user=2)
    assert dict(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True)) == {1: 2, 2: 1}


def test_copies_of_a_label_are_kept_one_by_one() -> None:
    # Were they kept or left out together, every label would be counted twice or not at all.
    labels = [f"{user}{label}" for user in range(40) for label in "aabb"]
    frame = pa.table({"user": np.repeat(np.arange(40), 4), "label": labels})
    assert read_profile(frame, label="label", user="user", max_per_user=2) == Profile(
        [1], [80], unit=PrivacyUnit.user(max_items=2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("order_by", [None, "when"])
def test_a_user_leaves_the_kept_items_of_others_alone(engine: Read, order_by: str | None) -> None:
    # Few labels and many equal rows: a number that other users' rows decide would show.
    rng = np.random.default_rng(17)
    many: list[Row] = [(f"u{rng.integers(30)}", "abcd"[rng.integers(4)], "xyz"[rng.integers(3)]) for _ in range(150)]
    own: list[Row] = [("new", label, "x") for label in "aaaabbbccd"]
    kept = [
        kept_items([(who, what, when if order_by else None) for who, what, when in rows], bound=2, key=KEY)
        for rows in (many, own)
    ]
    options = {"label": "what", "user": "who", "max_per_user": 2, "order_by": order_by, "order_key": KEY}
    for rows, expected_items in ((many, kept[0]), ([*own, *many], kept[0] + kept[1])):
        found = engine(table(rows), **options)
        assert found == Profile.from_counts(expected_items.values(), unit=PrivacyUnit.user(max_items=2))

"""The plans by which Spark and DuckDB sample the rows of users: by which one a user goes does not matter."""

from collections.abc import Callable
from decimal import Decimal
from itertools import product
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from anonhist.errors import DataError
from anonhist.ingest import read_profile, user_bounds
from anonhist.ingest.groups.read import read_groups
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of
from anonhist_testing.user_bound import kept_items

KEYS = [f"{key:032x}" for key in range(2)]
# How many rows a bucket of users may have, how many buckets a query can name, and the plans that are used then.
OF_SPARK = {
    "lists": (1 << 18, 1000, {"lists"}),
    "both": (12, 1000, {"lists", "windows"}),
    "windows": (0, 0, {"windows"}),
}
# Whether equal rows are counted first.
OF_DUCKDB = {"pairs": "count(*) >= 0", "rows": "count(*) < 0"}
Sample = Callable[..., Any]


def table() -> pl.DataFrame:
    """Return rows of sixteen users, some with thirty and some with five, of whom one is null and so are some labels."""
    rng = np.random.default_rng(11)
    users = np.concatenate([rng.integers(0, 8, size=240), np.repeat(np.arange(8, 16), 5)])
    labels = rng.integers(0, 10, size=users.size)
    return pl.DataFrame(
        {
            "who": [None if user == 7 else f"u{user}" for user in users],
            "what": [None if label > 8 else f"l{label}" for label in labels],
            "price": [Decimal(int(user) + 10).scaleb(-1) for user in users],
            "number": labels.astype(float),
            "group": [f"g{at}" for at in rng.integers(0, 4, size=users.size)],
        }
    )


@pytest.fixture(scope="module")
def log_of_spark(spark: Any) -> Any:
    kinds = "who string, what string, price decimal(4, 1), number double, group string"
    return spark.createDataFrame(table().rows(), kinds).repartition(3).cache()


@pytest.fixture(params=[*(pytest.param(way, marks=pytest.mark.slow) for way in OF_SPARK), *OF_DUCKDB])
def way(request: pytest.FixtureRequest) -> str:
    """Return the name of the plans by which users go."""
    return str(request.param)


@pytest.fixture
def log(request: pytest.FixtureRequest, way: str) -> Any:
    """Return the table as the engine holds it whose plans are tried."""
    return request.getfixturevalue("log_of_spark") if way in OF_SPARK else duckdb.from_arrow(table().to_arrow())


@pytest.fixture
def sampled(way: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Sample], Any]:
    """Return a function that runs another where users go one way, and sees to it that they do."""
    if way in OF_DUCKDB:
        chosen = "coalesce(2 * count(*) < sum(items), false)"
        assert chosen in user_bounds._QUERY
        query = user_bounds._QUERY.replace(chosen, OF_DUCKDB[way])
        monkeypatch.setattr(user_bounds, "_QUERY", query)
        return lambda sample: sample()
    rows, named, expected = OF_SPARK[way]
    used: set[str] = set()

    def noted(name: str, plan: Any) -> Any:
        return lambda *arguments: (used.add(name), plan(*arguments))[1]

    for name, plan in (("lists", user_bounds._by_lists), ("windows", user_bounds._by_windows)):
        monkeypatch.setattr(user_bounds, f"_by_{name}", noted(name, plan))
    monkeypatch.setattr(user_bounds, "LONGEST_LIST", rows)
    monkeypatch.setattr(user_bounds, "_MOST_NAMED", named)

    def run(sample: Sample) -> Any:
        used.clear()
        try:
            return sample()
        finally:
            assert used == expected

    return run


@pytest.mark.drawn(4)
@each_of("keep_null", [False, True])
def test_rows_are_kept_by_definition(*, log: Any, sampled: Callable[[Sample], Any], keep_null: bool) -> None:
    rows = [(who, what, None) for who, what in table().select("who", "what").rows()]
    for key, most in product(KEYS, (2, 7)):
        options: dict[str, Any] = {"max_per_user": most, "order_key": key, "keep_null": keep_null}
        profile = sampled(lambda options=options: read_profile(log, label="what", user="who", **options))
        oracle = kept_items(rows, bound=most, key=key, keep_null=keep_null)
        assert sorted_l1(profile, Profile.from_counts(list(oracle.values()))) == 0, (key, most)


def test_users_who_are_numbers_are_sampled_as_elsewhere(log: Any, sampled: Callable[[Sample], Any]) -> None:
    for key in KEYS:
        options: dict[str, Any] = {"label": "number", "user": "price", "max_per_user": 3, "order_key": key}
        profile = sampled(lambda options=options: read_profile(log, **options))
        assert sorted_l1(profile, read_profile(table(), **options)) == 0


@each_of("most_groups", [None, 2])
def test_rows_in_groups_are_sampled_as_elsewhere(
    log: Any, sampled: Callable[[Sample], Any], most_groups: int | None
) -> None:
    for key in KEYS:
        options: dict[str, Any] = {
            "label": "what",
            "user": "who",
            "by": "group",
            "groups": ["g0", "g1", "g2"],
            "max_per_user": 2,
            "max_groups_per_user": most_groups,
            "order_key": key,
        }
        read = sampled(lambda options=options: read_groups(log, **options))
        elsewhere = read_groups(table(), **options)
        assert read.keys() == elsewhere.keys()
        assert all(sorted_l1(read[group], elsewhere[group]) == 0 for group in elsewhere)


def test_rows_on_levels_are_sampled_as_elsewhere(log: Any, sampled: Callable[[Sample], Any]) -> None:
    options: dict[str, Any] = {
        "label": "what",
        "user": "who",
        "by": ["group", "number"],
        "groups": [*product(("g0", "g1", "g2"), map(str, range(10)))],
        "max_per_user": 2,
        "levels": "crossing",
        "order_key": KEYS[0],
    }
    read = sampled(lambda: read_groups(log, **options))
    for level, elsewhere in zip(read.above, read_groups(table(), **options).above, strict=True):
        # Two rows of each of fifteen users who are known.
        assert sum(each.n for each in level.values()) == 30
        assert all(sorted_l1(level[group], elsewhere[group]) == 0 for group in elsewhere)


def test_a_value_without_a_name_is_refused_wherever_it_is(
    request: pytest.FixtureRequest, way: str, sampled: Callable[[Sample], Any]
) -> None:
    # One label is too large to have a name, of forty of one user, of whom one is kept.
    numbers = pl.DataFrame({"who": ["ann"] * 40, "number": [*map(float, range(39)), 1e300]})
    if way in OF_SPARK:
        rows = request.getfixturevalue("spark").createDataFrame(numbers.rows(), "who string, number double")
    else:
        rows = duckdb.from_arrow(numbers.to_arrow())
    for key in KEYS:
        options: dict[str, Any] = {"label": "number", "user": "who", "max_per_user": 1, "order_key": key}
        with pytest.raises(DataError, match="Floats of 2"):
            sampled(lambda options=options: read_profile(rows, **options))


@each_of(("rows", "by_pairs"), [([], False), ([("ann", "a")] * 3, True), ([("ann", "a"), ("ann", "b")], False)])
def test_duckdb_counts_equal_rows_where_that_halves_them(*, rows: list[tuple[str, str]], by_pairs: bool) -> None:
    held = pl.DataFrame(rows, schema={"user": pl.String, "label": pl.String}, orient="row")
    with duckdb.connect() as connection:
        connection.register("held", held.to_arrow())
        first_steps = user_bounds._QUERY.partition(",\n    pairs AS")[0]
        query = (first_steps + " SELECT by_pairs FROM chosen").format(  # noqa: S608
            rows="held", within="user", low_hashes="2**64", row="user, label"
        )
        assert connection.sql(query).fetchall() == [(by_pairs,)]

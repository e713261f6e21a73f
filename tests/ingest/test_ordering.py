"""The order in which a user's rows count: no row of another user has a say in it, whatever type the column has."""

import datetime as dt
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.ingest import read_profile
from anonhist.ingest.plain_types import order_of_objects
from anonhist.ingest.query import Columns, bounded_rows
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.user_bound import kept_items

pytestmark = pytest.mark.usefixtures("lent_duckdb")

KEY = "0" * 32
# Of each of 99 users the row of 1-Jan comes first; the new user's only row, before all others, is of 2-Feb.
OTHERS = [(f"u{number:02}", label, when) for number in range(99) for label, when in (("a", "1-Jan"), ("b", "2-Feb"))]
NEW = ("new", "b", "2-Feb")


def _categories(rows: list[tuple[str, str, str]]) -> list[str]:
    return list(dict.fromkeys(row[2] for row in rows))


def _arrow(rows: list[tuple[str, str, str]]) -> pa.Table:
    who, what, when = map(list, zip(*rows, strict=True))
    return pa.table({"who": who, "what": what, "when": pa.array(when).dictionary_encode()})


def _pandas(rows: list[tuple[str, str, str]], *, ordered: bool) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["who", "what", "when"])
    return frame.assign(when=pd.Categorical(frame["when"], categories=_categories(rows), ordered=ordered))


def _polars(rows: list[tuple[str, str, str]], kind: Any) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["who", "what", "when"], orient="row")
    return frame.with_columns(pl.col("when").cast(kind))


MAKERS: dict[str, Callable[[list[tuple[str, str, str]]], Any]] = {
    "pandas": lambda rows: _pandas(rows, ordered=False),
    "pandas ordered": lambda rows: _pandas(rows, ordered=True),
    "pandas pyarrow": lambda rows: _arrow(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "polars categorical": lambda rows: _polars(rows, pl.Categorical),
    "polars enum": lambda rows: _polars(rows, pl.Enum(_categories(rows))),
    "polars lazy": lambda rows: _polars(rows, pl.Enum(_categories(rows))).lazy(),
    "arrow": _arrow,
    "ibis duckdb": lambda rows: ibis.memtable(_arrow(rows)),
}
IN_DATABASES = ["parquet", "duckdb relation", "duckdb", "ibis duckdb table", "postgresql"]


@pytest.fixture(params=[*MAKERS, *IN_DATABASES])
def categorical(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Hold rows whose last column is of categories, in order of first appearance where the engine keeps one."""
    numbers = count()
    kind, server = request.param, request.getfixturevalue("postgresql") if request.param == "postgresql" else ""

    @contextmanager
    def hold(rows: list[tuple[str, str, str]]) -> Iterator[tuple[Any, dict[str, Any]]]:
        values = ", ".join(f"'{each}'" for each in _categories(rows))
        if kind in MAKERS:
            yield MAKERS[kind](rows), {}
        elif kind == "parquet":
            pq.write_table(_arrow(rows), tmp_path / "a.parquet")
            yield tmp_path / "a.parquet", {}
        elif kind == "postgresql":
            with closing(psycopg.connect(server)) as database:
                cursor = database.cursor()
                cursor.execute("DROP TABLE IF EXISTS categories")
                cursor.execute("DROP TYPE IF EXISTS season")
                cursor.execute(f"CREATE TYPE season AS ENUM ({values})")
                cursor.execute('CREATE TABLE categories (who TEXT, what TEXT, "when" season)')
                cursor.executemany("INSERT INTO categories VALUES (%s, %s, %s)", rows)
                database.commit()
            yield server, {"table": "categories"}
        else:
            path = str(tmp_path / f"{next(numbers)}.db")
            with duckdb.connect(path) as connection:
                connection.execute(f'CREATE TABLE categories (who TEXT, what TEXT, "when" ENUM({values}))')
                connection.from_arrow(_arrow(rows)).insert_into("categories")
                if kind == "duckdb relation":
                    yield connection.table("categories"), {}
                    return
            if kind == "ibis duckdb table":
                database = ibis.duckdb.connect(path)
                with warnings.catch_warnings():
                    # Ibis asks the engine for schemas by a name that newer engines call old.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    table = database.table("categories")
                yield table, {}
                database.disconnect()
                return
            yield f"duckdb:///{path}", {"table": "categories"}

    return hold


@pytest.mark.slow
def test_a_user_does_not_decide_which_rows_of_others_count(categorical: Any) -> None:
    ordered, by_chance = [], []
    for rows in (OTHERS, [NEW, *OTHERS]):
        with categorical(rows) as (source, said):
            options = {"user": "who", "max_per_user": 1, "order_key": KEY, **said}
            ordered.append(read_profile(source, label="what", order_by="when", **options))
            # Nor does it where labels are categories and chance decides.
            by_chance.append(read_profile(source, label="when", **options))
    unit = PrivacyUnit.user(max_items=1)
    assert ordered == [Profile.from_counts([99], unit=unit), Profile.from_counts([99, 1], unit=unit)]
    kept = [kept_items([(who, when, None) for who, _, when in rows], bound=1, key=KEY) for rows in (OTHERS, [NEW])]
    assert by_chance == [Profile.from_counts(each.values(), unit=unit) for each in (kept[0], kept[0] + kept[1])]
    assert sorted_l1(*ordered) == sorted_l1(*by_chance) == 1


def _order(when: pd.Series) -> str:
    """Return which rows of one user come first by ``when``, in their order; row i has the i-th letter."""
    letters = [chr(ord("a") + place) for place in range(len(when))]
    table = {"who": ["u"] * len(when), "what": letters, "when": when}
    order = ""
    for bound in range(1, len(when) + 1):
        rows = bounded_rows(nw.from_native(pd.DataFrame(table)), Columns("what", "who", bound, "when", KEY))
        order += "".join(set(rows.to_native()["label"]) - set(order))
        assert len(order) == bound
    return order


LARGE = [2**60 + 1, 2**60, 3, -7]
DAYS = [dt.date(2024, 10, 1), dt.date(2024, 9, 30), dt.date(999, 1, 1)]


@pytest.mark.parametrize(
    ("when", "order"),
    [
        # Floats do not tell the first two apart, which are so held beside a missing number.
        (pd.Series(LARGE), "dcab"),
        (pd.Series(LARGE, dtype=object), "dcab"),
        (pd.Series(LARGE, dtype="Int64"), "dcab"),
        (pd.Series([*LARGE, None], dtype="Int64"), "edcab"),
        (pd.Series([*LARGE, None], dtype=pd.ArrowDtype(pa.int64())), "edcab"),
        (pd.Series([Decimal(number) for number in LARGE], dtype=object), "dcab"),
        (pd.Series([*LARGE, None]), "edcab"),
        (pd.Series([*LARGE, float("nan")], dtype=object), "edcab"),
        (pd.Series([10.0, 9.0, None, -1.5]), "cdba"),
        (pd.Series([True, False, None], dtype=object), "cba"),
        (pd.Series([*DAYS, None], dtype=object), "dcba"),
        (pd.Series(["10", "9", "A", "a", None], dtype=object), "eabcd"),
        (pd.Series([b"b", b"a\xff", None], dtype=object), "cba"),
        (pd.Series(pd.to_datetime(["2024-10-01", "2024-09-30", None], utc=True)), "cba"),
        (pd.Series(pd.Categorical([10, 9, None], categories=[10, 9])), "cab"),
        (pd.Series([None, None], dtype=object), "ab"),
    ],
)
def test_columns_of_pandas_are_ordered_by_their_values(when: pd.Series, order: str) -> None:
    assert _order(when) == order


def test_both_zeros_are_one_number() -> None:
    when = pd.Series([0.0, -0.0, 1.0], dtype=pd.ArrowDtype(pa.float64()))
    table = pd.DataFrame({"who": ["u", "u", "u"], "what": ["b", "a", "a"], "when": when})
    profile = read_profile(table, label="what", user="who", max_per_user=2, order_by="when")
    assert profile == Profile.from_labels(["a", "b"], unit=PrivacyUnit.user(max_items=2))


def test_values_of_several_types_are_ordered_by_their_types_and_then_by_themselves() -> None:
    noon, zone = dt.datetime(2024, 1, 1, 12), dt.timezone(dt.timedelta(hours=2))  # noqa: DTZ001  # no zone
    zoned = dt.datetime(2024, 1, 1, 12, tzinfo=zone)
    ascending: list[Any] = [
        *(False, True, -(10**400), Fraction(1, 3), Decimal("1.5"), 2, np.int8(3), 2**60, float("inf")),
        *("", "1", "10", "9", "a", dt.date(2024, 1, 1), noon, pd.Timestamp(noon) + pd.Timedelta(1, "ns")),
        *(zoned, zoned.astimezone(dt.UTC) + dt.timedelta(1), dt.time(1), dt.timedelta(1), dt.timedelta(10)),
        *(b"a", b"b", (1,), (2,)),
    ]
    for before in ([], ["x"] * 200, [7] * 200, [None] * 200):
        held = pd.Series([*before, None, *ascending], dtype=object)
        places = order_of_objects(nw.from_native(held.to_frame("when")), "when").to_list()[len(before) :]
        assert np.isnan(places[0])
        assert all(np.diff(places[1:]) > 0)

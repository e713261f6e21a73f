"""Names of columns are compared exactly: one rule for all sources, whatever their engine does with names."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest

from anonhist.errors import AnonhistError
from anonhist.graphs.reading import read_degrees
from anonhist.ingest import read_profile
from anonhist.ingest.columns import MissingColumnError, RepeatedColumnError, UnnamedColumnError, distinct_names
from anonhist.ingest.groups.lists import sizes_from_file
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.windows import read_cumulative
from anonhist.local import KRR
from anonhist.local.reading import opened_values, tally_reports
from anonhist.profiles import Profile
from anonhist.sketches import DomainSketch
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

# Every column counts otherwise, and so does each under the name that DuckDB would give it: L_1 for L, L_1_1 for L_1.
ROWS = 300
VALUES = {name: [f"v{at % many}" for at in range(ROWS)] for name, many in (("l", 1), ("L", 4), ("L_1", 50), ("e", 7))}
ORDERS = (("l", "L", "L_1", "e"), ("L_1", "l", "L", "e"), ("e", "L", "L_1", "l"))


def profile_of(name: str) -> Profile:
    return Profile.from_counts(Counter(VALUES[name]).values())


def arrow(names: tuple[str, ...]) -> pa.Table:
    return pa.table([pa.array(VALUES[name]) for name in names], names=list(names))


def text(table: pa.Table, delimiter: str = ",") -> str:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return "".join(delimiter.join(row) + "\n" for row in (table.column_names, *rows))


def _csv(table: pa.Table, folder: Path) -> str:
    (folder / "t.csv").write_text(text(table))
    return str(folder / "t.csv")


def _tsv(table: pa.Table, folder: Path) -> str:
    (folder / "t.tsv").write_text(text(table, "\t"))
    return str(folder / "t.tsv")


def _json(table: pa.Table, folder: Path) -> str:
    pd.DataFrame(table.to_pydict()).to_json(folder / "t.jsonl", orient="records", lines=True)
    return str(folder / "t.jsonl")


def _parquet(table: pa.Table, folder: Path) -> str:
    pq.write_table(table, folder / "t.parquet")
    return str(folder / "t.parquet")


def _parquet_files(table: pa.Table, folder: Path) -> str:
    """Write files each of which has its columns in another order."""
    for at in range(3):
        names = table.column_names
        part = table.slice(at * 100, 100).select([*names[at:], *names[:at]])
        pq.write_table(part, folder / f"part{at}.parquet")
    return str(folder / "part*.parquet")


def _relation(table: pa.Table, _: Path) -> Any:
    """Return a relation that has these names, which it has from no table."""
    plain = table.rename_columns([f"c{at}" for at in range(table.num_columns)])
    relation = duckdb.connect().from_arrow(plain)
    return relation.project(", ".join(f'c{at} AS "{name}"' for at, name in enumerate(table.column_names)))


MEMORY: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, _: table,
    "batch": lambda table, _: table.combine_chunks().to_batches()[0],
    "reader": lambda table, _: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    "pandas": lambda table, _: pd.DataFrame(dict(enumerate(table.columns))).set_axis(table.column_names, axis=1),
    "relation": _relation,
}
# These can hold two columns of one name, too.
ALL = {"csv": _csv, "tsv": _tsv, "parquet": _parquet} | MEMORY
UNIQUE = {
    "json": _json,
    "parquet files": _parquet_files,
    "data set": lambda table, folder: pds.dataset(_parquet(table, folder)),
    "scanner": lambda table, folder: pds.dataset(_parquet(table, folder)).scanner(),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "narwhals": lambda table, _: nw.from_native(pl.from_arrow(table)),
}


@pytest.mark.full
@pytest.mark.first(2)
@each_of("names", list(ORDERS))
@pytest.mark.parametrize("kind", [*ALL, *UNIQUE])
def test_names_that_differ_in_case_are_read_each_under_its_own(
    kind: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    hold: Callable[[pa.Table, Path], Any] = (ALL | UNIQUE)[kind]
    for name in names:
        assert read_profile(hold(arrow(names), tmp_path), label=name) == profile_of(name), name
    kept = read_profile(hold(arrow(names), tmp_path), label="l", user="L", max_per_user=1)
    assert (kept.n, kept.num_labels) == (4, 1)
    kept = read_profile(hold(arrow(names), tmp_path), label="L", user="L_1", max_per_user=2, order_by="l")
    assert (kept.n, kept.num_labels) == (100, 4)


@pytest.mark.parametrize("kind", [*ALL, *(kind for kind in UNIQUE if kind != "json")])
def test_another_case_is_another_name(kind: str, tmp_path: Path) -> None:
    hold: Callable[[pa.Table, Path], Any] = (ALL | UNIQUE)[kind]
    for absent in ("E", "L_1_1", "L_2"):
        with pytest.raises(MissingColumnError, match=f"There is no column '{absent}'"):
            read_profile(hold(arrow(ORDERS[0]), tmp_path), label=absent)


@pytest.mark.parametrize("kind", list(ALL))
def test_two_columns_of_one_name_are_refused_where_one_is_used(kind: str, tmp_path: Path) -> None:
    table = arrow(("l", "e", "L")).rename_columns(["twice", "e", "twice"])
    for said in (
        {"label": "twice"},
        {"label": "e", "user": "twice", "max_per_user": 1},
        {"label": "e", "user": "e", "max_per_user": 1, "order_by": "twice"},
    ):
        with pytest.raises(RepeatedColumnError) as refused:
            read_profile(ALL[kind](table, tmp_path), **said)
        assert str(refused.value).endswith(": rename all but one of them.")
        assert refused.value.is_public
        assert ("twice" in str(refused.value)) == (kind not in ("csv", "tsv"))
    assert read_profile(ALL[kind](table, tmp_path), label="e") == profile_of("e")
    with pytest.raises(UnnamedColumnError):
        read_profile(ALL[kind](table, tmp_path))


def test_columns_that_nobody_named_are_refused_if_there_are_two(tmp_path: Path) -> None:
    table = arrow(("l", "L", "e"))
    for names, read in (
        (["label", "count", "count"], partial(read_profile, format="counts")),
        (["source", "target", "target"], read_degrees),
        (["items", "ward", "ward"], sizes_from_file),
    ):
        for hold in (_csv, _parquet):
            with pytest.raises(RepeatedColumnError):
                read(hold(table.rename_columns(names), tmp_path))
    with pytest.raises(RepeatedColumnError):
        read_degrees(table.select([0, 1]).rename_columns(["x", "x"]))


def test_files_of_other_names_are_not_joined_by_those_of_the_engine(tmp_path: Path) -> None:
    # DuckDB calls the columns of both files l, L_1 and L_1_1.
    pq.write_table(arrow(("l", "L", "L_1")), tmp_path / "a.parquet")
    pq.write_table(arrow(("l", "L", "L_1")).rename_columns(["l", "L_1", "L_1_1"]), tmp_path / "b.parquet")
    with pytest.raises(AnonhistError, match="do not all have the same columns") as refused:
        read_profile(tmp_path / "?.parquet", label="L_1")
    assert refused.value.is_public


def test_structures_are_one_column_each(tmp_path: Path) -> None:
    deep = pa.array([{"x": 1, "X": [2]}] * 2)
    table = pa.table([deep, pa.array(["a", "b"]), pa.array(["c", "c"])], names=["s", "x", "X"])
    pq.write_table(table, tmp_path / "t.parquet")
    assert read_profile(tmp_path / "t.parquet", label="x") == Profile.from_counts([1, 1])
    assert read_profile(tmp_path / "t.parquet", label="X") == Profile.from_counts([2])


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "arrow", "polars", "relation"])
def test_every_reader_compares_names_exactly(kind: str, tmp_path: Path) -> None:
    values = {
        "q": ["a", "b"] * 100,
        "Q": ["x", "x"] * 100,
        "day": ["2026-11-01", "2026-11-02"] * 100,
        "DAY": ["?"] * 200,
    }
    table = pa.table(values)
    hold: Callable[[pa.Table, Path], Any] = (ALL | UNIQUE)[kind]
    grouped = read_groups(hold(table, tmp_path), label="q", by="Q", groups=["x"])
    assert grouped["x",] == Profile.from_counts([100, 100])
    crossed = read_groups(hold(table, tmp_path), label="Q", by="q", groups=["a"])
    assert crossed["a",] == Profile.from_counts([100])
    reached = read_cumulative(
        hold(table, tmp_path), label="q", by="day(day)", days="2026-11-01..2026-11-02", thresholds=(1,)
    )
    assert reached.increments.tolist() == [[1, 1]]
    degrees = read_degrees(hold(table, tmp_path), origin="q", target="Q").profile
    assert degrees == read_degrees([("a", "x"), ("b", "x")]).profile
    sketch = DomainSketch(alphabet=["a", "b"], epsilon=20)
    update_sketch(sketch, hold(table, tmp_path), label="q")


def test_randomized_values_and_reports(tmp_path: Path) -> None:
    with opened_values(_csv(arrow(("l", "L")), tmp_path), "L") as batches:
        assert sorted(value for batch in batches for value in batch) == sorted(VALUES["L"])
    survey = KRR(alphabet=["a", "b"], epsilon=1)
    reports = pa.table({"survey": [survey.digest] * 3, "report": [0, 1, 1]})
    plain = tally_reports(survey, reports)
    names = [*reports.column_names, *(name.upper() for name in reports.column_names)]
    both = pa.table([*reports.columns, *(pa.array(["?"] * 3) for _ in reports.columns)], names=names)
    assert tally_reports(survey, both) == plain
    assert tally_reports(survey, _parquet(both, tmp_path)) == plain
    twice = pa.table([*reports.columns, reports.column(1)], names=[*reports.column_names, reports.column_names[1]])
    for source in (twice, _parquet(twice, tmp_path)):
        with pytest.raises(RepeatedColumnError):
            tally_reports(survey, source)


def test_an_engine_that_cannot_tell_names_apart_is_asked_for_neither() -> None:
    table = ibis.memtable(pa.table({"l": ["a", "b"], "e": ["c", "c"]}))
    twins = table.mutate(L=table.e)
    for name in ("l", "L"):
        with pytest.raises(RepeatedColumnError, match="without regard to case") as refused:
            read_profile(twins, label=name)
        assert refused.value.is_public
    assert read_profile(twins, label="e") == Profile.from_counts([2])


@pytest.mark.full
def test_databases_compare_names_exactly(postgresql: str, tmp_path: Path) -> None:
    with closing(psycopg.connect(postgresql)) as connection:
        connection.execute("DROP TABLE IF EXISTS twins")
        connection.execute('CREATE TABLE twins (l text, "L" text, "L_1" text, e text)')
        rows = zip(*(VALUES[name] for name in ORDERS[0]), strict=True)
        connection.cursor().executemany("INSERT INTO twins VALUES (%s, %s, %s, %s)", list(rows))
        connection.commit()
    for name in ORDERS[0]:
        assert read_profile(postgresql, table="twins", label=name) == profile_of(name)
    with closing(sqlite3.connect(tmp_path / "t.db")) as made:
        made.execute("CREATE TABLE t (Label TEXT, other TEXT)")
        made.commit()
    with duckdb.connect(tmp_path / "t.duckdb") as made_too:
        made_too.execute("CREATE TABLE t (Label TEXT, other TEXT)")
    for source in (f"sqlite:///{tmp_path}/t.db", f"duckdb:///{tmp_path}/t.duckdb"):
        assert read_profile(source, table="t", label="Label").n == 0
        with pytest.raises(MissingColumnError):
            read_profile(source, table="t", label="label")


def test_names_by_place() -> None:
    for names, held in (
        (["a", "b", "a_2"], ["a", "b", "a_2"]),
        (["l", "L", "L_2"], ["l", "L_3", "L_2"]),
        (["x", "x", "X"], ["x", "x_2", "X_3"]),
        (["", ""], ["", "_2"]),
        (["straße", "STRASSE"], ["straße", "STRASSE_2"]),
    ):
        assert distinct_names(names) == held


def test_names_that_rows_may_decide_are_not_told(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("hunter2,alice\n" + "".join(f"{at},{at}\n" for at in range(300)))
    with duckdb.connect(str(tmp_path / "held.db")) as connection:
        connection.execute(f"CREATE VIEW held AS SELECT * FROM read_csv('{tmp_path / 'rows.csv'}')")  # noqa: S608
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT * FROM read_csv('{tmp_path / 'rows.csv'}')")  # noqa: S608
        for source, table in ((f"duckdb:///{tmp_path / 'held.db'}", "held"), (relation, None)):
            for label, told in (("pw", "no column 'pw' to use as label; there are 2 columns."), (None, "2 columns.")):
                with pytest.raises(AnonhistError, match=told) as caught:
                    read_profile(source, table=table, label=label)
                assert "hunter2" not in str(caught.value)
                assert caught.value.may_tell_rows
                assert "hunter2" in caught.value.for_operator

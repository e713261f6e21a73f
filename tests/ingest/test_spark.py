"""Tables of Spark, where Java and pyspark are installed: what they have that other engines have not.

That they are counted as on other engines is in test_engines.py.
"""

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.columns import MissingColumnError, distinct_names
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.parts import write_part
from anonhist.ingest.spark import _table
from anonhist.ingest.windows import read_cumulative
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.slow

ROWS = [
    ("u1", "a", "DE", "2026-11-22 23:00", date(2026, 11, 22), 7),
    ("u1", "b", "DE", "2027-01-01", date(2027, 1, 1), 8),
    ("u2", "a", "FR", "1.1.2027", date(2024, 2, 29), 7),
    ("u2", "a", "FR", "1999-12-31", date(1999, 12, 31), None),
    ("u2", None, None, None, None, 7),
]
NAMES = ("user", "label", "country", "text", "day", "number")


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest) -> Any:
    """A session of each kind."""
    return request.getfixturevalue("spark" if request.param == "classic" else "spark_connect")


@each_of(
    ("by", "groups"),
    [
        ("day(text)", "2026-11-22..2027-01-01"),
        ("week(text)", "1999-12-27..1999-12-27"),
        ("week(text)", "2026-11-22..2027-01-01"),
        ("week(day)", ["2024-02-26", "2026-11-16", "2026-12-28"]),
        ("month(day)", ["2024-02", "2027-01"]),
        ("day", [date(2024, 2, 29)]),
        (["country", "week(day)"], [("DE", "2026-11-16"), ("FR", "2024-02-26")]),
    ],
)
def test_groups_are_those_of_other_engines(session: Any, by: Any, groups: Any) -> None:
    types = "user string, label string, country string, text string, day date, number long"
    given = {"label": "label", "by": by, "groups": groups}
    polars = pl.DataFrame(ROWS, schema=list(NAMES), orient="row")
    assert dict(read_groups(session.createDataFrame(ROWS, types), **given)) == dict(read_groups(polars, **given))


def test_times_are_in_utc(session: Any) -> None:
    # A time of this session is nine hours before UTC: it is still the day before there.
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    rows = session.sql(
        "SELECT 'a' AS label, timestamp'2026-11-23 03:00:00' AS seen, timestamp'1969-12-29 00:00:00' AS old"
    )
    assert read_groups(rows, label="label", by="day(seen)", groups=["2026-11-22"])["2026-11-22"].n == 1
    assert read_groups(rows, label="label", by="week(seen)", groups=["2026-11-16"])["2026-11-16"].n == 1
    assert read_groups(rows, label="label", by="day(old)", groups=["1969-12-28"])["1969-12-28"].n == 1
    with_no_zone = session.sql("SELECT 'a' AS label, timestamp_ntz'2026-11-23 03:00:00' AS seen")
    assert read_groups(with_no_zone, label="label", by="day(seen)", groups=["2026-11-23"])["2026-11-23"].n == 1


DOTTED = [("a", "u1", "DE", "2026-11-22", 3), ("b", "u1", "DE", "2026-11-23", 1), ("a", "u2", "FR", "2026-11-23", 2)]
TYPES = "`x.y` string, `us``er` string, `c.c` string, `d.d` string, `o.o` long"


def test_names_that_spark_takes_for_something_else(session: Any) -> None:
    table = session.createDataFrame(DOTTED, TYPES)
    users: dict[str, Any] = {"user": "us`er", "max_per_user": 1, "order_by": "o.o"}
    assert read_profile(table, label="x.y", **users) == Profile.from_counts([1, 1], unit=PrivacyUnit.user(max_items=1))
    assert read_profile(table.select("`x.y`")) == Profile.from_counts([2, 1])
    groups = read_groups(table, label="x.y", by=["c.c", "week(d.d)"], groups=[("DE", "2026-11-16")], **users)
    assert (groups.by, groups[("DE", "2026-11-16")].n) == (("c.c", "week(d.d)"), 1)
    listed = table.select("`c.c`").distinct()
    assert {
        group: profile.n for group, profile in read_groups(table, label="x.y", by="c.c", groups=listed).items()
    } == {
        ("DE",): 2,
        ("FR",): 1,
    }
    windows = read_cumulative(
        table, label="x.y", by="day(d.d)", days=["2026-11-22", "2026-11-23"], thresholds=[1, 2], **users
    )
    assert windows.k_plus.tolist() == [[0, 2], [0, 0]]


def test_sentences_have_the_names_that_the_table_has(session: Any) -> None:
    table = session.createDataFrame(DOTTED, TYPES)
    with pytest.raises(MissingColumnError) as caught:
        read_profile(table, label="x_y")
    assert caught.value.columns[:2] == ("x.y", "us`er")
    with pytest.raises(UsageError, match=r"^week\(o\.o\) needs a column of dates"):
        read_groups(table, label="x.y", by="week(o.o)", groups=["2026-11-23"])
    with pytest.raises(UsageError, match=r"grouping column 't\.t' holds times: group by day\(t\.t\)"):
        read_groups(table.selectExpr("*", "current_timestamp() AS `t.t`"), label="x.y", by="t.t", groups=["now"])
    with pytest.raises(UsageError, match=r"grouping column 'o\.o', which holds numbers"):
        read_groups(table, label="x.y", by="o.o", groups=["many"])


def test_other_names_are_nobodys() -> None:
    for names, held in (
        (["a", "b_", "B"], ["a", "b_", "B"]),
        (["a_b", "a.b", "a`b"], ["a_b", "a_b_2", "a_b_3"]),
        # Without regard to case Spark would not know which is meant.
        (["Label", "label"], ["Label", "label_2"]),
        (["same", "same"], ["same", "same_2"]),
    ):
        assert distinct_names(names, unclear_signs=".`") == held


def test_names_that_differ_in_case(session: Any) -> None:
    table = session.createDataFrame([("a", "x"), ("b", "x")], "label string, Label string")
    assert read_profile(table, label="label") == Profile.from_counts([1, 1])
    assert read_profile(table, label="Label") == Profile.from_counts([2])


def test_texts_are_equal_only_if_they_are_written_alike(session: Any) -> None:
    if not hasattr(pytest.importorskip("pyspark.sql.functions"), "collate"):
        pytest.skip("texts have collations from Spark 4 on")
    table = session.createDataFrame([("u", "de"), ("U", "DE"), ("u", "De")], "user string, label string")
    collated = table.selectExpr("collate(user, 'UTF8_LCASE') AS user", "collate(label, 'UTF8_LCASE') AS label")
    assert read_profile(collated, label="label") == Profile.from_counts([1, 1, 1])
    assert read_profile(collated, label="label", user="user", max_per_user=1).n == 2


def test_parts_are_made_of_tables_of_spark(session: Any, tmp_path: Path) -> None:
    table = session.createDataFrame(DOTTED, TYPES)
    write_part(table, tmp_path / "labels.counts", label="x.y")
    assert read_profile(tmp_path / "labels.counts") == Profile.from_counts([2, 1])
    write_part(table, tmp_path / "users.counts", label="x.y", user="us`er", max_per_user=1)
    assert read_profile(tmp_path / "users.counts").n == 2


def test_columns_that_rows_decide_are_not_declared(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"what": "a"}\n{"secret": 1}\n')
    with pytest.raises(MissingColumnError) as refused:
        read_profile(spark.read.json(str(path)), label="other")
    assert refused.value.may_tell_rows


def test_no_row_is_logged(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    spark.createDataFrame([("secretrow",)], "x string").createOrReplaceTempView("raw")
    spark.sql("SELECT cast(x AS int) AS what FROM raw").createOrReplaceTempView("numbers")
    with pytest.raises(DataError) as refused:
        read_profile(spark.table("numbers"), label="what")
    assert "secretrow" not in "".join((*capfd.readouterr(), str(refused.value)))


def test_paths_of_tables_are_not_repeated_with_their_keys(spark: Any) -> None:
    for name in ("parquet.`s3a://AKIA:SECRETKEY@bucket/x`", "parquet.`hdfs://nowhere/x?token=SECRETKEY`"):
        with pytest.raises(DataError) as refused:
            _table(spark, name)
        assert "SECRETKEY" not in str(refused.value)


def test_pandas_on_spark_is_refused_with_a_sentence() -> None:
    kind = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})
    with pytest.raises(UsageError, match=r"pass its Spark table, table\.to_spark\(\)"):
        read_profile(kind(), label="label")

"""Tables of Spark, where Java and pyspark are installed: groups, days and users as everywhere."""

import shutil
import sys
import warnings
from collections.abc import Iterator
from datetime import date
from typing import Any

import polars as pl
import pytest

from anonhist.errors import UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.groups import read_groups
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
KEY = "0123456789abcdef" * 2
NAMES = ("user", "label", "country", "text", "day", "number")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session in this process, in a zone far from UTC."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "Asia/Tokyo",
        }
        session = pyspark.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def table(spark: Any) -> Any:
    return spark.createDataFrame(ROWS, "user string, label string, country string, text string, day date, number long")


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("country", ["DE", "FR", "XX"]),
        ("number", [7, 9]),
        ("day(text)", "2026-11-22..2027-01-01"),
        ("week(text)", "1999-12-27..1999-12-27"),
        ("week(text)", "2026-11-22..2027-01-01"),
        ("week(day)", ["2024-02-26", "2026-11-16", "2026-12-28"]),
        ("month(day)", ["2024-02", "2027-01"]),
        ("day", [date(2024, 2, 29)]),
        (["country", "week(day)"], [("DE", "2026-11-16"), ("FR", "2024-02-26")]),
    ],
)
def test_groups_are_those_of_other_engines(table: Any, by: Any, groups: Any) -> None:
    given = {"label": "label", "by": by, "groups": groups}
    polars = pl.DataFrame(ROWS, schema=list(NAMES), orient="row")
    assert dict(read_groups(table, **given)) == dict(read_groups(polars, **given))


def test_times_are_in_utc(spark: Any) -> None:
    # A time of this session is nine hours before UTC: it is still the day before there.
    rows = spark.sql(
        "SELECT 'a' AS label, timestamp'2026-11-23 03:00:00' AS seen, timestamp'1969-12-29 00:00:00' AS old"
    )
    assert read_groups(rows, label="label", by="day(seen)", groups=["2026-11-22"])["2026-11-22"].n == 1
    assert read_groups(rows, label="label", by="week(seen)", groups=["2026-11-16"])["2026-11-16"].n == 1
    assert read_groups(rows, label="label", by="day(old)", groups=["1969-12-28"])["1969-12-28"].n == 1
    with_no_zone = spark.sql("SELECT 'a' AS label, timestamp_ntz'2026-11-23 03:00:00' AS seen")
    assert read_groups(with_no_zone, label="label", by="day(seen)", groups=["2026-11-23"])["2026-11-23"].n == 1


def test_counted_data(spark: Any) -> None:
    counted = spark.createDataFrame(
        [("DE", "a", 3), ("DE", "a", 1), ("FR", "b", 2)], "g string, label string, count long"
    )
    read = read_groups(counted, by="g", groups=["DE", "FR"], format="counts")
    assert dict(read) == {("DE",): Profile.from_counts([4]), ("FR",): Profile.from_counts([2])}


@pytest.fixture(scope="module")
def many(spark: Any) -> tuple[Any, pl.DataFrame]:
    """Rows of users in five partitions, and the same rows in one table."""
    rows = [
        (f"u{at % 7}", None if at % 11 == 0 else f"l{at * at % 5}", "DE" if at % 3 else "FR", at % 4)
        for at in range(200)
    ]
    names = "user string, label string, country string, rank long"
    polars = pl.DataFrame(rows, schema=["user", "label", "country", "rank"], orient="row")
    return spark.createDataFrame(rows, names).repartition(5), polars


@each_of(
    "said",
    [
        {},
        {"order_by": "rank"},
        {"keep_null": True},
        {"by": "country", "groups": ["DE", "FR"]},
        {"by": "country", "groups": ["DE", "FR"], "max_groups_per_user": 1},
    ],
)
def test_the_same_items_of_users_count_as_on_other_engines(
    many: tuple[Any, pl.DataFrame], said: dict[str, Any]
) -> None:
    table, polars = many
    given = {"label": "label", "user": "user", "max_per_user": 3, "order_key": KEY, **said}
    if "by" in said:
        assert dict(read_groups(table, **given)) == dict(read_groups(polars, **given))
    else:
        assert read_profile(table, **given) == read_profile(polars, **given)


def test_labels_are_in_the_same_groups_as_on_other_engines(many: tuple[Any, pl.DataFrame]) -> None:
    unit = PrivacyUnit.label(max_count=5)
    given: dict[str, Any] = {"label": "user", "by": "country", "groups": ["DE", "FR"], "order_key": KEY}
    read = [read_groups(table, unit=unit, max_groups_per_label=1, **given) for table in many]
    assert dict(read[0]) == dict(read[1])
    assert sum(profile.num_labels for profile in read[0].values()) == 7


def test_a_column_that_spark_reads_as_something_else_is_named(spark: Any) -> None:
    table = spark.createDataFrame([("a", "DE", "q")], "`x.y` string, country string, query string")
    with pytest.raises(UsageError, match=r"'x\.y' has a dot or a backquote, .* withColumnRenamed"):
        read_profile(table, label="x.y")
    with pytest.raises(UsageError, match="withColumnRenamed"):
        read_profile(table.select("`x.y`"))
    assert read_groups(table, label="query", by="country", groups=["DE"])["DE"].n == 1


def test_pandas_on_spark_is_refused_with_a_sentence() -> None:
    kind = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})
    with pytest.raises(UsageError, match=r"pass its Spark table, table\.to_spark\(\)"):
        read_profile(kind(), label="label")

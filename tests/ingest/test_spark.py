"""Tables of Spark, where Java and pyspark are installed: groups and days as everywhere, users are refused."""

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
from anonhist.profiles import Profile

pytestmark = pytest.mark.slow

ROWS = [
    ("u1", "a", "DE", "2026-11-22 23:00", date(2026, 11, 22), 7),
    ("u1", "b", "DE", "2027-01-01", date(2027, 1, 1), 8),
    ("u2", "a", "FR", "1.1.2027", date(2024, 2, 29), 7),
    ("u2", "a", "FR", "1999-12-31", date(1999, 12, 31), None),
    ("u2", None, None, None, None, 7),
]
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
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.session.timeZone": "Asia/Tokyo",
        }
        session = pyspark.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
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


def test_users_are_refused_as_of_one_profile(table: Any) -> None:
    given = {"label": "label", "user": "user", "max_per_user": 1}
    for read in (read_profile, lambda *data, **said: read_groups(*data, by="country", groups=["DE"], **said)):
        with pytest.raises(UsageError, match="turn this table into one of these, or write it to a Parquet file"):
            read(table, **given)

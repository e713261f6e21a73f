"""Reports and labels in tables of Spark: the executors count what this process counts in other tables."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import write
from anonhist.local import KRR, LocalHashing, OptimizedUnary, SubsetSelection, Survey, reading
from anonhist.local.reading import tally_reports
from anonhist.privacy import PrivacyUnit
from anonhist.sketches import DomainSketch, HashedSketch, Sketch, UsersIn
from anonhist.sketches.cluster import ExactPartials, NoisyPartials
from anonhist.sketches.reading import update_sketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.slow

SURVEYS: dict[str, Survey] = {
    "grouped": KRR(alphabet=30, epsilon=1),
    "bytes": SubsetSelection(alphabet=30, epsilon=1),
    "bits": OptimizedUnary(alphabet=30, epsilon=1),
    "seeds": LocalHashing(buckets=4, epsilon=1),
}
KEY = "0123456789abcdef" * 2
LABELS = [f"label {at * at % 17}" if at % 11 else None for at in range(400)]
ROWS = pl.DataFrame({"label": LABELS, "user": [f"u{at % 13}" for at in range(400)]})


@pytest.fixture(scope="module")
def rows(spark: Any) -> Any:
    return spark.createDataFrame(ROWS.rows(), "label string, user string").repartition(4)


def _reports(survey: Survey) -> Any:
    values = [str(at % 9) for at in range(300)] if isinstance(survey, LocalHashing) else np.arange(300) % 30
    return survey.randomize(values, source=SeededSource(7))


@each_of("name", SURVEYS)
@each_of("ending", ["parquet", "csv"])
def test_reports_are_tallied_where_they_are(spark: Any, tmp_path: Path, name: str, ending: str) -> None:
    survey, path = SURVEYS[name], tmp_path / f"{name}.{ending}"
    found = _reports(survey)
    write(found, path, overwrite=True)
    table = spark.read.parquet(str(path)) if ending == "parquet" else spark.read.csv(str(path), header=True)
    expected = survey.tally(found)
    assert tally_reports(survey, table.repartition(3)) == expected
    # Beside a file, and a table of another engine.
    assert tally_reports(survey, [path, table]) == expected + expected


def test_reports_that_are_too_many_to_group_are_tallied_by_partition(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = SURVEYS["grouped"]
    found = _reports(survey)
    rows = [(survey.digest, int(code)) for code in found.columns["report"]]
    table = spark.createDataFrame([*rows, ("other", 3), (survey.digest, 77)], "survey string, report int").repartition(
        3
    )
    grouped = tally_reports(survey, table, skip_bad=2)
    monkeypatch.setattr(reading, "_MOST_GROUPS", 1)
    told: list[str] = []
    assert tally_reports(survey, table, skip_bad=2, notify=told.append) == grouped == survey.tally(found)
    assert told == ["2 rows were left out: invalid for this survey."]


@each_of(
    ("report", "survey", "told"),
    [
        ("77", None, "holds a row that is not a report of this survey"),
        ("-1", None, "not a report"),
        ("3.0", None, "not a report"),
        ("03", None, "not a report"),
        ("3\n", None, "not a report"),
        ("99999999999999999999", None, "not a report"),
        (None, None, "not a report"),
        ("3", "other", "holds reports of another survey; count them with the file of that survey"),
        ("3", None, ""),
    ],
)
def test_rows_that_are_no_reports_are_refused_or_left_out(
    spark: Any, report: str | None, survey: str | None, told: str
) -> None:
    asked = SURVEYS["grouped"]
    rows = [(asked.digest, "4"), (survey or asked.digest, report)]
    table = spark.createDataFrame(rows, "survey string, report string")
    if not told:
        assert tally_reports(asked, table).users == 2
        return
    with pytest.raises(DataError, match=told) as caught:
        tally_reports(asked, table)
    assert (
        str(caught.value) == f"The table {_reason(survey)}; skip_bad sets how many to leave out. Nothing was counted."
    )
    assert tally_reports(asked, table, skip_bad=1).users == 1


def _reason(survey: str | None) -> str:
    if survey is None:
        return "holds a row that is not a report of this survey"
    return "holds reports of another survey; count them with the file of that survey"


def test_tables_without_reports_are_refused(spark: Any) -> None:
    survey = SURVEYS["grouped"]
    with pytest.raises(DataError, match="which have the columns survey, report"):
        tally_reports(survey, spark.sql("SELECT 1 AS report"))
    with pytest.raises(DataError, match="whole numbers in its column 'report'"):
        tally_reports(survey, spark.sql("SELECT 'x' AS survey, 1.5D AS report"))
    with pytest.raises(DataError, match="bytes, or hexadecimal text, in its column 'report'"):
        tally_reports(SURVEYS["bits"], spark.sql("SELECT 'x' AS survey, 1.5D AS report"))
    table = spark.sql("SELECT 'x' AS survey, 1 AS report")
    with pytest.raises(UsageError, match="given twice"):
        tally_reports(survey, [table, table])


def _sketches(**settings: Any) -> list[Sketch]:
    words = [f"label {at}" for at in range(17)]
    listed = DomainSketch(alphabet=words, epsilon=400, source=SeededSource(1), **settings)
    return [listed, HashedSketch(buckets=50, epsilon=400, key=b"k", source=SeededSource(2), **settings)]


@each_of("way", [ExactPartials(), NoisyPartials(3), NoisyPartials(6)])
def test_partitions_are_counted_as_in_this_process(rows: Any, way: ExactPartials | NoisyPartials) -> None:
    # At this epsilon no counter has noise.
    for found, expected in zip(_sketches(), _sketches(), strict=True):
        told: list[str] = []
        seen: list[int] = []
        update_sketch(found, rows, label="label", partials=way, notify=told.append, counted=seen.append)
        update_sketch(expected, ROWS, label="label")
        assert found.counters.tolist() == expected.counters.tolist()
        if isinstance(way, ExactPartials):
            assert told == ["363 rows counted; 37 without a label were left out."]
            assert seen == [363]
            assert len(found.noise) == 1
        else:
            assert told == seen == []
            assert len(found.noise) == way.partitions + 1


def test_the_bound_of_a_user_holds_over_all_partitions(rows: Any) -> None:
    unit = PrivacyUnit.user(max_items=3)
    given: dict[str, Any] = {"label": "label", "user": "user", "order_key": KEY}
    for way in (ExactPartials(), NoisyPartials(2)):
        for found, expected in zip(
            _sketches(unit=unit, users_in=UsersIn.ONE_SKETCH), _sketches(unit=unit), strict=True
        ):
            update_sketch(found, rows, partials=way, **given)
            update_sketch(expected, ROWS, **given)
            assert found.counters.tolist() == expected.counters.tolist()
            assert found.counters.sum() == 3 * 13
            assert found.guarantee.epsilon == 400


def test_counted_tables_and_mistakes(spark: Any, rows: Any) -> None:
    counted = spark.createDataFrame([("label 1", 3), ("label 2", 1), ("label 1", 4)], "label string, count long")
    sketch = _sketches()[0]
    update_sketch(sketch, counted, partials=NoisyPartials(2))
    update_sketch(sketch, counted.withColumnRenamed("count", "n"), label="label", count="n", partials=ExactPartials())
    assert sketch.counters.tolist() == [0, 14, 2] + [0] * 14
    before = sketch.counters.tolist()
    wrong = counted.selectExpr("label", "count - 2 AS n")
    with pytest.raises(UsageError, match="say whether partitions send exact counts, or counts with noise of their own"):
        update_sketch(sketch, rows, label="label")
    for way in (ExactPartials(), NoisyPartials(2)):
        with pytest.raises(DataError, match="not in the sketch's domain"):
            update_sketch(sketch, spark.sql("SELECT 'secret' AS label"), partials=way)
        with pytest.raises(DataError, match="column 'n' must hold whole numbers"):
            update_sketch(sketch, wrong, label="label", count="n", partials=way)
        # What counts nothing is not there, known or not.
        update_sketch(sketch, spark.sql("SELECT 'secret' AS label, 0 AS count"), partials=ExactPartials())
        with pytest.raises(DataError, match="whole numbers"):
            update_sketch(sketch, spark.sql("SELECT 1.5D AS label"), partials=way, ignore_unknown=True)
        update_sketch(sketch, spark.sql("SELECT 'other' AS label"), partials=ExactPartials(), ignore_unknown=True)
    assert sketch.counters.tolist() == before
    nobody = spark.createDataFrame([], "label string")
    update_sketch(sketch, nobody, partials=NoisyPartials(2))
    assert sketch.counters.tolist() == before
    assert len(sketch.noise) == 5

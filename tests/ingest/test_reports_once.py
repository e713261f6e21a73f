"""Lines of devices in files and tables of every engine: a retry counts once, and of different reports none."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import MissingColumnError
from anonhist.local import (
    KRR,
    ORAPPOR,
    HeavyHitters,
    LocalHashing,
    OptimizedUnary,
    Reports,
    SubsetSelection,
    collected_reports,
    reading,
    wire_line,
)
from anonhist.local.reading import tally_reports
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.usefixtures("lent_duckdb")

SURVEYS: dict[str, Any] = {
    "whole": KRR(alphabet=300, epsilon=1),
    "bytes": SubsetSelection(alphabet=30, epsilon=1),
    "bits": OptimizedUnary(alphabet=30, epsilon=1),
    "seeds": LocalHashing(epsilon=1, key="once"),
    "prefixes": HeavyHitters(epsilon=2, max_bytes=12),
    "cohorts": ORAPPOR(buckets=20, cohorts=120, key="once", epsilon=2),
}
PEOPLE = 120


def reports_of(survey: Any, people: int = PEOPLE) -> Reports:
    is_whole = isinstance(survey, KRR | SubsetSelection | OptimizedUnary)
    values = np.arange(people) % 30 if is_whole else [str(i % 7) for i in range(people)]
    reports: Reports = survey.randomize(values, source=SeededSource(5))
    return reports


def part(reports: Reports, *rows: int) -> Reports:
    return reports.rows(np.array(rows))


def lines_of(survey: Any, reports: Reports) -> list[str]:
    """Return lines of one report, and of several, and retries of both."""
    lines = [wire_line(survey, part(reports, row), f"{row:032x}") for row in range(len(reports) - 20)]
    lines.append(wire_line(survey, part(reports, *range(len(reports) - 20, len(reports))), "f" * 32))
    return [*lines, *lines[:7], lines[-1], lines[-1]]


@pytest.fixture(params=SURVEYS)
def survey(request: pytest.FixtureRequest) -> Any:
    return SURVEYS[request.param]


def test_what_was_sent_again_counts_once(tmp_path: Path, survey: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(survey)
    lines = lines_of(survey, reports)
    # A retry may be in another file, of another day.
    (tmp_path / "reports-1.ndjson").write_text("".join(lines[:50]))
    (tmp_path / "reports-2.ndjson.gz").write_bytes(gzip.compress("".join(lines[40:]).encode()))
    (tmp_path / "reports-3.ndjson").write_text("".join(reversed(lines)).rstrip("\n"))
    files = [tmp_path / "reports-1.ndjson", f"{tmp_path}/reports-[23].ndjson*"]
    expected = survey.tally(reports)
    assert tally_reports(survey, files, unique="id") == expected
    assert tally_reports(survey, f"{tmp_path}/reports-1.ndjson").users == 50
    monkeypatch.setattr(reading, "_MOST_GROUPS", 1)
    monkeypatch.setattr(reading, "_BATCH_ROWS", 7)
    assert tally_reports(survey, files, unique="id") == expected


def rows_of(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def tables(lines: list[str], folder: Path) -> dict[str, Any]:
    rows = rows_of(lines)
    arrow = pa.Table.from_pylist(rows)
    texts = pa.table({"id": [row["id"] for row in rows], "reports": [json.dumps(row["reports"]) for row in rows]})
    pq.write_table(arrow, folder / "structures.parquet")
    pq.write_table(texts, folder / "texts.parquet")
    polars: Any = pl.from_arrow(arrow)
    return {
        "parquet of structures": folder / "structures.parquet",
        "parquet of texts": folder / "texts.parquet",
        "arrow": arrow,
        "arrow of texts": texts,
        "pandas": pd.DataFrame(rows),
        "pandas of Arrow": arrow.to_pandas(),
        "polars": polars,
        "lazy": polars.lazy(),
        "duckdb": duckdb.from_arrow(arrow),
        "duckdb of JSON": duckdb.from_arrow(texts).project("id, CAST(reports AS JSON) AS reports"),
        "ibis": ibis.memtable(arrow),
    }


KINDS = (
    *("parquet of structures", "parquet of texts", "arrow", "arrow of texts", "pandas", "pandas of Arrow", "polars"),
    *("lazy", "duckdb", "duckdb of JSON", "ibis"),
)


@pytest.mark.first(2)
@each_of("kind", KINDS)
def test_tables_of_lines_are_counted_like_files(tmp_path: Path, survey: Any, kind: str) -> None:
    reports = reports_of(survey)
    table = tables(lines_of(survey, reports), tmp_path)[kind]
    assert tally_reports(survey, table, unique="id") == survey.tally(reports)
    (tmp_path / "more.ndjson").write_text("".join(lines_of(survey, reports)[:9]))
    assert tally_reports(survey, [tmp_path / "more.ndjson", table], unique="id") == survey.tally(reports)
    # Without it, all count.
    assert tally_reports(survey, table).users == PEOPLE + 7 + 40


@pytest.mark.parametrize("values", [[7, 8, 7], ["a", "b", "a"], [b"a", b"b", b"a"]], ids=["whole", "text", "bytes"])
@each_of("form", ["arrow", "parquet", "pandas", "polars", "csv", "ndjson"])
def test_rows_with_a_column_each_count_once_too(tmp_path: Path, values: list[Any], form: str) -> None:
    survey = SURVEYS["whole"]
    table = pa.table({"key": values, "survey": [survey.digest] * 3, "report": [5, 6, 5]})
    told: Any = {"arrow": table, "pandas": table.to_pandas(), "polars": pl.from_arrow(table)}.get(form)
    if form == "parquet":
        pq.write_table(table, told := tmp_path / "a.parquet")
    elif told is None:
        if isinstance(values[0], bytes):
            return
        told = tmp_path / f"a.{form}"
        getattr(table.to_pandas(), "to_csv" if form == "csv" else "to_json")(
            told, **({"index": False} if form == "csv" else {"orient": "records", "lines": True})
        )
    assert tally_reports(survey, told, unique="key") == survey.tally(
        Reports(survey.digest, {"report": np.array([5, 6])})
    )
    assert tally_reports(survey, told).users == 3


def test_of_different_reports_none_counts_whatever_their_order(tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    reports = Reports(survey.digest, {"report": np.array([3, 4, 5, 6])})
    lines = [wire_line(survey, part(reports, row), f"{max(1, row):032x}") for row in range(4)]
    for at, order in enumerate(permutations([*lines, lines[1], lines[3]], 6)):
        if at % 60:
            continue
        path = tmp_path / f"{at}.ndjson"
        path.write_text("".join(order))
        with pytest.raises(DataError, match="Different reports have the same value in the column 'id'"):
            tally_reports(survey, path, unique="id", skip_bad=1)
        told: list[str] = []
        found = tally_reports(survey, path, unique="id", skip_bad=2, notify=told.append)
        assert found == survey.tally(part(reports, 2, 3))
        assert told == ["2 rows were left out: invalid for this survey."]
        kept, bad = collected_reports(survey, order)
        assert (survey.tally(kept), bad) == (found, 2)
    # One report more, or another at the end, makes another line.
    for other in (part(reports, 0), part(reports, 0, 2), part(reports, 0, 1, 1)):
        path.write_text(
            wire_line(survey, part(reports, 0, 1), "1" * 32) + wire_line(survey, other, "1" * 32) + lines[3]
        )
        assert tally_reports(survey, path, unique="id", skip_bad=9) == survey.tally(part(reports, 3))


BAD = {
    b"not a line": 1,
    b"\xff\xfe": 1,
    b"\0": 1,
    b'{"id":': 1,
    b"[1]": 1,
    b"null": 1,
    b"7": 1,
    b'{"survey":1e300}': 1,
    b'{"id":"1"}': 1,
    b'{"id":"2","reports":[]}': 1,
    b'{"id":"3","reports":"x"}': 1,
    b'{"id":"4","reports":{}}': 1,
    b'{"id":"5","reports":{"report":[]}}': 1,
    b'{"id":"6","reports":{"report":"007"}}': 1,
    b'{"id":"7","reports":{"report":[7,null,["007"],"7","0007","00G","00F","+07","0x7"," 07","\\n07"]}}': 11,
    b'{"id":"8","reports":{"report":["12c","fff"]}}': 2,
    b'{"id":null,"reports":{"report":["007"]}}': 1,
    b'{"reports":{"report":["007"]}}': 1,
    b"x" * 1_000_000: 1,
    b"[" * 100_000: 1,
}


@pytest.mark.slow
def test_each_line_that_no_client_writes_is_left_out_and_counted(tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    reports = reports_of(survey)
    lines = [line.encode() for line in lines_of(survey, reports)]
    path = tmp_path / "reports.ndjson"
    for line, number in BAD.items():
        path.write_bytes(b"".join([*lines[:5], line + b"\n", *lines[5:]]))
        with pytest.raises(DataError, match="survey: row 6; ") as caught:
            tally_reports(survey, path, unique="id")
        assert "\n" not in str(caught.value)
        assert tally_reports(survey, path, unique="id", skip_bad=number) == survey.tally(reports)
        with pytest.raises(DataError):
            tally_reports(survey, path, unique="id", skip_bad=number - 1)
    # A first line that looks like an array, or like text of another encoding, is one that anybody can send.
    for first in (b"[1]", b" [", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\xef\xbb\xbf[", *BAD):
        path.write_bytes(b"".join([first + b"\n", *lines]))
        with pytest.raises(DataError, match="survey: row 1; "):
            tally_reports(survey, path, unique="id")
        assert tally_reports(survey, path, unique="id", skip_bad=20) == survey.tally(reports)


def test_what_no_client_writes_is_left_out_and_counted(tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    reports = reports_of(survey)
    lines = [line.encode() for line in lines_of(survey, reports)]
    path = tmp_path / "reports.ndjson"
    path.write_bytes(b"".join([*(line + b"\n" for line in BAD), *lines]))
    assert tally_reports(survey, path, unique="id", skip_bad=sum(BAD.values())) == survey.tally(reports)
    with pytest.raises(DataError, match="survey: row "):
        tally_reports(survey, path, unique="id", skip_bad=sum(BAD.values()) - 1)
    with pytest.raises(DataError, match="JSON lines"):
        tally_reports(survey, path)


def test_lists_that_do_not_belong_together_are_one_bad_row(tmp_path: Path) -> None:
    survey = SURVEYS["cohorts"]
    reports = reports_of(survey, 2)
    good = wire_line(survey, reports, "1" * 32)
    said = json.loads(good)
    said["id"] = "2" * 32
    said["reports"]["cohort"].append("00")
    path = tmp_path / "a.ndjson"
    path.write_text(good + json.dumps(said) + "\n")
    assert tally_reports(survey, path, unique="id", skip_bad=1) == survey.tally(reports)
    # A bit beyond the last: this report alone is bad.
    said["reports"]["report"].append("0000f0")
    said["reports"]["report"][:2], said["reports"]["cohort"][:2] = said["reports"]["report"][1::-1], ["00", "00"]
    path.write_text(good + json.dumps(said) + "\n")
    assert tally_reports(survey, path, unique="id", skip_bad=1).users == 4


def test_a_column_that_cannot_be_unique_is_refused() -> None:
    survey = SURVEYS["whole"]
    # Programs write whole numbers as floats beside a missing one.
    floats = pa.table({"id": [1.0, 1.0, 2.0, 2.5, None], "survey": [survey.digest] * 5, "report": [1, 1, 2, 3, 4]})
    assert tally_reports(survey, floats, unique="id", skip_bad=2).users == 2
    table = pa.table({"id": [True, False], "survey": [survey.digest] * 2, "report": [1, 2]})
    with pytest.raises(DataError, match="must hold texts, whole numbers or bytes in its unique column 'id'"):
        tally_reports(survey, table, unique="id")
    with pytest.raises(MissingColumnError, match="There is no column 'key'"):
        tally_reports(survey, table, unique="key")
    nameless = pa.table({"id": [None, "a"], "survey": [survey.digest] * 2, "report": [1, 2]})
    with pytest.raises(DataError, match="row 1; "):
        tally_reports(survey, nameless, unique="id")
    assert tally_reports(survey, nameless, unique="id", skip_bad=1).users == 1
    for wrong in (pa.array([1, 2]), pa.array([["001"], ["002"]])):
        with pytest.raises(DataError, match="lists of texts for each column"):
            tally_reports(survey, pa.table({"id": ["a", "b"], "reports": wrong}))


@pytest.mark.slow
@each_of("name", SURVEYS)
@each_of("form", ["structures", "texts", "columns"])
def test_on_spark_what_was_sent_again_counts_once(spark: Any, tmp_path: Path, name: str, form: str) -> None:
    survey = SURVEYS[name]
    reports = reports_of(survey)
    lines = lines_of(survey, reports)
    forged = wire_line(survey, part(reports, 5), f"{3:032x}")
    rows = rows_of(lines)
    if form == "columns":
        rows = [
            {"id": f"{row['id']} {at}", "survey": survey.digest, **dict(zip(row["reports"], values, strict=True))}
            for row in rows
            for at, values in enumerate(zip(*row["reports"].values(), strict=True))
        ]
        whole = {column.name for column in survey.columns if not hasattr(column, "width")}
        for row in rows:
            row.update({each: str(int(row[each], 16)) for each in whole})
        table = spark.createDataFrame(rows)
    else:
        path = tmp_path / f"{name}-{form}.parquet"
        pq.write_table(
            tables(lines, tmp_path)["arrow" if form == "structures" else "arrow of texts"].combine_chunks(), path
        )
        table = spark.read.parquet(str(path))
    table = table.repartition(3)
    assert tally_reports(survey, table, unique="id") == survey.tally(reports)
    with pytest.raises(UsageError, match="only source"):
        tally_reports(survey, [table, tables([forged], tmp_path)["arrow"]], unique="id")
    assert tally_reports(survey, table).users == PEOPLE + 7 + 40


@pytest.mark.slow
def test_on_spark_bad_rows_are_those_of_other_engines(spark: Any, tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    reports = Reports(survey.digest, {"report": np.array([3, 4, 5, 6])})
    lines = [wire_line(survey, part(reports, row), f"{max(1, row):032x}") for row in range(4)]
    path = tmp_path / "a.ndjson"
    path.write_text("".join([*lines, lines[3], '{"id":"8","reports":{"report":["12c","07","0G7"]}}\n']))
    table = spark.read.schema("id string, reports struct<report: array<string>>").json(str(path))
    for source in (table, path):
        with pytest.raises(DataError):
            tally_reports(survey, source, unique="id", skip_bad=4)
        assert tally_reports(survey, source, unique="id", skip_bad=5) == survey.tally(part(reports, 2, 3))
    with pytest.raises(DataError, match="Different reports have the same value"):
        tally_reports(survey, table.where("id < '8'"), unique="id")

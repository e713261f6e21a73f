"""Reports in files: counted as they would be in memory, or refused in one sentence that holds no value."""

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import write
from anonhist.local import KRR, OptimizedUnary, Reports, SubsetSelection, Survey
from anonhist.local import reading as module
from anonhist.local.reading import report_files, tally_reports
from anonhist.local.report_rows import TallySum, reports_of
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

pytestmark = pytest.mark.usefixtures("lent_duckdb")

SURVEYS: dict[str, Survey] = {
    "whole": KRR(alphabet=30, epsilon=1),
    "bytes": SubsetSelection(alphabet=30, epsilon=1),
    "bits": OptimizedUnary(alphabet=30, epsilon=1),
}
ENDINGS = ("parquet", "csv", "ndjson", "jsonl")


def _reports(survey: Survey, people: int = 200) -> Reports:
    return survey.randomize(np.arange(people) % 30, source=SeededSource(7))


@pytest.fixture(params=SURVEYS)
def survey(request: pytest.FixtureRequest) -> Survey:
    return SURVEYS[request.param]


@each_of("ending", ENDINGS)
def test_files_are_counted_like_reports_in_memory(tmp_path: Path, survey: Survey, ending: str) -> None:
    reports = _reports(survey)
    write(reports, tmp_path / f"a.{ending}")
    assert tally_reports(survey, tmp_path / f"a.{ending}") == survey.tally(reports)


@pytest.mark.slow
def test_kinds_of_files_may_be_mixed(tmp_path: Path, survey: Survey) -> None:
    reports = _reports(survey)
    for ending in ENDINGS:
        write(reports, tmp_path / f"a.{ending}")
    for ending in ("csv", "ndjson"):
        whole = (tmp_path / f"a.{ending}").read_bytes()
        (tmp_path / f"a.{ending}.gz").write_bytes(gzip.compress(whole))
        with pa.output_stream(tmp_path / f"a.{ending}.zst", compression="zstd") as file:
            file.write(whole)
    once = survey.tally(reports)
    shares: list[float] = []
    total = tally_reports(survey, [f"{tmp_path}/*.parquet", f"{tmp_path}/a.[cnj]*"], progress=shares.append)
    assert total == sum([once] * 8, survey.empty_tally())
    assert all(0 <= share <= 1 for share in shares)


def _tables(survey: Survey, reports: Reports) -> dict[str, Any]:
    codes = reports.columns["report"]
    values = codes if codes.ndim == 1 else [row.tobytes() for row in codes]
    arrow = pa.table({"survey": [survey.digest] * len(codes), "report": values})
    polars: Any = pl.from_arrow(arrow)
    return {
        "arrow": arrow,
        "pandas": arrow.to_pandas(),
        "polars": polars,
        "lazy": polars.lazy(),
        "narwhals": nw.from_native(polars),
        "duckdb": duckdb.from_arrow(arrow),
        "ibis": ibis.memtable(arrow),
    }


@pytest.mark.full
@each_of("kind", ["arrow", "pandas", "polars", "lazy", "narwhals", "duckdb", "ibis"])
def test_tables_are_counted_like_files(tmp_path: Path, survey: Survey, kind: str) -> None:
    reports = _reports(survey)
    table = _tables(survey, reports)[kind]
    expected = survey.tally(reports)
    assert tally_reports(survey, table) == expected
    write(reports, tmp_path / "a.csv", overwrite=True)
    assert tally_reports(survey, [tmp_path / "a.csv", table]) == expected + expected
    with pytest.raises(UsageError, match="given twice"):
        tally_reports(survey, [table, table])


@each_of("kind", ["arrow", "pandas", "polars"])
def test_a_bad_row_of_a_table_is_told_by_its_place(kind: str) -> None:
    survey = SURVEYS["whole"]
    reports = _reports(survey)
    reports.columns["report"][41] = 77
    table = _tables(survey, reports)[kind]
    with pytest.raises(DataError) as caught:
        tally_reports(survey, table)
    told = "The table holds a row that is not a report of this survey: row 42; skip_bad sets how many to leave out."
    assert str(caught.value) == f"{told} Nothing was counted."
    assert tally_reports(survey, table, skip_bad=1).users == 199
    with pytest.raises(DataError, match="The table does not hold reports of this survey"):
        tally_reports(survey, pa.table({"report": [1]}))


def test_reports_that_are_too_many_to_group_are_streamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survey: Survey
) -> None:
    monkeypatch.setattr(module, "_MOST_GROUPS", 1)
    monkeypatch.setattr(module, "_BATCH_ROWS", 7)
    reports = _reports(survey, 500)
    write(reports, tmp_path / "a.parquet")
    parts = [tally.users for tally in module._tallies(survey, str(tmp_path / "a.parquet"), module._Allowance(0), None)]
    assert len(parts) > 1
    assert sum(parts) == 500
    assert tally_reports(survey, tmp_path / "a.parquet") == survey.tally(reports)


def test_what_can_be_grouped_is_grouped_on_the_engine(tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    write(_reports(survey, 5000), tmp_path / "a.parquet")
    met: list[int] = []

    class Watched(KRR):
        def tally_groups(self, reports: Reports, times: np.ndarray) -> object:  # type: ignore[override,type-arg]
            met.append(len(reports))
            return super().tally_groups(reports, times)

    watched = Watched(alphabet=30, epsilon=1)
    assert watched.digest == survey.digest
    assert tally_reports(watched, tmp_path / "a.parquet").users == 5000
    assert sum(met) == 30


def test_other_whole_types_are_whole_numbers_too(tmp_path: Path) -> None:
    survey = SURVEYS["whole"]
    reports = _reports(survey)
    codes = reports.columns["report"]
    for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.string()):
        table = pa.table({"extra": codes, "report": pa.array(codes).cast(kind), "survey": [survey.digest] * len(codes)})
        pq.write_table(table, tmp_path / "a.parquet")
        assert tally_reports(survey, tmp_path / "a.parquet") == survey.tally(reports)


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_standard_input_is_told_by_its_first_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survey: Survey, ending: str
) -> None:
    reports = _reports(survey)
    write(reports, tmp_path / f"a.{ending}")
    stream = io.TextIOWrapper(io.BytesIO((tmp_path / f"a.{ending}").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert tally_reports(survey, "-") == survey.tally(reports)


def test_nobody_is_counted_as_nobody(tmp_path: Path, survey: Survey) -> None:
    write(_reports(survey, 0), tmp_path / "a.csv")
    write(_reports(survey, 0), tmp_path / "a.parquet")
    assert tally_reports(survey, [tmp_path / "a.csv", tmp_path / "a.parquet"]) == survey.empty_tally()


def test_a_file_is_counted_once(tmp_path: Path) -> None:
    write(_reports(SURVEYS["whole"]), tmp_path / "a.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    assert report_files([f"{tmp_path}/*.csv"]) == [f"{tmp_path}/a.csv"]
    for sources in (["a.csv", "a.csv"], ["a.csv", "b.csv"], ["*.csv", "b.csv"], ["a.csv", "[a].csv"], ["-", "-"]):
        with pytest.raises(UsageError, match="named twice"):
            report_files(each if each == "-" else f"{tmp_path}/{each}" for each in sources)
    with pytest.raises(UsageError, match="one file"):
        report_files([])


def _rows(survey: Survey, *values: str, digest: str | None = None) -> str:
    name = survey.digest if digest is None else digest
    return "survey,report\n" + "".join(f"{name},{value}\n" for value in values)


def _as_json(text: str) -> str:
    lines = text.splitlines()[1:]
    pairs = (line.split(",") for line in lines)
    return "".join(f'{{"survey":"{name}","report":"{value}"}}\n' for name, value in pairs)


def _assert_refused(survey: Survey, path: Path, reason: str) -> None:
    with pytest.raises(DataError, match=reason) as caught:
        tally_reports(survey, path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert "77" not in message.replace(str(path), "")
    assert survey.digest not in message


BAD_WHOLE = ("30", "77", "-1", "1.5", "1e1", "", " 7", "07", "seven", "0x7", "9223372036854775808", "+7", "NULL", "7_0")


@pytest.mark.first(10)
@pytest.mark.parametrize("value", BAD_WHOLE)
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_what_is_no_report_of_whole_numbers_is_refused(tmp_path: Path, value: str, form: str) -> None:
    survey, path = SURVEYS["whole"], tmp_path / f"a.{form}"
    for rows, is_good in ((("7", value, "0"), False), (("7", "29", "0"), True)):
        text = _rows(survey, *rows)
        path.write_text(_as_json(text) if form == "ndjson" else text)
        if is_good:
            assert tally_reports(survey, path).users == 3
        else:
            _assert_refused(survey, path, "not a report of this survey|not a table")


# What becomes of the hexadecimal text of a good report.
WRONG_TEXTS: dict[str, Callable[[str], str]] = {
    "half a byte less": lambda text: text[:-1],
    "half a byte more": lambda text: text + "0",
    "a byte more": lambda text: text + "00",
    "nothing": lambda _: "",
    "no digits": lambda text: "zz" + text[2:],
    "capitals": lambda text: "FF" + text[2:],
    "labels beyond the alphabet": lambda text: "ff" * (len(text) // 2),
    "a space": lambda text: " " + text[1:],
}


@pytest.mark.slow
@each_of("wrong", WRONG_TEXTS)
@each_of("form", ["csv", "ndjson"])
def test_what_is_no_report_of_bytes_is_refused(tmp_path: Path, wrong: str, form: str) -> None:
    survey, path = SURVEYS["bytes"], tmp_path / f"a.{form}"
    good = _reports(survey, 1).columns["report"].tobytes().hex()
    for value, is_good in ((good, True), (WRONG_TEXTS[wrong](good), False)):
        text = _rows(survey, good, value, good)
        path.write_text(_as_json(text) if form == "ndjson" else text)
        if is_good:
            assert tally_reports(survey, path).users == 3
        else:
            _assert_refused(survey, path, "report|not a table")


def test_hexadecimal_text_is_in_small_letters(tmp_path: Path) -> None:
    survey, path = SURVEYS["bits"], tmp_path / "a.csv"
    path.write_text(_rows(survey, "ff00ab01"))
    assert tally_reports(survey, path).users == 1
    path.write_text(_rows(survey, "FF00AB01"))
    _assert_refused(survey, path, "not a report of this survey")


def test_columns_of_other_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for name, column in (
        ("whole", pa.array([1, 2], pa.timestamp("s"))),
        ("whole", pa.array([b"1", b"2"])),
        ("whole", pa.array([True, False])),
        ("whole", pa.array([[1], [2]])),
        ("bytes", pa.array([1, 2])),
        ("bytes", pa.array([[1], [2]])),
    ):
        survey = SURVEYS[name]
        pq.write_table(pa.table({"survey": [survey.digest] * 2, "report": column}), path)
        _assert_refused(survey, path, "must hold whole numbers in its column|must hold bytes, or hexadecimal text")
    survey = SURVEYS["bytes"]
    width = survey.columns[0].bits // 8
    for wrong in (b"", bytes(width - 1), bytes(width + 1), None):
        pq.write_table(pa.table({"survey": [survey.digest] * 2, "report": [wrong, bytes(width)]}), path)
        _assert_refused(survey, path, "not a report of this survey|must hold bytes")


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("wrong", ["0" * 32, "", "x"])
def test_reports_of_another_survey_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, *, grouped: bool
) -> None:
    if not grouped:
        monkeypatch.setattr(module, "_MOST_GROUPS", 1)
    survey, path = SURVEYS["whole"], tmp_path / "a.csv"
    path.write_text(_rows(survey, "1", "2") + f"{wrong},1\n")
    _assert_refused(survey, path, "reports of another survey.*Nothing was counted")
    table = pa.table({"survey": [survey.digest, None], "report": [1, 1]})
    pq.write_table(table, tmp_path / "a.parquet")
    _assert_refused(survey, tmp_path / "a.parquet", "reports of another survey")


def test_columns_that_are_missing_are_told(tmp_path: Path) -> None:
    for header in ("survey", "report", "survey,reports", "survey,cohort"):
        (tmp_path / "a.csv").write_text(header + "\n" + ",".join("x" for _ in header.split(",")) + "\n")
        _assert_refused(SURVEYS["whole"], tmp_path / "a.csv", "which have the columns survey, report")


@pytest.mark.slow
def test_damaged_files_are_refused(tmp_path: Path) -> None:
    survey = SURVEYS["bytes"]
    for ending in ("parquet", "csv", "ndjson"):
        write(_reports(survey, 3000), tmp_path / f"good.{ending}")
    parquet = (tmp_path / "good.parquet").read_bytes()
    packed = gzip.compress((tmp_path / "good.csv").read_bytes())
    for name, content, reason in (
        ("a.parquet", parquet[:-9], "not a complete Parquet file"),
        ("b.parquet", b"", "is empty"),
        ("a.csv.gz", packed[: len(packed) // 2], "cut off"),
        ("b.csv.gz", b"survey,report\n", "decompress"),
        ("a.csv", (tmp_path / "good.csv").read_bytes()[:-9], "report|not a table"),
        ("a.ndjson", (tmp_path / "good.ndjson").read_bytes()[:-9], "JSON lines"),
        ("b.ndjson", b"\xff\xfe", "JSON lines|UTF-8|columns"),
        ("c.ndjson", b"[1]\n", "JSON lines|columns"),
    ):
        (tmp_path / name).write_bytes(content)
        _assert_refused(survey, tmp_path / name, reason)
    _assert_refused(survey, tmp_path / "none.csv", "There is no file")


def test_the_share_done_is_of_all_files() -> None:
    shares: list[float] = []
    tell = module._share(shares.append, 1, 4)
    assert tell is not None
    tell(0.5)
    assert shares == [0.375]
    assert module._share(None, 1, 4) is None


def test_sums_of_many_parts_are_right() -> None:
    survey = SURVEYS["whole"]
    parts = [survey.tally(_reports(survey, people)) for people in (0, 1, 50, 3, 900, 2)]
    total = TallySum(survey.empty_tally())
    for part in parts:
        total.add(part)
    assert total.sum() == sum(parts, survey.empty_tally())


def test_bytes_are_read_from_where_a_batch_begins() -> None:
    survey = SURVEYS["bits"]
    batch = pa.record_batch({"report": pa.array([b"\1\2\3\4", b"\5\6\7\0"], pa.binary())})
    part = reports_of(survey, batch.slice(1), np.array([True]))
    assert part.columns["report"].tolist() == [[5, 6, 7, 0]]
    assert len(reports_of(survey, batch, np.array([False, False]))) == 0


GOOD_ROWS = 1200


def _with_bad_rows(survey: Survey, path: Path, bad: list[int]) -> None:
    """Write good reports, and bad ones in the rows of these numbers, from 1."""
    column = _reports(survey, GOOD_ROWS).columns["report"]
    texts = [row.tobytes().hex() for row in column] if column.ndim == 2 else [str(code) for code in column.tolist()]
    rows = [f"{survey.digest},{text}" for text in texts]
    for count, row in enumerate(bad):
        wrong = (f"{survey.digest},7777777777777", f"{'0' * 32},{texts[0]}", f"{survey.digest},")[count % 3]
        rows.insert(row - 1, wrong)
    text = "survey,report\n" + "\n".join(rows) + "\n"
    path.write_text(text if path.suffix == ".csv" else _as_json(text))


@each_of(("form", "place"), [("csv", 1), ("csv", GOOD_ROWS + 1), ("ndjson", 777)])
def test_the_row_that_is_invalid_is_named_by_its_position(
    tmp_path: Path, survey: Survey, form: str, place: int
) -> None:
    path = tmp_path / f"a.{form}"
    _with_bad_rows(survey, path, [place])
    with pytest.raises(DataError) as caught:
        tally_reports(survey, path)
    message = str(caught.value)
    assert f"row {place:,}; " in message
    assert "not a report of this survey" in message
    assert "7777777" not in message
    assert message.endswith(" Nothing was counted.")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "grouped"), [("csv", True), ("ndjson", False)])
def test_as_many_invalid_rows_as_are_allowed_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survey: Survey, form: str, *, grouped: bool
) -> None:
    if not grouped:
        monkeypatch.setattr(module, "_MOST_GROUPS", 1)
        monkeypatch.setattr(module, "_BATCH_ROWS", 300)
    _with_bad_rows(survey, tmp_path / f"a.{form}", [1, 500, 501, 1000])
    _with_bad_rows(survey, tmp_path / f"b.{form}", [7])
    files = [tmp_path / f"a.{form}", tmp_path / f"b.{form}"]
    once, told = survey.tally(_reports(survey, GOOD_ROWS)), list[str]()
    for allowed in (5, 100):
        assert tally_reports(survey, files, skip_bad=allowed, notify=told.append) == once + once
    assert told == ["5 rows were left out: invalid for this survey."] * 2
    assert tally_reports(survey, files[1], skip_bad=1, notify=told.append) == once
    assert told[-1] == "1 row was left out: invalid for this survey."
    with pytest.raises(DataError, match=r"b\.\w+' holds a row that is not a report.*: row 7; more than 4 such rows"):
        tally_reports(survey, files, skip_bad=4, notify=told.append)
    assert len(told) == 3
    tally_reports(survey, _good(survey, tmp_path), skip_bad=9, notify=told.append)
    assert len(told) == 3


def _good(survey: Survey, folder: Path) -> Path:
    write(_reports(survey), folder / "good.csv")
    return folder / "good.csv"


def test_positions_are_right_where_parts_of_a_file_are_read_at_once(tmp_path: Path) -> None:
    codes = np.zeros(300_000, dtype=np.int64)
    codes[[250_000, 270_000]] = 30
    table = pa.table({"survey": pa.repeat(SURVEYS["whole"].digest, codes.size), "report": codes})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    with pytest.raises(DataError, match=r"row 250,001; more than 1 such rows"):
        tally_reports(SURVEYS["whole"], tmp_path / "a.parquet", skip_bad=1)
    assert tally_reports(SURVEYS["whole"], tmp_path / "a.parquet", skip_bad=2).users == codes.size - 2


@each_of("wrong", [-1, 1.5, True, "3"])
def test_numbers_of_rows_to_leave_out_are_whole(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(UsageError, match="skip_bad"):
        tally_reports(SURVEYS["whole"], tmp_path / "none.csv", skip_bad=wrong)  # type: ignore[arg-type]


def test_a_report_that_no_device_makes_is_left_out_like_any_invalid_row(tmp_path: Path) -> None:
    survey, path = OptimizedUnary(alphabet=800, epsilon=1), tmp_path / "a.parquet"
    reports = survey.randomize(np.arange(40), source=SeededSource(7))
    good = survey.tally(reports)
    reports.columns["report"][11] = 255
    write(reports, path)
    with pytest.raises(DataError, match="not a report of this survey: row 12; "):
        tally_reports(survey, path)
    counted = tally_reports(survey, path, skip_bad=1)
    assert counted.users == 39
    assert (good.dense(800) - counted.dense(800)).max() == 1

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import UsageError
from anonhist.formats.atomic import open_whole
from anonhist.formats.files import write
from anonhist.local import Reports
from anonhist.local import files as module
from anonhist.local.files import reports_writer
from anonhist_testing.cases import each_of

DIGEST = "0123456789abcdef" * 2
REPORTS = Reports(
    DIGEST,
    {
        "cohort": np.array([0, 2**62, 7]),
        "report": np.array([[0, 255], [16, 1], [171, 205]], dtype=np.uint8),
    },
)
ROWS: list[dict[str, Any]] = [
    {"survey": DIGEST, "cohort": 0, "report": "00ff"},
    {"survey": DIGEST, "cohort": 2**62, "report": "1001"},
    {"survey": DIGEST, "cohort": 7, "report": "abcd"},
]


def _rows(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        assert table.schema.field("cohort").type == pa.int64()
        assert table.schema.field("report").type == pa.binary()
        return [row | {"report": row["report"].hex()} for row in table.to_pylist()]
    text = path.read_text()
    if path.suffix == ".csv":
        return [row | {"cohort": int(row["cohort"])} for row in csv.DictReader(text.splitlines())]
    return [json.loads(line) for line in text.splitlines()]


@each_of("ending", ["parquet", "csv", "ndjson", "jsonl"])
def test_a_row_is_a_report_and_names_its_survey(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    write(REPORTS, path)
    assert _rows(path) == ROWS


@pytest.mark.parametrize("ending", ["parquet", "csv", "ndjson"])
def test_reports_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(module, "_PART_BYTES", 200)
    path = tmp_path / f"a.{ending}"
    with path.open("wb") as file, reports_writer(f".{ending}", file) as writer:
        for _ in range(3):
            writer.write(REPORTS)
    assert _rows(path) == 3 * ROWS


def test_a_parquet_file_that_fails_leaves_no_open_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    class Watched(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow has no types
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            opened.append(self)

    monkeypatch.setattr(pq, "ParquetWriter", Watched)

    def fail() -> None:
        with (
            open_whole(tmp_path / "a.parquet", overwrite=False) as file,
            reports_writer(".parquet", file) as writer,
        ):
            writer.write(REPORTS)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert [each.is_open for each in opened] == [False]
    assert list(tmp_path.iterdir()) == []


def test_files_of_nobody_have_columns_all_the_same(tmp_path: Path) -> None:
    nobody = Reports(DIGEST, {name: column[:0] for name, column in REPORTS.columns.items()})
    for ending in ("parquet", "csv", "ndjson"):
        write(nobody, tmp_path / f"a.{ending}")
    assert _rows(tmp_path / "a.parquet") == []
    assert (tmp_path / "a.csv").read_text() == "survey,cohort,report\n"
    assert (tmp_path / "a.ndjson").read_text() == ""


def test_a_dictionary_is_made_of_what_repeats_alone(tmp_path: Path) -> None:
    write(REPORTS, tmp_path / "a.parquet")
    rows = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0)
    has = {rows.column(place).path_in_schema: rows.column(place).has_dictionary_page for place in range(3)}
    assert has == {"survey": True, "cohort": True, "report": False}


def test_text_is_as_documented(tmp_path: Path) -> None:
    write(REPORTS, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[:2] == ["survey,cohort,report", f"{DIGEST},0,00ff"]
    write(REPORTS, tmp_path / "a.ndjson")
    first = (tmp_path / "a.ndjson").read_text().splitlines()[0]
    assert first == f'{{"survey":"{DIGEST}","cohort":0,"report":"00ff"}}'


def test_parts_of_arrays_are_written_right(tmp_path: Path) -> None:
    # A view with gaps, and one that begins within its array.
    columns = {"report": np.arange(24, dtype=np.uint8).reshape(4, 6)[1:, ::2]}
    for ending in ("parquet", "ndjson"):
        write(Reports(DIGEST, columns), tmp_path / f"a.{ending}")
    expected = ["06080a", "0c0e10", "121416"]
    assert [row["report"].hex() for row in pq.read_table(tmp_path / "a.parquet").to_pylist()] == expected
    assert [row["report"] for row in _rows(tmp_path / "a.ndjson")] == expected


def test_other_endings_and_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Reports are written as \.csv, \.jsonl, \.ndjson, \.parquet"):
        write(REPORTS, tmp_path / "a.json")
    with pytest.raises(UsageError, match=r"not a dict; a profile is exact and must stay secret"):
        write({}, tmp_path / "a.json")  # type: ignore[arg-type]  # what is tested
    write(REPORTS, tmp_path / "a.csv")
    with pytest.raises(UsageError, match="exists already"):
        write(REPORTS, tmp_path / "a.csv")
    write(REPORTS, tmp_path / "a.csv", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]

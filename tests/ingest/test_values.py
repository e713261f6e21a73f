from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.reading import opened_values

pytestmark = pytest.mark.usefixtures("lent_duckdb")


def _values(path: Path, column: str | None = None, **options: bool) -> list[str]:
    with opened_values(str(path), column, **options) as batches:
        return sorted(value for batch in batches for value in batch)


def test_a_column_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('word,x\ncat,1\n"a,b",2\n007,3\n')
    assert _values(tmp_path / "a.csv", "word") == ["007", "a,b", "cat"]
    assert _values(tmp_path / "a.csv", "x") == ["1", "2", "3"]
    (tmp_path / "a.ndjson").write_text('{"word":"cat","x":1}\n{"word":"dog","x":2}\n')
    assert _values(tmp_path / "a.ndjson", "word") == ["cat", "dog"]
    pq.write_table(pa.table({"x": [3, 1], "odd name": ["x", "y"]}), tmp_path / "a.parquet")
    assert _values(tmp_path / "a.parquet", "x") == ["1", "3"]
    assert _values(tmp_path / "a.parquet", "odd name") == ["x", "y"]


def test_values_that_are_to_be_randomized_are_never_spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    connect = duckdb.connect

    def spy(*args: Any, config: dict[str, Any], **options: Any) -> Any:
        asked.append(config["temp_directory"])
        return connect(*args, config=config, **options)

    monkeypatch.setattr(duckdb, "connect", spy)
    (tmp_path / "a.csv").write_text("word\ncat\n")
    assert _values(tmp_path / "a.csv") == ["cat"]
    assert asked == [""]


def test_a_lone_column_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word\ncat\ndog\n")
    assert _values(tmp_path / "a.csv") == ["cat", "dog"]
    assert _values(tmp_path / "a.csv", header=False) == ["cat", "dog", "word"]


def test_columns_that_are_missing_or_not_said_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word,secret\ncat,1\n")
    with pytest.raises(UsageError, match=r"Name the column that holds the labels \(label\)") as caught:
        _values(tmp_path / "a.csv")
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="There is no column 'words' to use as label") as refused:
        _values(tmp_path / "a.csv", "words")
    assert "secret" not in str(refused.value)


def test_what_standard_input_holds_is_not_guessed() -> None:
    with pytest.raises(UsageError, match=r"one label per line \(format='labels'\), or CSV with a header line "):
        opened_values("-", None).__enter__()
    with pytest.raises(UsageError, match="have no columns: leave out the columns"):
        opened_values("-", "word", format="labels").__enter__()


def test_rows_without_a_value_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word,x\ncat,1\n,2\n")
    with pytest.raises(DataError, match="A row has no value in that column"):
        _values(tmp_path / "a.csv", "word")


def test_what_fails_while_values_are_used_is_no_matter_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("word\ncat\n")
    with pytest.raises(BrokenPipeError):
        _use(tmp_path / "a.csv")


def _use(path: Path) -> None:
    with opened_values(str(path), None) as batches:
        for _ in batches:
            raise BrokenPipeError

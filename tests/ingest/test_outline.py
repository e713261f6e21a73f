"""What a reading takes, by the schema of a server and of files of several schemas; tests/cli/test_check.py has more."""

from contextlib import closing
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError
from anonhist.ingest import SparkFiles, read_profile
from anonhist.ingest.outline import Outline, Taken, outline_profile
from anonhist.ingest.protection import Protection
from anonhist.ingest.source import SaidOfRows, Source


def _outline(
    source: str | SparkFiles, *, label: str | None, table: str | None = None, user: str | None = None
) -> Outline:
    said = SaidOfRows(None, label, None)
    named = Source.named(source, said, user=user, table=table, delimiter=None, limits=None)
    return outline_profile(named, Protection(user=user, max_per_user=None if user is None else 2, order_key="0" * 32))


def test_a_view_of_a_server_is_not_run(postgresql: str) -> None:
    with closing(psycopg.connect(postgresql, autocommit=True)) as connection:
        connection.execute("CREATE OR REPLACE VIEW checked AS SELECT 1 / 0 AS label, now() AS at, 'a'::text AS who")
    found = _outline(postgresql, label="label", table="checked", user="who")
    assert found == Outline(
        "table 'checked' of PostgreSQL",
        "each is one item (events)",
        (Taken("label", "label", "whole numbers"), Taken("user", "who", "text")),
        ("at",),
    )
    with pytest.raises(DataError):
        read_profile(postgresql, label="label", table="checked", user="who", max_per_user=2)


def test_a_column_of_several_types_is_taken_by_value(tmp_path: Path) -> None:
    for name, values in {"a": pa.array([1, 2]), "b": pa.array([1.5, None])}.items():
        pq.write_table(pa.table({"label": values}), tmp_path / f"{name}.parquet")
    (taken,) = _outline(str(tmp_path / "*.parquet"), label=None).columns
    assert taken == Taken("label", "label", "each value separately, because its type differs between files")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_spark_reads_no_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"label": ["a", "b"] * 200, "who": range(400)}), tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + b"\0" * (len(whole) - footer - 4) + whole[-footer:])
    source = SparkFiles(tmp_path / "bad.parquet")
    found = _outline(source, label="label", user="who")
    assert found.columns == (Taken("label", "label", "text"), Taken("user", "who", "whole numbers"))
    with pytest.raises(DataError):
        read_profile(source, label="label", user="who", max_per_user=2)
    (tmp_path / "bad.jsonl").write_text("[{")
    assert _outline(SparkFiles(tmp_path / "bad.jsonl"), label="label", user="who").source == "JSON lines, read by Spark"

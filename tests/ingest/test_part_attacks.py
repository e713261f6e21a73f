"""Parts in hard times: very many, replaced while they are read, kept from us by the system, named alike."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.ingest import read_profile
from anonhist.ingest.engine import NO_LIMITS
from anonhist.ingest.parts import count_into, files, write_part
from anonhist.ingest.parts.files import Parts
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist_testing.parts import KEY, ROWS, table_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")


@pytest.mark.full
def test_many_parts_are_added_up(tmp_path: Path) -> None:
    first = tmp_path / "part-0.counts"
    write_part(["a"], first, part="0")
    text = pq.read_table(first)
    for number in range(1, 400):
        metadata = {key: value.replace(b'["0"]', b'["%d"]' % number) for key, value in text.schema.metadata.items()}
        pq.write_table(text.replace_schema_metadata(metadata), tmp_path / f"part-{number}.counts")
    count_into(f"{tmp_path}/part-[1-9]*.counts", first, output=tmp_path / "total.counts")
    assert read_profile(tmp_path / "total.counts") == Profile.from_counts([400])


@pytest.mark.parametrize("few", [0, 3])
def test_a_part_that_is_replaced_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    users: dict[str, Any] = {"user": "user", "max_per_user": 1}
    paths = [tmp_path / f"{name}.counts" for name in ("p", "q", "r")]
    for path, key in zip(paths, (KEY, KEY, "0" * 32), strict=True):
        write_part(table_of(ROWS), path, label="label", order_key=key, **users)
    monkeypatch.setattr(files, "FEW", few)
    opened = Parts(paths[:2], None)
    paths[2].replace(paths[1])
    with pytest.raises(DataError, match="was replaced while it was read: try again"):
        opened.pairs(NO_LIMITS, None)


def test_what_the_system_refuses_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.counts"
    write_part(["a"], path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    for name in ("ParquetFile", "read_schema"):
        with monkeypatch.context() as patch:
            patch.setattr(pq, name, refuse)
            with pytest.raises(DataError, match=r"cannot be read: Too many open files\.$"):
                read_profile(path)


def test_names_that_may_be_meant_as_one_are_one(tmp_path: Path) -> None:
    for place, name in enumerate(("día", "d\u0069\u0301a", "DÍA ")):
        write_part(["a"], tmp_path / f"{place}.counts", part=name)
    for other in (1, 2):
        with pytest.raises(UsageError, match="is given twice"):
            read_profile([tmp_path / "0.counts", tmp_path / f"{other}.counts"])


@pytest.mark.parametrize("users", [[0.5, 0.5], [True, False]])
def test_users_whom_engines_write_otherwise_are_refused(tmp_path: Path, users: list[Any]) -> None:
    table = pl.DataFrame({"user": users, "label": ["a", "b"]})
    with pytest.raises((UsageError, DataError), match="whole"):
        write_part(table, tmp_path / "a.counts", label="label", user="user", max_per_user=1)
    assert not list(tmp_path.iterdir())


def test_users_that_are_whole_floats_are_numbers(tmp_path: Path) -> None:
    for name, users in (("whole", [7, 7]), ("floats", [7.0, None])):
        table = pl.DataFrame({"user": users, "label": ["a", "b"]})
        path = tmp_path / f"{name}.counts"
        write_part(table, path, label="label", user="user", max_per_user=1, order_key=KEY)
    assert read_profile(f"{tmp_path}/*.counts").n == 1


def test_parts_are_private_under_any_mask(tmp_path: Path) -> None:
    before = os.umask(0o277)
    try:
        write_part(["a"], tmp_path / "a.counts")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.counts").stat().st_mode) == 0o600


@pytest.mark.full
def test_users_who_are_all_missing_are_read_like_any_others(tmp_path: Path) -> None:
    # A column without a value may have no type: one user more would give it one.
    nobody = pa.table({"who": pa.nulls(2), "what": ["a", "b"]})
    pq.write_table(nobody, tmp_path / "nobody.parquet")
    tables = {
        "parquet": tmp_path / "nobody.parquet",
        "arrow": nobody,
        "polars": pl.DataFrame(nobody),
        "lazy": pl.DataFrame(nobody).lazy(),
        "relation": duckdb.connect().sql("SELECT NULL AS who, 'a' AS what"),
        "ibis": ibis.memtable(nobody),
        "pandas": nobody.to_pandas(),
        "pandas of arrow": nobody.to_pandas(types_mapper=pd.ArrowDtype),
    }
    for name, table in tables.items():
        write_part(table, tmp_path / f"{name}.counts", user="who", label="what", max_per_user=1)
        assert read_profile(tmp_path / f"{name}.counts") == Profile.from_prevalences(
            {}, unit=PrivacyUnit.user(max_items=1)
        )
    truths = pa.table({"who": [True], "what": ["a"]})
    with pytest.raises(UsageError, match="Users of parts must be text or whole numbers"):
        write_part(truths, tmp_path / "t.counts", user="who", label="what", max_per_user=1)

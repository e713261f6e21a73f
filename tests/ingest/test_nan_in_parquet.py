"""NaN in Parquet files whose stated bounds leave it out, as Polars writes them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from anonhist.errors import DataError
from anonhist.ingest.groups.read import read_groups
from anonhist.ingest.read import read_profile
from anonhist.profiles import Profile

NAN = float("nan")


def file(folder: Path, **columns: list[Any]) -> Path:
    path = folder / "rows.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


@pytest.mark.parametrize("others", [[1.0, 2.5], [1.0, 2.0], [-7.0, 1e15]])
def test_a_label_that_is_none_is_left_out(others: list[float], tmp_path: Path) -> None:
    read = read_profile(file(tmp_path, label=[others[0], NAN, others[1], NAN, others[0]]), label="label")
    assert read == Profile.from_counts([2, 1])


def test_a_user_that_is_none_is_left_out(tmp_path: Path) -> None:
    rows = file(tmp_path, label=["a", "b", "c", "a"], user=[1.0, NAN, NAN, 2.0])
    read = read_profile(rows, label="label", user="user", max_per_user=1)
    assert (read.counts.tolist(), read.prevalences.tolist()) == ([2], [1])


def test_a_count_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'count' must hold whole numbers"):
        read_profile(file(tmp_path, label=["a", "b"], count=[1.0, NAN]))


def test_a_group_that_is_none_is_left_out(tmp_path: Path) -> None:
    rows = file(tmp_path, label=["a", "b", "c"], group=[1.0, NAN, 2.0])
    read = read_groups(rows, label="label", by="group", groups=[1, 2])
    assert [profile.n for profile in read.values()] == [1, 1]
    kept = read_groups(rows, label="label", by="group", groups=[1, 2, None], keep_null=True)
    assert kept[None].n == 1

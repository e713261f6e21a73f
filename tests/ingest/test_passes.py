"""Labels that do not fit in memory are counted in passes, and no others are."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from anonhist.errors import DataError
from anonhist.ingest import EngineLimits, read_profile
from anonhist.ingest import query as passes
from anonhist.ingest.holders import Files, holder_of
from anonhist.ingest.query import Pass
from anonhist.profiles import Profile, sorted_l1
from anonhist_testing.cases import each_of

LABELS = [None if label > 90 else f"l{label}" for label in np.random.default_rng(3).zipf(1.5, size=3000) % 97]
COUNTS = Counter(label for label in LABELS if label is not None)


@pytest.fixture
def short_of_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[Pass]]:
    """Return a function that has queries fail below so many passes, and gives the list of passes that were tried."""
    fetch, events_query = passes.fetch, passes.events_query

    def set_least(least: int) -> list[Pass]:
        tried: list[Pass] = []

        def noted(table: Any, columns: Any, labels: Pass) -> Any:
            tried.append(labels)
            return events_query(table, columns, labels)

        def failing(query: Any) -> Any:
            # Only at the last pass, so that what was counted before must be forgotten.
            if tried[-1].of < least and tried[-1].number == tried[-1].of - 1:
                raise duckdb.OutOfMemoryException("Out of Memory Error: a row of the data")
            return fetch(query)

        monkeypatch.setattr(passes, "events_query", noted)
        monkeypatch.setattr(passes, "fetch", failing)
        return tried

    return set_least


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"what": LABELS, "number": [float(len(label or "")) for label in LABELS]}).write_parquet(path)
    return path


@pytest.mark.slow
@each_of("least", [1, 4, 256])
@each_of("keep_null", [False, True])
def test_passes_count_what_one_query_counts(
    *, path: Path, short_of_memory: Callable[[int], list[Pass]], least: int, keep_null: bool
) -> None:
    tried = short_of_memory(least)
    shares: list[float] = []
    profile = read_profile(path, label="what", keep_null=keep_null, progress=shares.append)
    counts = list(COUNTS.values()) + ([LABELS.count(None)] if keep_null else [])
    assert sorted_l1(profile, Profile.from_counts(counts)) == 0
    assert [of for of in (*passes.PASSES, passes.MOST_PASSES) if of <= least] == list(
        dict.fromkeys(each.of for each in tried)
    )
    assert tried[-least:] == [Pass(number, least) for number in range(least)]
    assert all(0 <= share <= 1 for share in shares)


def test_remarks_are_of_all_passes(path: Path, short_of_memory: Callable[[int], list[Pass]]) -> None:
    short_of_memory(16)
    told: list[str] = []
    read_profile(path, label="what", notify=told.append)
    assert len(told) == 1
    assert told[0].startswith(f"{LABELS.count(None):,} items without a label were left out")


@pytest.mark.slow
def test_lack_of_memory_in_the_smallest_passes_is_told_without_data(
    path: Path, short_of_memory: Callable[[int], list[Pass]]
) -> None:
    short_of_memory(257)
    with pytest.raises(DataError, match="too large for the available memory") as raised:
        read_profile(path, label="what")
    assert "row of the data" not in str(raised.value)


def test_what_cannot_be_read_again_fast_is_read_once(
    tmp_path: Path, path: Path, short_of_memory: Callable[[int], list[Pass]]
) -> None:
    tried = short_of_memory(16)
    pl.read_parquet(path).write_csv(tmp_path / "log.csv")
    # What views and computed columns show may change with every reading: a row could count in several passes.
    with duckdb.connect(tmp_path / "log.duckdb") as connection:
        connection.execute(f"CREATE VIEW log AS FROM read_parquet('{path}')")
        connection.execute(f"CREATE TABLE rows AS FROM read_parquet('{path}')")
    database = f"duckdb:///{tmp_path / 'log.duckdb'}"
    held = [(tmp_path / "log.csv", None), (pl.read_parquet(path), None), (database, "log"), (database, "rows")]
    for source, table in held:
        assert read_profile(source, label="what", table=table).num_labels == len(COUNTS)
    assert tried == []
    read_profile(path.as_uri(), label="what")
    assert len(tried) == 21


@each_of("source", ["https://example.org/log.parquet", "s3://bucket/log.parquet", "duckdb:///log.duckdb", "-", [1, 2]])
def test_what_comes_from_elsewhere_is_read_once(source: Any) -> None:
    holder = holder_of(source)
    assert not isinstance(holder, Files) or holder.read_again == ()


def test_other_failures_are_not_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def failing(query: Any) -> Any:
        asked.append(query)
        raise duckdb.IOException("no such file")

    monkeypatch.setattr(passes, "fetch", failing)
    with pytest.raises(DataError):
        read_profile(path, label="what")
    assert len(asked) == 1


def test_a_file_that_changes_between_passes_is_refused(
    path: Path, short_of_memory: Callable[[int], list[Pass]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = short_of_memory(4)
    fetch = passes.fetch

    def replacing(query: Any) -> Any:
        rows = fetch(query)
        if tried[-1] == Pass(1, 4):
            pl.DataFrame({"what": ["a"]}).write_parquet(path.with_name("new"))
            path.with_name("new").replace(path)
        return rows

    monkeypatch.setattr(passes, "fetch", replacing)
    with pytest.raises(DataError, match="was changed while it was read in passes"):
        read_profile(path, label="what")
    assert tried[-1] == Pass(1, 4)


def test_shares_of_passes_add_up_and_never_go_back() -> None:
    received: list[float] = []
    shares = passes.Shares(received.append)
    for one, share in ((Pass(0, 1), 0.5), (Pass(0, 4), 0.0), (Pass(0, 4), 0.5), (Pass(3, 4), 0.5), (Pass(3, 4), 1)):
        shares.begin(one)
        shares(share)
    assert received == [0.5, 0.5, 0.5 + 0.5 / 8, 0.5 + 0.5 * 3.5 / 4, 1]


@pytest.mark.slow
def test_more_labels_than_fit_in_memory_are_counted(
    tmp_path: Path, short_of_memory: Callable[[int], list[Pass]]
) -> None:
    tried = short_of_memory(1)
    path = tmp_path / "many.parquet"
    with duckdb.connect() as connection:
        labels = connection.sql("SELECT md5((n % 800000)::VARCHAR) AS what FROM range(1600000) AS ns (n)")
        labels.to_parquet(str(path))
    limits = EngineLimits(memory_limit="24MB", threads=1, temp_directory=tmp_path)
    profile = read_profile(path, label="what", limits=limits)
    assert (profile.num_labels, profile.n) == (800_000, 1_600_000)
    assert tried[-1].of > 1, "this engine does not run out of memory: take a lower limit"

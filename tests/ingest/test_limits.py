"""Limits of the engine: they reach it, change no result, and are refused where it is not ours."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.ingest import EngineLimits, engine
from anonhist.windows import read_cumulative
from anonhist_testing.cases import each_of

ROWS = pl.DataFrame({"label": ["a", "b", "a"], "g": ["x", "y", "x"], "day": ["2026-11-01", "2026-11-02", "2026-11-02"]})


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How DuckDB was started."""
    started: list[dict[str, Any]] = []
    connect = duckdb.connect

    def spy(path: str = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        started.append(options["config"])
        made = connect(path, **options)
        asked = "SELECT current_setting('threads'), current_setting('memory_limit')"
        started.append({"told": made.execute(asked).fetchall()[0]})
        return made

    monkeypatch.setattr(duckdb, "connect", spy)
    return started


def test_limits_reach_the_engine_of_every_reader(tmp_path: Path, settings: list[dict[str, Any]]) -> None:
    path = tmp_path / "rows.parquet"
    ROWS.write_parquet(path)
    limits = EngineLimits(memory_limit="512 MiB", threads=1, temp_directory=tmp_path)
    given: dict[str, Any] = {"label": "label", "limits": limits}
    assert ah.read_profile(path, **given) == ah.read_profile(ROWS, label="label")
    assert ah.read_groups(path, by="g", groups=["x"], **given)["x"].n == 2
    read_cumulative(path, by="day(day)", days=["2026-11-01"], thresholds=[1], **given)
    ah.read_edges(path, origin="label", target="g", limits=limits)
    ah.update_sketch(ah.sketches.DomainSketch(alphabet=["a", "b"], epsilon=1), path, **given)
    configs, told = settings[::2], settings[1::2]
    assert len(told) == 5
    assert {each["told"] for each in told} == {(1, "512.0 MiB")}
    folders = [config["temp_directory"] for config in configs]
    # Each in a folder of ours, which also says whose it is.
    assert all(Path(folder).parents[1] == tmp_path for folder in folders[:4])
    # A sketch's rows are never written without noise.
    assert folders[4] == ""
    assert not any(each.is_dir() for each in tmp_path.iterdir())


@each_of(
    ("given", "told"),
    [
        ({"memory_limit": "much"}, "such as 2GB or 512MiB, not 'much'"),
        ({"memory_limit": "0GB"}, "between 16MB and 1000TB"),
        ({"memory_limit": 2}, "such as 2GB"),
        ({"threads": 0}, "threads must be"),
        ({"temp_directory": "/no/such/folder"}, "must be a folder that exists"),
    ],
)
def test_what_is_no_limit_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        EngineLimits(**given)
    assert told in str(caught.value)


def test_limits_are_not_for_engines_of_others() -> None:
    for source in (ROWS, ROWS.to_pandas(), "sqlite:///nowhere.db", "postgresql://host/db"):
        with pytest.raises(UsageError, match="held by another engine"):
            ah.read_profile(source, label="label", limits=EngineLimits(threads=1))
    assert ah.read_profile(ROWS, label="label", limits=EngineLimits()).n == 3
    assert ah.read_profile(ROWS.to_arrow(), label="label", limits=EngineLimits(threads=1)).n == 3
    assert EngineLimits() == engine.NO_LIMITS


@pytest.mark.parametrize(
    "impossible",
    [
        {"memory_limit": "1KB"},
        {"memory_limit": "99999999999999999999TB"},
        {"threads": 10**12},
        {"temp_directory": "/proc"},
        {"temp_directory": __file__},
    ],
)
def test_impossible_limits_are_refused_before_data_are_read(impossible: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be"):
        EngineLimits(**impossible)

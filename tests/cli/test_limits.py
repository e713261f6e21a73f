"""Limits of the engine on the command line of edges and of sketches: they reach it, and say what they mean there."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import duckdb
import pytest

from anonhist.formats.files import write
from anonhist.sketches import DomainSketch

Cli = Callable[..., CompletedProcess[str]]
_GIVEN = ("--memory-limit", "512mib", "--threads", "1")


@pytest.fixture
def started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How DuckDB was started, beside files of edges and labels."""
    (folder / "edges.csv").write_text("source,target\na,b\nb,c\nb,d\n")
    (folder / "pets.csv").write_text("pet\ncat\ndog\ncat\n")
    write(DomainSketch(alphabet=["cat", "dog"], epsilon=1), folder / "day.sketch")
    configs: list[dict[str, Any]] = []
    connect = duckdb.connect

    def spy(path: str = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        configs.append(options["config"])
        return connect(path, **options)

    monkeypatch.setattr(duckdb, "connect", spy)
    return configs


@pytest.mark.parametrize("unit", ["edge", "node"])
def test_degrees_are_counted_within_limits(cli: Cli, folder: Path, started: list[dict[str, Any]], unit: str) -> None:
    (folder / "scratch").mkdir()
    asked = (*_GIVEN, "--temp-directory", "scratch", "--unit", unit, "--epsilon", "1", "--simulations", "0")
    done = cli("degrees", "edges.csv", *asked, "-o", "out.json")
    assert (done.returncode, done.stderr) == (0, "")
    (config,) = started
    assert (config["memory_limit"], config["threads"]) == ("512MiB", 1)
    assert Path(config["temp_directory"]).parent.parent == folder / "scratch"
    assert not any((folder / "scratch").iterdir())


def test_a_sketch_is_updated_within_limits_and_nothing_spills(cli: Cli, started: list[dict[str, Any]]) -> None:
    done = cli("sketch", "update", "day.sketch", "pets.csv", *_GIVEN)
    assert (done.returncode, done.stdout) == (0, "Wrote day.sketch.\n")
    (config,) = started
    assert (config["memory_limit"], config["threads"], config["temp_directory"]) == ("512MiB", 1, "")
    # There are no temporary files to say a folder for.
    refused = cli("sketch", "update", "day.sketch", "pets.csv", "--temp-directory", ".")
    assert refused.returncode == 2
    assert "--temp-directory" in refused.stderr


def test_impossible_limits_are_refused_before_anything_is_read(cli: Cli, started: list[dict[str, Any]]) -> None:
    for command in (
        ("degrees", "edges.csv", "--unit", "edge", "--epsilon", "1"),
        ("sketch", "update", "day.sketch", "pets.csv"),
    ):
        refused = cli(*command, "--memory-limit", "much")
        assert refused.returncode == 2
        assert "--memory-limit must be a size such as 2GB" in refused.stderr
    assert started == []


def test_what_partitions_send_is_asked_for_tables_of_a_cluster_only(cli: Cli, started: list[dict[str, Any]]) -> None:
    for given, told in (
        ("exact", "--partials is for tables of Spark; this source is counted in this process: leave it out."),
        ("8", "--partials is for tables of Spark"),
        ("0", "--partials must be"),
        ("20000", "--partials must be"),
        ("some", "--partials must be"),
    ):
        refused = cli("sketch", "update", "day.sketch", "pets.csv", "--partials", given)
        assert refused.returncode == 2
        assert told in refused.stderr
    del started

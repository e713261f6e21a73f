"""Which files a pattern names: each once, whatever links and wildcards lead to it, in every reader."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.errors import UsageError
from anonhist.formats.files import write
from anonhist.graphs.node_names import node_names
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.ingest import read_profile
from anonhist.ingest.files import input_files
from anonhist.ingest.locations import match_files
from anonhist.local import KRR
from anonhist.local.reading import opened_values, tally_reports
from anonhist.sketches import DomainSketch
from anonhist.sketches.reading import check_sources, update_sketch

pytestmark = pytest.mark.usefixtures("lent_duckdb")

ENDINGS = ("csv", "tsv", "jsonl", "parquet", "txt")
PATTERNS = ("**/**/*.{}", "**/**/**/**/*.{}", "**/*.{}", "*/*/*.{}", "file://{folder}/**/**/*.{}")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make two files of each ending, with links to them and to their folders."""
    folder = tmp_path / "x" / "y"
    folder.mkdir(parents=True)
    for ending in ENDINGS:
        for name, labels in (("1", ["a", "b"]), ("2", ["a", "c"])):
            path = folder / f"{name}.{ending}"
            if ending == "parquet":
                pq.write_table(pa.table({"label": labels, "node": labels}), path)
            elif ending == "txt":
                path.write_text("\n".join(labels) + "\n")
            elif ending == "jsonl":
                path.write_text("".join(f'{{"label":"{label}","node":"{label}"}}\n' for label in labels))
            else:
                comma = "," if ending == "csv" else "\t"
                path.write_text(f"label{comma}node\n" + "".join(f"{each}{comma}{each}\n" for each in labels))
            (folder / f"soft{path.name}").symlink_to(path)
            os.link(path, folder / f"hard{path.name}")
    (tmp_path / "x" / "link").symlink_to(folder)
    (tmp_path / "link").symlink_to("x")
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_file_is_matched_once(tree: Path, pattern: str) -> None:
    for ending in ENDINGS:
        source = pattern.format(ending, folder=tree) if "{folder}" in pattern else str(tree / pattern.format(ending))
        assert len(match_files(source)) == len(input_files(source)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_reader_reads_every_file_once(tree: Path, ending: str) -> None:
    source = str(tree / f"**/**/*.{ending}")
    said: dict[str, Any] = {"format": "labels"} if ending == "txt" else {"label": "label"}
    assert read_profile(source, **said).counts.tolist() == [1, 2]
    assert sorted(node_names(source).to_pylist()) == ["a", "b", "c"]
    if ending == "txt":
        return
    sketch = DomainSketch(alphabet=["a", "b", "c"], epsilon=1)
    rows: list[int] = []
    update_sketch(sketch, source, label="label", counted=rows.append)
    assert rows[-1] == 4
    with opened_values(source, "label") as batches:
        assert sorted(value for batch in batches for value in batch) == ["a", "a", "b", "c"]
    told: list[str] = []
    read_degrees(source, origin="label", target="node", notify=told.append)
    read_edges(source, origin="label", target="node", notify=told.append)
    assert [text.split(" rows")[0] for text in told] == ["Of 4"] * 2


def test_reports_are_tallied_once(tmp_path: Path) -> None:
    survey = KRR(alphabet=3, epsilon=1)
    reports = survey.randomize([0, 2, 2])
    (tmp_path / "x").mkdir()
    write(reports, tmp_path / "x" / "reports.parquet")
    (tmp_path / "link").symlink_to("x")
    assert tally_reports(survey, str(tmp_path / "**/**/*.parquet")) == survey.tally(reports)


def test_a_file_that_is_named_twice_is_refused(tree: Path) -> None:
    sketch = DomainSketch(alphabet=["a"], epsilon=1)
    for other in ("soft1.csv", "hard1.csv", "../link/1.csv", "1.csv"):
        with pytest.raises(UsageError, match="named twice"):
            check_sources(sketch, [str(tree / "x/y/1.csv"), str(tree / "x/y" / other)])


def test_copies_are_files_of_their_own(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("label\na\n")
    assert read_profile(tmp_path / "*.csv").n == 2

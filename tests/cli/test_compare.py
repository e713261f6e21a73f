"""``anonhist compare`` in all its forms: tidy in a pipe, readable on a terminal, and never silent about privacy."""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from anonhist import mechanisms
from anonhist.mechanisms import METRICS

Cli = Callable[..., CompletedProcess[str]]

_HEADER = ["mechanism", "epsilon", "metric", "mean", "standard_error", "repeats"]
_WARNING = "Warning: Comparing on private data is not private: "
_FEW = ("compare", "x.csv", "--epsilon", "0.5,2", "--mechanism", "auto,privhist,prevalence", "--repeats", "3")
_METRICS = [metric.name for metric in METRICS]


@pytest.fixture(autouse=True)
def counts_file(folder: Path) -> Path:
    (folder / "x.csv").write_text("count,prevalence\n1,900\n2,300\n9,5\n77,1\n")
    return folder


def _rows(text: str) -> list[dict[str, str]]:
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == _HEADER
    return [dict(zip(_HEADER, row, strict=True)) for row in rows[1:]]


def _tidy(text: str) -> None:
    """Check the table of _FEW."""
    rows = _rows(text)
    assert [(row["epsilon"], row["mechanism"], row["metric"]) for row in rows] == [
        (epsilon, name, metric)
        for epsilon in ("0.5", "2")
        for name in ("auto", "privhist", "prevalence")
        for metric in _METRICS
    ]
    for row in rows:
        assert float(row["mean"]) >= 0
        assert float(row["standard_error"]) >= 0
        assert row["repeats"] == "3"
    assert all(0 < float(row["mean"]) < 60 for row in rows if row["metric"] == "seconds")


@pytest.mark.slow
@pytest.mark.parametrize("asked", [(), ("-o", "-")])
def test_a_pipe_gets_tidy_csv_and_the_notes_go_elsewhere(asked: tuple[str, ...], cli: Cli, folder: Path) -> None:
    done = cli(*_FEW, *asked)
    assert done.returncode == 0
    _tidy(done.stdout)
    assert done.stderr.startswith(_WARNING)
    # A sentence is a line, however long, where nobody watches.
    lines = done.stderr.splitlines()
    based = "Compared on 1,622 items of 1,206 labels, with 3 releases per mechanism and epsilon; each protects one "
    assert sum(line.startswith(based) and line.endswith(".") for line in lines) == 1
    assert "auto picked frobenius at epsilon 0.5; partition at epsilon 2." in lines
    assert any(line.startswith("Taken from the data: --public-cap = 100.") for line in lines)
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "x.csv"]


@pytest.mark.slow
def test_the_warning_cannot_be_silenced(cli: Cli, terminal: Cli) -> None:
    done = cli(*_FEW, "--quiet")
    assert done.returncode == 0
    _tidy(done.stdout)
    assert done.stderr.startswith(_WARNING)
    assert done.stderr.count("\n") == 1
    # On a terminal it may be broken into lines, and is the only thing said.
    shown = terminal(*_FEW, "--quiet", "-o", "t.csv").stdout
    assert shown.startswith(_WARNING)
    assert " ".join(shown.split()) == " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_file_holds_what_a_pipe_gets_and_the_tables_are_shown(cli: Cli, folder: Path) -> None:
    done = cli(*_FEW, "-o", "t.csv")
    assert done.returncode == 0
    _tidy((folder / "t.csv").read_text())
    assert done.stderr.startswith(_WARNING)
    for metric in METRICS:
        assert f"\n{metric.title}, in " in done.stdout
    assert done.stdout.endswith("Wrote t.csv.\n")
    assert max(map(len, done.stdout.splitlines())) <= 100
    shares = {
        (row["epsilon"], row["mechanism"]): float(row["mean"])
        for row in _rows((folder / "t.csv").read_text())
        if row["metric"] == "sorted_l1"
    }
    table = done.stdout.split("Sorted ℓ1, in items\n")[1].split("\n\n")[0]
    shown = dict(re.findall(r"^(\w+) +([\d,.]+) ± ", table, re.MULTILINE))
    for name in ("auto", "privhist", "prevalence"):
        assert float(shown[name].replace(",", "")) == pytest.approx(shares["0.5", name], rel=0.1)


@pytest.mark.slow
def test_numbers_keep_their_digits(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    real = mechanisms.compare
    seen: list[Any] = []
    monkeypatch.setattr(
        mechanisms, "compare", lambda *given, **options: seen.append(real(*given, **options)) or seen[0]
    )
    rows = _rows(cli(*_FEW).stdout)
    assert [float(row["mean"]) for row in rows] == pytest.approx([row.mean for row in seen[0].rows], rel=1e-9)
    assert [float(row["standard_error"]) for row in rows] == pytest.approx(
        [row.standard_error for row in seen[0].rows], rel=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("asked", [("-o", "t.csv"), ("--report", "page.html")])
def test_what_is_there_is_kept_and_no_work_is_done_for_it(
    asked: tuple[str, str], cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / asked[1]).write_text("precious")
    with monkeypatch.context() as patch:
        patch.setattr(mechanisms, "compare", lambda *_, **__: pytest.fail("worked first"))
        done = cli(*_FEW, *asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{asked[1]}' exists already" in done.stderr
    assert "Warning" not in done.stderr
    assert (folder / asked[1]).read_text() == "precious"
    assert cli(*_FEW, *asked, "--force").returncode == 0
    assert (folder / asked[1]).read_text() != "precious"


@pytest.mark.slow
def test_nothing_is_left_where_a_page_cannot_be_made(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anonhist.report import comparison as comparison_page

    def full(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(comparison_page, "inline_svg", full)
    done = cli(*_FEW, "--report", "page.html")
    assert (done.returncode, done.stdout) == (3, "")
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "x.csv"]


@pytest.mark.slow
def test_the_page_says_how_it_was_made_without_secrets(cli: Cli, folder: Path) -> None:
    done = cli(*_FEW, "--report", "page.html")
    assert done.returncode == 0
    _tidy(done.stdout)
    assert "Wrote page.html." in done.stderr
    page = (folder / "page.html").read_text()
    assert (
        "<pre>anonhist compare x.csv <span>--epsilon</span> 0.5,2 <span>--mechanism</span> auto,privhist,prevalence"
        in page
    )
    assert "Comparing on private data is not private" in page


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 140])
def test_a_person_gets_tables_that_fit(width: int, terminal: Cli, folder: Path) -> None:
    done = terminal("compare", "x.csv", "--epsilon", "0.4,0.5,1,2,4", "--repeats", "2", width=width)
    assert done.returncode == 0
    lines = [line for line in done.stdout.replace("\r", "\n").split("\n") if "━" not in line]
    assert re.search(r"Comparing ━+ +100%", done.stdout)
    tables = lines[next(place for place, line in enumerate(lines) if line.startswith("Compared on")) :]
    assert max(map(len, tables)) <= min(width, 100)
    for name in ("auto", "relaxed-partition"):
        # A line per metric, or two where the budgets do not fit beside each other.
        assert sum(line.startswith(f"{name} ") and "±" in line for line in tables) >= len(METRICS)
    for metric in METRICS:
        at = next(place for place, line in enumerate(tables) if line.startswith(f"{metric.title}, in "))
        block = tables[at : at + 40]
        cells = [line for line in block[: 9 + 2] if "±" in line]
        assert len(cells) == 9
        assert any(line.rstrip().endswith("*") or " * " in line for line in cells)
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "x.csv"]


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_mechanism_that_does_not_apply_is_named_with_its_reason(cli: Cli) -> None:
    done = cli("compare", "x.csv", "--epsilon", "21", "--mechanism", "relaxed-partition,frobenius", "--repeats", "2")
    assert done.returncode == 0
    assert {row["mechanism"] for row in _rows(done.stdout)} == {"frobenius"}
    assert (
        "Skipped relaxed-partition at epsilon 21: The relaxed partition mechanism accepts an ε of at "
        "most" in done.stderr
    )
    alone = cli("compare", "x.csv", "--epsilon", "21", "--mechanism", "relaxed-partition", "--repeats", "2")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr.splitlines()[1].startswith("anonhist: No mechanism applies. The reason for relaxed-partition: ")


@pytest.mark.slow
def test_public_numbers_are_spoken_of_as_they_are_typed(cli: Cli) -> None:
    done = cli(*_FEW, "--public-cap", "1e1")
    assert done.returncode == 0
    assert "Skipped prevalence at epsilon 0.5, 2: the data exceed --public-cap" in " ".join(done.stderr.split())
    assert "Taken from the data" not in done.stderr


@pytest.mark.parametrize(
    ("options", "protected", "items"),
    [
        (
            ("--label", "label", "--user", "user", "--max-per-user", "2"),
            "one user with all their items (at most 2 of them count)",
            6,
        ),
        (("--label", "label"), "one item, added or removed", 9),
        (("--label", "label", "--relation", "substitute"), "one item, replaced by another", 9),
        (("--label", "label", "--unit", "label", "--max-count", "3"), "one label with all its items", 6),
    ],
)
def test_data_are_read_and_units_protected_as_by_release(
    options: tuple[str, ...], protected: str, items: int, cli: Cli, folder: Path
) -> None:
    (folder / "log.csv").write_text("label,user\n" + "a,1\n" * 5 + "a,2\nb,2\nb,3\nb,3\n")
    done = cli("compare", "log.csv", "--epsilon", "2", "--mechanism", "frobenius", "--repeats", "2", *options)
    assert done.returncode == 0
    flat = " ".join(done.stderr.split())
    assert f"Compared on {items} items of 2 labels" in flat
    assert f"each protects {protected}" in flat


def test_reading_that_cannot_be_is_refused_as_by_release(cli: Cli) -> None:
    done = cli("compare", "nowhere.csv", "--epsilon", "1")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.splitlines()[1].startswith("anonhist: ")
    done = cli("compare", "events.csv", "--epsilon", "1", "--user", "label")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--user and --max-per-user must be given together" in done.stderr


@pytest.mark.parametrize("name", ["out.json", "out.parquet"])
def test_a_released_file_is_compared_on(name: str, cli: Cli) -> None:
    assert cli("release", "events.csv", "--epsilon", "20", "-o", name).returncode == 0
    done = cli("compare", name, "--epsilon", "1", "--mechanism", "privhist", "--shares", "thirds", "--repeats", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "mechanism,epsilon,metric,mean,standard_error,repeats"
    assert {line.split(",")[0] for line in done.stdout.splitlines()[1:]} == {"privhist"}


@pytest.mark.slow
def test_a_release_is_compared_without_a_warning_and_one_mechanism_without_advice(cli: Cli, folder: Path) -> None:
    assert cli("release", "x.csv", "--epsilon", "1", "--simulations", "0", "-o", "made.json").returncode == 0
    once = ("--epsilon", "1", "--repeats", "2", "--report", "page.html", "--force")
    alone = cli("compare", "made.json", *once, "--mechanism", "auto")
    assert alone.returncode == 0, alone.stderr
    said = alone.stderr + (folder / "page.html").read_text()
    assert "not private" not in said
    assert "Use auto" not in said
    several = cli("compare", "x.csv", *once, "--mechanism", "auto,prevalence")
    assert several.stderr.startswith(_WARNING)
    assert "Use " in several.stderr
    page = (folder / "page.html").read_text()
    # A reader of the page may have typed an option or a keyword.
    assert "Taken from the data: public cap = 100." in page
    assert "not private" in page

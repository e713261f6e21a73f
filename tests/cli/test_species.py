"""``anonhist species``: tables of iNEXT's users in, tables, CSV, JSON and a page out."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah
from anonhist.species import commands, reading, release_commands
from anonhist_testing.web import serve

Cli = Callable[..., CompletedProcess[str]]
ANTS = Path(__file__).parents[2] / "data" / "ants.csv"
WIDE = ("--layout", "species-in-rows")
FAST = ("--bootstraps", "3", "--points", "4")
NOT_PRIVATE = "Warning: These numbers are not private: they are computed from the exact data."


def test_ants_are_compared_at_equal_coverage(cli: Cli, tmp_path: Path) -> None:
    target, page = tmp_path / "ants.json", tmp_path / "ants.html"
    asked = ("species", str(ANTS), "--data", "incidence-freq", *WIDE, "--coverage", "0.985", *FAST)
    done = cli(*asked, "-o", str(target), "--report", str(page))
    assert (done.returncode, done.stderr.strip()) == (0, NOT_PRIVATE)
    assert "50.479" in done.stdout
    assert "12.91" in done.stdout
    document = json.loads(target.read_text(encoding="utf-8"))
    assert (document["data"], document["guarantee"]) == ("incidence", "none: not private")
    assert [site["size"] for site in document["sites"]] == [200, 200]
    at = [row["value"] for row in document["estimates"] if row["base"] == "equal coverage"]
    assert at == pytest.approx([50.478877, 26.248998, 18.648902, 12.909623, 7.710717, 5.794580], abs=6e-7)
    html = page.read_text(encoding="utf-8")
    assert html.count("<svg") == 2
    assert NOT_PRIVATE.removeprefix("Warning: ") in html


def test_a_pipe_gets_csv(cli: Cli) -> None:
    done = cli("species", str(ANTS), "--data", "incidence-freq", *WIDE, "--order", "0", "--size", "100", *FAST)
    assert (done.returncode, done.stderr.strip()) == (0, NOT_PRIVATE)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert {row["base"] for row in rows} == {"curve", "equal size", "asymptote"}
    assert {row["guarantee"] for row in rows} == {"none: not private"}
    assert [row["value"] for row in rows if row["base"] == "equal size"] == ["47.98264313", "12.81192336"]
    assert {row["size"] for row in rows if row["base"] == "asymptote"} == {""}


def test_each_of_several_files_is_a_site(cli: Cli, tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / f"{name}.csv").write_text("species,u1,u2,u3\noak,1,1,0\nelm,0,1,0\n", encoding="utf-8")
    files = [str(tmp_path / f"{name}.csv") for name in ("north", "south")]
    done = cli("species", *files, "--data", "incidence-raw", *WIDE, *FAST)
    assert done.returncode == 0, done.stderr
    assert {row["site"] for row in csv.DictReader(done.stdout.splitlines())} == {"north", "south"}
    done = cli("species", str(ANTS), str(ANTS.parent / ".." / "data" / "ants.csv"), "--data", "incidence-freq", *WIDE)
    assert (done.returncode, "same name" in done.stderr) == (2, True)
    done = cli("species", str(ANTS), str(ANTS), "--data", "incidence-freq", *WIDE)
    assert (done.returncode, "named twice" in done.stderr) == (2, True)


def test_rows_that_hide_others_are_refused_in_one_sentence(cli: Cli, tmp_path: Path) -> None:
    for row in ('"fir,1\n', 'fir,"1\n', '"f"ir,1\n', '"' + "x" * 200_000 + "\n"):
        (tmp_path / "a.csv").write_text("species,north\noak,3\n" + row + "elm,4\n", encoding="utf-8")
        done = cli("species", str(tmp_path / "a.csv"), "--data", "abundance", *WIDE, *FAST)
        assert (done.returncode, done.stdout) == (3, "")
        assert len(done.stderr.strip().splitlines()) <= 2
        assert "Traceback" not in done.stderr


def test_what_is_ambiguous_is_refused(cli: Cli) -> None:
    for arguments, code, why in (
        (("--data", "abundance"), 2, "--layout"),
        (("--layout", "long"), 2, "--data"),
        (("--data", "incidence", *WIDE), 2, "perhaps incidence-raw"),
        (("--data", "abundance", "--layout", "long"), 2, "needs --site, the name of a column"),
        (("--data", "incidence-raw", *WIDE), 3, "use --data incidence-counts"),
        (("--data", "incidence-freq", *WIDE, "--order", "0,x"), 2, "--order must be a list"),
        (("--data", "incidence-freq", *WIDE, "--order", "4"), 2, "--order must be one or more of 0, 1 and 2"),
        (("--data", "incidence-freq", *WIDE, "--coverage", "1"), 2, "--coverage must be between 0 and 1"),
        (("--data", "incidence-freq", *WIDE, "--size", "1.5"), 2, "--size must be whole numbers"),
        (("--data", "incidence-freq", *WIDE, "-o", "x.parquet"), 2, ".csv"),
    ):
        done = cli("species", str(ANTS), *arguments)
        assert (done.returncode, why in done.stderr, done.stdout) == (code, True, ""), (arguments, done.stderr)


VISITS = "visit,kind\n" + "".join(f"v{at},oak\nv{at},elm\n" for at in range(60)) + "v60,\n,ash\n"
PRIVATE = ("--data", "incidence-raw", "--layout", "long", "--sampling-unit", "visit", "--species", "kind")
PAID = ("--epsilon", "4", "--max-per-unit", "2")


def test_sampling_units_are_protected(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    target = tmp_path / "visits.json"
    done = cli("incidence", str(tmp_path / "visits.csv"), *PRIVATE, *PAID, "-o", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert "4-differentially private (δ = 0) when one sampling unit" in done.stdout
    found = ah.read(target)
    # The unit without a species counts, and the row without a unit does not.
    assert abs(found.sampling_units - 61) < 40
    shown = cli("show", str(target))
    assert shown.returncode == 0
    assert shown.stdout in done.stdout
    listed = cli("incidence", str(tmp_path / "visits.csv"), *PRIVATE, *PAID, "--relation", "substitute")
    rows = list(csv.DictReader(listed.stdout.splitlines()))
    assert {row["sampling_units"] for row in rows} == {"61"}
    for option in ("--group", "--times"):
        assert cli("show", str(target), option, "3").returncode == 2
    for words in (("estimate", "support-size", str(target)), ("diff", str(target), str(target))):
        refused = cli(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "holds a release of incidence frequencies, no profile: use 'anonhist show'." in refused.stderr


def test_sampling_units_are_read_from_standard_input_and_from_servers(cli: Cli, process: Cli, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS, encoding="utf-8")
    piped = process("incidence", "-", *PRIVATE, *PAID, stdin=VISITS.encode())
    with serve(tmp_path) as web:
        served = cli("incidence", f"{web.address}/visits.csv", *PRIVATE, *PAID)
    for done in (piped, served):
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("count,prevalence,")


def test_a_ledger_is_charged_before_units_are_read(cli: Cli, tmp_path: Path) -> None:
    source, target, budget = (str(tmp_path / name) for name in ("visits.csv", "visits.json", "budget.db"))
    ledger = ("--ledger", budget, "--dataset", "visits")
    assert cli("budget", "create", "visits", "--unit", "user", "--epsilon", "9", "--ledger", budget).returncode == 0
    # A missing file, and columns that are not there, are public: nothing is charged.
    assert cli("incidence", source, *PRIVATE, *PAID, *ledger, "-o", target).returncode == 3
    of_units = ("--data", "incidence-raw", *WIDE)
    assert cli("incidence", source, *of_units, *PAID, *ledger, "-o", target).returncode == 3
    Path(source).write_text(VISITS, encoding="utf-8")
    assert cli("incidence", source, *PRIVATE[:-1], "none", *PAID, *ledger, "-o", target).returncode == 2
    assert "9 of 9" in cli("budget", "show", "visits", "--ledger", budget).stdout.replace("epsilon ", "")
    run = ("--run-id", "monday")
    done = cli("incidence", source, *PRIVATE, *PAID, *ledger, *run, "-o", target)
    assert done.returncode == 0, done.stderr
    first = Path(target).read_bytes()
    again = cli("incidence", source, *PRIVATE, *PAID, *ledger, *run, "-o", target)
    assert (again.returncode, Path(target).read_bytes()) == (0, first), again.stderr
    assert cli("budget", "verify", "visits", target, "--ledger", budget).returncode == 0
    # A cell that is no number is a fact about the data: it stays charged, and the error names no row.
    Path(source).write_text("kind,v1,v2\noak,1,7\n", encoding="utf-8")
    wide = ("--data", "incidence-raw", *WIDE, *PAID, *ledger)
    failed = cli("incidence", source, *wide, "-o", str(tmp_path / "other.json"))
    assert (failed.returncode, "row 1" in failed.stderr) == (3, False)
    assert "one row of the species table must be 0 or 1" in failed.stderr
    assert "1 of 9" in cli("budget", "show", "visits", "--ledger", budget).stdout.replace("epsilon ", "")


def test_what_does_not_fit_together_is_refused_before_anything_is_read(cli: Cli) -> None:
    for more, why in (
        ((*PRIVATE, "--epsilon", "1", "--max-per-unit", "0"), "max-per-unit"),
        ((*PRIVATE, *PAID, "--units-share", "1"), "units-share"),
        ((*PRIVATE, *PAID, "--mechanism", "isotonic"), "isotonic"),
        ((*PRIVATE[:-2], *PAID), "species"),
        ((*PRIVATE, *PAID, "-o", "visits.html"), "json"),
    ):
        done = cli("incidence", "none.csv", *more)
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr


def test_help_lists_what_is_read() -> None:
    assert release_commands.DATA == reading.RAW_DATA
    assert release_commands.LAYOUTS == commands.LAYOUTS


@pytest.mark.parametrize(("given", "right"), [("columns", "row"), ("rows", "column")])
def test_a_table_that_may_be_turned_gets_a_hint(cli: Cli, tmp_path: Path, given: str, right: str) -> None:
    table = [["species", "a", "b"], ["oak", "4", "3"], ["yew", "0", "1"]]
    if given == "rows":
        table = [list(column) for column in zip(*table, strict=True)]
    (tmp_path / "sites.csv").write_text("".join(",".join(row) + "\n" for row in table), encoding="utf-8")
    done = cli("species", str(tmp_path / "sites.csv"), "--data", "abundance", "--layout", f"species-in-{given}")
    assert (done.returncode, done.stdout) == (3, "")
    turned = "rows" if given == "columns" else "columns"
    assert f"If the table has a {right} for each species, say --layout species-in-{turned}." in done.stderr

"""The two commands of the README."""

import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import anonhist as ah

ROOT = Path(__file__).parent.parent


def make(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # The environment the tests run in, as it is: nothing is installed.
    stamps = [f"{sys.prefix}/.run-stamp", f"{sys.prefix}/.dev-stamp"]
    held = [word for stamp in stamps for word in ("-o", stamp)]
    command = ["make", "--no-print-directory", *held, f"VENV={sys.prefix}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_demo_releases_real_data_and_says_what_it_wrote(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for folder in ("data", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "pyproject.toml").touch()
    done = make("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    # In a pipe there are results only.
    assert done.stdout.startswith("\nHow often")
    assert "\x1b" not in done.stdout
    written = sorted(path.name for path in (tmp_path / "demo-output").iterdir())
    assert written == [f"{name}.{ending}" for name in ("friends", "rockyou", "trees") for ending in ("html", "json")]
    shown = done.stdout.partition("Open these pages")[2]
    assert [name for name in written if f"demo-output/{name}\n" not in shown] == []
    # Each row ends with what was released, its standard error and the truth.
    rows = re.findall(r"([\d,]+) ± ([\d.]+) +([\d,]+)$", done.stdout, re.MULTILINE)
    assert len(rows) == 7
    for released, error, exact in rows:
        assert abs(int(released.replace(",", "")) - int(exact.replace(",", ""))) <= 10 * max(float(error), 1)
    release = ah.read(tmp_path / "demo-output" / "rockyou.json")
    assert release.guarantee.epsilon == 1
    truth = ah.read_profile(ROOT / "data" / "pw_rockyou.csv")
    # The error to expect is 1,707 items; no run is ten times as bad.
    assert 0 < ah.properties.sorted_l1(truth, release.profile) < 17_000


def test_test_runs_every_check_and_every_test() -> None:
    done = make("--dry-run", "test", folder=ROOT)
    assert done.returncode == 0, done.stderr
    for tool in ("ruff check .", "ruff format --check .", "mypy", "tools/check_examples.py", "vulture", "pytest"):
        assert re.search(rf"bin/(python (-m )?)?{re.escape(tool)}", done.stdout), tool
    # The tests are shared among processes; none is chosen, none left out.
    assert re.search(r"bin/python -m pytest -q -n auto --maxprocesses \d+ --dist worksteal$", done.stdout, re.MULTILINE)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    # With fresh tables each time, and a bound on how long.
    assert re.search(
        r"^make soak MINUTES=([1-9]|10)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE
    )
    # Before each commit, for whoever wants that, the checks are the same.
    assert "entry: make check\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def test_docs_are_built_strictly_and_checked() -> None:
    done = make("--dry-run", "docs", folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert re.search(r"bin/python -m sphinx -W .* build/site$", done.stdout, re.MULTILINE)
    assert re.search(r"bin/python tools/check_site.py build/site$", done.stdout, re.MULTILINE)
    assert re.search(r"bin/python tools/check_how_to.py$", done.stdout, re.MULTILINE)
    # The guide on pipelines runs dbt.
    assert re.search(r"install .* --group pipelines ", done.stdout, re.MULTILINE)
    assert "make docs\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.slow
def test_profile_says_where_the_time_goes(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("label\n" + "".join(f"l{number % 97}\n" for number in range(1000)))
    command = f"COMMAND=release {tmp_path}/events.csv --epsilon 1 --simulations 2 -o - --quiet"
    done = make("profile", command, folder=ROOT)
    assert done.returncode == 0, done.stderr
    rooms, functions = done.stdout.split("function, with")
    assert "anonhist.mechanisms" in rooms
    assert sum(float(share) for share in re.findall(r"([\d.]+)%", rooms)) == pytest.approx(100, abs=2)
    assert re.search(r"anonhist\.\w+: \w+ \(\w+\.py:\d+\)", functions)


@pytest.mark.slow
def test_quick_runs_every_check_and_the_first_case_of_each_quick_test() -> None:
    done = make("--dry-run", "quick", folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert "mypy" in done.stdout
    assert re.search(r"-m pytest .* --quick$", done.stdout, re.MULTILINE)
    command = [sys.executable, "-m", "pytest", "--quick", "--collect-only", "-q", "-p", "no:randomly"]
    files = ["tests/test_names.py", "tests/numeric/test_primes.py"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [line for line in done.stdout.splitlines() if "::" in line]
    assert len({name.partition("[")[0] for name in names}) == len(names) > 0
    # One is marked slow, and cases after the first are left out.
    assert not any("test_names" in name for name in names)
    assert re.search(r"\d+ deselected", done.stdout)


def test_help_lists_the_targets() -> None:
    done = make("help", folder=ROOT)
    assert re.findall(r"^make (\w+)", done.stdout, re.MULTILINE) == [
        "help",
        "demo",
        "test",
        "quick",
        "soak",
        "mutants",
        "check",
        "profile",
        "map",
        "docs",
        "dist",
        "fix",
        "bench",
        "clean",
    ]


def test_every_mutant_has_its_piece_of_code_and_its_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "tools")
    mutants = import_module("mutants")
    package = shutil.copytree(ROOT / "src" / "anonhist", tmp_path / "anonhist")
    assert len(mutants.MUTANTS) == 44
    for each in mutants.MUTANTS:
        before = (package / each.file).read_text(encoding="utf-8")
        assert each.apply(package), each.name
        (package / each.file).write_text(before, encoding="utf-8")
        file, _, test = each.test.partition("::")
        assert f"def {test.partition('[')[0]}(" in (ROOT / "tests" / file).read_text(encoding="utf-8") or not test, (
            each.test
        )

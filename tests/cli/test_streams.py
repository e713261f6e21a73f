"""What goes to standard output and standard error, in processes of their own."""

import csv
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.terminal.reading import WHERE_REMARKS_ARE

Cli = Callable[..., CompletedProcess[str]]

_HEADER = (
    "count,prevalence,prevalence_standard_error,prevalence_low,prevalence_high,"
    "k_plus,k_plus_standard_error,k_plus_low,k_plus_high"
)
_PROGRAM = f"{sys.executable} -m anonhist"


def _assert_clean_csv(text: str) -> list[list[str]]:
    assert text.startswith(_HEADER + "\n")
    assert text.endswith("\n")
    rows = list(csv.reader(io.StringIO(text)))
    assert all(len(row) == 9 for row in rows)
    assert all(int(row[0]) >= 1 and int(row[1]) >= 1 and float(row[4]) >= 0 for row in rows[1:])
    counts = [int(row[0]) for row in rows[1:]]
    assert counts == sorted(set(counts))
    return rows[1:]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("-o", "-"), ("--quiet",)], ids=["pipe", "dash", "quiet"])
def test_a_pipe_gets_csv_and_nothing_else(arguments: tuple[str, ...], process: Cli, folder: Path) -> None:
    done = process("release", "events.csv", "--epsilon", "9", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert _assert_clean_csv(done.stdout)
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_labels_come_through_standard_input(process: Cli, folder: Path) -> None:
    lines = b'a"b\n' * 900 + b"007\n" * 700 + b"7\n" * 500 + b"x,y\n" * 300
    done = process("release", "-", "--format", "labels", "--epsilon", "9", "-o", "-", stdin=lines)
    assert (done.returncode, done.stderr) == (0, "")
    near = [int(row[0]) for row in _assert_clean_csv(done.stdout) if int(row[0]) > 50]
    assert [round(count, -2) for count in near] == [300, 500, 700, 900]
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_tables_come_through_standard_input(process: Cli) -> None:
    done = process("release", "-", "--format", "counts", "--epsilon", "9", stdin=b"label,count\nzebra,900\nheron,300\n")
    assert (done.returncode, done.stderr) == (0, "")
    near = [int(row[0]) for row in _assert_clean_csv(done.stdout) if int(row[0]) > 50]
    assert [round(count, -2) for count in near] == [300, 900]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
def test_stderr_of_a_release_to_a_file_is_empty(ending: str, cli: Cli, folder: Path) -> None:
    done = cli("release", "events.csv", "--epsilon", "1", "-o", f"out{ending}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "one item is added or removed" in done.stdout
    assert done.stdout.endswith(f"Wrote out{ending}.\n")
    assert "\x1b" not in done.stdout
    assert (folder / f"out{ending}").stat().st_size > 0


@pytest.mark.slow
def test_quiet_says_nothing(process: Cli, folder: Path) -> None:
    done = process("release", "events.csv", "--epsilon", "1", "-o", "out.json", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "out.json").exists()


@pytest.mark.slow
def test_user_bounds_leave_stderr_clean(process: Cli, folder: Path) -> None:
    # The engine's types are held longest here: three queries, users ranked.
    (folder / "log.csv").write_text("label,user\na,1\nb,2\nc,3\n")
    done = process("release", "log.csv", "--label", "label", "--user", "user", "--max-per-user", "1", "--epsilon", "1")
    assert (done.returncode, done.stderr) == (0, "")
    _assert_clean_csv(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "events.csv", "--epsilon", "1", "--report", "out.html"),
        ("plan", "--items", "9", "--epsilon", "1"),
        ("--help",),
    ],
    ids=["release", "plan", "help"],
)
def test_a_reader_that_goes_early_is_no_error(arguments: tuple[str, ...], folder: Path) -> None:
    # The reader has gone before the first byte: whatever is written meets the closed end, as with "| head -1".
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "anonhist", *arguments], stdout=writing, stderr=subprocess.PIPE, check=False
    )  # fmt: skip
    os.close(writing)
    told = f"{WHERE_REMARKS_ARE}\n" if "--report" in arguments else ""
    assert (done.returncode, done.stderr.decode()) == (0, told)
    assert (folder / "out.html").exists() == ("--report" in arguments)


def _in_a_shell(command: str, folder: Path) -> CompletedProcess[str]:
    # Where streams are not buffered, nothing is left to flush.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["sh", "-c", f"{_PROGRAM} {command}"], capture_output=True, check=False, text=True, cwd=folder, env=buffered
    )  # fmt: skip
    done.stderr = done.stderr.replace(f"{WHERE_REMARKS_ARE}\n", "")
    return done


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        ("release events.csv --epsilon 1 > /dev/full", 3, "Standard output could not be written (No space left"),
        ("plan --items 100 --epsilon 1 > /dev/full", 3, "(No space left on device)"),
        ("release events.csv --epsilon 1 -o out.csv > /dev/full", 3, "(No space left on device)"),
        ("release events.csv --epsilon 1 >&-", 2, "standard output is closed"),
    ],
)
def test_an_output_that_takes_nothing_is_an_error(command: str, code: int, told: str, folder: Path) -> None:
    done = _in_a_shell(command, folder)
    assert done.returncode == code
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_closed_stderr_is_no_error(folder: Path) -> None:
    done = _in_a_shell("release events.csv --epsilon 1 2>&-", folder)
    assert done.returncode == 0
    _assert_clean_csv(done.stdout)


@pytest.mark.slow
def test_streams_without_utf8_show_what_they_can(process: Cli) -> None:
    done = process("release", "events.csv", "--epsilon", "1", "-o", "out.json", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "sorted ?1" in done.stdout
    assert process("release", "--help", PYTHONIOENCODING="ascii").returncode == 0


@pytest.mark.slow
def test_warnings_do_not_reach_the_user(process: Cli) -> None:
    script = "import warnings, anonhist.cli as cli\nfrom anonhist.mechanisms.releasing import PreparedRelease as p\n"
    script += "p.release = lambda *a, r=p.release, **k: (warnings.warn('zebra'), r(*a, **k))[1]\ncli.main()\n"
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_script_and_the_module_are_one_program(process: Cli) -> None:
    script = Path(sys.executable).with_name("anonhist")
    done = subprocess.run([script, "release", "--help"], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == process("release", "--help").stdout
    assert done.stdout.startswith("Usage: anonhist release ")


@pytest.mark.slow
def test_what_the_interpreter_says_at_its_end_does_not_reach_the_user(process: Cli) -> None:
    script = (
        "import atexit, sys, anonhist.cli as cli\natexit.register(sys.stderr.write, 'leaked types: 7')\ncli.main()\n"
    )
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script))
    assert (done.returncode, done.stderr) == (0, "")
    _assert_clean_csv(done.stdout)


@pytest.mark.slow
def test_what_the_plots_log_does_not_reach_the_user(process: Cli) -> None:
    script = "import logging, anonhist.cli as cli, anonhist.report.shown as r\n"
    script += (
        "r.write_sheet = lambda *a, **k: logging.getLogger('matplotlib.font_manager').warning('zebra')\ncli.main()\n"
    )
    done = process("release", "events.csv", "--epsilon", "1", "--report", "out.html", program=("-c", script))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_errors_inside_the_program_show_no_data(process: Cli) -> None:
    script = "import anonhist.cli as cli, anonhist.mechanisms.releasing as m\n"
    script += "def broken(*a, **k): raise ArithmeticError('zebra')\nm.PreparedRelease.release = broken\ncli.main()\n"
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script))
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.startswith("anonhist: internal error (ArithmeticError). ")
    assert "zebra" not in done.stderr
    assert done.stderr.count("\n") == 1
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script), ANONHIST_DEBUG="1")
    assert "in broken" in done.stderr


@pytest.mark.slow
def test_a_package_that_is_not_there_is_named(process: Cli) -> None:
    script = "import anonhist.cli as cli, anonhist.mechanisms.releasing as m\n"
    script += "def broken(*a, **k): raise ModuleNotFoundError('zebra', name='scipy')\n"
    script += "m.PreparedRelease.release = broken\ncli.main()\n"
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script))
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr == "anonhist: the package scipy is missing: install anonhist again, with pip.\n"


@pytest.mark.slow
def test_memory_that_is_not_there_is_told(process: Cli) -> None:
    script = "import anonhist.cli as cli, anonhist.mechanisms.releasing as m\n"
    script += "def broken(*a, **k): raise MemoryError\nm.PreparedRelease.release = broken\ncli.main()\n"
    done = process("release", "events.csv", "--epsilon", "1", program=("-c", script))
    assert (done.returncode, done.stdout) == (3, "")
    assert "not enough memory" in done.stderr


@pytest.mark.slow
def test_noise_cannot_be_repeated_from_outside(process: Cli, folder: Path) -> None:
    # Noise on dozens of whole numbers: twice the same by chance is out of the question.
    (folder / "x.csv").write_text("count,prevalence\n" + "".join(f"{count},50\n" for count in range(1, 100)))
    fixed = {"PYTHONHASHSEED": "0", "ANONHIST_SEED": "0", "SEED": "0"}
    outputs = [process("release", "x.csv", "--epsilon", "0.5", "--simulations", "2", **fixed).stdout for _ in "ab"]
    first, second = ([line.split(",")[:2] for line in output.splitlines()] for output in outputs)
    assert first[0] == second[0] == ["count", "prevalence"]
    assert first != second


@pytest.mark.slow
def test_a_number_of_items_released_on_its_own_is_told(cli: Cli) -> None:
    done = cli("release", "events.csv", "--epsilon", "20", "--mechanism", "privhist", "-o", "out.json")
    (told,) = re.findall(r"Released on its own: ([\d,]+) items? \(95% interval ", done.stdout)
    assert int(told.replace(",", "")) > 0
    shown = cli("show", "out.json")
    assert f"Released on its own: {told} item" in shown.stdout
    assert "on its own" not in cli("release", "events.csv", "--epsilon", "20", "-o", "other.json").stdout


@pytest.mark.slow
def test_what_a_bound_left_out_is_told_beside_csv(cli: Cli, folder: Path) -> None:
    (folder / "log.csv").write_text("label,user\n" + "zebra,1\n" * 900)
    given = (
        "release",
        "log.csv",
        "--label",
        "label",
        "--user",
        "user",
        "--max-per-user",
        "1",
        "--epsilon",
        "8",
        "-o",
        "-",
    )
    done = cli(*given, "--excess-share", "0.9", "--excess-cap", "3")
    assert done.stdout.startswith("count,prevalence")
    assert re.search(r"^Bound: .*the bound of 1 item per user left out", done.stderr, re.MULTILINE | re.IGNORECASE)
    # Not one more word of the 899 rows that went.
    assert "899" not in done.stderr
    assert "Bound:" not in cli(*given).stderr


@pytest.mark.slow
def test_what_was_done_stays_done_if_it_cannot_be_told(folder: Path) -> None:
    create = "budget create d --epsilon 1 --unit item --ledger b.db"
    done = _in_a_shell(f"{create} > /dev/full", folder)
    assert done.returncode == 0
    assert done.stderr == (
        "Warning: standard output could not be written (No space left on device), but this was done: "
        "d: ε = 1, δ = 10⁻⁹ for items, in b.db\n"
    )
    assert "already has a budget" in _in_a_shell(create, folder).stderr


@pytest.mark.slow
def test_a_release_that_cannot_be_told_is_not_to_be_tried_again_unseen(folder: Path) -> None:
    assert _in_a_shell("budget create d --epsilon 1 --unit item --ledger b.db", folder).returncode == 0
    done = _in_a_shell("release events.csv --epsilon 1 --ledger b.db --dataset d -o out.json > /dev/full", folder)
    assert done.returncode == 3
    assert done.stderr.endswith(
        "(No space left on device); ε stays charged, as entry 2 of b.db: see 'anonhist budget show' before you try "
        "again.\n"
    )
    assert (folder / "out.json").exists()

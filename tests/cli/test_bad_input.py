"""Every row of bad input: the exit code, one sentence that says what to do, no value of the data, nothing written."""

import gzip
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import duckdb
import pytest

Cli = Callable[..., CompletedProcess[str]]
Prepare = Callable[[Path], object]

_USAGE, _BAD_DATA = 2, 3
# Nothing of the data may be quoted: they are made of these, which no message holds by chance.
_SECRET, _SECRET_NUMBER = "zebra", "731973"
_VALUES = (_SECRET, _SECRET_NUMBER)
_LARGE = "label\n" + "".join(f"{_SECRET}{number}\n" for number in range(20_000))


def _file(name: str, content: str | bytes) -> Prepare:
    raw = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / name).write_bytes(raw)


def _database(folder: Path) -> None:
    with duckdb.connect(str(folder / "shop.db")) as connection:
        connection.execute(f"CREATE TABLE orders AS SELECT '{_SECRET}' AS sku")


_ROWS: dict[str, tuple[Prepare, tuple[str, ...], int, str]] = {
    "empty file": (_file("x.csv", ""), ("x.csv",), _BAD_DATA, "'x.csv' is empty"),
    "missing file": (_file("y.csv", ""), ("x.csv",), _BAD_DATA, "no file 'x.csv'"),
    "missing release": (_file("y.csv", ""), ("x.json",), _BAD_DATA, "no file 'x.json'"),
    "no file of a pattern": (_file("y.txt", ""), ("*.csv.gz",), _BAD_DATA, "no file '*.csv.gz'"),
    "folder": (lambda folder: (folder / "x.csv").mkdir(), ("x.csv",), _BAD_DATA, "is a folder"),
    "no such column": (
        _file("x.csv", f"sku,user\n{_SECRET},{_SECRET}\n"),
        ("x.csv", "--label", "label"),
        _BAD_DATA,
        "no column 'label' to use as label; there are 2 columns (--no-header",
    ),
    "no such user column": (
        _file("x.csv", f"sku,user\n{_SECRET},{_SECRET}\n"),
        ("x.csv", "--label", "sku", "--user", "who", "--max-per-user", "1"),
        _BAD_DATA,
        "no column 'who' to use as user; there are 2 columns (--no-header",
    ),
    "no such order column": (
        _file("x.csv", f"sku,user\n{_SECRET},{_SECRET}\n"),
        ("x.csv", "--label", "sku", "--user", "user", "--max-per-user", "1", "--order-by", "time"),
        _BAD_DATA,
        "no column 'time' to use as order; there are 2 columns (--no-header",
    ),
    "no header, first row taken for names": (
        _file("x.csv", f"{_SECRET},{_SECRET_NUMBER}\nheron,1\n"),
        ("x.csv",),
        _USAGE,
        "(--label); there are 2 columns (--no-header",
    ),
    "several columns, none named": (_file("x.csv", f"a,b\n{_SECRET},1\n"), ("x.csv",), _USAGE, "--label"),
    "ragged, longer row": (_file("x.csv", f"a,b\n{_SECRET},1\n1,2,3\n"), ("x.csv", "--label", "a"), _BAD_DATA, "row"),
    "ragged, shorter row": (_file("x.csv", f"a,b\n{_SECRET},1\n1\n"), ("x.csv", "--label", "a"), _BAD_DATA, "row"),
    "not UTF-8": (_file("x.csv", b"label\n\xff\xfe\n"), ("x.csv",), _BAD_DATA, "not UTF-8"),
    "CSV called Parquet": (_file("x.parquet", _LARGE), ("x.parquet",), _BAD_DATA, "Parquet file"),
    "CSV called JSON lines": (
        _file("x.jsonl", _LARGE),
        ("x.jsonl", "--label", "label"),
        _BAD_DATA,
        "not in JSON lines format",
    ),
    "JSON lines without a key": (
        _file("x.jsonl", f'{{"{_SECRET}": "{_SECRET_NUMBER}"}}'),
        ("x.jsonl",),
        _USAGE,
        "JSON lines have no header: name the key that holds the labels (--label).",
    ),
    "CSV called gzip": (_file("x.csv.gz", _LARGE), ("x.csv.gz",), _BAD_DATA, "cannot be decompressed"),
    "CSV called zstd": (_file("x.csv.zst", _LARGE), ("x.csv.zst",), _BAD_DATA, "cannot be decompressed"),
    "truncated gzip": (
        _file("x.csv.gz", gzip.compress(_LARGE.encode())[:9_000]),
        ("x.csv.gz",),
        _BAD_DATA,
        "cannot be decompressed: it is cut off,",
    ),
    "unknown ending": (_file("x.dat", _LARGE), ("x.dat",), _USAGE, "--delimiter"),
    "missing database": (_file("y", ""), ("duckdb:///x.db", "--table", "t"), _BAD_DATA, "no database file 'x.db'"),
    "database without the table": (
        _database,
        ("duckdb:///shop.db", "--table", "sales"),
        _BAD_DATA,
        "no table 'sales'; it has 'orders'",
    ),
    "database, no table named": (_database, ("duckdb:///shop.db",), _USAGE, "--table"),
    "no database": (_file("x.db", _LARGE), ("duckdb:///x.db", "--table", "t"), _BAD_DATA, "not a DuckDB database"),
}
for _bad in ("-731973", "731973.5", "nan", "inf", "9223372036854775808", _SECRET, ""):
    _ROWS |= {
        f"count {_bad!r} of a prevalence": (
            _file("x.csv", f"count,prevalence\n5,2\n{_bad},3\n"),
            ("x.csv",),
            _BAD_DATA,
            "'count' must hold whole numbers from 0",
        ),
        f"prevalence {_bad!r}": (
            _file("x.csv", f"count,prevalence\n5,2\n6,{_bad}\n"),
            ("x.csv",),
            _BAD_DATA,
            "'prevalence' must hold whole numbers from 0",
        ),
        f"count {_bad!r} of a label": (
            _file("x.csv", f"label,count\n{_SECRET},5\nheron,{_bad}\n"),
            ("x.csv",),
            _BAD_DATA,
            "'count' must hold whole numbers from 0",
        ),
    }
_ROWS["more items than can be counted"] = (
    _file("x.csv", "count,prevalence\n9223372036854775807,2\n"),
    ("x.csv",),
    _BAD_DATA,
    "2^63",
)


def _is_one_sentence(told: str) -> bool:
    """Return whether one sentence was told, of nothing that went wrong inside and with no value of the data."""
    unsaid = ("Traceback", "internal error", *_VALUES)
    return bool(re.fullmatch(r"anonhist: [^\n]+\.\n", told)) and not any(each in told for each in unsaid)


def _assert_one_sentence(done: CompletedProcess[str]) -> None:
    assert _is_one_sentence(done.stderr), done.stderr
    assert not done.stdout


@pytest.mark.slow
def test_bad_data_end_in_one_sentence_and_nothing_written(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = []
    for number, (row, (prepare, arguments, code, told)) in enumerate(_ROWS.items()):
        own = folder / str(number)
        own.mkdir()
        monkeypatch.chdir(own)
        prepare(own)
        before = sorted(own.iterdir())
        done = cli("release", *arguments, "--epsilon", "1", "-o", "out.json", "--report", "out.html")
        is_told = (done.returncode, told in done.stderr, done.stdout) == (code, True, "")
        if not is_told or not _is_one_sentence(done.stderr) or sorted(own.iterdir()) != before:
            wrong.append((row, done))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", ["missing file", "no such column", "truncated gzip", "unknown ending", "count 'nan' of a label"]
)
def test_a_process_of_its_own_says_the_same(row: str, process: Cli, folder: Path) -> None:
    prepare, arguments, code, told = _ROWS[row]
    prepare(folder)
    before = sorted(folder.iterdir())
    done = process("release", *arguments, "--epsilon", "1", "-o", "out.json")
    _assert_one_sentence(done)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr
    assert sorted(folder.iterdir()) == before


def test_a_file_that_cannot_be_opened_is_bad_data(cli: Cli, folder: Path) -> None:
    # Opening a link to itself fails for everybody, root included.
    (folder / "loop.csv").symlink_to("loop.csv")
    done = cli("release", "loop.csv", "--epsilon", "1")
    _assert_one_sentence(done)
    assert done.returncode == _BAD_DATA


@pytest.mark.slow
def test_equal_counts_are_added_up_and_the_operator_is_told(cli: Cli, terminal: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text("count,prevalence\n5,400\n5,300\n")
    done = cli("release", "x.csv", "--epsilon", "9")
    assert done.returncode == 0
    assert done.stderr == ""
    cells = dict(line.split(",")[:2] for line in done.stdout.splitlines())
    assert abs(int(cells["5"]) - 700) < 10
    assert "were summed" in terminal("release", "x.csv", "--epsilon", "1").stdout


@pytest.mark.slow
def test_standard_input_is_checked_too(process: Cli, folder: Path) -> None:
    before = sorted(folder.iterdir())
    for content, format_ in (
        (b"label,count\nzebra,-731973\n", "counts"),
        (b"", "prevalences"),
        (b"count,prevalence\n5,zebra\n", "prevalences"),
    ):
        done = process("release", "-", "--format", format_, "--epsilon", "1", "-o", "out.json", stdin=content)
        _assert_one_sentence(done)
        assert done.returncode == _BAD_DATA
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", [("estimate", "all"), ("curve", "rarefaction"), ("compare",)])
def test_a_damaged_release_is_not_taken_for_json_lines(folder: Path, cli: Cli, command: tuple[str, ...]) -> None:
    (folder / "cut.json").write_text('{\n  "format": "anonhist.release",\n  "version": 1,\n')
    done = cli(*command, "cut.json", *(("--epsilon", "1") if command == ("compare",) else ()))
    assert (done.returncode, done.stdout) == (3, "")
    assert "'cut.json' is not a release that can be read: it is not valid JSON." in done.stderr


def test_a_release_is_not_released_again(cli: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text(_LARGE)
    for name in ("made.json", "made.parquet"):
        assert cli("release", "x.csv", "--epsilon", "1", "--simulations", "0", "-o", name).returncode == 0
        done = cli("release", name, "--epsilon", "1", "-o", "again.json")
        # What JSON begins with may be a row, which must decide nothing before the charge.
        is_json = name.endswith(".json")
        told = f"if '{name}' is a release, use" if is_json else f"'{name}' is already a release: use"
        assert (done.returncode, done.stdout) == (_USAGE, "")
        assert f"{told} 'anonhist show' or 'anonhist estimate'.\n" in done.stderr
    assert not (folder / "again.json").exists()


def test_a_row_that_looks_like_a_release_decides_nothing(cli: Cli, folder: Path) -> None:
    rows = [json.dumps({"label": f"x{at}"}) for at in range(400)]
    like = json.dumps({"format": "anonhist/release", "version": 1, "label": "x"})
    asked = ("--label", "label", "--epsilon", "1", "-o", "-", "--quiet")
    for name, lines in (("first.json", [like, *rows]), ("last.json", [*rows, like])):
        (folder / name).write_text("\n".join(lines))
        for command in (("release", name), ("estimate", "entropy", name, "--known-items", "401")):
            done = cli(*command, *asked)
            assert done.returncode == 0, done.stderr


def test_files_without_a_release_are_not_asked_for(cli: Cli) -> None:
    assert cli("show", "gone.json").stderr == "anonhist: There is no file 'gone.json'.\n"


@pytest.mark.full
def test_no_command_waits_for_a_pipe_or_reads_a_device_for_ever(
    cli: Cli, refusals: Callable[..., list[CompletedProcess[str]]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonhist.formats.atomic._SECONDS", 0.1)
    assert cli("budget", "create", "d", "--epsilon", "1", "--unit", "item", "--ledger", "b.db").returncode == 0
    for ending in (".json", ".parquet", ".db"):
        os.mkfifo(folder / f"pipe{ending}")
        (folder / f"zero{ending}").symlink_to("/dev/zero")
    new = ("--epsilon", "1", "--alphabet")
    calls = [
        (words, _BAD_DATA, told)
        for name, told in (("pipe", "is a pipe without a writer"), ("zero", "is not a regular file"))
        for words in (
            ("show", f"{name}.json"),
            ("show", f"{name}.parquet"),
            ("budget", "verify", "d", f"{name}.json", "--ledger", "b.db"),
            ("local", "randomize", f"{name}.json", "events.csv", "-o", "out.csv"),
            ("local", "new", "--mechanism", "k-rr", *new, f"{name}.json", "-o", "out.json"),
            ("sketch", "new", *new, f"{name}.json", "-o", "out.sketch"),
        )
    ]
    calls += [
        (("budget", "show", "d", "--ledger", f"{name}.db"), _BAD_DATA, "is not a regular file")
        for name in ("pipe", "zero")
    ]
    assert refusals(calls) == []


def test_a_release_is_shown_from_a_pipe(cli: Cli, folder: Path) -> None:
    assert cli("release", "events.csv", "--epsilon", "1", "-o", "out.json").returncode == 0
    os.mkfifo(folder / "pipe.json")
    writing = threading.Thread(
        target=lambda: (folder / "pipe.json").write_bytes((folder / "out.json").read_bytes()), daemon=True
    )
    writing.start()
    piped, plain = cli("show", "pipe.json"), cli("show", "out.json")
    assert (piped.returncode, piped.stdout) == (0, plain.stdout)
    writing.join()

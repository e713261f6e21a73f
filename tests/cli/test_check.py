"""A check says what a release would read, protect and cost, and reads no row: its words are those of the schema."""

import contextlib
import gzip
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.accounting import Ledger
from anonhist.ingest import query, windows
from anonhist.ingest import read as reading
from anonhist.ingest.groups import reading as of_groups
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
Rows = list[tuple[str, str, str, int]]

ODDEST = "okapi"
USUAL: Rows = [(f"label{at % 7}", f"user{at % 5}", f"2026-11-{1 + at % 9:02}", 1 + at % 3) for at in range(200)]
#: A row that no other column type allows, missing values, an odd date, and many more rows.
ODD: Rows = [(ODDEST, ODDEST, ODDEST, -1), ("", "", "", 0), *USUAL, *USUAL]


def _lines(rows: Rows, sign: str) -> str:
    return "".join(f"{sign.join(map(str, row))}\n" for row in rows)


def _csv(folder: Path, rows: Rows) -> str:
    (folder / "rows.csv").write_text(f"label,who,day,many\n{_lines(rows, ',')}")
    return "rows.csv"


def _tsv(folder: Path, rows: Rows) -> str:
    (folder / "rows.tsv").write_text("label\twho\tday\tmany\n" + _lines(rows, "\t"))
    return "rows.tsv"


def _headerless(folder: Path, rows: Rows) -> str:
    (folder / "bare.csv").write_text(_lines(rows, ","))
    return "bare.csv"


def _jsonl(folder: Path, rows: Rows) -> str:
    names = "label", "who", "day", "many"
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(dict(zip(names, row, strict=True)))}\n" for row in rows))
    return "rows.jsonl"


def _columns(rows: Rows) -> dict[str, Any]:
    return dict(zip(("label", "who", "day", "many"), map(list, zip(*rows, strict=True)), strict=True))


def _parquet(folder: Path, rows: Rows) -> str:
    pq.write_table(pa.table(_columns(rows)), folder / "rows.parquet")
    return "rows.parquet"


def _duckdb(folder: Path, rows: Rows) -> str:
    (folder / "rows.db").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "rows.db")) as connection:
        connection.execute("CREATE TABLE seen (label VARCHAR, who VARCHAR, day VARCHAR, many INTEGER)")
        connection.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", rows)
    return "duckdb:///rows.db"


def _sqlite(folder: Path, rows: Rows) -> str:
    (folder / "rows.sqlite").unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "rows.sqlite")) as connection:
        connection.execute("CREATE TABLE seen (label TEXT, who TEXT, day TEXT, many INTEGER)")
        connection.executemany("INSERT INTO seen VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    return "sqlite:///rows.sqlite"


_BOUNDED = ("--user", "who", "--max-per-user", "5", "--count", "none")
_ALL = ("--label", "label", *_BOUNDED)
SOURCES: dict[str, tuple[Callable[[Path, Rows], str], tuple[str, ...]]] = {
    "csv": (_csv, _ALL),
    "tsv": (_tsv, _ALL),
    "headerless": (
        _headerless,
        ("--no-header", "--label", "column0", "--user", "column1", "--max-per-user", "5", "--count", "none"),
    ),
    "jsonl": (_jsonl, _ALL),
    "parquet": (_parquet, _ALL),
    "duckdb": (_duckdb, (*_ALL, "--table", "seen")),
    "sqlite": (_sqlite, (*_ALL, "--table", "seen")),
}


def _refuse(*_: object, **__: object) -> Any:
    raise AssertionError("A row was read.")


@pytest.fixture
def no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every query of rows fail, wherever it is called."""
    asked = "fetch", "counted_events", "record_batches", "batches"
    for module in (query, reading, of_groups, windows):
        for name in {*asked} & vars(module).keys():
            monkeypatch.setattr(module, name, _refuse)


@pytest.mark.usefixtures("no_rows")
@each_of("kind", SOURCES)
def test_no_row_is_read(kind: str, cli: Cli, folder: Path) -> None:
    write, options = SOURCES[kind]
    source, date = write(folder, USUAL), "column2" if kind == "headerless" else "day"
    grouped = "--by", f"day({date})", "--groups", "2026-11-02,2026-11-03"
    dated = "--cumulative-by", f"day({date})", "--days", "2026-11-02,2026-11-03", "--thresholds", "1,2"
    for more in ((), grouped, dated):
        done = cli("check", source, *options, "--epsilon", "1", *more)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"^Label: .*\nUser: ", done.stdout, re.MULTILINE)
        assert done.stdout.endswith("Checked: No row was read, and nothing was charged.\n")
        # What reads is caught.
        assert cli("release", source, *options, "--epsilon", "1", *more).returncode != 0


def _poisoned(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return sources that have a schema and fail when a row is read, with what names their columns."""
    bad = b'\xff\xfe\x00,"never closed\n' * 3
    (folder / "bad.csv").write_bytes(b"label,who,day,many\n" + bad)
    (folder / "bad.csv.gz").write_bytes(gzip.compress(b"label,who,day,many\n" + bad))
    (folder / "bad.tsv").write_bytes(b"label\twho\tday\tmany\n" + bad)
    (folder / "bad.jsonl").write_bytes(b"[{" + bad)
    (folder / "bare.csv").write_bytes(bad)
    (folder / "bad.txt").write_bytes(bad)
    whole = Path(_parquet(folder, USUAL)).read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    (folder / "bad.parquet").write_bytes(b"PAR1" + b"\0" * (len(whole) - footer - 4) + whole[-footer:])
    with duckdb.connect(str(folder / "bad.db")) as connection:
        # An insertion computes it, too, and what is read is opened read-only.
        read = "CASE WHEN current_setting('access_mode') = 'read_only' THEN error('read') END"
        connection.execute(f"CREATE TABLE seen (who VARCHAR, label VARCHAR AS ({read}))")
        connection.execute("INSERT INTO seen VALUES ('ann')")
        connection.execute("CREATE VIEW shown AS SELECT error('read') AS label, who FROM seen")
    with contextlib.closing(sqlite3.connect(folder / "bad.sqlite")) as connection:
        connection.execute("CREATE VIEW seen AS SELECT abs(-9223372036854775808) AS label, 1 AS who")
        connection.commit()
    return {
        **dict.fromkeys(("bad.csv", "bad.csv.gz", "bad.tsv", "bad.jsonl", "bad.parquet"), _ALL),
        "bare.csv": ("--no-header", "--label", "column0"),
        "bad.txt": ("--format", "labels"),
        "duckdb:///bad.db": ("--table", "seen", *_ALL),
        "sqlite:///bad.sqlite": ("--table", "seen", *_ALL),
    }


def test_rows_that_cannot_be_read_are_not_noticed(cli: Cli, folder: Path) -> None:
    for source, options in _poisoned(folder).items():
        done = cli("check", source, *options)
        assert (done.returncode, done.stderr) == (0, ""), source
        # A release of them fails, so these rows are read by it.
        assert cli("release", source, *options, "--epsilon", "1").returncode == 3, source
    done = cli("check", "duckdb:///bad.db", "--table", "shown", "--label", "label")
    assert (done.returncode, done.stderr) == (0, "")


@each_of("kind", SOURCES)
def test_output_depends_on_no_row(kind: str, cli: Cli, folder: Path) -> None:
    write, options = SOURCES[kind]
    date = "column2" if kind == "headerless" else "day"
    calls = (
        options,
        (*options, "--epsilon", "1"),
        (*options, "--epsilon", "1", "--excess-share", "0.05"),
        (*options, "--order-by", date),
        (*options, "--by", f"week({date})", "--groups", "2026-11-02", "--max-groups-per-user", "2"),
        (*options, "--cumulative-by", f"day({date})", "--days", "2026-11-01..2026-11-03", "--thresholds", "1,2"),
    )
    told: list[list[str]] = []
    for rows in (USUAL, ODD, USUAL[:1]):
        source = write(folder, rows)
        done = [cli("check", source, *call) for call in calls]
        assert [each.returncode for each in done] == [0] * len(calls), done
        told.append([each.stdout + each.stderr for each in done])
    assert told[0] == told[1] == told[2]
    assert not [text for text in told[0] if ODDEST in text or "label3" in text or "200" in text]


@pytest.mark.parametrize("first", [f"{ODDEST}\n", f"{ODDEST},x,y\n", f'"{ODDEST}\n', f"\ufeff{ODDEST},x\n"])
def test_the_first_line_of_a_headerless_file_is_nowhere(first: str, cli: Cli, folder: Path) -> None:
    for encoding in ("utf-8", "utf-16"):
        (folder / "bare.csv").write_bytes((first + "a,b\n").encode(encoding))
        for options in ((), ("--label", "column1"), ("--format", "counts"), ("--label", "nowhere")):
            done = cli("check", "bare.csv", "--no-header", *options)
            (folder / "bare.csv").write_text("a,b\n")
            plain = cli("check", "bare.csv", "--no-header", *options)
            assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
            (folder / "bare.csv").write_bytes((first + "a,b\n").encode(encoding))
            # Who forgot to say so learns no more than of a release.
            taken = cli("check", "bare.csv", *options)
            assert ODDEST not in done.stdout + done.stderr + taken.stdout + taken.stderr


def test_a_view_that_infers_its_columns_is_not_looked_into(cli: Cli, folder: Path) -> None:
    told = set()
    for content in ("label,n\n1,2\n", f"label,n\n{ODDEST},x\n", "other\n1\n"):
        (folder / "below.csv").write_text("label,n\n1,2\n")
        (folder / "views.db").unlink(missing_ok=True)
        with duckdb.connect(str(folder / "views.db")) as connection:
            connection.execute("CREATE VIEW v AS SELECT * FROM read_csv_auto('below.csv')")
        (folder / "below.csv").write_text(content)
        for options in (("--label", "label"), ("--label", "label", "--count", "n", "--epsilon", "1")):
            done = cli("check", "duckdb:///views.db", "--table", "v", *options)
            assert (done.returncode, done.stderr) == (0, "")
            told.add((options, done.stdout))
    assert len(told) == 2
    assert "may find its columns in them" in next(iter(told))[1]


def test_columns_are_told_by_their_roles_and_types(cli: Cli, folder: Path) -> None:
    moment = pa.array([0], pa.timestamp("us", "UTC"))
    kinds = {"n": pa.array([1]), "x": pa.array([0.5]), "t": moment, "d": pa.array([1], pa.date32()), "s": ["a"]}
    pq.write_table(pa.table(kinds), folder / "kinds.parquet")
    lines = {
        name: cli("check", "kinds.parquet", "--label", name, "--count", "none").stdout.splitlines()[2] for name in kinds
    }
    assert lines == {
        "n": "Label: 'n', whole numbers.",
        "x": "Label: 'x', floats, of which whole ones are written as whole numbers.",
        "t": "Label: 't', times, in UTC where they have a zone.",
        "d": "Label: 'd', dates.",
        "s": "Label: 's', text.",
    }
    counted = cli("check", "kinds.parquet", "--label", "s", "--count", "n", "--by", "day(t)", "--find-groups").stdout
    assert counted.splitlines()[1:6] == [
        "Rows: each is a label with its count (counts).",
        "Label: 's', text.",
        "Count: 'n', whole numbers.",
        "Group: 't', dates, by day; times, in UTC where they have a zone.",
        "Not read: 'x', 'd'.",
    ]
    by_value = cli("check", _sqlite(folder, USUAL), "--table", "seen", "--label", "many").stdout
    assert "Label: 'many', each value for itself, as the types of SQLite do not bind.\n" in by_value
    header = cli("check", _csv(folder, USUAL), "--label", "label", "--count", "many").stdout
    assert "Count: 'many', whole numbers, from text.\nNot read: 'who', 'day'.\n" in header


def test_prices_are_those_of_a_release(cli: Cli, folder: Path) -> None:
    del folder
    calls = (
        ("--epsilon", "0.5"),
        ("--epsilon", "2"),
        ("--epsilon", "1", "--unit", "label", "--max-count", "4"),
        ("--epsilon", "1", "--mechanism", "privhist"),
    )
    for call in calls:
        checked = cli("check", "events.csv", *call)
        released = cli("release", "events.csv", *call, "--simulations", "0", "-o", "out.json", "--force")
        for name in ("Promise", "Protection", "Mechanism"):
            (told,) = (line for line in checked.stdout.splitlines() if line.startswith(f"{name}: "))
            (of_release,) = (line for line in released.stdout.splitlines() if line.startswith(f"{name}: "))
            assert told == of_release, call


def test_a_ledger_is_read_and_stays_as_it_is(cli: Cli, folder: Path) -> None:
    cli("budget", "create", "pets", "--ledger", "budget.db", "--epsilon", "3", "--unit", "item")
    cli("budget", "create", "people", "--ledger", "budget.db", "--epsilon", "3", "--unit", "user")
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    account = "--ledger", "budget.db", "--dataset", "pets"
    told = cli("check", "events.csv", "--epsilon", "1", *account).stdout
    assert "Ledger: budget.db: 'pets' has ε = 3 and δ = 10⁻⁹ left; this release would take ε = 1 and leave " in told
    assert "Ledger: budget.db: 'pets' has ε = 3 and δ = 10⁻⁹ left.\n" in cli("check", "events.csv", *account).stdout
    refusals = {
        ("--epsilon", "4", *account): 2,
        ("--epsilon", "1", "--ledger", "budget.db", "--dataset", "cars"): 2,
        ("--epsilon", "1", "--ledger", "budget.db"): 2,
        ("--epsilon", "1", "--ledger", "other.db", "--dataset", "pets"): 3,
        ("--epsilon", "1", "--ledger", "budget.db", "--dataset", "people"): 2,
    }
    for call, code in refusals.items():
        done, released = (cli(command, "events.csv", *call) for command in ("check", "release"))
        assert (done.returncode, done.stdout, done.stderr) == (code, "", released.stderr)
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()} == before
    with Ledger("budget.db") as ledger:
        assert len(ledger.entries()) == 2


def test_what_a_schema_is_refused_for_is_refused_as_a_release_would(cli: Cli, folder: Path) -> None:
    _csv(folder, USUAL)
    (folder / "counted.csv").write_text("word,n\na,1\n")
    (folder / "semi.csv").write_text("a;b\nx;y\n")
    _duckdb(folder, USUAL)
    calls: tuple[tuple[str, ...], ...] = (
        ("rows.csv",),
        ("rows.csv", "--label", "nothing"),
        ("rows.csv", "--label", "label", "--user", "who"),
        ("rows.csv", "--label", "label", "--user", "none", "--max-per-user", "1"),
        ("rows.csv", "--label", "label", "--by", "none", "--groups", "a"),
        ("rows.csv", "--label", "label", "--by", "label", "--groups", "a"),
        ("rows.csv", "--label", "label", "--cumulative-by", "day", "--days", "2026-11-01", "--thresholds", "1"),
        ("counted.csv", "--label", "word"),
        ("semi.csv",),
        ("absent.csv",),
        ("rows.weird",),
        ("duckdb:///rows.db",),
        ("duckdb:///rows.db", "--table", "none"),
        ("rows.csv", "--label", "label", "--mechanism", "prevalence"),
        ("rows.csv", "--label", "label", "--excess-share", "0.1"),
        ("-",),
    )
    for call in calls:
        done, released = (cli(command, *call, "--epsilon", "1") for command in ("check", "release"))
        assert done.returncode in (2, 3), call
        assert (done.returncode, done.stdout, done.stderr) == (released.returncode, "", released.stderr), call


def test_what_matters_to_the_cost_alone_needs_epsilon(cli: Cli) -> None:
    for option in (("--mechanism", "frobenius"), ("--public-cap", "5"), ("--expected-items", "7")):
        done = cli("check", "events.csv", *option)
        told = f"anonhist: {option[0]} affects what a release costs: add --epsilon, or leave it out.\n"
        assert (done.returncode, done.stderr) == (2, told)


def test_parts_say_themselves_what_they_hold(cli: Cli, folder: Path) -> None:
    cli("count", _csv(folder, USUAL), "--label", "label", "--user", "who", "--max-per-user", "3", "-o", "a.counts")
    done = cli("check", "a.counts", "--epsilon", "1")
    assert done.stdout.startswith("Source: parts that 'anonhist count' made.\nRows: items of users")
    assert "at most 3 of them count" in done.stdout
    refused = cli("check", "a.counts", "--label", "label", "--epsilon", "1")
    assert (refused.returncode, refused.stderr) == (
        2,
        cli("release", "a.counts", "--label", "label", "--epsilon", "1").stderr,
    )


def test_a_terminal_shows_a_table(terminal: Cli, folder: Path) -> None:
    _csv(folder, USUAL)
    shown = terminal("check", "rows.csv", *_ALL).stdout
    assert re.search(r"^role +column +taken for *$", shown, re.MULTILINE)
    assert re.search(r"^user +'who' +text *$", shown, re.MULTILINE)
    assert terminal("check", "rows.csv", *_ALL, "--quiet").stdout == ""


@each_of("write", [_csv, _jsonl])
def test_a_condition_on_rows_is_told_with_its_columns(
    cli: Cli, folder: Path, write: Callable[[Path, Rows], str]
) -> None:
    call = write(folder, USUAL), "--label", "label", "--where", "day >= '2026-11-02' and who is not null"
    lines = cli("check", *call).stdout.splitlines()
    assert lines[1].endswith("those count where day >= '2026-11-02' and who is not null.")
    assert [line.partition(",")[0] for line in lines if line.startswith("Condition")] == [
        "Condition: 'day'",
        "Condition: 'who'",
    ]


def test_a_condition_that_the_schema_cannot_have_is_refused_as_a_release_is(cli: Cli, folder: Path) -> None:
    call = _csv(folder, USUAL), "--label", "label", "--epsilon", "1", "--where"
    for where in ("many >= 2", "nowhere = 'x'", "length(who) = 3", "who = 'x' or"):
        done, released = cli("check", *call, where), cli("release", *call, where)
        assert (done.returncode, done.stderr) == (released.returncode, released.stderr), where
        assert done.returncode in (2, 3), where

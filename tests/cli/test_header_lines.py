"""Header lines are public: what one lacks costs nothing, and no word of it is told. First rows decide nothing."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.accounting import Ledger
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
DAYS = ("--days", "2026-11-01..2026-11-02", "--thresholds", "1")
USER = ("--label", "{0}", "--user", "{1}", "--max-per-user", "1")
# Of each command, how it names columns; the last named is the one that is mistyped.
COMMANDS = {
    "release": ("release", ("--label", "{0}")),
    "users": ("release", USER),
    "order": ("release", (*USER, "--order-by", "{2}")),
    "groups": ("release", ("--label", "{0}", "--groups", "a,b", "--by", "{2}")),
    "found groups": ("release", ("--label", "{0}", "--find-groups", "--delta", "1e-10", "--by", "{2}")),
    "windows": ("release", ("--label", "{0}", *DAYS, "--cumulative-by", "day({2})")),
    "windows of groups": (
        "release",
        (*DAYS, "--cumulative-by", "day({2})", "--groups", "a", "--label", "{0}", "--by", "{1}"),
    ),
    "estimate": ("estimate", ("--label", "{0}")),
    "degrees": ("degrees", ("--unit", "edge", "--source", "{0}", "--target", "{1}")),
}
LEDGER = ("--ledger", "budget.db", "--dataset", "data")


def _asked(command: str, source: str, names: tuple[str, ...]) -> tuple[str, ...]:
    verb, said = COMMANDS[command]
    first = ("entropy", source) if verb == "estimate" else (source,)
    return (verb, *first, *(each.format(*names) for each in said), "--epsilon", "1", *LEDGER)


def _charge(cli: Cli, folder: Path, command: str, asked: tuple[str, ...]) -> tuple[str, str]:
    """Return what is told, and how the charge ended."""
    for path in folder.glob("budget.db*"):
        path.unlink()
    unit = "edge" if command == "degrees" else "user" if "user" in " ".join(asked) else "item"
    cli("budget", "create", "data", "--epsilon", "9", "--delta", "1e-5", "--unit", unit, "--ledger", "budget.db")
    refused = cli(*asked)
    assert refused.returncode in (2, 3), refused.stderr
    with Ledger("budget.db") as ledger:
        (item,) = ledger.balance("data").items
    return refused.stderr, str(item.state)


@pytest.mark.slow
@each_of("command", list(COMMANDS))
def test_a_mistyped_column_of_a_header_line_costs_nothing(command: str, cli: Cli, folder: Path) -> None:
    (folder / "d.csv").write_text("zebra,okapi,heron\n" + "a,u,2026-11-01\n" * 200)
    said = " ".join(COMMANDS[command][1])
    wrong = max(said.rfind(f"{{{place}}}") for place in range(3))
    place = int(said[wrong + 1])
    names = tuple("mistyped" if at == place else name for at, name in enumerate(("zebra", "okapi", "heron")))
    told, state = _charge(cli, folder, command, _asked(command, "d.csv", names))
    assert "There is no column 'mistyped'" in told
    assert "there are 3 columns" in told
    assert not {"zebra", "okapi", "heron"} & set(told.replace("'", " ").split())
    assert state == "void"


@pytest.mark.slow
@each_of("command", list(COMMANDS))
def test_without_a_header_line_the_first_row_decides_nothing(command: str, cli: Cli, folder: Path) -> None:
    # Whether the first row has too few fields, or another has, the data are opened after the charge, which is kept.
    for name, rows in (
        ("short", "a\n" + "a,u,2026-11-01\n" * 200),
        ("long", "a,u,2026-11-01,x\n" + "a,u,2026-11-01\n" * 200),
    ):
        (folder / f"{name}.csv").write_text(rows)
        asked = (*_asked(command, f"{name}.csv", ("column0", "column1", "column2")), "--no-header")
        _, state = _charge(cli, folder, command, asked)
        assert state == "charged, file unknown", name
    if command == "release":
        for kind in ("counts", "prevalences"):
            asked = ("release", "short.csv", "--no-header", "--format", kind, "--epsilon", "1", *LEDGER)
            assert _charge(cli, folder, command, asked)[1] == "charged, file unknown"


@pytest.mark.slow
def test_header_lines_that_are_none_or_differ_cost_nothing(cli: Cli, folder: Path) -> None:
    (folder / "a.csv").write_text("zebra,okapi\na,u\n")
    for number, line in enumerate(("", "okapi,zebra", 'ze"bra"x,okapi', "zebra")):
        (folder / "b.csv").write_text(f"{line}\na,u\n")
        source = "?.csv"
        told, state = _charge(cli, folder, "release", _asked("release", source, ("zebra",)))
        assert "zebra" not in told
        assert "okapi" not in told
        assert state == "void", number

"""Entrances of the command line, in this process: they release with so much budget that results are exact."""

from __future__ import annotations

import csv
import io
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.cli.entry import BAD_DATA, DONE, USAGE, run
from anonhist.errors import DataError
from anonhist.formats.files import read as read_file
from anonhist.ingest import read_profile
from anonhist_testing.way_in.distances import sorted_l1_of_groups, sorted_l1_of_profiles
from anonhist_testing.way_in.entrances import KEY, Entrance, Measure, condition_on
from anonhist_testing.way_in.other_entrances import COUNT
from anonhist_testing.way_in.tables import Role, Unit, Use
from anonhist_testing.way_in.values import written

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist_testing.way_in.sources import Source

    Read = Callable[[Any, dict[str, Any], list[Any]], Any]

_NODE, _NAME, _LABEL = Role(Use.WHOLE_NAMES, 20), Role(Use.NAMES), Role(Use.NAMES, 30)
# Noise of this rate is zero, except one time in e^(5·10^8).
_EXACT = ("--epsilon", "1e9", "--simulations", "0")
_OF_USERS = ("--user", "who", "--max-per-user", "2", "--order-key", KEY)


def _run(*words: str) -> None:
    """Run a command; raise its message if it refuses to run."""
    told = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(told):
        code = run(list(words))
    if code in (USAGE, BAD_DATA):
        raise DataError(told.getvalue().strip())
    if code != DONE:
        raise AssertionError(f"exit code {code}: {told.getvalue().strip()}")


def _said(said: dict[str, Any]) -> list[str]:
    return [word for name, value in said.items() for word in (f"--{name}", str(value))]


def _given(words: tuple[str, ...], groups: list[Any], listed: str) -> list[str]:
    """Return words with the file of groups, and a condition on their column, in their places."""
    named = {"GROUPS": listed, "CONDITION": condition_on("where", groups)}
    return [named.get(word, word) for word in words]


def _counting(*words: str) -> Read:
    def read(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
        with tempfile.TemporaryDirectory(prefix="way-in-") as folder:
            given = ("--label", "what", *_given(words, groups, ""), "-o", f"{folder}/part.counts", "--quiet")
            _run("count", source, *_said(said), *given)
            return read_profile(f"{folder}/part.counts")

    return read


def _releasing(command: str, *words: str) -> Read:
    """Return a function that releases a source, and reads the release."""

    def read(source: Any, said: dict[str, Any], groups: list[Any]) -> Any:
        with tempfile.TemporaryDirectory(prefix="way-in-") as folder:
            path, listed = Path(folder, "release.json"), Path(folder, "groups.csv")
            with listed.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("where",), *((written(group),) for group in groups)])
            given = _given(words, groups, str(listed))
            _run(command, source, *_said(said), *given, *_EXACT, "-o", str(path), "--quiet")
            return read_file(path)

    return read


def _of_releases(promise: Callable[[int], int]) -> Callable[[Any, Any, int], list[Measure]]:
    return lambda few, more, rows: [Measure(sorted_l1_of_profiles(few.profile, more.profile), promise(rows))]


def _of_groups(few: Any, more: Any, _: int) -> list[Measure]:
    first, second = ({name: each.profile for name, each in whole.items()} for whole in (few, more))
    return [Measure(sorted_l1_of_groups(first, second), 1)]


def _has_address(source: Source) -> bool:
    return source.has_address and not source.of_edges


COMMANDS = (
    Entrance(
        "anonhist count",
        {"what": _LABEL},
        Unit(),
        _counting(),
        lambda few, more, _: [Measure(sorted_l1_of_profiles(few, more), 1)],
        _has_address,
    ),
    Entrance(
        "anonhist release",
        {"what": _LABEL},
        Unit(),
        _releasing("release", "--label", "what", "--keep-null"),
        _of_releases(lambda _: 1),
        _has_address,
    ),
    Entrance(
        "anonhist release of counts",
        {"what": _LABEL, "n": COUNT},
        Unit(),
        _releasing("release", "--label", "what", "--count", "n"),
        _of_releases(lambda _: 1),
        _has_address,
    ),
    Entrance(
        "anonhist release of users",
        {"who": _NAME, "what": _LABEL},
        Unit(5, "who"),
        _releasing("release", "--label", "what", *_OF_USERS),
        _of_releases(lambda rows: min(2, rows)),
        _has_address,
    ),
    Entrance(
        "anonhist release of groups",
        {"where": Role(Use.GROUPS, 8), "what": _LABEL},
        Unit(),
        _releasing("release", "--label", "what", "--by", "where", "--groups", "GROUPS"),
        _of_groups,
        _has_address,
    ),
    Entrance(
        "anonhist release of filtered rows",
        {"where": Role(Use.GROUPS, 8), "who": _NAME, "what": _LABEL},
        Unit(5, "who"),
        _releasing("release", "--label", "what", "--where", "CONDITION", *_OF_USERS),
        _of_releases(lambda rows: min(2, rows)),
        _has_address,
    ),
    Entrance(
        "anonhist count of filtered rows",
        {"where": Role(Use.GROUPS, 8), "what": _LABEL},
        Unit(),
        _counting("--where", "CONDITION"),
        lambda few, more, _: [Measure(sorted_l1_of_profiles(few, more), 1)],
        _has_address,
    ),
    Entrance(
        "anonhist degrees",
        {"source": _NODE, "target": _NODE},
        Unit(),
        _releasing("degrees", "--source", "source", "--target", "target", "--unit", "edge"),
        _of_releases(lambda _: 2),
        _has_address,
    ),
)

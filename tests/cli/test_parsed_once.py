"""What is typed is parsed once, and what is made of it is made once and passed on."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from anonhist.local.surveys.survey import Survey
from anonhist.mechanisms.basis.setting import Setting
from anonhist.privacy import parse_epsilon

Cli = Callable[..., CompletedProcess[str]]

RELEASE = ("release", "events.csv", "-o", "out.json", "--quiet", "--epsilon")
COMMANDS = {
    "frobenius": ((*RELEASE, "0.7"), "FrobeniusMechanism"),
    "partition": ((*RELEASE, "2.5"), "PartitionMechanism"),
    "named": ((*RELEASE, "0.7", "--mechanism", "cumulative", "--public-cap", "9"), "CumulativeMechanism"),
    "local": (
        ("local", "new", "--mechanism", "k-rr", "--alphabet-size", "4", "--epsilon", "0.7", "-o", "s.json"),
        "KRR",
    ),
    "sketch": (("sketch", "new", "--buckets", "8", "--epsilon", "0.7", "-o", "x.sketch"), None),
}


@pytest.mark.parametrize(("command", "made"), COMMANDS.values(), ids=COMMANDS)
def test_epsilon_is_parsed_once_and_one_mechanism_made(
    command: tuple[str, ...], made: str | None, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, mechanisms = _record_parsing(monkeypatch), list[str]()
    for kind in (Setting, Survey):

        def count_check(self: object, own: Any = kind.__post_init__) -> None:
            mechanisms.append(type(self).__name__)
            own(self)

        monkeypatch.setattr(kind, "__post_init__", count_check)
    assert cli(*command).returncode == 0
    assert texts == [command[command.index("--epsilon") + 1]]
    assert mechanisms == ([] if made is None else [made])
    assert any(path.name != "events.csv" for path in folder.iterdir())


@pytest.mark.parametrize("unit", ["edge", "node"])
def test_epsilon_of_degrees_is_parsed_once(unit: str, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = _record_parsing(monkeypatch)
    (folder / "edges.txt").write_text("1 2\n2 3\n3 1\n")
    command = ("degrees", "edges.txt", "--unit", unit, "--epsilon", "0.7", "--simulations", "0")
    assert cli(*command, "-o", "out.json").returncode == 0
    assert texts == ["0.7"]


def _record_parsing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every text is added that is parsed from now on."""
    texts: list[str] = []
    parse = parse_epsilon.__globals__["_from_text"]

    def note(text: str) -> Any:
        texts.append(text)
        return parse(text)

    monkeypatch.setitem(parse_epsilon.__globals__, "_from_text", note)
    return texts

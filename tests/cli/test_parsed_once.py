"""What is typed is parsed once, and what is made of it is made once and passed on."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from anonhist.graphs import EdgeMechanism
from anonhist.graphs.bounding import CANDIDATES
from anonhist.local.survey import Survey
from anonhist.mechanisms.setting import Setting
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
    texts, mechanisms = _record_parsing(monkeypatch), _record_mechanisms(monkeypatch, Setting, Survey)
    assert cli(*command).returncode == 0
    assert texts == [command[command.index("--epsilon") + 1]]
    assert _kinds(mechanisms) == ([] if made is None else [made])
    assert any(path.name != "events.csv" for path in folder.iterdir())


DEGREES = {
    "edge": (("--unit", "edge"), ["FrobeniusMechanism", "EdgeMechanism"]),
    "edge named": (
        ("--unit", "edge", "--public-nodes", "9", "--mechanism", "isotonic"),
        ["IsotonicMechanism", "EdgeMechanism"],
    ),
    "node": (
        ("--unit", "node", "--max-degree", "2"),
        ["SurvivalDegrees", "PartitionDegrees", "FrobeniusMechanism", "HistogramDegrees"],
    ),
    # One for each candidate, and the one that was drawn once more, with the choice.
    "node chosen": (("--unit", "node", "--mechanism", "survival"), ["SurvivalDegrees"] * (len(CANDIDATES) + 1)),
}


@pytest.mark.parametrize(("options", "made"), DEGREES.values(), ids=DEGREES)
def test_epsilon_of_degrees_is_parsed_once_and_no_mechanism_made_twice(
    options: tuple[str, ...], made: list[str], folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, mechanisms = _record_parsing(monkeypatch), _record_mechanisms(monkeypatch, Setting, EdgeMechanism)
    (folder / "edges.txt").write_text("1 2\n2 3\n3 1\n")
    command = ("degrees", "edges.txt", *options, "--epsilon", "0.7", "--simulations", "0")
    assert cli(*command, "-o", "out.json").returncode == 0
    assert texts == ["0.7"]
    assert len({*mechanisms}) == len(mechanisms)
    assert _kinds(mechanisms) == made


def _record_parsing(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which every text is added that is parsed from now on."""
    texts: list[str] = []
    parse = parse_epsilon.__globals__["_from_text"]

    def note(text: str) -> Any:
        texts.append(text)
        return parse(text)

    monkeypatch.setitem(parse_epsilon.__globals__, "_from_text", note)
    return texts


def _record_mechanisms(monkeypatch: pytest.MonkeyPatch, *kinds: type[Any]) -> list[str]:
    """Return a list to which every mechanism is added, as text, that is made from now on."""
    mechanisms: list[str] = []
    for kind in kinds:

        def checked(self: object, own: Any = kind.__post_init__) -> None:
            mechanisms.append(repr(self))
            own(self)

        monkeypatch.setattr(kind, "__post_init__", checked)
    return mechanisms


def _kinds(mechanisms: list[str]) -> list[str]:
    return [mechanism.partition("(")[0] for mechanism in mechanisms]

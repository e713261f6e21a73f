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
    texts: list[object] = []
    mechanisms: list[str] = []
    parsed = parse_epsilon.__globals__["_from_text"]

    def parse(text: str) -> Any:
        texts.append(text)
        return parsed(text)

    monkeypatch.setitem(parse_epsilon.__globals__, "_from_text", parse)
    for kind in (Setting, Survey):

        def checked(self: object, own: Any = kind.__post_init__) -> None:
            mechanisms.append(type(self).__name__)
            own(self)

        monkeypatch.setattr(kind, "__post_init__", checked)
    assert cli(*command).returncode == 0
    assert texts == [command[command.index("--epsilon") + 1]]
    assert mechanisms == ([] if made is None else [made])
    assert any(path.name != "events.csv" for path in folder.iterdir())

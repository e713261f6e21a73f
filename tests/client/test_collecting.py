"""docs/collecting.md, from a survey to an estimate: its commands, and its collector with devices in Python."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import anonhist as ah
from anonhist.cli.entry import anonhist as command_line

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "collecting.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_the_commands_and_the_collector_lead_to_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("modes.txt").write_text("bus\ncar\nbicycle\n", encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    before, after = (block for language, block in blocks if not language)
    (program,) = (block for language, block in blocks if language == "python")

    def run(commands: str) -> None:
        for line in commands.splitlines():
            done = CliRunner().invoke(command_line, line.split()[1:], catch_exceptions=False)
            assert done.exit_code == 0, done.output

    run(before)
    collection = ah.read("collection.json")
    assert collection.survey.labels.names() == ("bus", "car", "bicycle")
    names: dict[str, Any] = {}
    exec(compile(program, "docs/collecting.md", "exec"), names)  # noqa: S102

    def post(body: bytes) -> str:
        told: list[str] = []
        environ = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        assert names["collector"](environ, lambda *answer: told.append(answer[0])) == []
        return told[0]

    for number in range(60):
        answered = {"value": "bus", "memory": f"{number}.db"}
        assert post(collection.answer(**answered).encode()) == "204 No Content"
        if number % 10 == 0:
            # A retry sends the same line.
            post(collection.answer(**answered).encode())
    # A report that was not kept is not said to have arrived.
    assert post(b"not a line") == "400 Bad Request"
    assert post(b"x" * 100_000 + b"\n") == "204 No Content"
    post(b"\xff\n")
    run(after)
    assert ah.read("tally.json").users == 60

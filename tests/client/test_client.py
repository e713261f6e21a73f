"""The JavaScript client: its own tests under Node, and broken clients, each of which they must catch."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLIENT = HERE.parents[1] / "src" / "anonhist" / "local" / "client"
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(NODE is None, reason="Node is not installed: the JavaScript client is not tested"),
]


def run_tests(name: str, client: Path, **first: str) -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    command = [NODE, str(HERE / name)]
    environment = {**os.environ, **first, "CLIENT": client.as_uri()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.mjs")))
def test_the_client_passes(name: str) -> None:
    done = run_tests(name, CLIENT / "client.js")
    assert done.returncode == 0, done.stdout
    assert "fail 0\n" in done.stdout


# What is broken, what it was, what it becomes, and the tests that must see it.
BROKEN = {
    "a threshold off by 2^-40": (
        "[(above << bits) / below]);",
        "[(above << bits) / below + (bits > 40n ? 1n << (bits - 40n) : 0n)]);",
        "drawing.test.mjs",
    ),
    "a threshold of bytes off by 2^-180": (
        "/ below ** 8n);",
        "/ below ** 8n + (bits > 180n ? 1n << (bits - 180n) : 0n));",
        "drawing.test.mjs",
    ),
    "Math.random": (
        "crypto.getRandomValues(halves.subarray(at, at + 16384));",
        "halves.subarray(at, at + 16384).forEach((_, i) => (halves[at + i] = Math.random() * 2 ** 32));",
        "collection.test.mjs",
    ),
    "a digest not checked": ("digestOf(content) !== digest || ", "", "collection.test.mjs"),
    "a digest that is named but not compared": (" || (isPinned && pinned !== digest)", "", "collection.test.mjs"),
    "no digest is needed": ("if (!isPinned && unpinned !== true)", "if (false)", "collection.test.mjs"),
    "a description that names a field twice": ("!isPlain || ", "", "collection.test.mjs"),
    "lines of several lengths": ('.padStart(most, "0")', "", "collection.test.mjs"),
    "the clock of the device in identifiers": (
        "today === undefined ? 0 : /^\\d{4}-\\d\\d-\\d\\d$/.test(today) ? Date.parse(today) / 864e5 : NaN",
        "Math.floor(Date.now() / 864e5)",
        "collection.test.mjs",
    ),
    "a day in the time zone of the device": (
        "/^\\d{4}-\\d\\d-\\d\\d$/.test(today) ? Date.parse(today) / 864e5 : NaN",
        "Date.parse(today) / 864e5",
        "collection.test.mjs",
    ),
    "an invitation that is not sent": ("this.#lastDay ? invitation : undefined", "undefined", "invitations.test.mjs"),
    "any text as an invitation": ("/^[0-9a-f]{32}$/.test(`${invitation}`) && ", "", "invitations.test.mjs"),
    "an invitation to another collection": (" && invitation?.startsWith(this.#lastDay)", "", "invitations.test.mjs"),
    "a tie that is not drawn on": ("if (!count || floors", "if (bits > 64n || !count || floors", "drawing.test.mjs"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_client_is_caught(what: str, tmp_path: Path) -> None:
    whole, broken, name = BROKEN[what]
    text = (CLIENT / "client.js").read_text(encoding="utf-8")
    assert text.count(whole) == 1
    shutil.copy(CLIENT / "package.json", tmp_path)
    client = tmp_path / "client.js"
    client.write_text(text.replace(whole, broken), encoding="utf-8")
    done = run_tests(name, client, FIRST="1")
    assert done.returncode == 1, done.stdout
    assert "not ok" in done.stdout

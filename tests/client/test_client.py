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


def run_tests(name: str, client: Path) -> subprocess.CompletedProcess[str]:
    assert NODE is not None
    command = [NODE, "--test", str(HERE / name)]
    environment = {**os.environ, "CLIENT": client.as_uri()}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.mjs")))
def test_the_client_passes(name: str) -> None:
    done = run_tests(name, CLIENT / "client.js")
    assert done.returncode == 0, done.stdout


# What is broken, what it was, what it becomes, and the tests that must see it.
BROKEN = {
    "a threshold off by 2^-40": (
        "[(above << bits) / below])[0];",
        "[(above << bits) / below + (bits > 40n ? 1n << (bits - 40n) : 0n)])[0];",
        "drawing.test.mjs",
    ),
    "a threshold of bytes off by 2^-180": (
        "/ below ** 8n);",
        "/ below ** 8n + (bits > 180n ? 1n << (bits - 180n) : 0n));",
        "drawing.test.mjs",
    ),
    "Math.random": (
        "crypto.getRandomValues(halves.subarray(at, at + MOST_HALVES));",
        "halves.subarray(at, at + MOST_HALVES).forEach((_, i) => (halves[at + i] = Math.random() * 2 ** 32));",
        "collection.test.mjs",
    ),
    "a digest not checked": ("digestOf(content) !== digest || ", "", "collection.test.mjs"),
    "a digest that is named but not compared": ("|| expected !== digest", "", "collection.test.mjs"),
    "a description that names a field twice": ("!isPlain || ", "", "collection.test.mjs"),
    "lines of several lengths": ('.padStart(most, "0")', "", "collection.test.mjs"),
    "a tie that counts as below": ("if (prefix !== floor)", "if (bits > 64n || prefix !== floor)", "drawing.test.mjs"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_client_is_caught(what: str, tmp_path: Path) -> None:
    whole, broken, name = BROKEN[what]
    text = (CLIENT / "client.js").read_text(encoding="utf-8")
    assert text.count(whole) == 1
    shutil.copy(CLIENT / "package.json", tmp_path)
    client = tmp_path / "client.js"
    client.write_text(text.replace(whole, broken), encoding="utf-8")
    done = run_tests(name, client)
    assert done.returncode == 1, done.stdout
    assert "not ok" in done.stdout

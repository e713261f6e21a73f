"""Run the commands and programs of the how-to guides, and check that they print what the guides show.

python tools/check_how_to.py [GUIDE…]      # all of docs/how-to by default
python tools/check_how_to.py --show GUIDE  # print the output of each command, for pasting

A guide shows a terminal in ``console`` blocks: a command after ``$ ``, then its output on a terminal of 80 columns. A
``python`` block is checked if a ``text`` block with its output follows. Releases are random, so any number matches any
other, and ``…`` matches any text. The commands of one guide run in one folder, whose data/ and examples/ are those of
the repository. dbt has dependencies that ours exclude, so ``make docs`` puts it into an environment of its own.
"""

from __future__ import annotations

import difflib
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```|^```python\n(.*?)^```(?:\n+```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.*\r(?=[^\n])")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def said_on_terminal(command: str, folder: Path) -> str:
    """Run a command as somebody at a terminal would, and return what that shows."""
    ours, theirs = pty.openpty()
    surroundings = os.environ | {"COLUMNS": "80", "LINES": "50", "TERM": "dumb", "PYTHONWARNINGS": "error"}
    surroundings["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), str(folder), os.environ["PATH"]])
    with subprocess.Popen(
        ["bash", "-ec", command],  # noqa: S607 (the guides are written for it)
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=surroundings,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                said += (more := os.read(ours, 65536))
            except OSError:  # nobody has the other end open
                break
            if not more:
                break
        process.wait()  # a program whose terminal is gone would be ended by that
        os.close(ours)
    text = said.decode().replace("\r\n", "\n")
    if process.returncode:
        sys.exit(f"$ {command}\n{text}exit code {process.returncode}")
    return STYLE.sub("", text)


DBT = Path(sys.executable).parent.parent / "dbt" / "bin" / "dbt"
NEEDS_DBT = "pipelines.md"


def add_dbt(folder: Path) -> None:
    """Put a command ``dbt`` into the folder, whose own warnings are not ours to mend."""
    command = folder / "dbt"
    command.write_text(f'#!/bin/sh\nPYTHONWARNINGS=ignore exec "{DBT}" "$@"\n', encoding="utf-8")
    command.chmod(0o755)


def matches(shown: str, said: str) -> bool:
    """Say whether what a guide shows is what was said; numbers, and where lines are broken, may differ."""
    shown, said = (" ".join(NUMBER.sub("0", text).split()) for text in (shown, said))
    return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), said) is not None


def steps_of(guide: Path) -> list[tuple[str, str | None]]:
    """Return the commands of a guide, programs among them, each with what it is shown to print."""
    steps: list[tuple[str, str | None]] = []
    for found in BLOCK.finditer(guide.read_text(encoding="utf-8")):
        console, program, shown = found.groups()
        if program is not None:
            steps.append((f"python - <<'END'\n{program}END", shown))
            continue
        for session in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
            lines = session.split("\n")
            last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
            steps.append(("\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :])))
    return steps


def main(arguments: list[str]) -> int:
    """Run the guides, and print where one shows something else than was said."""
    only_show = "--show" in arguments
    guides = [Path(name).resolve() for name in arguments if name != "--show"]
    wrong = steps = 0
    for guide in guides or sorted((ROOT / "docs" / "how-to").glob("*.md")):
        if guide.name == NEEDS_DBT and not DBT.exists():
            print(f"Skipped: {guide.name} needs dbt, which cannot be installed here (newer Pythons, no package index)")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for shared in ("data", "examples"):
                Path(folder, shared).symlink_to(ROOT / shared)
            add_dbt(Path(folder))
            for command, shown in steps_of(guide):
                steps += 1
                said = said_on_terminal(command, Path(folder))
                if only_show:
                    print(f"$ {command}\n{said}")
                elif shown is not None and not matches(shown, said):
                    wrong += 1
                    print(f"{guide} shows something else than was said by\n$ {command}")
                    print("\n".join(difflib.ndiff(shown.splitlines(), said.splitlines())))
    if not wrong:
        print(f"Success: {steps} commands and programs print what the guides show")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

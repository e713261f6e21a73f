"""Check the types of the Python examples in the documents, as a program of a user's would be, and of wrong calls.

python tools/check_examples.py

Each example is a program of its own; tests/typed_calls.py has calls that must be refused. What mypy finds is said with
the document and the line there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "data" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CALLS = ROOT / "tests" / "typed_calls.py"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FOUND = re.compile(r"^.*example_(\d+)\.py:(\d+)", re.MULTILINE)


def main() -> int:
    """Write every example to a file, check all in one run, and say where each complaint belongs."""
    places: list[tuple[Path, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            for block in BLOCK.finditer(text):
                Path(folder, f"example_{len(places)}.py").write_text(block[1], encoding="utf-8")
                places.append((document, text.count("\n", 0, block.start(1))))
        files = [str(path) for path in (CALLS, *sorted(Path(folder).iterdir()))]
        command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--no-error-summary", *files]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def at_home(found: re.Match[str]) -> str:
        document, before = places[int(found[1])]
        return f"{document.relative_to(ROOT)}:{before + int(found[2])}"

    print(FOUND.sub(at_home, done.stdout) + done.stderr, end="")
    if done.returncode == 0:
        print(f"Success: the types of {len(places)} examples are right, and wrong calls are refused")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

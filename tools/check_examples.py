"""Check types as in a user's program: those of the documents' Python examples, all public names, and wrong calls.

python tools/check_examples.py

Each example is a program of its own; tests/typed_calls.py has calls that must be refused. mypy's findings are
printed with the document and the line there.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import anonhist

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "data" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CALLS = ROOT / "tests" / "typed_calls.py"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FOUND = re.compile(r"^.*example_(\d+)\.py:(\d+)", re.MULTILINE)
FRONT = ROOT / "src" / "anonhist" / "__init__.pyi"


def public_names() -> list[str]:
    """Return the names of the front door and of the rooms behind it."""
    rooms = [name for name in anonhist.__all__ if inspect.ismodule(getattr(anonhist, name))]
    inner = [f"{room}.{name}" for room in rooms for name in getattr(anonhist, room).__all__]
    return [*anonhist.__all__, *inner]


def main() -> int:
    """Write every example to a file, check all in one run, and say where each complaint belongs."""
    places: list[tuple[Path, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            for block in BLOCK.finditer(text):
                Path(folder, f"example_{len(places)}.py").write_text(block[1], encoding="utf-8")
                places.append((document, text.count("\n", 0, block.start(1))))
        names = "import anonhist as ah\n" + "".join(f"ah.{name}\n" for name in public_names())
        Path(folder, f"example_{len(places)}.py").write_text(names, encoding="utf-8")
        places.append((FRONT, 0))
        examples = sorted((ROOT / "examples").glob("*.py"))
        files = [str(path) for path in (CALLS, *examples, *sorted(Path(folder).iterdir()))]
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            ROOT / "pyproject.toml",
            "--no-error-summary",
            "--num-workers",
            "0",
            *files,
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    def at_home(found: re.Match[str]) -> str:
        document, before = places[int(found[1])]
        return f"{document.relative_to(ROOT)}:{before + int(found[2])}"

    print(FOUND.sub(at_home, done.stdout) + done.stderr, end="")
    if done.returncode == 0:
        right = f"{len(places) - 1} examples and {names.count('ah.')} public names"
        print(f"Success: the types of {right} are right, and wrong calls are refused")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

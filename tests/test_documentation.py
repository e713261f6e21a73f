"""The documents are true: their examples run, their links lead somewhere, their files and tests exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "data/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")
# Where packages come from here, and where files lie here, are nobody else's concern.
INSTALLATION = re.compile(r"index[-_]url|find[-_]links|simple/|(?<![\w.~:/…*'-])/(?!dev/|path/to/)[a-z]+/[a-z]")
COMMAND = re.compile(r"^anonhist (?:release|compare|estimate|curve|plan|show|local) [^\n|]*", re.MULTILINE)


# Errors of a sketch take 32 readings, most of the time that its examples need; three show as well that they run.
PRELUDE = "from anonhist.sketches.sketch import Sketch\nSketch.reconstruct.__kwdefaults__['simulations'] = 3\n"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, id=f"{name_of(path)}-{number}")
        for path in DOCUMENTS
        for number, block in enumerate(BLOCK.findall(path.read_text(encoding="utf-8")), start=1)
    ],
)
def test_python_examples_run(block: str) -> None:
    prelude = PRELUDE if "Sketch(" in block else ""
    command = [sys.executable, "-W", "error", "-c", prelude + block]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{block}\n{done.stderr}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://")):
            continue
        linked = path.parent / target
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor[1:] in {title.lower().replace(" ", "-") for title in titles}, anchor


def test_tests_named_in_proofs_exist() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {
        name
        for path in (ROOT / "docs" / "proofs").glob("*.md")
        for name in re.findall(r"`(test_[a-z_]+)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert {name for name in named if f"def {name}(" not in tests} == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_have_options_that_exist(path: Path) -> None:
    from anonhist.cli.commands import anonhist

    for line in COMMAND.findall(path.read_text(encoding="utf-8")):
        words = line.split("#")[0].split()
        command = anonhist.commands[words[1]]
        command = command.commands[words[2]] if words[1] == "local" else command
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-") and word != "-"} <= known, line


def test_versions_agree() -> None:
    import anonhist

    assert f"## {anonhist.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_document_names_a_machine() -> None:
    for path in [*DOCUMENTS, ROOT / "Makefile", ROOT / "pyproject.toml"]:
        text = path.read_text(encoding="utf-8")
        assert not INSTALLATION.search(text), path

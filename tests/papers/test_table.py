"""papers/README.md says where everything in the papers is: each name that it gives exists."""

import ast
import re
from pathlib import Path

import pytest

from anonhist_papers.catalogue import PAPERS, load_paper

ROOT = Path(__file__).parent.parent.parent
SECTIONS = dict(
    zip(
        ("suresh", "blocki", "inspectre", "kairouz", "wu-pagh"),
        re.split(r"^## .*$", (ROOT / "papers" / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:],
        strict=True,
    )
)
HEAD = ["in the paper", "what", "code", "experiment", "test"]


def rows(section: str) -> list[list[str]]:
    lines = [line for line in section.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert table[0] == HEAD
    return table[2:]


def defined(path: Path) -> set[str]:
    """Return all functions, classes and methods of a file, as ``name`` or ``Class.name``, and its constants."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.full
@pytest.mark.first(2)
@pytest.mark.parametrize("paper", PAPERS)
def test_each_name_exists(paper: str) -> None:
    experiments = {each.name for each in load_paper(paper).experiments}
    shown = set()
    for row in rows(SECTIONS[paper]):
        place, what, code, experiment, test = row
        assert place, row
        assert what, row
        assert code or experiment, row
        for name in re.findall(r"`([^`]+)`", code + test):
            path, _, inside = name.partition(":")
            assert (ROOT / path).is_file(), row
            assert not inside or inside in defined(ROOT / path), row
        named = re.findall(r"`([^`]+)`", experiment)
        assert set(named) <= experiments, row
        shown |= set(named)
        assert "`" in test, row
    assert shown == experiments

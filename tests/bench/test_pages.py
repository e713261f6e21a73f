"""The pages of docs/benchmarks are what their program writes: texts from a table, figures from commands."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from anonhist_testing.cases import each_of

ROOT = Path(__file__).parent.parent.parent
PAGES: dict[str, Any] = runpy.run_path(str(ROOT / "bench" / "pages.py"))
TABLE = {page["name"]: page for page in PAGES["pages"]()}
TWO_COMMANDS = {
    "title": "Two",
    "text": "Text.",
    "section": [
        {"title": "First", "command": "python bench/a.py\npython bench/b.py --x", "after": "What it means."},
        {"text": "No figures.", "command": "python bench/c.py"},
    ],
}


def write(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["pages.py", *arguments])
    runpy.run_path(str(ROOT / "bench" / "pages.py"), run_name="__main__")


def test_pages_are_as_they_are_written() -> None:
    folder = ROOT / "docs" / "benchmarks"
    assert {path.stem for path in folder.glob("*.md")} == TABLE.keys() | {"index"}
    for name, page in TABLE.items():
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        known = PAGES["measured"](text)
        assert len(known) == text.count("<!-- printed -->"), name
        assert PAGES["written"](page, known) == text, name


def test_commands_are_run_and_what_they_print_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("accuracy", "--only", "bench/shapes.py", "--quick", "--folder", str(tmp_path))
    write(monkeypatch, *arguments)
    text = (tmp_path / "accuracy.md").read_text(encoding="utf-8")
    assert text.startswith(PAGES["NOTE"])
    assert "`python bench/accuracy.py`, not measured yet." in text
    ((commands, (when, printed)),) = PAGES["measured"](text).items()
    assert commands == "`python bench/shapes.py`"
    assert when.startswith("measured on ")
    assert "| profile | ε = " in printed
    # What was measured stays when only texts are written.
    write(monkeypatch, "accuracy", "--text", "--folder", str(tmp_path))
    assert (tmp_path / "accuracy.md").read_text(encoding="utf-8") == text


def test_a_page_keeps_the_figures_of_each_command() -> None:
    known = {"`python bench/a.py`\n`python bench/b.py --x`": ("measured on 1 May 2026", "| a |\n|---|\n| 1 |")}
    text = PAGES["written"](TWO_COMMANDS, known)
    assert PAGES["measured"](text) == known
    assert text.endswith("<!-- end -->\n\nWhat it means.\n\nNo figures.\n\n`python bench/c.py`, not measured yet.\n")


@each_of(
    ("printed", "shown"),
    [
        ("## Head\n| a |\n|---|\n| 1 |\nSo it is.\n", "### Head\n\n| a |\n|---|\n| 1 |\n\nSo it is."),
        ("a   1\nbb  2\n", "```\na   1\nbb  2\n```"),
        ("x" * 121 + "\ny\n", "* " + "x" * 121 + "\n* y"),
    ],
)
def test_what_is_printed_becomes_markdown(printed: str, shown: str) -> None:
    assert PAGES["as_markdown"](printed) == shown


def test_quick_settings_never_replace_figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        write(monkeypatch, "accuracy", "--quick")
    assert "--folder" in capsys.readouterr().err

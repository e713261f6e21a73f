"""What a narrow terminal shows: no word and no number is broken, and each column has a name."""

import io
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest
from rich.console import Console
from rich.text import Text

from anonhist.errors import UsageError
from anonhist.terminal.destinations import AskedPage, data_name, print_hanging, table_of
from anonhist.terminal.output import between_words, say_line

HEADS = ("value", "share of all the people", "95% interval", "above zero")
ROWS = [("Machine-op-inspct", "13.38%", "12.39 to 14.38%", "yes"), ("a label of words", "1.00%", "0 to 2%", "")]


def _lines(width: int, rows: list[tuple[str, ...]] = ROWS) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(table_of(HEADS, [[*map(Text, row)] for row in rows], console, texts=[0]))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [54, 60, 80, 120])
def test_a_table_breaks_names_between_words_and_numbers_never(width: int) -> None:
    lines = _lines(width)
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert words == {word for text in (*HEADS, *ROWS[0], *ROWS[1]) for word in text.split()}
    for row in ROWS:
        assert any(all(number in line for number in row[1:]) for line in lines)


def test_a_table_with_room_has_one_line_a_row() -> None:
    assert len(_lines(120)) == 1 + len(ROWS)
    assert len(_lines(54)) > 1 + len(ROWS)


def test_a_label_gives_way_before_any_number_does() -> None:
    lines = _lines(60, [("x" * 50, "13.38%", "12.39 to 14.38%", "yes")])
    assert max(map(len, lines)) <= 60
    assert any("13.38%" in line and "12.39 to 14.38%" in line for line in lines)
    assert "".join(line.split()[0] for line in lines if line.startswith("x")) == "x" * 50


@contextmanager
def _terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TextIO, int]]:
    monkeypatch.setenv("COLUMNS", str(columns))
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        yield stream, master
    os.close(master)


def test_on_a_terminal_a_sentence_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with _terminal(20, monkeypatch) as (stream, master):
        say_line("Warning: this is no release, and a-long-word/of-a-path.csv neither.", stream)
        stream.flush()
        lines = os.read(master, 1000).decode().splitlines()
    assert lines == ["Warning: this is no", "release, and", "a-long-word/of-a-path.csv", "neither."]


def test_elsewhere_a_sentence_is_one_line() -> None:
    stream = io.StringIO()
    say_line("word " * 60, stream)
    assert stream.getvalue() == "word " * 60 + "\n"
    say_line("nobody listens", None)


def test_commands_stay_whole() -> None:
    told = "Note: instead of this estimate, say:\n  anonhist release data.csv --epsilon 1 --label word"
    assert between_words(told, 20).splitlines()[-1] == "  anonhist release data.csv --epsilon 1 --label word"


def test_further_lines_of_a_remark_stand_in() -> None:
    console = Console(file=io.StringIO(), width=20)
    print_hanging("[a] labels too rare to be seen", console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "[a] labels too rare\n    to be seen\n"


def test_a_title_is_that_of_a_page() -> None:
    assert AskedPage.of(None, None) is None
    assert AskedPage.of("a.html", None) == AskedPage("a.html", None)
    with pytest.raises(UsageError, match="--title requires --report"):
        AskedPage.of(None, "Passwords")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("logins.csv", "logins.csv"),
        ("/home/eve/secret project/logins.csv", "logins.csv"),
        ("-", None),
        ("duckdb:///home/eve/shop.db", "shop.db"),
        ("postgresql://eve:p%40ss@host/shop?password=x", "shop"),
    ],
)
def test_a_page_calls_the_data_by_name_alone(source: str, name: str | None) -> None:
    assert data_name(source) == name

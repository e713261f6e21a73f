"""Packages that load a name when it is asked for: from where the stub says, whatever was imported before."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

INIT = "from anonhist.lazy import load_lazily\nload_lazily(__name__)\n"
STUB = """# One line a name.
from shelf import room as room
from shelf.book import book as book
from shelf.book import page as page
"""
BOOK = "book = object()\npage = object()\n"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "shelf" / "room").mkdir(parents=True)
    for name, text in {"__init__.py": INIT, "__init__.pyi": STUB, "book.py": BOOK, "room/__init__.py": ""}.items():
        (tmp_path / "shelf" / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("shelf")
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


def test_nothing_is_loaded_before_it_is_asked_for(shelf: ModuleType) -> None:
    assert dir(shelf) == shelf.__all__ == ["book", "page", "room"]
    assert "shelf.book" not in sys.modules
    assert shelf.page is sys.modules["shelf.book"].page
    assert shelf.room is sys.modules["shelf.room"]


def test_a_module_does_not_hide_the_name_that_it_holds(shelf: ModuleType) -> None:
    module = import_module("shelf.book")
    assert shelf.book is module.book
    assert import_module("shelf.room") is shelf.room


def test_names_that_are_not_listed_are_not_there(shelf: ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'shelf' has no attribute 'shelves'"):
        _ = shelf.shelves


def test_names_can_be_replaced(shelf: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "page", 7)
    assert shelf.page == 7

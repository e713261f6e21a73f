"""Packages that load a name when it is asked for: from where the stub says, whatever was imported before."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

INIT = "from anonhist.lazy import load_lazily\nload_lazily(__name__)\n"
STUB = """# One line a name.
from shelf import room as room
from shelf.book import book as book
from shelf.book import page as page
from shelf.room import chair as chair
from shelf.room.corner import lamp as lamp
"""
BOOK = "book = object()\npage = object()\n"
# A room that takes its time, for another thread to ask for what is in its corner.
ROOM = """from threading import Event
from shelf.gate import begun
begun.set()
Event().wait(0.1)
from shelf.room.corner import lamp
chair = stool = object()
__all__ = ["chair", "stool"]
"""
FILES = {
    "__init__.py": INIT,
    "__init__.pyi": STUB,
    "book.py": BOOK,
    "gate.py": "import threading\nbegun = threading.Event()\n",
    "room/__init__.py": ROOM,
    "room/corner.py": "import shelf.room\nlamp = object()\n",
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "shelf" / "room").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / "shelf" / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("shelf")
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


def test_nothing_is_loaded_before_it_is_asked_for(shelf: ModuleType) -> None:
    assert dir(shelf) == shelf.__all__ == ["book", "chair", "lamp", "page", "room"]
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


def test_a_name_that_a_room_has_is_told_without_loading_the_room(shelf: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"module 'shelf' has no attribute 'stool'; it is in shelf\.room$"):
        _ = shelf.stool
    assert not hasattr(shelf, "stool")
    with pytest.raises(ImportError, match="cannot import name 'stool' from 'shelf'"):
        exec("from shelf import stool")  # noqa: S102
    assert "shelf.room" not in sys.modules


def test_threads_that_ask_for_a_room_and_for_what_is_in_it_wait_for_each_other(shelf: ModuleType) -> None:
    # Without our lock the second thread has the module lock of the corner, and waits for that of the room, which the
    # first has: Python sees that this would last for ever, and gives one of them a module that is not yet filled.
    with ThreadPoolExecutor(2) as threads:
        chair = threads.submit(lambda: shelf.chair)
        assert import_module("shelf.gate").begun.wait(60)
        lamp = threads.submit(lambda: shelf.lamp)
    assert chair.result() is sys.modules["shelf.room"].chair
    assert lamp.result() is sys.modules["shelf.room.corner"].lamp


def test_names_can_be_replaced(shelf: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "page", 7)
    assert shelf.page == 7

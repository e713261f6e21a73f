"""Ctrl-C: by an exception where there may be something to tidy up, at once where an exception could get lost."""

from __future__ import annotations

import os
import signal
import sys
from threading import Event
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
SENTENCE = "interrupted; no incomplete file was left behind."

_received = Event()


def look_after_interrupts() -> None:
    """Install the handler, unless the process was started to ignore interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _on_interrupt)


def was_interrupted() -> bool:
    """Return whether Ctrl-C arrived: engines turn the exception into errors of their own."""
    return _received.is_set()


def _on_interrupt(signum: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or leave if a module is being loaded.

    The import system swallows exceptions here and there, and modules half loaded fail in their own ways; but no query
    is running while one is loaded, and what is being written is removed here: engines load modules as they write.
    """
    del signum
    _received.set()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            # Where these are not loaded, nothing is being written.
            for name in ("anonhist.formats.atomic", "anonhist.ingest.parts.private_file"):
                writing = sys.modules.get(name)
                if writing is not None and hasattr(writing, "remove_parts"):
                    writing.remove_parts()
            os.write(2, f"anonhist: {SENTENCE}\n".encode())
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt

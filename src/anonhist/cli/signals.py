"""How a signal ends a command: by an exception if files may be open, at once if the exception could get lost.

Ctrl-C, SIGTERM (``timeout``, systemd, ``docker stop``) and SIGHUP (a closed terminal) are treated alike: private rows
may be in temporary files, and a charge may have to be voided. This module imports nothing slow, because a signal may
arrive meanwhile.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from threading import Event, Thread
from types import FrameType
from typing import Any, NoReturn

# The action of each signal if nobody has changed it; an ignored signal, as under nohup, stays ignored.
_USUAL: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
if sys.platform != "win32":
    _USUAL[signal.SIGHUP] = signal.SIG_DFL
# An exception may take this long to end the process. Senders of SIGTERM often send SIGKILL ten seconds later.
_PATIENCE = 3.0
# Modules that know what would be left behind. A module that is not loaded has left nothing.
_LEFT = ("anonhist.formats.atomic", "anonhist.ingest.parts.write", "anonhist.temporary_folder")

_received: list[int] = []
_is_said = Event()


def look_after_signals() -> None:
    """Install the handler for each signal that the process does not ignore from the start."""
    for number, usual in _USUAL.items():
        if signal.getsignal(number) == usual:
            signal.signal(number, _on_signal)


def watch_over_signals() -> None:
    """End the process even where no exception gets through: in a long call of an engine, or if the engine swallows it.

    A thread receives signals as they arrive. Streams must be open by now, otherwise its pipe could take the place of a
    closed one.
    """
    if sys.platform == "win32":
        return
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    ends = os.pipe()
    reading, writing = (fcntl(end, F_DUPFD_CLOEXEC, 3) for end in ends)
    for end in ends:
        os.close(end)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    Thread(target=_watch, args=(reading,), daemon=True).start()


def was_interrupted() -> bool:
    """Return whether a signal arrived: engines turn the exception into errors of their own."""
    return bool(_received)


def exit_code() -> int:
    """Return the exit code of a command that a signal ended, as shells count them."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def tidy_up() -> str:
    """Remove files that an exception may have left behind, and return the message."""
    for name in _LEFT:
        getattr(sys.modules.get(name), "remove_unfinished", tuple)()
    _is_said.set()
    number = exit_code() - 128
    how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    return f"{how}; no incomplete file was left behind.{_of_charge()}"


def what_stays_charged() -> str:
    """Return what happened to ε, or nothing if nothing was charged."""
    return str(getattr(sys.modules.get("anonhist.accounting.recording"), "what_stays_charged", str)())


def _of_charge() -> str:
    """Return what happened to ε, if anything was charged."""
    told = what_stays_charged()
    return told and f" {told}: see 'anonhist budget show', and 'anonhist budget void --help' before you void it."


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or leave if a module is being loaded.

    The import system swallows some exceptions, and half-loaded modules fail in various ways; but no query runs while a
    module is loaded, and unfinished files are removed here, because engines load modules as they write. Further signals
    change nothing, so that the work of the first is finished.
    """
    if _received:
        return
    _received.append(number)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _leave()
        frame = frame.f_back
    raise KeyboardInterrupt


def _watch(reading: int) -> None:
    """Wait for a signal, give the exception time, and end the process."""
    # Calls of the main thread should be interrupted, not this one.
    signal.pthread_sigmask(signal.SIG_BLOCK, _USUAL)
    came: list[int] = []
    while not came:
        came = [number for number in os.read(reading, 64) if number in _USUAL]
    Event().wait(_PATIENCE)
    # During a long call, the handler has not been called yet.
    _received.extend(came)
    _leave()


def _leave() -> NoReturn:
    """End the process at once."""
    was_said = _is_said.is_set()
    sentence = tidy_up()
    if not was_said:
        # The terminal itself may have been closed.
        with suppress(OSError):
            os.write(2, f"anonhist: {sentence}\n".encode())
    os._exit(exit_code())

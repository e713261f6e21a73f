"""The command line: it parses, calls, and prints."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line and end the process; signal handlers are installed before anything else is loaded."""
    from anonhist.cli.signals import look_after_signals

    look_after_signals()
    import gc

    # Loading makes many objects and almost no garbage: collecting it as often as usual takes a twentieth of a start.
    gc.set_threshold(100_000)
    from anonhist.cli.entry import main as enter

    enter()

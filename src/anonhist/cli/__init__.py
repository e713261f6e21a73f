"""The command line: it parses, calls, and prints."""

from anonhist.cli.entry import main

__all__ = ["main"]

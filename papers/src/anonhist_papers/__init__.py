"""The experiments of the five papers that anonhist rests on, each run by one command: ``anonhist reproduce``."""

from anonhist.version import __version__ as __version__

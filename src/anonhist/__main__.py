"""``python -m anonhist`` is the command line."""

from anonhist.cli import main

main()

"""Add what lies in this folder to the catalogue, then run the command line as told, and say what each run printed.

Everything else learns of it from the catalogue alone.
"""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout

from anonhist import catalogue


def add() -> None:
    """Add one of each. Whoever looks for examples in this file must not have them."""
    catalogue.MECHANISMS["sorted-counts"] = catalogue.MechanismEntry(
        "sorted_counts:SortedCountsMechanism", ("public_labels",)
    )
    catalogue.RANDOMIZERS["sparse-unary"] = "sparse_unary:SparseUnary"
    catalogue.RANDOMIZER_OPTIONS["weight"] = catalogue.Option(
        "W", "For sparse-unary: how rarely bits are set.", "whole"
    )
    catalogue.PROPERTIES["berger-parker"] = catalogue.PropertyEntry(
        "berger_parker:berger_parker", "the share of the most frequent label", asked=({},)
    )


def run_command(words: list[str]) -> tuple[int, str, str]:
    """Run one command."""
    from anonhist.cli.entry import run

    said, told = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(told):
        code = run(words)
    return code, said.getvalue(), told.getvalue()


if __name__ == "__main__":
    add()
    json.dump([run_command(line.split()) for line in sys.argv[1:]], sys.stdout)

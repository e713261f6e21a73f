"""Tables as plain text, for pipes, files and ``print``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from unicodedata import combining, east_asian_width

_GAP = "  "


def plain_lines(heads: Sequence[str], rows: Sequence[Sequence[str]], *, texts: Collection[int] = (0,)) -> list[str]:
    r"""Return a line for the heads, if there are any, and a line for each row, in columns.

    Columns whose places are in ``texts`` are aligned left, and the other columns right. No line ends in spaces.

    Examples
    --------
    >>> print(*plain_lines(["number of", "released"], [["labels", "1,020"], ["labels with 2 items", "7"]]), sep="\n")
    number of            released
    labels                  1,020
    labels with 2 items         7
    """
    lines = [*([heads] if any(heads) else []), *rows]
    widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
    return [
        _GAP.join(
            cell + " " * (width - _width(cell)) if at in texts else " " * (width - _width(cell)) + cell
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _width(text: str) -> int:
    """Return how many columns a text takes: wide East Asian characters take two, and combining marks none."""
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)

"""Public lists of labels: alphabets and candidates, one per line."""

from __future__ import annotations

from anonhist.errors import DataError


def labels_in(path: str, *, what: str) -> tuple[str, ...]:
    """Read a list of labels, one per line, in their order.

    Parameters
    ----------
    path
        A file of UTF-8 text.
    what
        What is listed, for the sentence of an error.

    Raises
    ------
    DataError
        If it cannot be read, holds none, an empty line or a label twice.
    """
    from anonhist.formats.whole_file import content_of
    from anonhist.ingest.engine import OTHER_TEXT
    from anonhist.ingest.local_files import check_beginning

    content = content_of(path)
    check_beginning(content, f"The file {path!r}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"The file {path!r} {OTHER_TEXT}") from None
    # Not splitlines, for which many more signs end a line.
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        raise DataError(f"The file {path!r} is empty: list {what}, one per line.")
    if "" in lines:
        message = f"Line {lines.index('') + 1} of {path!r} is empty: list {what}, one per line, and nothing else."
        raise DataError(message)
    if len(set(lines)) < len(lines):
        first = {line: place for place, line in reversed(list(enumerate(lines, 1)))}
        twice = next(place for place, line in enumerate(lines, 1) if first[line] != place)
        raise DataError(f"Line {twice} of {path!r} repeats an earlier line; list each label once.")
    return tuple(lines)

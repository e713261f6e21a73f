"""Standard input as a file: an engine cannot find out what a pipe holds and then read it from its beginning."""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def spool_stdin() -> Iterator[str]:
    """Copy standard input to a file that only this user can read, and that is removed afterwards.

    Its ending says what it is: JSON lines where it begins with a brace, else CSV. The first byte may decide that, since
    reports are private before they come here.
    """
    with TemporaryDirectory(prefix="anonhist-", ignore_cleanup_errors=True) as folder:
        stream = sys.stdin.buffer
        first = stream.read(1)
        path = Path(folder, "reports.ndjson" if first == b"{" else "reports.csv")
        with path.open("xb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield str(path)

"""Progress bars on a terminal; nothing at all elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress


@dataclass(frozen=True)
class Bars:
    """Receivers of the share done and of remarks, or None where nobody watches."""

    reading: Callable[[float], None] | None
    working: Callable[[float], None] | None
    notify: Callable[[str], None] | None = None


@contextmanager
def progress_bars(work: str, *, shown: bool, first: str = "Reading") -> Iterator[Bars]:
    """Show two bars on stderr while the block runs: one for reading, then one for the work that follows."""
    if not shown or not sys.stderr.isatty():
        yield Bars(None, None)
        return
    with _progress() as progress:
        reading: Any = progress.add_task(first, total=1.0)
        working: Any = progress.add_task(work, total=1.0, visible=False)

        def read(share: float) -> None:
            progress.update(reading, completed=share)

        def work_on(share: float) -> None:
            progress.update(reading, completed=1.0)
            progress.update(working, completed=share, visible=True)

        yield Bars(read, work_on)


@contextmanager
def progress_bar(work: str, *, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Show one bar on stderr while the block runs, and give what tells it the share done; None if nobody watches."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with _progress() as progress:
        task = progress.add_task(work, total=1.0)
        yield lambda share: progress.update(task, completed=share)


@contextmanager
def stream_bar(work: str, *, shown: bool = True) -> Iterator[Callable[[int], None] | None]:
    """Show on stderr how many rows were counted while the block runs, for a stream nobody knows the end of."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with _progress() as progress:
        task = progress.add_task(work, total=None)
        yield lambda rows: progress.update(task, description=f"{work}: {rows:,} rows")


@contextmanager
def steps_bar(work: str, steps: int, *, shown: bool = True) -> Iterator[Callable[[], None]]:
    """Show one bar on stderr while the block runs, and let it say when a step is done."""
    if not shown or not sys.stderr.isatty():
        yield lambda: None
        return
    with _progress() as progress:
        task = progress.add_task(work, total=float(steps))
        yield lambda: progress.advance(task)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)

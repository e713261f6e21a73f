"""``make soak``: neighbors of all kinds through every way in, with fresh seeds, until time is up.

First each entrance reads one pair of neighbors from each source, each beginning with each ending: see
:func:`~anonhist_testing.way_in.coverage.pairwise`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonhist_testing.way_in.coverage import ENTRANCES, SOURCES, pairwise
from anonhist_testing.way_in.engines import lent_duckdb
from anonhist_testing.way_in.judging import Case, Found, judge, judge_in_turn
from anonhist_testing.way_in.servers import SERVED, served
from anonhist_testing.way_in.values import BEGINNINGS, ENDINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist_testing.way_in.entrances import Entrance
    from anonhist_testing.way_in.sources import Source

MINUTES = 10.0
# The most failures that are reported in full.
_TOLD = 40
#: What was found, by the names of entrance and source.
Results = dict[tuple[str, str], Found]


@dataclass(frozen=True)
class Task:
    """The work of one process: some entrances with some sources, for a while or for a number of rounds."""

    seed: int
    entrances: tuple[str, ...]
    sources: tuple[str, ...]
    minutes: float | None
    rounds: int | None
    beginning: str | None = None
    ending: str | None = None
    #: The file that says what is being read, in case the process dies before it can say so.
    note: str | None = None


@dataclass
class _Cell:
    """An entrance and a source: the first case, if it is planned; the results, and the time that they took."""

    entrance: Entrance
    source: Source
    first: Case | None
    found: Found = field(default_factory=Found)
    rounds: int = 0
    seconds: float = 0.0

    @property
    def is_due(self) -> bool:
        """Whether the planned case is still to come."""
        return self.first is not None and not self.rounds

    def go_on(self, task: Task) -> None:
        """Judge one more case."""
        start = time.monotonic()
        case = Case(task.seed + self.rounds, self.entrance, self.source, task.beginning, task.ending)
        turn = None
        if self.first is not None and self.is_due:
            case, turn = replace(self.first, seed=task.seed), task.seed + self.first.seed
        if task.note is not None:
            Path(task.note).write_text(case.replay(), encoding="utf-8")
        try:
            self.found.add(judge(case) if turn is None else judge_in_turn(case, turn))
        except Exception as error:  # noqa: BLE001  # it is reported, and the others go on
            told = f"{self.entrance.name}, {self.source.name}: {type(error).__name__}: {error}"
            self.found.failures.append(f"{told}\n  {case.replay()}")
        self.seconds += time.monotonic() - start
        self.rounds += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0 if everything is as promised, else 1."""
    asked = _parser().parse_args(arguments)
    seed = int(np.random.default_rng().integers(2**32)) if asked.seed is None else asked.seed
    _say(f"Seed {seed}")
    entrances = tuple(each.name for each in ENTRANCES if asked.entrance in (None, each.name))
    sources = tuple(name for name in _names() if asked.source in (None, name))
    rounds = asked.rounds or (1 if asked.entrance and asked.source and asked.minutes is None else None)
    minutes = None if rounds else MINUTES if asked.minutes is None else asked.minutes
    whole = Task(seed, entrances, sources, minutes, rounds, asked.beginning, asked.ending)
    ended: list[str] = []
    results = run(whole) if rounds else _in_processes(whole, ended)
    return max(_tell(results, entrances), *(_tell_end(each) for each in ended), 0)


def run(task: Task) -> Results:
    """Do the work of one process."""
    with ExitStack() as stack:
        stack.enter_context(lent_duckdb())
        held = [source for source in SOURCES if source.name in task.sources]
        held += stack.enter_context(served(task.sources))
        is_planned = (task.rounds, task.beginning, task.ending) == (None, None, None)
        cases = pairwise(sources=held) if is_planned else []
        planned = {(case.entrance.name, case.source.name): case for case in cases}
        cells = [
            _Cell(entrance, source, planned.get((entrance.name, source.name)))
            for entrance in ENTRANCES
            for source in held
            if entrance.name in task.entrances and entrance.takes(source)
        ]
        # Each entrance begins with another source, in case time is short.
        cells = [cells[place] for place in np.random.default_rng(task.seed).permutation(len(cells))]
        # Time counts from here on: servers take a while to start.
        until = None if task.minutes is None else time.monotonic() + 60 * task.minutes
        while (cell := _next(cells, task)) is not None and _has_time(until):
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{task.seed + cell.rounds}: {cell.entrance.name}, {cell.source.name}\x1b[K")
            cell.go_on(task)
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        return {(cell.entrance.name, cell.source.name): cell.found for cell in cells}


def _has_time(until: float | None) -> bool:
    """Return whether to go on: there is time left, and the process that asked is alive."""
    parent = multiprocessing.parent_process()
    return (until is None or time.monotonic() < until) and (parent is None or parent.is_alive())


def _next(cells: Sequence[_Cell], task: Task) -> _Cell | None:
    """Return the next cell: a planned one or, from the entrance with the fewest pairs, the one that took least time."""
    left = [cell for cell in cells if task.rounds is None or cell.rounds < task.rounds]
    tried: dict[str, int] = dict.fromkeys((cell.entrance.name for cell in left), 0)
    for cell in left:
        tried[cell.entrance.name] += cell.found.pairs + cell.found.refused + len(cell.found.failures)
    return min(
        left, key=lambda cell: (not cell.is_due, tried[cell.entrance.name], cell.rounds > 0, cell.seconds), default=None
    )


def _in_processes(whole: Task, ended: list[str]) -> Results:
    """Share a task: servers in one process, and entrances among as many processes as there are other processors.

    If a process dies, the case that it read last is added to ``ended``.
    """
    slow = tuple(name for name in whole.sources if name in SERVED)
    fast = tuple(name for name in whole.sources if name not in SERVED)
    processes = max(1, (os.cpu_count() or 2) - 1)
    tasks = [replace(whole, sources=slow)] if slow else []
    tasks += [
        replace(whole, entrances=whole.entrances[place::processes], sources=fast) for place in range(processes) if fast
    ]
    results: Results = {}
    with tempfile.TemporaryDirectory(prefix="way-in-") as folder, ExitStack() as stack:
        begun = []
        for place, task in enumerate(tasks):
            # If one dies, the others go on.
            pool = stack.enter_context(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")))
            note = Path(folder, f"{place}")
            begun.append((note, pool.submit(run, replace(task, note=str(note)))))
        for note, future in begun:
            try:
                results |= future.result()
            except BrokenProcessPool:
                ended.append(note.read_text(encoding="utf-8") if note.exists() else "nothing yet")
    return results


def _names() -> list[str]:
    return [*(source.name for source in SOURCES), *SERVED]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m anonhist_testing.way_in.soak", description=__doc__)
    parser.add_argument("--seed", type=int, help="where all tables come from; drawn from the system by default")
    parser.add_argument("--minutes", type=float, help=f"how long to go on; {MINUTES:g} by default")
    parser.add_argument("--rounds", type=int, help="how many cases of each entrance and source, instead of minutes")
    parser.add_argument("--entrance", choices=[entrance.name for entrance in ENTRANCES], help="this one only")
    parser.add_argument("--source", choices=_names(), help="this one only")
    parser.add_argument("--beginning", choices=list(BEGINNINGS), help="how columns begin; drawn by default")
    parser.add_argument("--ending", choices=list(ENDINGS), help="how columns end; drawn by default")
    return parser


def _tell(results: Results, entrances: Sequence[str]) -> int:
    """Write the largest distance of each entrance and source beside its promise, then the failures."""
    for entrance in entrances:
        own = {source: results[entrance, source] for source in _names() if (entrance, source) in results}
        total = Found()
        for found in own.values():
            total.add(found)
        _say(f"\n{entrance}: {_counted(total)}")
        for source, found in own.items():
            _say(f"  {source:<34}{_counted(found)}")
    # Failures come last, because logs are often cut at the front.
    by_cell = zip_longest(*(found.failures for found in results.values()))
    failures = [failure for one_each in by_cell for failure in one_each if failure is not None]
    for failure in failures[:_TOLD]:
        _say(f"\n{failure}")
    if len(failures) > _TOLD:
        _say(f"\n… and {len(failures) - _TOLD:,} more")
    pairs = sum(found.pairs for found in results.values())
    unread = [found for found in results.values() if not found.pairs]
    due = sum(not (found.refused or found.failures) for found in unread)
    told = f"{len(unread):,} of {len(results):,} were not read, {due:,} of them for want of time"
    _say(f"\n{pairs:,} pairs of neighbors, {len(failures):,} failures; {told}")
    return 1 if failures else 0


def _tell_end(command: str) -> int:
    """Say what a process was reading when it ended too early."""
    _say(f"\nA process ended while it read this; its other results are lost:\n  {command}")
    return 1


def _counted(found: Found) -> str:
    worst = "-" if found.worst is None else f"{found.worst.distance:,} / {found.worst.promise:,}"
    wrong = f", {len(found.failures):,} failures" if found.failures else ""
    return f"{found.pairs:>6,} pairs, {found.refused:>4,} refused, largest distance {worst}{wrong}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

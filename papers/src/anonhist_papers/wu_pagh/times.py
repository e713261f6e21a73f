"""Theorems 4.5 and 4.7: run time against the number of labels and against n, beside the linear program."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from anonhist.sketches.decoder import Counters
from anonhist.sketches.inverses import WuPagh
from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.wu_pagh.linear_program import LinearProgram
from anonhist_papers.wu_pagh.settings import BETA, LARGEST, all_of, setting_of, slope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from anonhist.sketches.decoder import Decoder
    from anonhist_papers.experiment import Cell

OURS, PROGRAM = "Algorithms 2 and 3, q = 2", "linear program"
LABELS, COUNTS = "against d, n = 50", "against n, d = 100,000"
_DECODERS: dict[str, Decoder] = {OURS: WuPagh("2", beta=str(BETA)), PROGRAM: LinearProgram(BETA)}
# n·log n has a slope of 1.07 at 10⁶, and caches are left on the way.
_STEEPEST = 1.25


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    """Yield seconds of one processor, from counters to a profile."""
    size, largest, series = int(cell["size"]), int(cell["largest"]), str(cell["series"])
    setting, decoder = setting_of(1), _DECODERS[series]
    counters = rng.integers(0, largest + 1, size) + setting.noise.simulate(size, rng=rng)
    decoder.decode(Counters.of(counters[:1000]), setting)
    seconds = []
    for _ in range(int(cell["trials"])):
        begun = time.process_time()
        decoder.decode(Counters.of(counters), setting)
        seconds.append(time.process_time() - begun)
    panel = str(cell["panel"])
    yield Point.of(seconds, panel=panel, series=series, x=size if panel == LABELS else largest)


def _cells(size: Size) -> Sequence[Cell]:
    is_quick = size is Size.QUICK
    sizes = [10**power for power in ((3, 4, 5, 6) if is_quick else (3, 4, 5, 6, 7))]
    counts = [10**power for power in ((2, 3, 4, 5) if is_quick else (2, 3, 4, 5, 6))]
    programs = [100, 300, 1000] if is_quick else [100, 300, 1000, 3000, 10_000]
    places = [(LABELS, series, labels, LARGEST) for series in _DECODERS for labels in sizes]
    places += [(COUNTS, OURS, 10**5, largest) for largest in counts]
    places += [(COUNTS, PROGRAM, 10**5, largest) for largest in programs]
    return [
        {
            "panel": panel,
            "series": series,
            "size": labels,
            "largest": largest,
            "trials": 3 if series == PROGRAM else (10 if is_quick else 30),
        }
        for panel, series, labels, largest in places
    ]


def _judge(points: Sequence[Point]) -> Verdict:
    parts: list[bool | None] = []
    told = []
    for panel, name in ((LABELS, "d"), (COUNTS, "n")):
        line = list(select(points, OURS, panel).items())[-2:]
        found, error = slope(dict(line))
        parts.append(True if found + 2 * error <= _STEEPEST else (False if found - 2 * error > _STEEPEST else None))
        told.append(f"{found:.2f} ± {error:.2f} in {name}, up to {line[-1][0]:,.0f}")
    ours, program = (select(points, series, COUNTS) for series in (OURS, PROGRAM))
    both = [x for x in program if x in ours]
    parts.append(all(program[x].mean > ours[x].mean for x in both))
    last = max(both)
    recent = list(program.items())[-3:]
    steep, error = slope(dict([recent[0], recent[-1]]))
    return Verdict(
        all_of(*parts),
        f"Slopes of the time of Algorithms 2 and 3 over the last decade: {'; '.join(told)}. At n = {last:,.0f} they "
        f"take {ours[last].mean:.2g} s and the linear program {program[last].mean:.2g} s, "
        f"{program[last].mean / ours[last].mean:,.0f} times as long; its slope is {steep:.2f} ± {error:.2f} from "
        f"n = {recent[0][0]:,.0f} to {recent[-1][0]:,.0f}.",
    )


THEOREM_1_1_TIME = Experiment(
    name="theorem-1-1-time",
    place="Theorem 1.1, time; Theorems 4.5 and 4.7",
    title="run time",
    setting="Counts spread evenly over 0..n, ε = 1; seconds of one processor from the d counters to the profile; 30 "
    "readings of the same counters, 10 if quick, 3 of the linear program, which HiGHS solves. It is sparse: noise "
    "reaches 2B + 1 values only.",
    says="“We show how to speed up their LP-based technique from polynomial time to O(d + n log n)” (abstract).",
    axes=Axes("d or n", "seconds"),
    cells=_cells,
    run=_run,
    judge=_judge,
)

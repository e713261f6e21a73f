"""How often intervals of estimates hold. Run as ``python bench/property_intervals.py [--screen 40] [--labels K …]``.

Samples are drawn from the shapes of ``ten_shapes.py``, and each property is estimated from each sample. A missing end
of an interval, for "at least" or "at most", always holds. Intervals belong to the property, so one method stands for
all, extended at most to its value; methods that get more information have rows of their own. The truth is that of the
distribution; for a sample coverage, it is the total share of the labels in the very sample.

``--screen R`` draws R samples first, and the full number only if the interval held in less than 96% of them. If it then
held in less than 92%, ten times the samples decide: of a thousand exact intervals at 95%, 24 hold in less than 92% of
200 samples by chance alone. All samples of a stage are new, and the last stage counts. ``--further`` takes ten other
drawn shapes instead, which were not measured before anything was changed for the first ten.

``--quick`` draws few samples of few shapes, to see that all of it runs.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.by_name import PROPERTIES
from anonhist.properties.estimate import Holds
from ten_shapes import REAL, named_shapes, random_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    Shares = NDArray[np.float64]
    Question = tuple[str, str, dict[str, object]]
    # How many samples, and below which share of the stage before.
    Stage = tuple[int, float]

_DOUBTFUL, _WANTED, _SURE = 0.96, 0.92, 10


@dataclass
class Cell:
    """Of one question on one shape: of how many samples it held, what it said, how long intervals with two ends are."""

    runs: int = 0
    held: int = 0
    said: Counter[str] = field(default_factory=Counter)
    lengths: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How often it held."""
        return self.held / self.runs


def truth(name: str, options: dict[str, object], p: Shares, counts: NDArray[np.int64]) -> float:
    """Return the property of p, largest first, and of the sample where it is about that."""
    order, draws, best = options.get("order"), options.get("draws"), np.cumsum(p)
    within = int(np.searchsorted(best, options.get("share", 0.5) - 1e-12)) + 1
    entropy = -float(p @ np.log(p))
    power = 1.0 if order is None else float((p**order).sum())
    found: dict[str, Callable[[], float]] = {
        "entropy": lambda: entropy,
        "support-size": lambda: p.size,
        "support-coverage": lambda: -float(np.expm1(draws * np.log1p(-p)).sum()),
        "sample-coverage": lambda: float(p[counts > 0].sum()),
        "hill-number": lambda: math.exp(entropy) if order == 1 else power ** (1 / (1 - order)),
        "min-entropy": lambda: -math.log(p.max()),
        "power-sum": lambda: power,
        "distance-to-uniformity": lambda: float(np.abs(p - 1 / p.size).sum()),
        "guessing-success": lambda: float(p[: options["guesses"]].sum()),
        "work-factor": lambda: within,
        "guesswork": lambda: float((1 - best[within - 1]) * within + np.arange(1, within + 1) @ p[:within]),
    }
    return found[name]()


def list_questions(p: Shares, items: int) -> Iterator[Question]:
    """Yield a title, a property and its options."""
    known, least = {"alphabet_size": p.size}, {"alphabet_size": math.ceil(1 / p.min())}
    yield "entropy", "entropy", {}
    yield "entropy, k known", "entropy", known
    yield "support size", "support-size", {}
    yield "support size, least probability known", "support-size", least
    for times in (0.5, 2, 5, 20):
        yield f"support coverage, m = {times:g}n", "support-coverage", {"draws": int(times * items)}
    yield "sample coverage", "sample-coverage", {}
    for order in (0, 0.5, 1, 1.5, 2, 3):
        yield f"Hill number, q = {order:g}", "hill-number", {"order": order}
    for order in (2, 3):
        yield f"power sum, q = {order}", "power-sum", {"order": order}
    yield "min-entropy", "min-entropy", {}
    yield "distance to uniformity, k known", "distance-to-uniformity", known
    for guesses in (10, 100):
        yield f"guessing success, {guesses} guesses", "guessing-success", {"guesses": guesses}
    for share in (0.25, 0.5):
        yield f"work factor, share {share}", "work-factor", {"share": share}
        yield f"guesswork, share {share}", "guesswork", {"share": share}


def coverage(
    p: Shares, items: int, *, runs: int, rng: np.random.Generator, only: Collection[str] | None = None
) -> dict[str, Cell]:
    """Return of every question, or of those with these titles, how often what is said of it holds."""
    cells: defaultdict[str, Cell] = defaultdict(Cell)
    questions = [question for question in list_questions(p, items) if only is None or question[0] in only]
    for _ in range(runs):
        counts = rng.multinomial(items, p)
        profile = Profile.from_counts(counts)
        for title, name, options in questions:
            found = PROPERTIES[name].estimate(profile, **options)
            low, high = found.interval
            true, cell = truth(name, options, p, counts), cells[title]
            cell.runs += 1
            cell.held += low - 1e-9 * abs(true) <= true <= high + 1e-9 * abs(true)
            cell.said[found.statement.holds.value] += 1
            if found.statement.holds is Holds.BOTH and true > 0:
                cell.lengths.append((high - low) / true)
    return cells


def in_stages(
    p: Shares, items: int, stages: Sequence[Stage], *, rng: np.random.Generator, only: Sequence[str] = ()
) -> dict[str, Cell]:
    """Return of every question that begins as said how often it holds, by the last stage that it came to."""
    wanted = [title for title, *_ in list_questions(p, items) if not only or title.startswith(tuple(only))]
    cells: dict[str, Cell] = {}
    for runs, below in stages:
        if cells:
            wanted = [title for title in wanted if cells[title].share < below]
        if wanted:
            cells |= coverage(p, items, runs=runs, rng=rng, only=wanted)
    return cells


def shapes(labels: int) -> dict[str, Shares]:
    """Return the shapes over so many labels; the real ones, which have their own numbers, are apart."""
    return {name: p for name, p in (named_shapes(labels) | random_shapes(labels)).items() if name not in REAL}


def settings(
    sizes: list[int], items: list[int], *, real: bool, further: bool = False
) -> Iterator[tuple[str, Shares, int]]:
    """Yield each setting: its name, the probabilities, largest first, and the number of items."""
    for n in items:
        for labels in sizes:
            for name, p in (random_shapes(labels, first=10) if further else shapes(labels)).items():
                yield f"{name}, k = {labels:,}, n = {n:,}", np.sort(p)[::-1], n
        if real:
            found = named_shapes(2)
            yield from ((f"{name}, n = {n:,}", found[name], n) for name in REAL)


def row(title: str, cells: dict[str, Cell]) -> str:
    """Return a line of the table, in which every setting counts alike."""
    shares = {name: cell.share for name, cell in cells.items()}
    worst = min(shares, key=lambda name: shares[name])
    said: Counter[str] = Counter()
    for cell in cells.values():
        said.update({what: many / cell.runs / len(cells) for what, many in cell.said.items()})
    words = ", ".join(f"{what} {100 * many:.0f}%" for what, many in said.most_common())
    lengths = [float(np.median(cell.lengths)) for cell in cells.values() if cell.lengths]
    length = f"{100 * float(np.median(lengths)):.2g}%" if lengths else ""
    below = sum(share < _WANTED for share in shares.values())
    mean = 100 * float(np.mean(list(shares.values())))
    return f"| {title} | {words} | {mean:.1f}% | {100 * shares[worst]:.1f}% ({worst}) | {below} | {length} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument(
        "--screen", type=int, default=0, help="so many samples first, and --runs where they are doubtful"
    )
    parser.add_argument("--further", action="store_true", help="ten further shapes instead, and no real data")
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--items", type=int, nargs="*", default=[10**3, 10**5])
    parser.add_argument("--no-real", action="store_true", help="leave the shares of real data out")
    parser.add_argument("--only", nargs="*", default=(), help="how the names of the properties to measure begin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few samples of few shapes: only to see that it runs")
    options = parser.parse_args()
    stages: list[Stage] = [(2 if options.quick else options.runs, 1.0)]
    if options.screen:
        stages = [(options.screen, 1.0), (options.runs, _DOUBTFUL), (_SURE * options.runs, _WANTED)]
    sizes, items = ([20], [200]) if options.quick else (options.labels, options.items)
    is_real = not (options.no_real or options.quick or options.further)
    chosen = list(settings(sizes, items, real=is_real, further=options.further))
    found: dict[str, dict[str, Cell]] = {}
    for place, (name, p, n) in enumerate(chosen[: 4 if options.quick else None]):
        # Each setting has its own seed: what is measured of one does not hang on what the others came to.
        rng = np.random.default_rng([options.seed, place])
        found[name] = in_stages(p, n, stages, rng=rng, only=options.only)
    print(f"{len(found)} settings, {', '.join(str(runs) for runs, _ in stages)} samples.\n")
    print("| property | says | holds, mean | worst | settings below 92 % | median length, of the truth |")
    print("|---|---|---:|---:|---:|---:|")
    for title in next(iter(found.values())):
        print(row(title, {name: cells[title] for name, cells in found.items()}))


if __name__ == "__main__":
    main()

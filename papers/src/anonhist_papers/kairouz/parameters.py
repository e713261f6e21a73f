"""Slides "Understanding parameters": ten panels, one for k, C or h of each mechanism on each kind of alphabet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.kairouz.cohorts import CONSTRAINED
from anonhist_papers.kairouz.grid import FULL, QUICK, ParameterGrid, Search, settings_by_value
from anonhist_papers.kairouz.settings import CLOSED, OPEN, SYMBOLS, geometric, uniform

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anonhist_papers.experiment import Cell

_EPSILONS = {Size.FULL: (0.5, 1.0, 2.0, 4.0, 6.0), Size.QUICK: (1.0, 4.0)}
# So many that something is learned at the smallest ε.
_USERS = {Size.FULL: 10_000_000, Size.QUICK: 1_000_000}
_PANELS = {
    "O-RR": {"buckets": "(a) O-RR varying k", "cohorts": "(c) O-RR varying C"},
    "O-RAPPOR": {
        "buckets": "(b) O-RAPPOR varying k",
        "cohorts": "(d) O-RAPPOR varying C",
        "hashes": "(e) O-RAPPOR varying h",
    },
}
# Losing at most this factor, up to two standard errors, counts as being as good.
_AS_GOOD = 1.05
Line = Mapping[float, Point]


def _cells(mechanism: str, alphabet: str, size: Size) -> Sequence[Cell]:
    return [
        {
            "alphabet": alphabet,
            "mechanism": mechanism,
            "epsilon": epsilon,
            "users": _USERS[size],
            "trials": _grid(size).trials,
            "size": size.value,
        }
        for epsilon in _EPSILONS[size]
    ]


def _grid(size: Size) -> ParameterGrid:
    return FULL if size is Size.FULL else QUICK


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    size = Size(cell["size"])
    grid, users = replace(_grid(size), trials=int(cell["trials"])), int(cell["users"])
    mechanism, alphabet, epsilon = str(cell["mechanism"]), str(cell["alphabet"]), float(cell["epsilon"])
    settings = grid.settings(mechanism, alphabet, epsilon)
    search = Search(grid, settings, users, rng)
    truth = geometric()
    unavoidable = float(np.sqrt(2 * truth * (1 - truth) / (math.pi * users)).sum())
    for parameter, panel in _PANELS[mechanism].items():
        for value, tried in settings_by_value(settings, parameter).items():
            errors = search.fresh(search.best(tried, CONSTRAINED), CONSTRAINED)
            yield Point.of(errors, panel=panel, series=f"ε = {epsilon:g}", x=value)
            if epsilon == max(_EPSILONS[size]):
                yield Point(panel, "always uniform", value, float(np.abs(uniform() - truth).sum()))
                yield Point(panel, "no privacy", value, unavoidable)


def as_good(line: Line, values: Sequence[float]) -> bool:
    """Return whether one of these values of a parameter loses nothing to speak of against the best value.

    Examples
    --------
    >>> line = {1: Point("", "", 1, 0.2, 0.01, 2), 2: Point("", "", 2, 0.1, 0.001, 2)}
    >>> as_good(line, [2]), as_good(line, [1])
    (True, False)
    """
    best = min(line.values(), key=lambda point: point.mean)
    own = min((line[value] for value in values if value in line), key=lambda point: point.mean)
    return own.mean <= _AS_GOOD * best.mean + 2 * math.hypot(own.standard_error, best.standard_error)


def loss(line: Line, value: float) -> float:
    """Return how many times as much a value of a parameter errs as the best one.

    Examples
    --------
    >>> loss({1: Point("", "", 1, 0.2), 2: Point("", "", 2, 0.1)}, 1)
    2.0
    """
    return line[value].mean / min(point.mean for point in line.values())


# A claim says whether the lines of a panel, by ε ascending, agree with it, and in which words.
Claim = Callable[[Mapping[float, Line]], tuple[bool, str]]


def _matching(lines: Mapping[float, Line]) -> tuple[bool, str]:
    near = (SYMBOLS // 2, SYMBOLS, 2 * SYMBOLS)
    agrees = all(as_good(line, near) for line in lines.values())
    return agrees, f"k = 256, up to a factor of 2, {_is(agrees)} the best: {_bests(lines)}"


def _alone(value: int, lines: Mapping[float, Line]) -> tuple[bool, str]:
    agrees = all(as_good(line, [value]) for line in lines.values())
    worst = max(lines, key=lambda epsilon: loss(lines[epsilon], value))
    return agrees, (
        f"{value} {_is(agrees)} as good as the best: {_bests(lines)}; {value} errs {loss(lines[worst], value):.3g} "
        f"times as much as the best at ε = {worst:g}"
    )


def _largest(lines: Mapping[float, Line]) -> tuple[bool, str]:
    return _alone(int(max(next(iter(lines.values())))), lines)


def _two_or_more(lines: Mapping[float, Line]) -> tuple[bool, str]:
    worse = {}
    for epsilon, line in lines.items():
        best = min((point for x, point in line.items() if x > 1), key=lambda point: point.mean)
        margin = 2 * math.hypot(line[1].standard_error, best.standard_error)
        worse[epsilon] = line[1].mean - margin > best.mean
    single = {epsilon: loss(line, 1) for epsilon, line in lines.items()}
    losses = ", ".join(f"{factor:.3g} at ε = {epsilon:g}" for epsilon, factor in single.items())
    agrees = all(worse.values())
    return agrees, f"a single cohort {_is(agrees, 'errs', 'does not always err')} more: {losses} times the best"


def _more_for_privacy(lines: Mapping[float, Line]) -> tuple[bool, str]:
    first, *_, last = lines
    few, many = loss(lines[first], 2), loss(lines[last], 2)
    return few > many, (
        f"cohorts beyond 2 {_is(few > many, 'matter', 'do not matter')} more for high privacy: two err {few:.3g} times "
        f"the best at ε = {first:g}, and {many:.3g} times at {last:g}"
    )


def _for_privacy(lines: Mapping[float, Line]) -> tuple[bool, str]:
    first, *_, last = lines
    agrees = not as_good(lines[first], [1])
    return agrees, (
        f"cohorts {_is(agrees, 'matter', 'do not matter')} for high privacy: a single one errs "
        f"{loss(lines[first], 1):.3g} times the best at ε = {first:g}, and {loss(lines[last], 1):.3g} times at {last:g}"
    )


def _learned(line: Line) -> bool:
    """Return whether the best error is below half of that of guessing: otherwise parameters cannot matter."""
    guess = float(np.abs(uniform() - geometric()).sum())
    return min(point.mean for point in line.values()) < guess / 2


def _bests(lines: Mapping[float, Line]) -> str:
    best = {epsilon: min(line.values(), key=lambda point: point.mean).x for epsilon, line in lines.items()}
    return ", ".join(f"{value:g} at ε = {epsilon:g}" for epsilon, value in best.items())


def _is(agrees: object, yes: str = "is", no: str = "is not") -> str:
    return yes if agrees else no


def _judge(mechanism: str, claims: Mapping[str, Sequence[Claim]], points: Sequence[Point]) -> Verdict:
    agreed, told = [], []
    for parameter, panel in _PANELS[mechanism].items():
        names = {point.series: float(point.series.partition("= ")[2]) for point in points if point.series[0] == "ε"}
        found = {epsilon: select(points, name, panel) for name, epsilon in sorted(names.items(), key=lambda x: x[1])}
        lines = {epsilon: line for epsilon, line in found.items() if _learned(line)}
        if len(lines) < 2:
            return Verdict(None, "At hardly any ε is something learned.")
        for claim in claims[parameter]:
            agrees, sentence = claim(lines)
            agreed.append(agrees)
            told.append(f"{panel}: {sentence}")
    return Verdict(
        all(agreed),
        f"{sum(agreed)} of {len(agreed)} conclusions hold, where the best error is below half of that of always saying "
        f"uniform (ε from {min(lines):g} on). {'. '.join(told)}.",
    )


def _experiment(mechanism: str, alphabet: str, says: str, claims: Mapping[str, Sequence[Claim]]) -> Experiment:
    return Experiment(
        name=f"{alphabet}-{mechanism.lower()}",
        place=f"{alphabet.capitalize()} set decoding, {mechanism}",
        title="error by k and C" if mechanism == "O-RR" else "error by k, C and h",
        setting="256 symbols, geometric with mean 51.2, 10 million people (quick: a million); at each value of a "
        "parameter the others are the best of the grid, found in some runs, and the error is that of 10 new runs "
        "(quick: 3). Least squares over distributions; tables of counts are drawn with the distribution that the "
        "reports give them.",
        says=says,
        axes=Axes("value of the parameter", "ℓ1 error"),
        cells=partial(_cells, mechanism, alphabet),
        run=_run,
        judge=partial(_judge, mechanism, claims),
    )


OPEN_ORR = _experiment(
    "O-RR",
    OPEN,
    "“O-RR (open): Alphabet size should match expected input size. Cohorts matter more for high privacy, but always "
    "≥ 2.”",
    {"buckets": [_matching], "cohorts": [_two_or_more, _more_for_privacy]},
)
OPEN_ORAPPOR = _experiment(
    "O-RAPPOR",
    OPEN,
    "“O-RAPPOR (open): Bloom Filters don't help. Use 2 cohorts and make the alphabet large.”",
    {"buckets": [_largest], "cohorts": [partial(_alone, 2)], "hashes": [partial(_alone, 1)]},
)
CLOSED_ORR = _experiment(
    "O-RR",
    CLOSED,
    "“O-RR (closed): Alphabet size should match expected input size. Cohorts matter for high privacy.”",
    {"buckets": [_matching], "cohorts": [_for_privacy]},
)
CLOSED_ORAPPOR = _experiment(
    "O-RAPPOR",
    CLOSED,
    "“O-RAPPOR (closed): Bloom Filters and Cohorts don't help. Just use k-RAPPOR and make the alphabet large.”",
    {"buckets": [_largest], "cohorts": [partial(_alone, 1)], "hashes": [partial(_alone, 1)]},
)

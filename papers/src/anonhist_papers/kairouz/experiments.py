"""The figures of Kairouz, Bonawitz and Ramage, as experiments."""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from typing import TYPE_CHECKING

from anonhist_papers.experiment import Axes, Experiment, Point, Size, Verdict, select
from anonhist_papers.kairouz.errors import TARGET, setting_errors
from anonhist_papers.kairouz.settings import FULL, OPEN, QUICK, KairouzSetting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from anonhist_papers.experiment import Cell

_TRIALS = 2
_BEST = re.compile(r"(O-RR|O-RAPPOR)\b.*")


def _cells(figures: tuple[str, ...]) -> Callable[[Size], Sequence[Cell]]:
    """Return what lists the settings of a figure: one cell for each setting and each part of the figure it is in."""

    def cells(size: Size) -> Sequence[Cell]:
        grid = QUICK if size is Size.QUICK else FULL
        users: dict[tuple[str, KairouzSetting], list[int]] = {}
        for figure, setting, number in grid.points:
            if figure in figures:
                users.setdefault((figure, setting), []).append(number)
        return [
            {"figure": figure, **asdict(setting), "users": " ".join(map(str, sorted(numbers))), "trials": _TRIALS}
            for (figure, setting), numbers in users.items()
        ]

    return cells


def _run(cell: Cell, rng: np.random.Generator) -> Iterator[tuple[KairouzSetting, int, str, list[float]]]:
    """Yield the errors of a setting by number of people and decoder."""
    setting = KairouzSetting(
        mechanism=str(cell["mechanism"]),
        epsilon=float(cell["epsilon"]),
        alphabet=str(cell["alphabet"]),
        buckets=int(cell["buckets"]),
        cohorts=int(cell["cohorts"]),
        hashes=int(cell["hashes"]),
    )
    users = [int(each) for each in str(cell["users"]).split()]
    for number, by_decoder in setting_errors(setting, users, trials=int(cell["trials"]), rng=rng).items():
        for decoder, errors in by_decoder.items():
            yield setting, number, decoder, errors


def _run_closed(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    for setting, users, decoder, errors in _run(cell, rng):
        panel = f"{users:,} people"
        if setting.mechanism == "none":
            # Without privacy the error is the same at every ε.
            for epsilon in (0.5, 8.0):
                yield Point.of(errors, panel=panel, series="no privacy", x=epsilon)
        else:
            yield Point.of(errors, panel=panel, series=f"{setting.mechanism}, {decoder}", x=setting.epsilon)


def _judge_closed(points: Sequence[Point]) -> Verdict:
    most = max(points, key=lambda point: int(point.panel.split()[0].replace(",", ""))).panel
    rr, rappor = (select(points, f"{name}, projected", most) for name in ("k-RR", "k-RAPPOR"))
    better = [epsilon for epsilon in rr if rr[epsilon].mean < rappor[epsilon].mean]
    first, last = min(rr), max(rr)
    projected = sum(
        select(points, f"{name}, projected", panel)[x].mean <= 1.05 * point.mean
        for panel in {point.panel for point in points}
        for name in ("k-RR", "k-RAPPOR")
        for x, point in select(points, f"{name}, normalized", panel).items()
    )
    total = sum(point.series.endswith(", normalized") and point.series[:2] == "k-" for point in points)
    crossed = bool(better) and rr[first].mean > rappor[first].mean
    return Verdict(
        crossed and projected >= 0.75 * total,
        f"After {most}, projected: at ε = {first:g} k-RAPPOR errs {rappor[first].mean:.3g} and k-RR "
        f"{rr[first].mean:.3g}, at {last:g} {rappor[last].mean:.3g} and {rr[last].mean:.3g}; k-RR is better from "
        f"ε = {min(better, default=math.nan):.3g} on. Projecting is as good as cutting and renormalizing, up to 5 %, "
        f"in {projected} of {total} settings.",
    )


def _run_open(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    for setting, users, decoder, errors in _run(cell, rng):
        if decoder == ("least-squares" if setting.alphabet == OPEN else "projected"):
            name = f"{setting.mechanism}, k = {setting.buckets}, C = {setting.cohorts}, h = {setting.hashes}"
            panel = f"{setting.alphabet}, ε = {setting.epsilon:g}"
            yield Point.of(errors, panel=panel, series=name, x=users)


def _best(points: Sequence[Point]) -> Sequence[Point]:
    """Return the best setting of each mechanism at each number of people."""
    least: dict[tuple[str, str, float], Point] = {}
    for point in points:
        key = point.panel, _BEST.sub(r"\1", point.series), point.x
        if key not in least or point.mean < least[key].mean:
            least[key] = point
    return [
        Point(panel, series, x, point.mean, point.standard_error, point.runs)
        for (panel, series, x), point in least.items()
    ]


def _judge_open(points: Sequence[Point]) -> Verdict:
    best, told, as_good, total = _best(points), [], 0, 0
    for panel in dict.fromkeys(point.panel for point in best):
        curves = {series: select(best, series, panel) for series in ("O-RR", "O-RAPPOR")}
        needed = {series: people_for(curve) for series, curve in curves.items()}
        if needed["O-RAPPOR"] is None:
            continue
        total += 1
        as_good += needed["O-RR"] is not None and needed["O-RR"] <= 1.05 * needed["O-RAPPOR"]
        people = " and ".join("more" if each is None else f"{each:,.0f}" for each in needed.values())
        told.append(f"{panel}: {people}")
    return Verdict(
        as_good >= 0.75 * total if total else None,
        f"People that O-RR and O-RAPPOR need for ℓ1 = {TARGET:.2f}, each at the best of the parameters tried: "
        f"{'; '.join(told)}. O-RR needs no more, up to 5 %, in {as_good} of {total}.",
    )


def people_for(curve: Mapping[float, Point], *, target: float = TARGET) -> float | None:
    """Return the number of people at which the error comes down to the target, between two that were tried.

    Examples
    --------
    >>> people_for({100: Point("", "O-RR", 100, 0.4), 10_000: Point("", "O-RR", 10_000, 0.04)})
    400.0
    """
    from itertools import pairwise
    from math import log

    for (users, point), (more, lower) in pairwise(curve.items()):
        if point.mean > target >= lower.mean:
            part = log(point.mean / target) / log(point.mean / lower.mean)
            return float(round(users * (more / users) ** part))
    return None


def _run_parameters(cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
    parameter = str(cell["figure"])
    for setting, _, decoder, errors in _run(cell, rng):
        if decoder == "least-squares":
            panel = f"{setting.mechanism}, {setting.alphabet}, varying {_LETTERS[parameter]}"
            yield Point.of(errors, panel=panel, series=f"ε = {setting.epsilon:g}", x=float(cell[parameter]))


_LETTERS = {"buckets": "k", "cohorts": "C", "hashes": "h"}


def _judge_parameters(points: Sequence[Point]) -> Verdict:
    """Compare the claims on hashes of a Bloom filter, and on single cohorts."""
    hashes = [
        (series, panel, select(points, series, panel))
        for panel in {point.panel for point in points if point.panel.startswith("O-RAPPOR, open, varying h")}
        for series in {point.series for point in points}
    ]
    single = [min(line, key=lambda h: line[h].mean) for *_, line in hashes if line]
    cohorts = [
        (line[min(line)].mean / min(point.mean for x, point in line.items() if x > 1), series)
        for series in dict.fromkeys(point.series for point in points)
        if (line := select(points, series, "O-RR, open, varying C"))
    ]
    told = ", ".join(f"{ratio:.2g} times at {series}" for ratio, series in cohorts)
    return Verdict(
        all(h <= 2 for h in single) and all(ratio > 1 for ratio, _ in cohorts),
        f"Open O-RAPPOR is best with h = {' and '.join(f'{h:g}' for h in sorted(set(single)))}: further hashes of a "
        f"Bloom filter do not help. Open O-RR with a single cohort errs {told} as much as with more.",
    )


CLOSED_ALPHABETS = Experiment(
    name="closed",
    place="Slides on the simplex",
    title="k-RR and k-RAPPOR on a closed alphabet, by decoder",
    setting="256 symbols, geometric with mean 51.2; all reports are drawn; 2 runs.",
    says="“k-RR is order-optimal for low privacy (and k-RAPPOR is sub-optimal) … k-RAPPOR is order-optimal for high "
    "privacy (and k-RR is sub-optimal) … For skewed distributions, the projected estimator offers the best utility.”",
    axes=Axes("ε", "ℓ1 error", log_x=False),
    cells=_cells(("closed",)),
    run=_run_closed,
    judge=_judge_closed,
)
OPEN_ALPHABETS = Experiment(
    name="open",
    place="Empirical comparison",
    title="O-RR beside O-RAPPOR, each at its best parameters",
    setting="256 symbols, geometric with mean 51.2, hashed (open) or permuted (closed); all reports are drawn; 2 runs.",
    says="“O-RR meets or exceeds utility of O-RAPPOR over wide range of privacy settings.” The figure has the people "
    "needed for an ℓ1 loss of 0.20, with 2 ≤ k ≤ 4096, 1 ≤ c ≤ 1024 and 1 ≤ h ≤ 16.",
    axes=Axes("people", "ℓ1 error"),
    cells=_cells(("open",)),
    run=_run_open,
    judge=_judge_open,
    view=_best,
)
PARAMETERS = Experiment(
    name="parameters",
    place="Understanding parameters",
    title="output alphabet k, cohorts C and hashes h",
    setting="256 symbols, geometric with mean 51.2; decoded by least squares; all reports are drawn; 2 runs.",
    says="“O-RR (open): Alphabet size should match expected input size. Cohorts matter more for high privacy, but "
    "always ≥ 2. O-RAPPOR (open): Bloom Filters don't help. Use 2 cohorts and make the alphabet large.”",
    axes=Axes("value of the parameter", "ℓ1 error"),
    cells=_cells(("buckets", "cohorts", "hashes")),
    run=_run_parameters,
    judge=_judge_parameters,
)

"""What a comparison says in words and numbers, on a terminal and on a page; everything here is plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.mechanisms import METRICS
from anonhist.privacy import NeighboringRelation, short_decimal
from anonhist.report.wording import many, with_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from anonhist.mechanisms import Comparison, ComparisonRow, Metric

MARK = " *"
HOW_TO_READ = (
    "± is the standard error of the mean. * marks the lowest mean and every mean at most two "
    "standard errors of the difference above it."
)


def units() -> dict[str, str]:
    """Return the unit in which people read each metric: shares are read in percent."""
    return {metric.name: metric.unit.replace("share", "%") for metric in METRICS}


def scale(metric: str) -> float:
    """Return what a metric is multiplied by to be in that unit."""
    return 100.0 if units()[metric].startswith("%") else 1.0


def cell(comparison: Comparison, mechanism: str, epsilon: Fraction, metric: str) -> str:
    """Write one mean with its standard error, marked where it is among the best."""
    row = comparison.row(mechanism, epsilon, metric)
    if row is None:
        return "–"
    return mean_text(row) + (MARK if mechanism in comparison.best(epsilon, metric) else "")


def mean_text(row: ComparisonRow) -> str:
    """Write a mean and its standard error in the unit in which people read it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.mechanisms import ComparisonRow
    >>> mean_text(ComparisonRow("auto", Fraction(1), "guessing", 0.0123, 0.00045, 20))
    '1.230 ± 0.045'
    """
    factor = scale(row.metric)
    return with_error(factor * row.mean, factor * row.standard_error)


def ranking(comparison: Comparison, epsilon: Fraction, metric: Metric) -> str:
    """Write the means at one epsilon, a line each, the lowest first."""
    rows = [row for row in comparison.rows if (row.epsilon, row.metric) == (epsilon, metric.name)]
    lines = [f"{row.mechanism}: {mean_text(row)}" for row in sorted(rows, key=lambda row: row.mean)]
    return "\n".join([f"ε = {short_decimal(epsilon)}, {metric.title}, in {units()[metric.name]}", *lines])


def advice(comparison: Comparison) -> str:
    """Say which mechanism to use: auto wherever no other errs measurably less, else the one that errs least.

    Nothing where there is only one: it was compared with no other.

    Examples
    --------
    >>> from anonhist.mechanisms import compare
    >>> from anonhist.profiles import Profile
    >>> advice(compare(Profile.from_counts([8, 8, 3]), epsilons=[1], mechanisms=["auto"], repeats=2))
    ''
    """
    if len(comparison.mechanisms) == 1:
        return ""
    metric = METRICS[0]
    at: dict[str, list[Fraction]] = {}
    for epsilon in sorted(comparison.epsilons):
        best = comparison.best(epsilon, metric.name)
        rows = [row for row in comparison.rows if (row.epsilon, row.metric) == (epsilon, metric.name)]
        least = min(rows, key=lambda row: row.mean).mechanism
        at.setdefault("auto" if "auto" in best else least, []).append(epsilon)
    why = "its error is the lowest {} (" + _lower(metric.title) + "), or not measurably higher."
    if len(at) == 1:
        return f"Use {next(iter(at))}: {why.format('at every epsilon here')}"
    each = "; ".join(f"{name} at {_list(epsilons)}" for name, epsilons in at.items())
    return f"Use {each}. For each, {why.format('there')}"


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]


def basis(comparison: Comparison) -> str:
    """Say what was compared on, and how often."""
    return (
        f"Compared on {many(comparison.items, 'item')} of {many(comparison.labels, 'label')}, with "
        f"{comparison.repeats} releases per mechanism and epsilon; each protects {comparison.unit}, "
        f"{change(comparison)}."
    )


def change(comparison: Comparison) -> str:
    """Say what may not show in a release."""
    is_substitute = comparison.relation is NeighboringRelation.SUBSTITUTE
    return "replaced by another" if is_substitute else "added or removed"


def notes(comparison: Comparison) -> list[str]:
    """Say what else a reader must know, parameters in backticks: what auto picked, what was taken, what was skipped."""
    said = []
    picked: dict[str, list[Fraction]] = {}
    for epsilon, name in comparison.picked:
        picked.setdefault(name, []).append(epsilon)
    if picked:
        said.append(f"auto picked {'; '.join(f'{name} at {_list(at)}' for name, at in picked.items())}.")
    if comparison.taken:
        numbers = ", ".join(f"`{name}` = {number:,}" for name, number in comparison.taken)
        said.append(
            f"Taken from the data: {numbers}. For a release, use numbers that are known without looking at the data."
        )
    said.extend(f"Skipped {each.mechanism} at {_list(each.epsilons)}: {each.sentence}" for each in comparison.skipped)
    return said


def _list(epsilons: Sequence[Fraction]) -> str:
    return f"epsilon {', '.join(map(short_decimal, epsilons))}"

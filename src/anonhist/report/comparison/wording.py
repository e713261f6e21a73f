"""What a comparison says in words and numbers, on a terminal and on a page; everything here is plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.mechanisms import METRICS
from anonhist.privacy import NeighboringRelation, short_decimal
from anonhist.report.wording import with_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from anonhist.mechanisms import Comparison, ComparisonRow

MARK = " *"
HOW_TO_READ = (
    "± is the standard error of the mean. * marks the least mean, and those that cannot be told from it: larger by at "
    "most two standard errors of the difference."
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


def basis(comparison: Comparison) -> str:
    """Say what was compared on, and how often."""
    return (
        f"Compared on {_many(comparison.items, 'item')} of {_many(comparison.labels, 'label')}, by "
        f"{comparison.repeats} releases per "
        f"mechanism and epsilon; protected is {comparison.unit}, {change(comparison)}."
    )


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
            f"Taken from the data: {numbers}. For a release such numbers must be known without looking at them."
        )
    said.extend(f"Skipped {each.mechanism} at {_list(each.epsilons)}: {each.sentence}" for each in comparison.skipped)
    return said


def _list(epsilons: Sequence[Fraction]) -> str:
    return f"epsilon {', '.join(map(short_decimal, epsilons))}"

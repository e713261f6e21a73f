"""Results of a comparison of mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonhist.errors import spell_out
from anonhist.frozen import frozen
from anonhist.outward import Saved, Shown, Tabular
from anonhist.privacy import NeighboringRelation, PrivacyUnit, short_decimal

NOT_PRIVATE = (
    "Comparing on private data is not private: every number here reveals something about the data, and so does a "
    "choice based on it. Compare on public data or on an earlier release."
)


@frozen
class ComparisonRow:
    """One metric of one mechanism at one budget.

    Attributes
    ----------
    mechanism, epsilon
        The name of the mechanism, and its whole budget.
    metric
        Name of a metric of ``anonhist.mechanisms.comparison.metrics``.
    mean, standard_error
        Mean over the releases, and its standard error: the standard deviation over √repeats.
    repeats
        How many releases were made.
    """

    mechanism: str
    epsilon: Fraction
    metric: str
    mean: float
    standard_error: float
    repeats: int


@dataclass(frozen=True)
class Skipped:
    """A mechanism that does not apply.

    Attributes
    ----------
    mechanism, epsilons
        Its name, and the budgets at which it does not apply.
    sentence
        The reason, as in the error, with parameters in backticks.
    """

    mechanism: str
    epsilons: tuple[Fraction, ...]
    sentence: str

    @property
    def reason(self) -> str:
        """The reason, with parameters in Python's spelling."""
        return spell_out(self.sentence)


@dataclass(frozen=True)
class Comparison(Shown, Tabular, Saved):
    """What :func:`compare` found.

    Attributes
    ----------
    rows
        One for each budget, mechanism and metric, in this order of nesting.
    skipped
        Mechanisms that do not apply, and the reasons.
    picked
        (budget, name) of each mechanism that ``"auto"`` picked.
    taken
        (name, number) of each missing public number that was taken from the data.
    items, labels
        Size of the data, with capped counts if labels are protected.
    unit, relation, repeats
        As requested.
    of_release
        Whether the data are a release, so that nothing here is less private than that.
    """

    known_as = "comparison"
    rows: tuple[ComparisonRow, ...]
    skipped: tuple[Skipped, ...]
    picked: tuple[tuple[Fraction, str], ...]
    taken: tuple[tuple[str, int], ...]
    items: int
    labels: int
    unit: PrivacyUnit
    relation: NeighboringRelation
    repeats: int
    of_release: bool = False

    def __repr__(self) -> str:
        budgets = ", ".join(map(short_decimal, self.epsilons))
        return f"Comparison({', '.join(self.mechanisms)}; epsilon={budgets}; {self.repeats} releases each)"

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Names of the mechanisms that were run at some budget, in the order asked for."""
        return tuple(dict.fromkeys(row.mechanism for row in self.rows))

    @property
    def epsilons(self) -> tuple[Fraction, ...]:
        """Budgets at which some mechanism was run, in the order asked for."""
        return tuple(dict.fromkeys(row.epsilon for row in self.rows))

    def row(self, mechanism: str, epsilon: Fraction, metric: str) -> ComparisonRow | None:
        """Return one row, or None if the mechanism does not apply."""
        asked = (mechanism, epsilon, metric)
        return next((row for row in self.rows if (row.mechanism, row.epsilon, row.metric) == asked), None)

    def best(self, epsilon: Fraction, metric: str) -> frozenset[str]:
        """Return the mechanism with the lowest error, and those not significantly worse.

        Their means are larger by at most two standard errors of the difference. A mechanism's own standard error counts
        only up to a quarter of its mean, so that a large variance does not make it look good.
        """
        rows = [row for row in self.rows if (row.epsilon, row.metric) == (epsilon, metric)]
        least = min(rows, key=lambda row: row.mean)
        return frozenset(
            row.mechanism
            for row in rows
            if row.mean - least.mean <= 2 * float(np.hypot(min(row.standard_error, row.mean / 4), least.standard_error))
        )

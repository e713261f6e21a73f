"""Discrete distribution estimation under local privacy, run again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.cli.reproduction.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from rich.table import Table

    from anonhist.local.kairouz import ErrorRow
    from anonhist.local.kairouz_settings import Grid


@dataclass(frozen=True)
class Kairouz(Experiment):
    """k-RR, k-RAPPOR, O-RR and O-RAPPOR: Kairouz, Bonawitz and Ramage 2016.

    Attributes
    ----------
    full
        Whether all settings are tried, or few.
    """

    figures: ClassVar[tuple[str, ...]] = ("closed", "open", "parameters")
    usual_trials: ClassVar[int] = 2
    full: bool = False

    @property
    def _grid(self) -> Grid:
        from anonhist.local import kairouz_settings

        return kairouz_settings.FULL if self.full else kairouz_settings.QUICK

    def steps(self, trials: int) -> int:
        """Return how often ``advance`` is called in all."""
        from anonhist.local.kairouz import steps

        return steps(self._grid, trials)

    def run(self, trials: int, advance: Callable[[], None]) -> Sequence[ErrorRow]:
        """Run all settings of the grid."""
        import numpy as np

        from anonhist.local.kairouz import errors

        # It draws people who do not exist; their reports are drawn as those of people are.
        return errors(self._grid, trials=trials, rng=np.random.default_rng(), advance=advance)

    def figure(self, name: str, rows: Sequence[ErrorRow]) -> Figure:
        """Draw one of the figures."""
        from anonhist.report.kairouz_figures import kairouz_figure

        return kairouz_figure(name, rows)

    def summary(self, rows: Sequence[ErrorRow], table: Table) -> str:
        """Show the errors that the comparisons rest on: after most people, by ε, and how many people are needed."""
        from anonhist.local.kairouz import TARGET, best, people_needed

        most = max(row.users for row in rows)
        closed = {
            (row.mechanism, row.epsilon): row
            for row in rows
            if (row.figure, row.users, row.decoder) == ("closed", most, "projected")
        }
        curves = {name: best(rows, name, "open", decoder="least-squares") for name in ("O-RR", "O-RAPPOR")}
        opened = {(row.mechanism, row.epsilon): row for curve in curves.values() for row in curve if row.users == most}
        plain = [name for name in dict.fromkeys(name for name, _ in closed) if name != "none"]
        columns = [*plain, *curves]
        for head in ("ε", *columns):
            table.add_column(head.replace(" ", "\n"), justify="right", no_wrap=True)
        for epsilon in sorted({epsilon for _, epsilon in (*closed, *opened) if epsilon}):
            cells = [(closed | opened).get((column, epsilon)) for column in columns]
            table.add_row(
                f"{epsilon:.3g}", *(f"{row.l1_mean:.3f} ± {row.l1_standard_error:.3f}" if row else "" for row in cells)
            )
        never = f"more than {most:,}"
        needed = {
            name: ", ".join(f"{people:,.0f} at ε = {epsilon:g}" for epsilon, people in people_needed(curve).items())
            for name, curve in curves.items()
        }
        return (
            f"Mean ℓ1 errors after {most:,} reports, ± their standard errors: projected where the alphabet is closed, "
            "by least squares and with the best of the parameters tried where it is open. People needed for "
            f"{TARGET:.2f} there: {'; '.join(f'{name} {each or never}' for name, each in needed.items())}."
        )

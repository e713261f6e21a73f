"""INSPECTRE, run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from anonhist.cli.reproduction.experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure
    from rich.table import Table

    from anonhist.mechanisms.estimators.inspectre import ErrorRow


class Inspectre(Experiment):
    """Private entropy and support coverage: Acharya, Kamath, Sun and Zhang 2018."""

    figures: ClassVar[tuple[str, ...]] = ("entropy", "coverage", "texts")
    usual_trials: ClassVar[int] = 100

    def steps(self, trials: int) -> int:
        """Return how often ``advance`` is called in all."""
        from anonhist.mechanisms.estimators.inspectre import steps

        return steps(trials)

    def run(self, trials: int, advance: Callable[[], None]) -> Sequence[ErrorRow]:
        """Run entropy, coverage and texts."""
        import numpy as np

        from anonhist.mechanisms.estimators.inspectre import coverage_errors, entropy_errors, text_errors

        # A simulation on public data: nothing private rests on this generator.
        rng = np.random.default_rng()
        rows: list[ErrorRow] = []
        for run in (entropy_errors, coverage_errors, text_errors):
            rows.extend(run(trials=trials, rng=rng, advance=advance))
        return rows

    def figure(self, name: str, rows: Sequence[ErrorRow]) -> Figure:
        """Draw one of the figures."""
        from anonhist.report.inspectre_figures import inspectre_figure

        return inspectre_figure(name, rows)

    def summary(self, rows: Sequence[ErrorRow], table: Table) -> str:
        """Show errors beside those with the published noise, and without any."""
        for head in ("experiment", "data", "at", "without noise", "private", "published noise"):
            table.add_column(head, justify="left" if head in ("experiment", "data") else "right", no_wrap=True)
        found = {(row.experiment, row.data, row.x, row.estimator, row.epsilon): row for row in rows}
        for (experiment, data, x, estimator, epsilon), row in found.items():
            if not estimator.endswith("published noise") or epsilon not in (0.5, 1):
                continue
            own = estimator.removesuffix(", published noise")
            plain = found[experiment, data, x, f"{own}, without noise", epsilon]
            private = found[experiment, data, x, own, epsilon]
            table.add_row(
                experiment,
                data,
                f"{x:g}",
                *(f"{each.rmse:.4g} ± {each.standard_error:.1g}" for each in (plain, private, row)),
            )
        return (
            "Root mean squared errors, ± their standard errors: entropy in bits, coverage as a share of n·t, texts in "
            "labels; ε = 1, of texts 0.5."
        )

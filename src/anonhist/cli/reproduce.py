"""``anonhist reproduce``: published experiments, run again."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonhist.cli.targets import keep_plots_quiet
from anonhist.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.mechanisms.estimators.inspectre import ErrorRow

_FIGURES = ("entropy", "coverage", "texts")


def run_reproduce(*, experiment: str, trials: int, output: str | None, force: bool, quiet: bool) -> None:
    """Run the experiments, and write their errors as CSV and their figures."""
    if trials < 2:
        message = f"--trials must be at least 2, not {trials}."
        raise UsageError(message)
    folder = Path(output or experiment)
    targets = [folder / f"{experiment}.csv", *(folder / f"{figure}.png" for figure in _FIGURES)]
    _check(folder, targets, force=force)

    import numpy as np

    from anonhist.cli.progress import steps_bar
    from anonhist.mechanisms.estimators.inspectre import coverage_errors, entropy_errors, steps, text_errors

    # A simulation on public data: nothing private rests on this generator.
    rng = np.random.default_rng()
    rows: list[ErrorRow] = []
    with steps_bar("Running", steps(trials), shown=not quiet) as advance:
        for run in (entropy_errors, coverage_errors, text_errors):
            rows.extend(run(trials=trials, rng=rng, advance=advance))
    folder.mkdir(parents=True, exist_ok=True)
    _write(targets, rows, force=force)
    if not quiet:
        _say(rows)
        for target in targets:
            click.echo(f"Wrote {target}.")


def _check(folder: Path, targets: Sequence[Path], *, force: bool) -> None:
    """Refuse what could not be written before anything is run."""
    from anonhist.formats import check_free

    if folder.exists() and not folder.is_dir():
        message = f"{str(folder)!r} is a file: name a folder to write to (-o)."
        raise OutputError(message)
    if folder.is_dir():
        for target in targets:
            check_free(target, overwrite=force)


def _write(targets: Sequence[Path], rows: Sequence[ErrorRow], *, force: bool) -> None:
    from anonhist.formats import write_whole
    from anonhist.report.inspectre_figures import inspectre_figure

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [field.name for field in fields(rows[0])]
    writer.writerow(names)
    writer.writerows([f"{each:.6g}" if isinstance(each, float) else each for each in astuple(row)] for row in rows)
    write_whole(targets[0], text.getvalue().encode(), overwrite=force)
    keep_plots_quiet()
    for figure, target in zip(_FIGURES, targets[1:], strict=True):
        picture = io.BytesIO()
        inspectre_figure(figure, rows).savefig(picture, format="png", dpi=150)
        write_whole(target, picture.getvalue(), overwrite=force)


def _say(rows: Sequence[ErrorRow]) -> None:
    """Print the errors beside those with the published noise, and without any."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.width = max(console.width, 100)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
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
    console.print(table)
    console.print(
        "Root mean squared errors, ± their standard errors: entropy in bits, coverage as a share of n·t, texts in "
        "labels; ε = 1, of texts 0.5.",
        style="dim",
    )

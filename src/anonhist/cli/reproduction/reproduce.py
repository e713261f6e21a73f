"""``anonhist reproduce``: published experiments, run again."""

from __future__ import annotations

import io
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.tables import csv_of
from anonhist.cli.targets import keep_plots_quiet
from anonhist.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.cli.reproduction.experiment import Experiment


def run_reproduce(
    *, experiment: str, repeats: int | None, full: bool, output: str | None, force: bool, quiet: bool
) -> None:
    """Run the experiments, and write their errors as CSV and their figures."""
    chosen = _experiment(experiment, full=full)
    runs = chosen.usual_trials if repeats is None else repeats
    if runs < 2:
        message = f"--repeats must be at least 2, not {runs}."
        raise UsageError(message)
    folder = Path(output or experiment)
    targets = [folder / f"{experiment}.csv", *(folder / f"{figure}.png" for figure in chosen.figures)]
    _check(folder, targets, force=force)

    from anonhist.cli.progress import steps_bar

    with steps_bar("Running", chosen.steps(runs), shown=not quiet) as advance:
        rows = chosen.run(runs, advance)
    folder.mkdir(parents=True, exist_ok=True)
    _write(chosen, targets, rows, force=force)
    if not quiet:
        _say(chosen, rows)
        for target in targets:
            click.echo(f"Wrote {target}.")


def _experiment(name: str, *, full: bool) -> Experiment:
    if name == "kairouz":
        from anonhist.cli.reproduction.kairouz import Kairouz

        return Kairouz(full=full)
    if full:
        message = f"--full is for kairouz alone; {name} has one size, and --repeats makes it more exact."
        raise UsageError(message)
    from anonhist.cli.reproduction.inspectre import Inspectre

    return Inspectre()


def _check(folder: Path, targets: Sequence[Path], *, force: bool) -> None:
    """Refuse what could not be written before anything is run."""
    from anonhist.formats.atomic import check_free

    if folder.exists() and not folder.is_dir():
        message = f"{str(folder)!r} is a file: name a folder to write to (-o)."
        raise OutputError(message)
    if folder.is_dir():
        for target in targets:
            check_free(target, overwrite=force)


def _write(chosen: Experiment, targets: Sequence[Path], rows: Sequence[Any], *, force: bool) -> None:
    from anonhist.formats.atomic import write_whole

    names = [field.name for field in fields(rows[0])]
    written = ([f"{each:.6g}" if isinstance(each, float) else each for each in astuple(row)] for row in rows)
    write_whole(targets[0], csv_of(names, written).encode(), overwrite=force)
    keep_plots_quiet()
    for figure, target in zip(chosen.figures, targets[1:], strict=True):
        picture = io.BytesIO()
        chosen.figure(figure, rows).savefig(picture, format="png", dpi=150)
        write_whole(target, picture.getvalue(), overwrite=force)


def _say(chosen: Experiment, rows: Sequence[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.width = max(console.width, 100)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    below = chosen.summary(rows, table)
    console.print(table)
    console.print(below, style="dim")

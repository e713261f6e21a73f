"""``anonhist reproduce``: published experiments, run again."""

from __future__ import annotations

import io
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue import load
from anonhist.cli.options import force_option, quiet_option
from anonhist.cli.tables import csv_of
from anonhist.cli.targets import keep_plots_quiet
from anonhist.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.cli.reproduction.experiment import Experiment

_EXPERIMENTS = {
    "inspectre": ".cli.reproduction.inspectre:Inspectre",
    "kairouz": ".cli.reproduction.kairouz:Kairouz",
}


@click.command()
@click.argument("experiment", type=click.Choice(tuple(_EXPERIMENTS)))
@click.option("--repeats", type=int, metavar="R", help="How many runs of each kind; by default 100, of kairouz 2.")
@click.option("--full", is_flag=True, help="Try all settings of kairouz, always with 10^6 people: 10 minutes a run.")
@click.option("-o", "--output", metavar="FOLDER", help="Where to write; by default a folder named as the experiment.")
@force_option
@quiet_option
def reproduce(
    *, experiment: str, repeats: int | None, full: bool, output: str | None, force: bool, quiet: bool
) -> None:
    """Run the experiments of a paper again.

    Their errors are written as CSV and plots.

    inspectre: private entropy and support coverage (Acharya, Kamath, Sun and Zhang 2018, Figures 2 to 5), on synthetic
    data, the words of Hamlet and surnames, beside the same estimators without noise and with the published noise.

    kairouz: distributions from randomised reports (Kairouz, Bonawitz and Ramage 2016): k-RR beside k-RAPPOR, O-RR
    beside O-RAPPOR, by epsilon, buckets, cohorts and hashes, 256 symbols with geometric frequencies.
    """
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
    if full and name != "kairouz":
        message = f"--full is for kairouz alone; {name} has one size, and --repeats makes it more exact."
        raise UsageError(message)
    experiment: Experiment = load(_EXPERIMENTS[name])(**({"full": True} if full else {}))
    return experiment


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

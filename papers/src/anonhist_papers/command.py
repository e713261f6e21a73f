"""``anonhist reproduce``: the experiments of a paper, run again into a folder."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonhist.errors import OutputError, UsageError
from anonhist.replacing import check_replaceable
from anonhist.terminal.destinations import keep_plots_quiet
from anonhist.terminal.options import force_option, quiet_option
from anonhist_papers.catalogue import PAPERS, load_paper
from anonhist_papers.experiment import Point, Size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist_papers.experiment import Experiment, Paper
    from anonhist_papers.results import Results

_PAGE = "index.html"


@click.command()
@click.argument("paper", type=click.Choice(tuple(PAPERS)))
@click.option("--quick", is_flag=True, help="Run a small version, in less than a minute.")
@click.option("-o", "--output", metavar="FOLDER", help="Folder to write to; by default, one named after the paper.")
@force_option
@quiet_option
def reproduce(*, paper: str, quick: bool, output: str | None, force: bool, quiet: bool) -> None:
    """Run the experiments of a paper again.

    For each experiment, it writes a CSV file and a figure, and for all a page that says what was confirmed.

    A full run takes minutes to hours. To resume an interrupted run, give the same command again.

    suresh: PrivHist (Suresh 2019): its error and run time against n and ε, lower bounds, and properties estimated from
    its releases.

    blocki: the exponential mechanism over partitions (Blocki 2016), on the passwords of RockYou, on staircases and on
    graphs.

    inspectre: private entropy, support size and support coverage (Acharya, Kamath, Sun and Zhang 2018): all figures and
    theorems, on synthetic data, the words of Hamlet and surnames.

    kairouz: distributions from randomized reports (Kairouz, Bonawitz and Ramage 2016): k-RR beside k-RAPPOR, O-RR
    beside O-RAPPOR at the best of all their parameters.

    wu-pagh: profiles from private sketches (Wu and Pagh 2024): errors and run time beside a linear program, and the
    two-party protocol of the lower bound.
    """
    size = Size.QUICK if quick else Size.FULL
    folder = Path(output or paper)
    chosen = load_paper(paper)
    _check(folder, [each.name for each in chosen.experiments], force=force)
    results = _results(folder, made_by=f"{paper}, {size.value}")
    _run(chosen, results, size, quiet=quiet)
    points = [results.points(each.name, each.cells(size)) for each in chosen.experiments]
    keep_plots_quiet()
    for experiment, own in zip(chosen.experiments, points, strict=True):
        _write(folder, experiment, own)
    from anonhist_papers.page import write_page

    page = folder / _PAGE
    write_page(page, chosen, points, key=paper, size=size, overwrite=True)
    if not quiet:
        for experiment, own in zip(chosen.experiments, points, strict=True):
            verdict = experiment.judge(own)
            word = {True: "confirmed", False: "contradicted", None: "not decided"}[verdict.agrees]
            click.echo(f"{experiment.place}: {word}. {verdict.sentence}")
        click.echo(f"Wrote {page}, and a CSV and a figure for each experiment beside it.")


def _check(folder: Path, experiments: Sequence[str], *, force: bool) -> None:
    """Make the folder; refuse one that holds something else, or a ledger where a file of the run would be."""
    from anonhist_papers.results import FILE

    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{str(folder)!r} is a file: name a folder to write to (-o).")
    kept = folder / FILE
    if folder.is_dir() and any(folder.iterdir()) and not kept.exists() and not force:
        raise UsageError(f"{str(folder)!r} holds other files: name an empty folder (-o), or write into it (--force).")
    for name in (FILE, _PAGE, *(f"{each}{ending}" for each in experiments for ending in (".csv", ".png"))):
        check_replaceable(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if force:
            kept.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{str(folder)!r} cannot be written to: {error.strerror}.") from error


def _results(folder: Path, *, made_by: str) -> Results:
    from anonhist_papers.results import Results

    return Results(folder, made_by=made_by)


def _run(paper: Paper, results: Results, size: Size, *, quiet: bool) -> None:
    """Run what was not run yet."""
    import numpy as np

    from anonhist.terminal.output import progress_bar

    open_cells = [
        (experiment, cell)
        for experiment in paper.experiments
        for cell in experiment.cells(size)
        if (experiment.name, cell) not in results
    ]
    # Public data and simulations on them: nothing private rests on this generator.
    rng = np.random.default_rng()
    with progress_bar("Running", shown=not quiet) as tell:
        for done, (experiment, cell) in enumerate(open_cells, start=1):
            results.add(experiment.name, cell, list(experiment.run(cell, rng)))
            if tell is not None:
                tell(done / len(open_cells))


def _write(folder: Path, experiment: Experiment, points: Sequence[Point]) -> None:
    from anonhist.formats.atomic import write_whole
    from anonhist_papers.figures import experiment_figure

    names = [field.name for field in fields(Point)]
    rows = ([f"{each:.6g}" if isinstance(each, float) else each for each in astuple(point)] for point in points)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    write_whole(folder / f"{experiment.name}.csv", text.getvalue().encode(), overwrite=True)
    picture = io.BytesIO()
    experiment_figure(experiment, experiment.view(points)).savefig(picture, format="png", dpi=150)
    write_whole(folder / f"{experiment.name}.png", picture.getvalue(), overwrite=True)

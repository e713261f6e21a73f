"""What a person sees of a release: sentences everywhere, a table and a plot on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from anonhist.cli.central.plot import terminal_plot
from anonhist.cli.tables import console_on
from anonhist.report.kinds import view_of
from anonhist.report.remarks import remarks
from anonhist.report.wording import (
    expected_error,
    interval,
    promise_lines,
    share_of_items,
)

if TYPE_CHECKING:
    from rich.console import Console

    from anonhist.releases import Release

_LEVELS = (2, 3, 5, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def say(release: Release, stream: TextIO) -> None:
    """Print what was released, promised and done: one line each."""
    for name, sentence in _facts(release):
        click.echo(f"{name}: {sentence}", file=stream)


def show_summary(release: Release, stream: TextIO) -> None:
    """Print the same, and on a terminal a table and a small plot of the released prevalences."""
    if not stream.isatty():
        say(release, stream)
        return
    from rich.table import Table
    from rich.text import Text

    console = console_on(stream, widest=100)
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column()
    for name, sentence in _facts(release):
        facts.add_row(name, Text(sentence))
    console.print(facts)
    console.print()
    _table(release, console)
    if len(release.profile):
        console.print()
        plot = Text(terminal_plot(release, width=console.width), no_wrap=True)
        plot.highlight_regex("•+", "cyan")
        console.print(plot)
    console.print()


def _facts(release: Release) -> list[tuple[str, str]]:
    profile = release.profile
    unit = release.guarantee.unit
    words = release.words
    runs = release.error.simulations
    expected = (
        f"about {words.error.format(expected_error(release.error))} expected{share_of_items(release)} (sorted ℓ1,"
        f" {runs} simulations)."
        if runs
        else "not simulated (0 simulations), so there is no expected error, and no interval that rests on one."
    )
    own = "" if release.items is None else f" Released on its own: {words.many_items(release.items)}."
    silent = "" if release.zeros is None else f", and {words.many_labels(release.zeros)} without any"
    capped = "" if unit.max_count is None else f", each label counted at most {_many(unit.max_count, 'time')}"
    # Noise makes labels where there are few: the number is not said without what it is worth.
    # Of degrees that were bounded: that many of them, as in the table.
    reached = release.error.k_plus(profile, 1).interval
    between = f" (95 % interval {interval(*reached)})" if release.error.has_k_plus_intervals else ""
    labels = f"{words.many_labels(profile.num_labels)}{between}{silent}"
    return [
        ("Released", f"{words.many_items(profile.n)} of {labels}{capped}.{own}"),
        *view_of(release).facts(release),
        *promise_lines(release.guarantee),
        ("Mechanism", f"{release.mechanism.name}. {release.reason}"),
        ("Error", expected),
        *remarks(release),
    ]


def _table(release: Release, console: Console) -> None:
    from rich.table import Table

    words = release.words
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("released", justify="right")
    table.add_column("95 % interval", justify="right")
    error, profile = release.error, release.profile
    levels = {level for level in _LEVELS if profile.k_plus(level)}
    if (largest := release.guarantee.unit.max_count) is not None:
        # All that is known of what lies beyond.
        levels = {*levels, largest} - {1}
    # Of degrees that were bounded: what is said before the table.
    rows = [
        (
            words.labels if k == 1 and release.zeros is None else words.at_least.format(f"{k:,}"),
            error.k_plus(profile, k),
        )
        for k in (1, *sorted(levels))
    ]
    if release.zeros is not None:
        rows.insert(0, (words.exactly.format(0), release.prevalence(0)))
    if release.excess is not None:
        bound, cap = release.excess.bound, release.excess.cap
        rows.append((f"users with more than {_many(bound, 'item')}", release.excess.users))
        rows.append((f"items left out of them, up to {cap:,} each", release.excess.capped_items))
    for name, estimate in rows:
        table.add_row(name, f"{estimate.value:,.0f}", interval(*estimate.interval))
    console.print(table)


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

"""What a person at a terminal sees of a release; a pipe gets the guarantee alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from anonhist.releases import Release

_WIDTH, _HEIGHT = 60, 12
_LEVELS = (1, 2, 3, 5, 10, 100, 1_000, 10_000, 100_000)


def summary(release: Release, stream: TextIO) -> None:
    """Print the guarantee, and on a terminal a table and a small plot of the released prevalences."""
    error = release.error.sorted_l1
    click.echo(str(release.guarantee), file=stream)
    click.echo(
        f"Mechanism {release.mechanism.name}: expected sorted ℓ1 error {error.value:,.4g} ±"
        f" {error.standard_error:,.2g} items. {release.reason}",
        file=stream,
    )
    if not stream.isatty():
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream)
    table = Table("", "released", "95 % interval", box=None, pad_edge=False, header_style="dim")
    for column in table.columns[1:]:
        column.justify = "right"
    for k in _LEVELS:
        if k == 1 or release.profile.k_plus(k):
            estimate = release.k_plus(k)
            low, high = estimate.interval
            name = "labels" if k == 1 else f"labels with {k:,} items or more"
            table.add_row(name, f"{estimate.value:,.0f}", f"{low:,.0f} to {high:,.0f}")
    console.print(table)
    console.print(terminal_plot(release), highlight=False)


def terminal_plot(release: Release) -> str:
    """Draw the released prevalences against counts, both on log scales, in a few lines of text."""
    profile = release.profile
    if not len(profile):
        return "The released profile is empty."
    counts, prevalences = profile.counts.tolist(), profile.prevalences.tolist()
    right, top = max(math.log10(counts[-1]), 1e-9), max(math.log10(max(prevalences)), 1e-9)
    cells = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for count, prevalence in zip(counts, prevalences, strict=True):
        x = round(math.log10(count) / right * (_WIDTH - 1))
        y = round(math.log10(prevalence) / top * (_HEIGHT - 1))
        cells[_HEIGHT - 1 - y][x] = "•"
    margin = max(len(f"{max(prevalences):,}"), 6)
    lines = []
    for index, row in enumerate(cells):
        mark = f"{max(prevalences):,}" if index == 0 else ("1" if index == _HEIGHT - 1 else "")
        lines.append(f"{mark:>{margin}} ┤{''.join(row).rstrip()}")
    lines.append(f"{'':>{margin}} └{'─' * _WIDTH}")
    lines.append(f"{'labels':>{margin}}  1{f'{counts[-1]:,}':>{_WIDTH - 1}}  count (both scales logarithmic)")
    return "\n".join(lines)

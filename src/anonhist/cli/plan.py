"""``anonhist plan``: expected errors before any data are touched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon, short_decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.mechanisms import PlanRow


def run_plan(
    *,
    items: str | None,
    epsilon: str,
    shape: str | None,
    like: str | None,
    unit: str | None,
    max_per_user: int | None,
    max_count: int | None,
    relation: str,
    output: str | None,
    force: bool,
) -> None:
    """Simulate releases of public data and print what they would cost in accuracy."""
    epsilons = [part.strip() for part in epsilon.split(",")]
    for part in epsilons:
        parse_epsilon(part)
    number = whole_number(items, name="--items")
    if like is None and number is None:
        raise UsageError("Say how many items to plan for (--items 1e9), or give a released file (--like).")
    if like is not None and shape is not None:
        raise UsageError("--like and --shape both name a shape: give one of the two.")
    if max_per_user is not None and unit is None:
        unit = "user"
    protected = privacy_unit(unit, max_per_user=max_per_user, max_count=max_count) or PrivacyUnit.item()
    if output not in (None, "-"):
        from anonhist.formats.atomic import check_free

        if not output.lower().endswith(".csv"):
            message = f"A plan is written as CSV: end its path in .csv, not {output!r}."
            raise UsageError(message)
        check_free(output, overwrite=force)

    from anonhist.formats import read_release, write_whole
    from anonhist.mechanisms import plan

    rows = plan(
        epsilons=epsilons,
        items=number,
        shape=(shape or "zipf") if like is None else read_release(like).profile.with_unit(PrivacyUnit.item()),
        unit=protected,
        relation=NeighboringRelation(relation),
    )
    if output not in (None, "-"):
        write_whole(output, _csv(rows).encode(), overwrite=force)
        click.echo(f"Wrote {output}.")
    elif output == "-" or not sys.stdout.isatty():
        click.echo(_csv(rows), nl=False)
    else:
        _table(rows)


def _csv(rows: Sequence[PlanRow]) -> str:
    lines = ["epsilon,mechanism,items,sorted_l1,standard_error,relative_error"]
    lines.extend(
        f"{short_decimal(row.epsilon)},{row.mechanism},{row.items},{row.sorted_l1.value:.6g},"
        f"{row.sorted_l1.standard_error:.3g},{row.relative_error:.6g}"
        for row in rows
    )
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[PlanRow]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("epsilon", "mechanism", "items", "expected sorted ℓ1 error", "of the items", box=None, pad_edge=False)
    for column in (table.columns[0], *table.columns[2:]):
        column.justify = "right"
    for row in rows:
        table.add_row(
            short_decimal(row.epsilon),
            row.mechanism,
            f"{row.items:,}",
            f"{row.sorted_l1.value:,.4g} ± {row.sorted_l1.standard_error:,.2g}",
            f"{row.relative_error:.2%}",
        )
    Console().print(table)

"""``anonhist plan``: expected errors before any data are touched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.options import csv_output_option, force_option, planned_unit_options
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.tables import console_on, csv_of, table_of
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon, short_decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.mechanisms import PlanRow
    from anonhist.mechanisms.planning import Shape


HEADER = ("epsilon", "mechanism", "items", "sorted_l1", "standard_error", "relative_error")
_SECTIONS = {
    "What to plan for": ("items", "epsilon", "shape", "like"),
    "What to promise": ("unit", "max_per_user", "max_count", "relation"),
    "What to write": ("output", "force"),
}
_EXAMPLES = """
anonhist plan --items 1e9 --epsilon 0.1,1,2
anonhist plan --like release.json --items 1e6 --epsilon 1
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.option("--items", metavar="N", help="How many items to plan for, such as 1e9; needed without --like.")
@click.option(
    "--epsilon",
    required=True,
    metavar="E,E,…",
    help="How much privacy to spend, or several amounts to compare: 0.1,1,2.",
)
@click.option(
    "--shape",
    type=click.Choice(("zipf", "worst")),
    help="What the data look like: zipf, where the k-th most frequent label has a k-th of the items of the first, or "
    "worst, the hardest data there are.  [default: zipf]",
)
@click.option("--like", metavar="RELEASE", help="Take size and shape of a released .json or .parquet file instead.")
@planned_unit_options
@csv_output_option
@force_option
def plan(
    *,
    items: str | None,
    epsilon: str,
    shape: Shape | None,
    like: str | None,
    unit: str | None,
    max_per_user: int | None,
    max_count: int | None,
    relation: str,
    output: str | None,
    force: bool,
) -> None:
    """Show the error to expect of a release, without any data.

    The expected error is in items: how many would have to be moved from label to label, added or removed to turn one
    profile into the other, not minding names.
    """
    epsilons = [part.strip() for part in epsilon.split(",")]
    for part in epsilons:
        parse_epsilon(part)
    number = whole_number(items, name="--items")
    if like is None and number is None:
        raise UsageError("Say how many items to plan for (--items 1e9), or give a released file (--like).")
    if like is not None and shape is not None:
        raise UsageError("--like and --shape both name a shape: give one of the two.")
    protected = privacy_unit(unit, max_per_user=max_per_user, max_count=max_count)
    if output not in (None, "-"):
        from anonhist.formats.atomic import check_free

        if not output.lower().endswith(".csv"):
            message = f"A plan is written as CSV: end its path in .csv, not {output!r}."
            raise UsageError(message)
        check_free(output, overwrite=force)

    rows = _plan_rows(epsilons, number, shape or "zipf", like, protected, NeighboringRelation(relation))
    if output not in (None, "-"):
        from anonhist.formats.atomic import write_whole

        write_whole(output, _csv(rows).encode(), overwrite=force)
        click.echo(f"Wrote {output}.")
    elif output == "-" or not sys.stdout.isatty():
        from anonhist.cli.output import print_whole

        print_whole(_csv(rows))
    else:
        _table(rows)


def _plan_rows(
    epsilons: Sequence[str],
    items: int | None,
    shape: Shape,
    like: str | None,
    unit: PrivacyUnit | None,
    relation: NeighboringRelation,
) -> list[PlanRow]:
    from anonhist.cli.progress import progress_bar
    from anonhist.mechanisms import plan
    from anonhist.numeric.pulse import tell_share

    model: dict[str, Any] = {"items": items, "shape": shape}
    protected = unit or PrivacyUnit.item()
    if like is not None:
        from anonhist.formats.reading import read_release

        profile = read_release(like).profile
        protected = unit or profile.unit
        # The file is public, so any unit may be planned for, less than its own too.
        model["shape"] = profile.with_unit(protected)
    rows: list[PlanRow] = []
    with progress_bar("Simulating") as bar:
        for done, each in enumerate(epsilons):
            with tell_share(bar, done / len(epsilons), (done + 1) / len(epsilons)):
                rows.extend(plan(epsilons=[each], **model, unit=protected, relation=relation))
    return rows


def _csv(rows: Sequence[PlanRow]) -> str:
    lines = []
    for row in rows:
        errors = (f"{row.sorted_l1.value:.6g}", f"{row.sorted_l1.standard_error:.3g}", f"{row.relative_error:.6g}")
        lines.append((short_decimal(row.epsilon), row.mechanism, row.items, *errors))
    return csv_of(HEADER, lines)


def _table(rows: Sequence[PlanRow]) -> None:
    from rich.text import Text

    from anonhist.report.wording import percent, with_error

    console = console_on(sys.stdout, widest=100)
    cells = [
        (
            row.mechanism,
            short_decimal(row.epsilon),
            f"{row.items:,}",
            with_error(row.sorted_l1.value, row.sorted_l1.standard_error),
            percent(row.relative_error),
        )
        for row in rows
    ]
    heads = ("mechanism", "epsilon", "items", "expected error in items", "of the items")
    console.print(table_of(heads, [[*map(Text, each)] for each in cells], console, texts=[0]))
    console.print("Error: expected sorted ℓ1 distance, ± its standard error over the simulations.", style="dim")

"""``anonhist plan``: expected errors before any data are touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import click

from anonhist.cli.central.group_plan import group_plan_options, plan_for_groups
from anonhist.cli.decorators import OneOf, WholeNumber, as_one
from anonhist.cli.destinations import Outputs
from anonhist.cli.options import csv_output_option, epsilon_option, force_option, protection_options
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.tables import console_on, csv_of, table_of
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError
from anonhist.privacy import PrivacyUnit, parse_epsilon, short_decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.cli.arguments import Protection
    from anonhist.cli.central.group_plan import AskedGroups
    from anonhist.mechanisms import PlanRow
    from anonhist.mechanisms.planning import Shape


HEADER = ("epsilon", "mechanism", "items", "sorted_l1", "standard_error", "relative_error")
_SECTIONS = {
    "Data": ("items", "epsilon", "shape", "like", "by_sizes"),
    "Privacy": ("unit", "max_per_user", "max_count", "max_groups_per_user", "max_groups_per_label", "relation"),
    "Output": ("output", "force", "json"),
}
_EXAMPLES = """
anonhist plan --items 1e9 --epsilon 0.1,1,2
anonhist plan --like release.json --items 1e6 --epsilon 1
anonhist plan --by-sizes sizes.csv --epsilon 1
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.option(
    "--items",
    type=WholeNumber(),
    metavar="N",
    help="Number of items to plan for, such as 1e9; required without --like or --by-sizes.",
)
@epsilon_option("Privacy budget, or a list of budgets to compare, such as 0.1,1,2.", required=True, metavar="E,E,…")
@click.option(
    "--shape",
    type=OneOf(("zipf", "worst")),
    help="Assumed shape of the data: zipf (the k-th most frequent label has 1/k of the items of the first) or worst "
    "(the data with the largest error).  [default: zipf]",
)
@click.option(
    "--like", metavar="RELEASE", help="Use the size and shape of this released .json or .parquet file instead."
)
@protection_options(
    "What to protect. By default, users if --max-per-user is given, otherwise the unit of --like, otherwise items."
)
@group_plan_options
@as_one("outputs", csv_output_option, force_option, made=Outputs.of)
def plan(
    *,
    items: int | None,
    epsilon: str,
    shape: Shape | None,
    like: str | None,
    protection: Protection,
    asked: AskedGroups | None,
    outputs: Outputs,
) -> None:
    """Predict the error of a release, without reading any data.

    The expected error is in items: how many items must be moved between labels, added or removed to turn the true
    profile into the released one, ignoring the names of labels.
    """
    epsilons = [part.strip() for part in epsilon.split(",")]
    for part in epsilons:
        parse_epsilon(part)
    if asked is not None:
        if items is not None or like is not None:
            raise UsageError("--by-sizes plans for groups; leave --items and --like out.")
        plan_for_groups(asked, epsilons=epsilons, shape=shape, protection=protection, outputs=outputs)
        return
    if like is None and items is None:
        raise UsageError(
            "Give the number of items to plan for (--items 1e9), a released file (--like), or the sizes of groups "
            "(--by-sizes)."
        )
    if like is not None and shape is not None:
        raise UsageError("--like and --shape both set the shape: use one of the two.")
    destination = outputs.for_table(STDOUT, *filter(None, [like]), what="A plan is")

    from anonhist.cli.progress import progress_bar
    from anonhist.mechanisms import plan
    from anonhist.numeric.pulse import tell_share

    model: dict[str, Any] = {"items": items, "shape": shape or "zipf"}
    unit = protection.unit or PrivacyUnit.item()
    if like is not None:
        from anonhist.formats.reading import read_release

        profile = read_release(like).profile
        unit = protection.unit or profile.unit
        # The file is public, so any unit may be planned for, less than its own too.
        model["shape"] = profile.with_unit(unit)
    rows: list[PlanRow] = []
    with progress_bar("Simulating") as bar:
        for done, each in enumerate(epsilons):
            with tell_share(bar, done / len(epsilons), (done + 1) / len(epsilons)):
                rows.extend(plan(epsilons=[each], **model, unit=unit, relation=protection.relation))
    destination.write(_csv(rows), lambda stream: None if destination.target else _say(rows, stream))


def _csv(rows: Sequence[PlanRow]) -> str:
    lines = []
    for row in rows:
        errors = (f"{row.sorted_l1.value:.6g}", f"{row.sorted_l1.standard_error:.3g}", f"{row.relative_error:.6g}")
        lines.append((short_decimal(row.epsilon), row.mechanism, row.items, *errors))
    return csv_of(HEADER, lines)


def _say(rows: Sequence[PlanRow], stream: TextIO) -> None:
    from rich.text import Text

    from anonhist.report.wording import percent, with_error

    console = console_on(stream, widest=100)
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

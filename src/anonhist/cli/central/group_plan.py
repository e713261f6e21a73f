"""``anonhist plan --by-sizes``: the expected error of each group, before any data are touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from anonhist.cli.decorators import WholeNumber, as_one
from anonhist.cli.output import say_line
from anonhist.cli.tables import console_on, table_of
from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.arguments import Protection
    from anonhist.cli.destinations import Outputs
    from anonhist.mechanisms import GroupPlan
    from anonhist.mechanisms.planning import Shape

# So many groups are shown on a terminal.
_SHOWN = 40


class AskedGroups(NamedTuple):
    """The options of groups to plan for, as they were typed."""

    sizes: str
    max_groups_per_user: int | None
    max_groups_per_label: int | None
    as_json: bool

    @classmethod
    def of(
        cls,
        *,
        by_sizes: str | None,
        max_groups_per_user: int | None,
        max_groups_per_label: int | None,
        json: bool,
    ) -> AskedGroups | None:
        """Return what the options ask for; None where no groups are planned for."""
        if by_sizes is not None:
            return cls(by_sizes, max_groups_per_user, max_groups_per_label, json)
        given = {"max-groups-per-user": max_groups_per_user, "max-groups-per-label": max_groups_per_label, "json": json}
        for name, value in given.items():
            if value:
                raise UsageError(f"--{name} requires --by-sizes, a file with the sizes of groups.")
        return None


group_plan_options = as_one(
    "asked",
    click.option(
        "--by-sizes",
        metavar="FILE.csv",
        help="Plan for groups instead: a file with the grouping columns, a column items with a public guess of the "
        "items of each group and, if known, a column labels.",
    ),
    click.option(
        "--max-groups-per-user",
        type=WholeNumber(),
        metavar="G",
        help="With --by-sizes and --max-per-user: each user counts in at most G groups, with at most M items in each.",
    ),
    click.option(
        "--max-groups-per-label",
        type=WholeNumber(),
        metavar="G",
        help="With --by-sizes and --unit label: each label counts in at most G groups.",
    ),
    click.option("--json", is_flag=True, help="With --by-sizes: print the plan as JSON, with what it is for."),
    made=AskedGroups.of,
)


def plan_for_groups(
    asked: AskedGroups, *, epsilons: list[str], shape: Shape | None, protection: Protection, outputs: Outputs
) -> None:
    """Read the sizes, plan, and print or write the plan."""
    from anonhist.cli.progress import progress_bar
    from anonhist.ingest.groups.lists import sizes_from_file
    from anonhist.ingest.groups.queries import protected_unit
    from anonhist.mechanisms import plan_groups

    if len(epsilons) > 1:
        raise UsageError("With --by-sizes, give one epsilon.")
    if asked.as_json and outputs.output is not None:
        raise UsageError("--json prints the plan, and --output writes it as CSV: use one of the two.")
    if asked.max_groups_per_user is not None and protection.max_per_user is None:
        raise UsageError("--max-groups-per-user requires --max-per-user M, the most items of a user in each group.")
    unit = protected_unit(
        protection.unit, protection.max_per_user, asked.max_groups_per_user, asked.max_groups_per_label
    )
    destination = outputs.for_table(asked.sizes, what="A plan is")
    by, sizes = sizes_from_file(asked.sizes)
    with progress_bar("Simulating") as bar:
        planned = plan_groups(
            sizes,
            by=by,
            epsilon=epsilons[0],
            unit=unit,
            relation=protection.relation,
            shape=shape or "zipf",
            progress=bar,
        )
    if asked.as_json:
        click.echo(json_text(planned))
        return
    destination.write(
        planned,
        lambda stream: None if destination.target == STDOUT else _say(planned, stream),
    )


def json_text(planned: GroupPlan) -> str:
    """Return a plan as JSON: what it is for, and a row for each group."""
    import json
    import math

    from anonhist.privacy import short_decimal

    rows = [
        {
            "group": dict(zip(planned.by, row.group, strict=True)),
            "items": row.items,
            "expected_error": row.sorted_l1.value,
            "standard_error": row.sorted_l1.standard_error,
            "simulations": row.simulations,
            "relative_error": row.relative_error if math.isfinite(row.relative_error) else None,
            "mostly_noise": row.mostly_noise,
        }
        for row in planned
    ]
    head = {"by": list(planned.by), "epsilon": short_decimal(planned.epsilon), "unit": str(planned.unit)}
    return json.dumps(head | {"mechanism": planned.mechanism, "groups": rows}, ensure_ascii=False, indent=2)


def _say(planned: GroupPlan, stream: TextIO) -> None:
    from rich.text import Text

    from anonhist.privacy import short_decimal
    from anonhist.report.groups.wording import names_of
    from anonhist.report.wording import many, percent, with_error

    noisy = sum(row.mostly_noise for row in planned)
    say_line(
        f"{many(len(planned), 'group')} by {', '.join(planned.by)}, by the {planned.mechanism} mechanism with ε = "
        f"{short_decimal(planned.epsilon)} for {planned.unit}; {noisy:,} mostly noise.",
        stream,
    )
    console = console_on(stream, widest=100)
    cells = [
        [
            *names_of(row.group),
            f"{row.items:,}",
            with_error(row.sorted_l1.value, row.sorted_l1.standard_error),
            percent(row.relative_error) if row.items else "–",
            "yes" if row.mostly_noise else "",
        ]
        for row in planned.rows[:_SHOWN]
    ]
    heads = (*planned.by, "items", "expected error in items", "of the items", "mostly noise")
    console.print(table_of(heads, [[*map(Text, row)] for row in cells], console, texts=range(len(planned.by))))
    if len(planned) > _SHOWN:
        console.print(f"… and {len(planned) - _SHOWN:,} more groups; -o FILE.csv writes all.", style="dim")
    runs = sorted({row.simulations for row in planned})
    many_runs = f"{runs[0]:,} simulations" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,} simulations each"
    console.print(f"Error: expected sorted ℓ1 distance, ± its standard error over {many_runs}.", style="dim")
    if planned.near > 1:
        console.print(f"Sizes within a factor of {planned.near:g} were planned as one.", style="dim")

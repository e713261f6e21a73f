"""``anonhist plan --users``: which bound on the items of each user is best, by public sizes of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from anonhist.errors import UsageError
from anonhist.privacy import short_decimal
from anonhist.terminal.decorators import as_one, refuse_given
from anonhist.terminal.destinations import STDOUT, Outputs, print_table
from anonhist.terminal.output import say_line

if TYPE_CHECKING:
    from anonhist.mechanisms.bound_planning import BoundPlan, BoundPlanRow
    from anonhist.privacy import NeighboringRelation

_FOREIGN = (
    *("shape", "like", "by_sizes", "unit", "unit_name", "max_per_user", "max_count", "max_groups_per_user"),
    *("max_groups_per_label", "json"),
)


class AskedUsers(NamedTuple):
    """The options of a bound to plan, as typed."""

    sizes: str
    mechanism: str

    @classmethod
    def of(cls, *, users: str | None, mechanism: str | None) -> AskedUsers | None:
        """Return the plan that the options request, or None."""
        if users is not None:
            return cls(users, mechanism or "auto")
        if mechanism is not None:
            raise UsageError("--mechanism requires --users, a file with the sizes of users.")
        return None


user_plan_options = as_one(
    "of_users",
    click.option(
        "--users",
        metavar="FILE.csv",
        help="Plan --max-per-user instead: a public file with a column items, the number of items of each user, and "
        "perhaps users, how many have it. Compares bounds, and shares of epsilon for --max-per-user auto; --items is "
        "the number of items to expect, by default that of the file.",
    ),
    click.option(
        "--mechanism", metavar="NAME", help="With --users: mechanism of the release, as in it.  [default: auto]"
    ),
    made=AskedUsers.of,
)


def plan_for_users(
    asked: AskedUsers, *, epsilons: list[str], items: int | None, relation: NeighboringRelation, outputs: Outputs
) -> None:
    """Read the sizes, plan, and print or write the plan."""
    from anonhist.ingest.unit_sizes import sizes_from_file
    from anonhist.mechanisms.bound_planning import BoundPlan, plan_bounds
    from anonhist.numeric.pulse import tell_share
    from anonhist.terminal.output import progress_bar

    refuse_given(_FOREIGN, "{} does not apply to a plan of --max-per-user (--users); leave it out.")
    destination = outputs.for_printed_table(asked.sizes, what="A plan is")
    sizes = sizes_from_file(asked.sizes)
    rows: list[BoundPlanRow] = []
    with progress_bar("Simulating") as bar:
        for done, epsilon in enumerate(epsilons):
            with tell_share(bar, done / len(epsilons), (done + 1) / len(epsilons)):
                rows += plan_bounds(
                    sizes, epsilons=[epsilon], items=items, relation=relation, mechanism=asked.mechanism
                )
    planned = BoundPlan(tuple(rows))
    destination.write(planned, lambda stream: None if destination.target == STDOUT else _say(planned, stream))


def _say(planned: BoundPlan, stream: TextIO) -> None:
    from anonhist.report.notebook import BOUND_PLAN_HEADS, BOUND_PLAN_NOTES, bound_plan_rows

    print_table(BOUND_PLAN_HEADS, bound_plan_rows(planned), stream, texts=[1, 6])
    for name, told in BOUND_PLAN_NOTES:
        say_line(f"{name}: {told}", stream, dim=True)
    for row in planned:
        if row.is_best:
            say_line(f"Best at ε = {short_decimal(row.epsilon)}: {_options(row)}.", stream)


def _options(row: BoundPlanRow) -> str:
    if not row.bound_share:
        return f"--max-per-user {row.bound}"
    share = short_decimal(row.bound_share)
    return f"--max-per-user auto --bound-share {share} --expected-items {row.items}, if the bound is to be chosen"

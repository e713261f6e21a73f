"""Options that ask what a bound on the items of users left out: checked before any data are read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.decorators import all_options
from anonhist.cli.output import say_line
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.releases import Release

EXCESS = ("excess_share", "excess_cap")

excess_share_options = all_options(
    click.option(
        "--excess-share",
        metavar="S",
        help="With --max-per-user: share of epsilon, such as 0.05, spent on estimating what that bound leaves out.  "
        "[default: none]",
    ),
    click.option(
        "--excess-cap",
        metavar="C",
        help="With --excess-share: most items beyond the bound that count per user; more items need more noise.  "
        "[default: 10 times the bound]",
    ),
)


def excess_options(share: str | None, cap: str | None, max_per_user: int | None) -> dict[str, Any]:
    """Return the options as a release takes them, or refuse a share where nothing bounds users."""
    from anonhist.mechanisms.excess import parse_excess_share

    if max_per_user is None and parse_excess_share(share):
        raise UsageError("--excess-share estimates what a bound on users' items leaves out: add --max-per-user.")
    return {"excess_share": share, "excess_cap": whole_number(cap, name="--excess-cap"), "users_bound": max_per_user}


def tell_of_excess(released: Release) -> None:
    """Say on standard error what the bound left out, where nothing else says it; it is released."""
    if released.excess is not None:
        from anonhist.report.bound_wording import describe_excess

        say_line(f"Bound: {describe_excess(released.excess)}", sys.stderr)

"""Options that ask what a bound on the items of users left out: checked before any data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from anonhist.cli.arguments import whole_number
from anonhist.cli.options import all_options
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.privacy import NeighboringRelation
    from anonhist.releases import Release

EXCESS = ("excess_share", "excess_cap")

excess_share_options = all_options(
    click.option(
        "--excess-share",
        metavar="S",
        help="With --max-per-user: the share of epsilon, such as 0.05, for an estimate of what that bound left out.  "
        "[default: none]",
    ),
    click.option(
        "--excess-cap",
        metavar="C",
        help="With --excess-share: how many items beyond the bound count of each user; the noise grows with it.  "
        "[default: 10 times the bound]",
    ),
)


def excess_options(
    epsilon: str, share: str | None, cap: str | None, max_per_user: int | None, relation: NeighboringRelation
) -> dict[str, Any]:
    """Return the options as a release takes them, none where none is asked for; refuse what cannot be."""
    if share is None and cap is None:
        return {}
    from anonhist.mechanisms.excess import ExcessMechanism, parse_excess_share
    from anonhist.privacy import PrivacyUnit, parse_epsilon

    parsed = parse_excess_share(share)
    number = whole_number(cap, name="--excess-cap")
    if number is not None and not parsed:
        raise UsageError(
            "--excess-cap belongs to --excess-share: give a share of epsilon, such as 0.05, or leave it out."
        )
    if not parsed:
        return {}
    if max_per_user is None:
        raise UsageError("--excess-share estimates what a bound on the items of users left out: give --max-per-user.")
    bound = PrivacyUnit.user(max_items=max_per_user).bound
    ExcessMechanism(parse_epsilon(epsilon) * parsed, bound, number, relation)
    return {"excess_share": parsed, "excess_cap": number}


def left_of(epsilon: str, excess: dict[str, Any]) -> str:
    """Return what is left of epsilon for the profile."""
    from anonhist.privacy import parse_epsilon

    return str(parse_epsilon(epsilon) * (1 - excess["excess_share"])) if excess else epsilon


def tell_of_excess(released: Release) -> None:
    """Say on standard error what the bound left out, where nothing else says it; it is released."""
    if released.excess is not None:
        from anonhist.report.bound_wording import left_out

        click.echo(f"Bound: {left_out(released.excess)}", err=True)

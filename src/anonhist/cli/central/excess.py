"""``--excess-share``: what is refused of it alike for releases with groups and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.cli.targets import STDOUT
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.destinations import Destination, Outputs
    from anonhist.mechanisms import ExcessMechanism
    from anonhist.privacy import PrivacyUnit


def refuse_excess_of_items(share: str | None, unit: PrivacyUnit | None) -> None:
    """Refuse a share for what a bound leaves out where nothing is bounded, as items are protected."""
    from anonhist.mechanisms.excess import parse_excess_share

    if parse_excess_share(share) and (unit is None or unit.max_items is unit.max_count is None):
        raise UsageError("--excess-share estimates what a bound leaves out: add --max-per-user, or --unit label.")


def refuse_hidden_excess(excess: ExcessMechanism | None, destination: Destination, outputs: Outputs) -> None:
    """Refuse outputs that would have an excess nowhere, before it is paid for."""
    is_csv = destination.target == STDOUT or str(destination.target).lower().endswith(".csv")
    if excess is not None and outputs.quiet and outputs.page is None and is_csv:
        raise UsageError("CSV cannot hold the excess and --quiet hides it: write .json, .parquet or a report.")

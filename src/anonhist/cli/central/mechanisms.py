"""Which mechanism, with which options: checked before any data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.cli.arguments import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping


def mechanism_options(
    bounds: Mapping[str, str | None], *, shares: str | None = None, delta: str | None = None
) -> dict[str, Any]:
    """Read the options that belong to single mechanisms: public numbers, how a budget is divided, and δ."""
    options: dict[str, Any] = {
        name: whole_number(text, name=f"`{name}`") for name, text in bounds.items() if text is not None
    }
    if shares is not None:
        from anonhist.mechanisms import BudgetShares

        options["shares"] = BudgetShares.parse(shares)
    if delta is not None:
        options["delta"] = delta
    return options

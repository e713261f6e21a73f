"""Which mechanism, with which options: checked before any data are read."""

from __future__ import annotations

from typing import Any

from anonhist.catalogue.mechanisms import OPTIONS
from anonhist.cli.arguments import whole_number


def own_options(texts: dict[str, str | None]) -> dict[str, Any]:
    """Read those options of single mechanisms that were given."""
    options: dict[str, Any] = {
        name: whole_number(text, name=f"`{name}`") if OPTIONS[name].kind == "whole" else text
        for name, text in texts.items()
        if text is not None
    }
    if "shares" in options:
        from anonhist.mechanisms import BudgetShares

        options["shares"] = BudgetShares.parse(options["shares"])
    return options

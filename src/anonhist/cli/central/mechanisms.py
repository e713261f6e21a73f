"""Which mechanism, with which options: checked before any data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.catalogue.mechanisms import OPTIONS
from anonhist.cli.arguments import whole_number

if TYPE_CHECKING:
    from collections.abc import MutableMapping


def own_options(values: MutableMapping[str, Any]) -> dict[str, Any]:
    """Take those options out of the values of a command that belong to single mechanisms, and read what was given."""
    texts = {name: values.pop(name) for name in OPTIONS if name in values}
    options: dict[str, Any] = {
        name: whole_number(text, name=f"`{name}`") if OPTIONS[name].kind == "whole" else text
        for name, text in texts.items()
        if text is not None
    }
    if "shares" in options:
        from anonhist.mechanisms import BudgetShares

        options["shares"] = BudgetShares.parse(options["shares"])
    return options

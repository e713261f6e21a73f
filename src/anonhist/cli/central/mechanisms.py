"""Which mechanism, with which options: checked before any data are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.cli.arguments import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.privacy import NeighboringRelation, PrivacyUnit


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


def check_mechanism(
    name: str, epsilon: str, unit: PrivacyUnit, relation: NeighboringRelation, options: Mapping[str, Any]
) -> None:
    """Refuse what no release could be made with."""
    from anonhist.mechanisms import choose
    from anonhist.mechanisms.names import check_name, check_options, named_mechanism
    from anonhist.privacy import parse_epsilon

    check_name(name)
    check_options(name, options)
    if name == "auto":
        choose(epsilon=epsilon, unit=unit, relation=relation)
    else:
        named_mechanism(name, parse_epsilon(epsilon), unit, relation, options)

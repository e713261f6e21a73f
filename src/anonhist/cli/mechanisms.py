"""Which mechanism, with which options: checked before any data are read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from anonhist.cli.arguments import whole_number
from anonhist.cli.options import PUBLIC_NUMBERS
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from anonhist.privacy import NeighboringRelation, PrivacyUnit


def mechanism_options(
    bounds: Mapping[str, str | None], *, shares: str | None = None, delta: str | None = None
) -> dict[str, Any]:
    """Read the options that belong to single mechanisms: public numbers, how a budget is divided, and δ."""
    options: dict[str, Any] = {
        name: whole_number(text, name=_typed(name)) for name, text in bounds.items() if text is not None
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
    """Refuse what no release could be made with, in the words of the command line."""
    from anonhist.mechanisms import check_name, check_options, choose, named_mechanism
    from anonhist.privacy import parse_epsilon

    check_name(name)
    with in_options(name):
        check_options(name, options)
        if name == "auto":
            choose(epsilon=epsilon, unit=unit, relation=relation)
        else:
            named_mechanism(name, parse_epsilon(epsilon), unit, relation, options)


@contextmanager
def in_options(name: str | None = None) -> Iterator[None]:
    """Let errors about the options of a mechanism, or of several, speak of them as they are typed."""
    try:
        yield
    except UsageError as error:
        sentence = as_typed(str(error)).replace("shares does", "--shares does")
        raise UsageError(sentence.replace(f"mechanism={name!r}", f"--mechanism {name}")) from None


def as_typed(sentence: str) -> str:
    """Let a sentence speak of public numbers as they are typed."""
    for option in (*PUBLIC_NUMBERS, "max_count"):
        sentence = sentence.replace(option, _typed(option))
    return sentence


def _typed(name: str) -> str:
    return "--" + name.replace("_", "-")

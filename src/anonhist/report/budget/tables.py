"""The tables of a budget's page, as HTML: what was spent for which purpose, and the charges."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from anonhist.accounting.balance import State
from anonhist.accounting.budget import NOTHING
from anonhist.accounting.charge import printable
from anonhist.report.budget.wording import NUMBERING, amount, amount_left, purpose_of, share_of
from anonhist.report.sections import html, scrolled
from anonhist.report.wording import many

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from anonhist.accounting import Balance, Budget, Cost
    from anonhist.accounting.balance import Item

MOST_LISTED = 200
_MOST_PURPOSES = 20
NO_PURPOSE = "(no purpose given)"
_HEADS = ("entry", "time (UTC)", "ε", "δ", "by", "mechanism", "state", "purpose")
_PURPOSE_HEADS = ("purpose", "releases", "ε", "share", "")


class Purpose(NamedTuple):
    """What releases for one purpose cost.

    Attributes
    ----------
    name
        The purpose; empty if none was given.
    releases
        How many charges count.
    cost
        What they cost together.
    """

    name: str
    releases: int
    cost: Cost


def purposes_of(balance: Balance) -> list[Purpose]:
    """Return what was spent for each purpose, the largest ε first; void charges are left out.

    Examples
    --------
    >>> from anonhist.accounting import Balance, Budget
    >>> purposes_of(Balance(Budget("passwords", "user", epsilon=2), ()))
    []
    """
    found: dict[str, Purpose] = {}
    for each in balance.items:
        if each.state is not State.VOID:
            name = each.charged.charge.purpose
            before = found.get(name, Purpose(name, 0, NOTHING))
            found[name] = Purpose(name, before.releases + 1, before.cost.plus(each.cost))
    return sorted(found.values(), key=lambda each: (-each.cost.epsilon, each.name))


def purposes_table(balance: Balance) -> str:
    """Return a row with a bar for each purpose, for what further purposes cost together, and for what is left."""
    purposes, budget = purposes_of(balance), balance.budget
    if not purposes:
        return "<p>Nothing is spent.</p>"
    listed, others = purposes[:_MOST_PURPOSES], purposes[_MOST_PURPOSES:]
    rows = [_purpose_row(each.name or NO_PURPOSE, f"{each.releases:,}", each.cost, budget) for each in listed]
    if others:
        cost = NOTHING
        for each in others:
            cost = cost.plus(each.cost)
        number = sum(each.releases for each in others)
        rows.append(_purpose_row(f"{many(len(others), 'more purpose')}", f"{number:,}", cost, budget))
    left = balance.left
    rows.append(_purpose_row("left", "", left, budget, number=amount_left(left.epsilon), kind="left"))
    table = _table(_PURPOSE_HEADS, {"releases", "ε", "share"}, "".join(rows))
    return scrolled(table, label="What the budget was spent on")


def _purpose_row(
    name: str, releases: str, cost: Cost, budget: Budget, *, number: str | None = None, kind: str = ""
) -> str:
    # A damaged ledger may have spent more than there was.
    width = min(max(float(100 * cost.epsilon / budget.epsilon), 0.0), 100.0)
    cells = (releases, amount(cost.epsilon) if number is None else number, share_of(cost, budget))
    numbers = "".join(f'<td class="number">{html(cell)}</td>' for cell in cells)
    bar = f'<td class="bar" aria-hidden="true"><i style="width:{width:.2f}%"></i></td>'
    return f'<tr class="{kind}"><th scope="row" class="long">{html(name)}</th>{numbers}{bar}</tr>'


def charges_table(balance: Balance) -> str:
    """Return the charges, the latest first, and how many more there are."""
    if not balance.items:
        return "<p>Nothing was charged yet.</p>"
    latest = balance.items[-MOST_LISTED:][::-1]
    rows = "".join(map(_charge_row, latest))
    table = _table(_HEADS, {"entry", "ε", "δ"}, rows)
    more = len(balance.items) - len(latest)
    told = "the ledger has all of them: 'anonhist budget show'"
    note = f'<p class="quiet">And {many(more, "earlier charge")}; {html(told)}.</p>' if more else ""
    return scrolled(table, label="Releases") + note + f'<p class="quiet">{html(NUMBERING)}</p>'


def _table(heads: Iterable[str], numbers: Container[str], rows: str) -> str:
    """Return a table; heads of numbers stand to the right, as these do."""
    kinds = ((head, "number" if head in numbers else "text") for head in heads)
    first = "".join(f'<th scope="col" class="{kind}">{html(head)}</th>' for head, kind in kinds)
    return f'<table class="charges"><thead><tr>{first}</tr></thead><tbody>{rows}</tbody></table>'


def _charge_row(item: Item) -> str:
    charge, cost, outcome = item.charged.charge, item.charged.cost, item.outcome
    reason = getattr(outcome, "reason", "")
    state = f"{item.state}: {reason}" if reason else str(item.state)
    numbers = "".join(
        f'<td class="number cost">{html(number)}</td>' for number in (amount(cost.epsilon), amount(cost.delta))
    )
    return (
        f'<tr class="{item.state.name.lower()}"><th scope="row" class="number">{item.entry.number}</th>'
        f"<td>{item.moment:%Y-%m-%d %H:%M}</td>{numbers}"
        f"{_texts((printable(item.entry.by), charge.mechanism))}{_texts((state, purpose_of(charge)), long=True)}</tr>"
    )


def _texts(cells: Iterable[str], *, long: bool = False) -> str:
    kind = "text long" if long else "text"
    return "".join(f'<td class="{kind}">{escape(cell)}</td>' for cell in cells)

"""Sentences about a budget for its page: plain text, not yet HTML."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from anonhist.accounting import Balance, Budget, Charge, Cost, Verification
from anonhist.accounting.balance import State
from anonhist.accounting.budget import amount, amount_left, equal
from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.privacy.parameters import WARNED_FROM, with_power
from anonhist.properties.estimate import percent
from anonhist.report.wording import doubt_about, factor, many, worth

_MOST_CONDITIONS = 3
# As a share of the plain sum: an ε that is hardly smaller would only confuse.
_WORTH_SAYING = Fraction(99, 100)
NUMBERING = "Entries are numbered through the whole ledger; budgets, written files and voids are entries, too."
_NOT_SHOWN = (
    "This cannot show that its end was cut off, that all of it was written anew, or that an old backup was restored. "
    "Released files show that: compare them with 'anonhist budget verify'."
)


def composed_epsilon(balance: Balance) -> Fraction | None:
    """Return the ε of all releases together at the budget's δ, if it is known and clearly smaller than the plain sum.

    The result is None, too, if dp-accounting is missing, or if the releases exceed that δ.
    """
    from anonhist.privacy.conversion import epsilon_at

    losses, delta = balance.losses, balance.budget.delta
    if len(losses) < 2 or not delta:
        return None
    try:
        smaller = epsilon_at(losses, delta)
    except UsageError:
        return None
    return smaller if smaller <= _WORTH_SAYING * balance.spent.epsilon else None


def headline(budget: Budget) -> str:
    """Return the headline of the page."""
    return f"The privacy budget of {budget.dataset}"


def change_of(budget: Budget, *, verb: bool = False) -> str:
    """Name the change that the budget hides."""
    if budget.relation is NeighboringRelation.SUBSTITUTE:
        return f"replacing any one {budget.kind} by another" if verb else f"one {budget.kind} replaced by another"
    return f"adding or removing any one {budget.kind}" if verb else f"one {budget.kind} added or removed"


def warning_of(balance: Balance) -> str:
    """Return a warning if so much is spent that hardly anybody is protected; else nothing."""
    spent = balance.spent.epsilon
    if spent < WARNED_FROM:
        return ""
    told = equal("ε", amount(spent))
    return f"The releases have spent {told} together. An ε of 10 or more is practically no protection."


def cards_of(balance: Balance) -> list[tuple[str, str]]:
    """Return the numbers that are shown first, each with its meaning."""
    budget, spent, left = balance.budget, balance.spent, balance.left
    counts = Counter(each.state for each in balance.items)
    counting = len(balance.items) - counts[State.VOID]
    cards = [
        (equal("ε", amount_left(left.epsilon)), f"is left of {equal('ε', amount(budget.epsilon))}"),
        (
            equal("ε", amount(spent.epsilon)),
            f"is spent by {many(counting, 'release')}: {share_of(spent, budget)} of the budget, added up plainly",
        ),
        (equal("δ", amount(spent.delta)), f"is spent of {equal('δ', amount(budget.delta))}"),
    ]
    unknown = f"{counts[State.UNKNOWN]:,} without a known file, counted" if counts[State.UNKNOWN] else ""
    void = f"{counts[State.VOID]:,} void: taken back, not counted" if counts[State.VOID] else ""
    if unknown or void:
        cards.append((many(len(balance.items), "charge"), f"in all: {'; '.join(filter(None, (unknown, void)))}"))
    return cards


def share_of(cost: Cost, budget: Budget) -> str:
    """Write a cost as a share of the budget's ε."""
    return percent(float(cost.epsilon / budget.epsilon))


def stake(budget: Budget, cost: Cost, *, results: str) -> list[str]:
    """Say what a cost means for one unit: by how much probabilities change, and how sure somebody can become."""
    if not cost.epsilon:
        return [
            f"Nothing is spent: no release that is charged here can have told anything about any one {budget.kind}."
        ]
    change = change_of(budget, verb=True).capitalize()
    plus = f" (plus δ ≤ {with_power(cost.delta)})" if cost.delta else ""
    doubt = doubt_about(budget.kind, budget.relation)
    promise = (
        f"{change} changes the probability of any result of {results} together by at most a factor of "
        f"{factor(cost.epsilon)}{plus}."
    )
    return [worth(cost.epsilon, doubt=doubt, delta=cost.delta), promise]


def weaker_stake(balance: Balance) -> list[str]:
    """Say the same about the smaller ε at the budget's δ, if there is one."""
    smaller, budget = composed_epsilon(balance), balance.budget
    if smaller is None:
        return []
    delta, plain = budget.delta, amount(balance.spent.epsilon)
    sure = worth(smaller, doubt=doubt_about(budget.kind, budget.relation), delta=delta)
    told = (
        f"If {equal('δ', amount(delta))} is accepted, the same releases have {equal('ε', amount(smaller))} instead of "
        f"{plain}, their losses composed as distributions. {sure} It holds if their number and each ε were fixed "
        "beforehand, whatever they showed. It is a weaker promise, because it leaves out what has a probability of δ. "
        "The budget counts the plain sum."
    )
    return [told]


def conditions_of(balance: Balance) -> list[str]:
    """Say what must be true for the releases' guarantees to hold, if anything."""
    named = dict.fromkeys(
        clause
        for each in balance.items
        if each.state is not State.VOID
        for clause in each.charged.charge.guarantee.conditions
    )
    if not named:
        return []
    more = len(named) - _MOST_CONDITIONS
    rest = f" There {'is' if more == 1 else 'are'} {many(more, 'more condition')} in the releases." if more > 0 else ""
    return [f"This holds provided that {', and that '.join(list(named)[:_MOST_CONDITIONS])}.{rest}"]


def not_covered(budget: Budget) -> list[str]:
    """Return what a budget does not cover, beginning with what follows from its unit."""
    of_unit = (
        "Items of a user that a release does not count: each release names how many it counts."
        if budget.kind == "user"
        else PrivacyUnit(budget.kind, 1).not_covered
    )
    return [
        of_unit,
        "Releases of the same data that were not charged to this budget.",
        "What the running time or memory use of the program tells someone who watches the machine.",
        "The original data file.",
    ]


def chain_of(verification: Verification | None) -> list[str]:
    """Say whether the entries of the ledger verify."""
    if verification is None:
        return ["The chain of entries was not checked for this page; 'anonhist budget verify' checks it."]
    if verification.problems:
        return ["The ledger does not verify, so no number on this page can be relied on:", *verification.problems]
    number = verification.entries
    entries = "the only entry" if number == 1 else f"all {number:,} entries"
    return [
        f"The chain of {entries} of the ledger is whole: no entry was changed, removed or put in between.",
        _NOT_SHOWN,
    ]


def purpose_of(charge: Charge) -> str:
    """Say what a release was for, and which run made it."""
    if charge.run is None:
        return charge.purpose
    return f"{charge.purpose} (run {charge.run.id})" if charge.purpose else f"run {charge.run.id}"

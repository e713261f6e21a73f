"""Which bound on the items of each user is best, and what a private choice of it costs, by public sizes of users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Printed, Tabular
from anonhist.mechanisms.bound_choosing import RUNS, noise_of, prepare_choice
from anonhist.mechanisms.choosing import pmf_by_scores
from anonhist.mechanisms.planning import LARGEST_PLAN
from anonhist.mechanisms.releasing import AskedRelease
from anonhist.mechanisms.setting import whole_items
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_epsilon, parse_whole_number
from anonhist.profiles.chosen_bound import CANDIDATES, ChosenBound, parse_candidates
from anonhist.properties.estimate import Estimate
from anonhist.releases.runs import expected_distance

SHARES = tuple(Fraction(share, 100) for share in (5, 10, 20, 30))
_METHOD = "mean of simulated noise on a public shape, and the items left out"


@frozen
class BoundPlanRow:
    """The predicted accuracy of a release with a bound that is given, or chosen privately.

    Attributes
    ----------
    epsilon
        The whole budget.
    bound_share
        The share of it that chooses the bound; 0 if the bound is given.
    bound
        The bound on the items of each user; of a choice, the likeliest.
    probability
        The probability of this bound; 1 if it is given.
    mechanism
        Name of the mechanism that would be picked for it.
    items
        Number of items planned for.
    left_out
        Expected number of items beyond the bound.
    sorted_l1
        Expected sorted ℓ1 distance from the data before anything was left out, in items.
    is_best
        Whether no other row of this budget is better; given and chosen bounds each have a best one.
    """

    epsilon: Fraction
    bound_share: Fraction
    bound: int
    probability: float
    mechanism: str
    items: int
    left_out: float
    sorted_l1: Estimate
    is_best: bool = False

    @property
    def relative_error(self) -> float:
        """``sorted_l1 / items``."""
        return self.sorted_l1.value / self.items


@dataclass(frozen=True, repr=False)
class BoundPlan(Printed, Tabular):
    """Predictions of :func:`plan_bounds`, to loop over, or as a data frame.

    Attributes
    ----------
    rows
        For each budget, a row per bound that may be given, and one per share of a budget that chooses it.

    Examples
    --------
    >>> planned = plan_bounds({1: 800, 30: 10}, epsilons=[1], candidates=(1, 4, 32))
    >>> [(row.bound_share, row.bound) for row in planned if row.is_best][0]
    (Fraction(0, 1), 32)
    """

    known_as = "bound plan"
    rows: tuple[BoundPlanRow, ...]

    def __iter__(self) -> Iterator[BoundPlanRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> BoundPlanRow:
        return self.rows[place]


def plan_bounds(
    sizes: Mapping[int, int],
    *,
    epsilons: Iterable[EpsilonLike],
    items: int | None = None,
    candidates: Iterable[SupportsIndex] = CANDIDATES,
    shares: Iterable[EpsilonLike] = SHARES,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    mechanism: str = "auto",
) -> BoundPlan:
    """Predict the error of a release with each bound on the items of a user, and of one that chooses it privately.

    The error is the number of items that a bound leaves out and the noise that :class:`ChosenBound` predicts, which is
    simulated on data with Zipf's law. The probabilities of a choice are exact.

    Parameters
    ----------
    sizes
        ``{items: users}``: how many users have each number of items. They must be public, such as last year's.
    epsilons
        Budgets to plan for.
    items
        The number of items to plan for, from 1 to 10¹⁵: users are scaled to it. By default, that of the sizes.
    candidates
        The bounds, as for :class:`ChosenBound`.
    shares
        Shares of ε for a choice, each above 0 and below 1.
    relation, mechanism
        As for :class:`ChosenBound`.

    Returns
    -------
    BoundPlan
        In the order of the budgets, bounds and shares. Bounds that need a larger ε are left out.

    Raises
    ------
    UsageError
        If there is no item, or an argument is impossible.

    Examples
    --------
    >>> planned = plan_bounds({5: 20_000}, epsilons=[1], candidates=[4, 8], shares=["0.1"])
    >>> given, chosen = (row for row in planned if row.is_best)
    >>> given.bound, chosen.bound, given.sorted_l1.value < chosen.sorted_l1.value
    (8, 8, True)
    """
    known = {
        parse_whole_number(size, name="a number of items", most=LARGEST_PLAN): parse_whole_number(
            users, name="a number of users", most=LARGEST_PLAN
        )
        for size, users in sizes.items()
    }
    total = sum(size * users for size, users in known.items())
    if not 1 <= total <= LARGEST_PLAN:
        raise UsageError("The sizes of users must have from 1 to 10^15 items together.")
    planned = total if items is None else whole_items(items, name="items", most=LARGEST_PLAN)
    scaled = {size: Fraction(users * planned, total) for size, users in known.items()}
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise UsageError("epsilons must be a list of budgets, such as [0.1, 1].")
    bounds, listed = parse_candidates(candidates), [parse_epsilon(share, name="shares") for share in shares]
    rows: list[BoundPlanRow] = []
    for epsilon in epsilons:
        asked = AskedRelease(epsilon, None, relation, mechanism, expected_items=planned)
        requests = [ChosenBound(epsilon, planned, share, bounds, relation, mechanism) for share in listed]
        rows += _with_best(_given(asked, scaled, planned, bounds))
        rows += _with_best([_chosen(each, scaled) for each in requests])
    return BoundPlan(tuple(rows))


def _given(
    asked: AskedRelease, sizes: Mapping[int, Fraction], items: int, bounds: tuple[int, ...]
) -> list[BoundPlanRow]:
    """Return what is predicted for each bound, without those that need a larger ε."""
    found: list[BoundPlanRow] = []
    refusals: list[UsageError] = []
    for bound in bounds:
        try:
            made = asked.prepared(PrivacyUnit.user(max_items=bound)).mechanism
        except UsageError as refusal:
            refusals.append(refusal)
            continue
        noise, spread = noise_of(made, items)
        left_out = items - _kept(sizes, bound)
        error = expected_distance(left_out + noise, spread, RUNS, method=_METHOD)
        found.append(BoundPlanRow(asked.whole, Fraction(0), bound, 1.0, made.name, items, left_out, error))
    if not found:
        raise refusals[0]
    return found


def _chosen(asked: ChosenBound, sizes: Mapping[int, Fraction]) -> BoundPlanRow:
    """Return what is predicted if the bound is chosen."""
    choice, items = prepare_choice(asked, PrivacyUnit.user(max_items=asked.largest)), asked.expected_items
    # These data are public: the probabilities are those for users in whole numbers.
    chances = pmf_by_scores(choice.scores({size: round(users) for size, users in sizes.items()}), choice.rate)
    left_out = np.array([items - _kept(sizes, unit.bound) for unit in choice.units])
    made = [each.mechanism for each in choice.releases.values()]
    noises, spreads = (np.array(side) for side in zip(*(noise_of(each, items) for each in made), strict=True))
    spread = float(np.linalg.norm(chances * spreads))
    error = expected_distance(float(chances @ (left_out + noises)), spread, RUNS, method=_METHOD)
    likely = int(np.argmax(chances))
    return BoundPlanRow(
        asked.epsilon,
        asked.bound_share,
        choice.units[likely].bound,
        float(chances[likely]),
        made[likely].name,
        items,
        float(chances @ left_out),
        error,
    )


def _kept(sizes: Mapping[int, Fraction], bound: int) -> float:
    return float(sum(min(size, bound) * users for size, users in sizes.items()))


def _with_best(rows: list[BoundPlanRow]) -> list[BoundPlanRow]:
    least = min((row.sorted_l1.value for row in rows), default=0.0)
    return [replace(row, is_best=row.sorted_l1.value == least) for row in rows]

"""Guarantees together: sums, conversions between units and relations against all small data sets, and refusals."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonhist as ah
from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.privacy.conversion import Neighbors, convert, delta_after
from anonhist.privacy.guarantee import compose, in_parallel
from anonhist_testing.cases import each_of
from anonhist_testing.strategies import repeatable, units

ADD, SUBSTITUTE = NeighboringRelation
ITEM, EDGE = PrivacyUnit.item(), PrivacyUnit.edge()
NODE = PrivacyUnit.node(max_distance=7)
EXACT = "noise is exact"


def guarantee(
    epsilon: str, unit: PrivacyUnit = ITEM, relation: NeighboringRelation = ADD, delta: str = "0", **more: Any
) -> Guarantee:
    return Guarantee(unit, relation, Fraction(epsilon), Fraction(delta), EXACT, **more)


def users(bound: int, **more: int) -> PrivacyUnit:
    return PrivacyUnit.user(max_items=bound, **more)


def labels(bound: int, **more: int) -> PrivacyUnit:
    return PrivacyUnit.label(max_count=bound, **more)


# --- all small data sets -------------------------------------------------------------------------------------------

Data = frozenset[Any]


def subsets(of: Any, most: int | None = None) -> Iterator[Data]:
    whole = list(of)
    sizes = range((len(whole) if most is None else most) + 1)
    return map(frozenset, chain.from_iterable(combinations(whole, size) for size in sizes))


# Tables of three users and two labels, where a row is (user, label).
TABLES = list(subsets(product("uvw", "ab")))
# Graphs of at most four nodes: the nodes and the edges between them.
GRAPHS = [
    frozenset([*nodes, *edges])
    for nodes in subsets(range(4))
    for edges in subsets(pair for pair in combinations(range(4), 2) if nodes.issuperset(pair))
]


def of_user(data: Data, row: Any) -> Data:
    return frozenset(each for each in data if each[0] == row[0])


def of_label(data: Data, row: Any) -> Data:
    return frozenset(each for each in data if each[1] == row[1])


def of_node(data: Data, node: Any) -> Data:
    return frozenset(each for each in data if each == node or (isinstance(each, tuple) and node in each))


def parts_of(kind: str, data: Data) -> set[Data]:
    """Return the units in a data set, each as all that goes with it."""
    if kind == "node":
        return {of_node(data, each) for each in data if not isinstance(each, tuple)}
    if kind == "edge":
        return {frozenset([each]) for each in data if isinstance(each, tuple)}
    own: Callable[[Data, Any], Data] = {"user": of_user, "label": of_label}.get(kind, lambda _, row: frozenset([row]))
    return {own(data, row) for row in data}


@cache
def neighbors(kind: str, relation: NeighboringRelation) -> dict[Data, frozenset[Data]]:
    """Return the neighbors of every data set: one unit less or more, or both."""
    everything = GRAPHS if kind in {"node", "edge"} else TABLES
    less = {data: {data - unit for unit in parts_of(kind, data)} for data in everything}
    more: dict[Data, set[Data]] = {data: set() for data in everything}
    for data, smaller in less.items():
        for each in smaller:
            more[each].add(data)
    if relation is ADD:
        return {data: frozenset(less[data] | more[data]) for data in everything}
    return {data: frozenset(chain.from_iterable(more[each] for each in less[data])) - {data} for data in everything}


def furthest(of: dict[Data, frozenset[Data]], pairs: Iterator[tuple[Data, Data]]) -> float:
    """Return the largest number of steps between the two data sets of a pair; infinite if there is no way."""
    wanted: dict[Data, set[Data]] = {}
    for one, other in pairs:
        wanted.setdefault(one, set()).add(other)
    found = 0.0
    for start, ends in wanted.items():
        distance, layer = {start: 0}, {start}
        while layer and not ends <= distance.keys():
            layer = {each for data in layer for each in of[data]} - distance.keys()
            distance |= dict.fromkeys(layer, max(distance.values()) + 1)
        found = max(found, *(distance.get(each, math.inf) for each in ends))
    return found


def pairs_of(kind: str, relation: NeighboringRelation) -> Iterator[tuple[Data, Data]]:
    return ((one, other) for one, near in neighbors(kind, relation).items() for other in near)


UNITS = {"item": ITEM, "user": users(2), "label": labels(3), "edge": EDGE, "node": NODE}
# Conversions that exist on small data only: the number of steps grows with the data.
GROWING = {("user", "label"), ("label", "user"), ("edge", "node")}
# Here a node without edges is still a node; in a list of edges it is not, and the number of nodes changes.
LISTED = ("node", "edge", SUBSTITUTE)


@each_of(
    ("given_kind", "wanted_kind", "given_relation", "wanted_relation"),
    [
        (*kinds, *relations)
        for room in (("item", "user", "label"), ("edge", "node"))
        for kinds in product(room, room)
        for relations in product(NeighboringRelation, NeighboringRelation)
    ],
)
def test_steps_are_the_largest_distance_of_new_neighbors(
    given_kind: str,
    wanted_kind: str,
    given_relation: NeighboringRelation,
    wanted_relation: NeighboringRelation,
) -> None:
    # In these tables a user has up to two items and a label up to three: that is what is assumed of items.
    steps = furthest(neighbors(given_kind, given_relation), pairs_of(wanted_kind, wanted_relation))
    given_, wanted = Neighbors(UNITS[given_kind], given_relation), Neighbors(UNITS[wanted_kind], wanted_relation)
    is_growing, is_listed = (given_kind, wanted_kind) in GROWING, (given_kind, wanted_kind, given_relation) == LISTED
    if math.isinf(steps) or is_growing or is_listed:
        with pytest.raises(UsageError):
            convert(given_, wanted)
    else:
        assert convert(given_, wanted).steps == steps


def test_a_single_item_of_a_user_may_cost_twice_even_if_users_keep_one() -> None:
    # Of the items of each user one is kept, the first label of the alphabet: taking that away brings another one.
    def kept(data: Data) -> int:
        rows = of_user(data, "u")
        return {"a": 1, "b": -1}[min(rows)[1]] if rows else 0

    assert max(abs(kept(one) - kept(other)) for one, other in pairs_of("user", ADD)) == 1
    assert max(abs(kept(one) - kept(other)) for one, other in pairs_of("item", ADD)) == 2


def test_delta_after_steps_is_the_largest_there_is() -> None:
    # A mechanism on a path: it says "yes" with p_0 = 0 and p_(i + 1) = e^ε p_i + δ, all that (ε, δ) allows.
    epsilon, delta = Fraction(1, 3), Fraction(1, 10**6)
    saying = 0.0
    for steps in range(1, 30):
        saying = math.exp(epsilon) * saying + float(delta)
        bound = delta_after(steps, epsilon, delta)
        assert saying * (1 - 1e-12) <= bound <= saying * (1 + 1e-12)
    exact = delta * (1 + Fraction(math.e))  # the float e is below e
    assert exact < delta_after(2, Fraction(1), delta) < exact * (1 + Fraction(1, 10**15))


@each_of(("steps", "epsilon"), [(2, "3000"), (3, "1000"), (2**62, "0.001"), (10**6, "1e-64")])
def test_delta_after_many_steps_is_refused_or_right(steps: int, epsilon: str) -> None:
    if Fraction(epsilon) * steps < 1:
        assert delta_after(steps, Fraction(epsilon), Fraction(1, 10**9)) >= Fraction(steps, 10**9)
    else:
        with pytest.raises(UsageError, match="protects nobody"):
            delta_after(steps, Fraction(epsilon), Fraction(1, 10**64))


# --- sums ----------------------------------------------------------------------------------------------------------


def test_epsilon_and_delta_add_up_exactly() -> None:
    total = guarantee("0.1", delta="1e-10") + guarantee("1/3") + guarantee("0.1", delta="1/3")
    assert (total.epsilon, total.delta) == (Fraction(8, 15), Fraction(1, 3) + Fraction(1, 10**10))
    assert total.parts == (
        (Fraction(1, 10), Fraction(1, 10**10)),
        (Fraction(1, 3), 0),
        (Fraction(1, 10), Fraction(1, 3)),
    )
    assert total.sentence == (
        "8/15-differentially private (δ ≤ 3.4e-1) for 3 releases together when one item is added or removed; "
        "noise is exact."
    )


def test_releases_add_up_like_their_guarantees() -> None:
    profile = ah.Profile.from_counts([5, 3, 3])
    weeks = [ah.release(profile, epsilon=epsilon, simulations=0) for epsilon in ("0.1", "0.2", "1")]
    assert ah.compose(weeks) == ah.compose(each.guarantee for each in weeks)
    assert ah.compose(weeks).epsilon == Fraction(13, 10)
    assert ah.compose(weeks[:1]) is weeks[0].guarantee
    with pytest.raises(UsageError, match="at least one"):
        ah.compose([])
    with pytest.raises(UsageError, match="have one"):
        ah.compose(["0.5"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        weeks[0].guarantee + 1  # type: ignore[operator]


def test_what_is_assumed_and_what_rounding_costs_is_kept() -> None:
    one = Guarantee(ITEM, ADD, Fraction(1), arithmetic="noise is exact", conditions=("the key is secret",))
    two = Guarantee(
        ITEM, ADD, Fraction(1), arithmetic="rounding is in ε", conditions=("the key is secret", "nobody lies")
    )
    assert (one + two).conditions == ("the key is secret", "nobody lies")
    assert (one + two).arithmetic == "noise is exact, and rounding is in ε"


def test_a_party_may_share_the_noise_of_every_release() -> None:
    shared = guarantee("1", party_epsilon=Fraction(3), conditions=("someone is honest",))
    assert (shared + guarantee("0.5")).party_epsilon == Fraction(7, 2)
    assert (shared + shared).party_epsilon == 6
    assert guarantee("1", users(2), party_epsilon=Fraction(3), conditions=("x",)).for_neighbors(ITEM).party_epsilon == 6


def test_too_much_delta_promises_nothing() -> None:
    half = guarantee("1", delta="0.5")
    with pytest.raises(UsageError, match="promise nothing"):
        half + half


@each_of(
    ("one", "other", "unit", "relation", "epsilon"),
    [
        (guarantee("1", users(5)), guarantee("1", users(3)), users(3), ADD, 2),
        (guarantee("1", users(5)), guarantee("0.5", ITEM), ITEM, ADD, "2.5"),
        (guarantee("1", labels(5)), guarantee("0.5", ITEM), ITEM, ADD, "2.5"),
        (guarantee("1", labels(5)), guarantee("1", labels(9)), labels(9), ADD, 2),
        (guarantee("1", users(5)), guarantee("1", users(5), SUBSTITUTE), users(5), SUBSTITUTE, 3),
        (guarantee("1", users(5)), guarantee("1", ITEM, SUBSTITUTE), ITEM, SUBSTITUTE, 5),
        (guarantee("1", NODE), guarantee("1", EDGE), EDGE, ADD, 3),
        (guarantee("1", EDGE), guarantee("1", PrivacyUnit.edge(degrees=1)), EDGE, ADD, 2),
        (guarantee("1", users(5, groups=3)), guarantee("1", users(5, groups=3)), users(5, groups=3), ADD, 2),
        (guarantee("1", users(5, groups=3)), guarantee("1", users(9)), users(3), ADD, 2),
        (guarantee("1", users(5, sketches=3)), guarantee("1", users(9)), users(5), ADD, 2),
        (guarantee("1", labels(5, groups=3)), guarantee("1", labels(9)), labels(9, groups=3), ADD, 2),
    ],
)
def test_units_and_relations_are_converted(
    one: Guarantee, other: Guarantee, unit: PrivacyUnit, relation: NeighboringRelation, epsilon: str
) -> None:
    for total in (one + other, other + one):
        assert (total.unit, total.relation, total.epsilon, total.conditions) == (unit, relation, Fraction(epsilon), ())


@each_of(
    ("one", "other"),
    [
        (guarantee("1", users(5)), guarantee("1", labels(5))),
        (guarantee("1", users(5)), guarantee("1", EDGE)),
        (guarantee("1", NODE), guarantee("1", ITEM)),
        (guarantee("1", users(5), SUBSTITUTE), guarantee("1", ITEM)),
    ],
)
def test_units_that_say_nothing_of_each_other_are_refused(one: Guarantee, other: Guarantee) -> None:
    for first, second in ((one, other), (other, one)):
        with pytest.raises(UsageError, match=r"one (?:for|user)|does not hold"):
            first + second


def test_items_cost_a_user_m_times_if_that_is_assumed() -> None:
    converted = guarantee("0.5", delta="1e-9").for_neighbors(users(4))
    assert converted.epsilon == 2
    assert converted.conditions == ("no user has more than 4 items",)
    assert float(converted.delta) == pytest.approx(1e-9 * sum(math.exp(0.5 * each) for each in range(4)), rel=1e-12)
    assert guarantee("0.5").for_neighbors(users(4), SUBSTITUTE).epsilon == 4
    assert guarantee("0.5").for_neighbors(labels(1)).conditions == ("no label has more than 1 item",)
    # Never divided: what holds for users does not hold for items at a smaller price.
    assert guarantee("0.5", users(4)).for_neighbors(ITEM).epsilon == 1


@each_of(
    ("given_unit", "wanted", "is_covered"),
    [
        (users(5), users(3), True),
        (users(5), users(6), False),
        (users(5, groups=3), users(3), True),
        (users(5, groups=3), users(4), False),
        (users(6), users(2, groups=3), True),
        (users(5), users(2, groups=3), False),
        (users(5, groups=3), users(6, groups=2), False),
        (users(5, sketches=3), users(5, sketches=2), True),
        (labels(3), labels(9), True),
        (labels(3), labels(3, groups=4), True),
        (labels(3, groups=4), labels(3, groups=2), True),
        (labels(3, groups=4), labels(3, groups=5), False),
        (labels(3, groups=4), labels(3), False),
    ],
)
def test_bounds_are_compared(given_unit: PrivacyUnit, wanted: PrivacyUnit, is_covered: bool) -> None:  # noqa: FBT001
    told = guarantee("1", given_unit)
    if is_covered:
        assert told.for_neighbors(wanted).epsilon == 1
    else:
        with pytest.raises(UsageError, match="smaller bound"):
            told.for_neighbors(wanted)


@pytest.mark.full
@repeatable
@given(st.lists(st.tuples(units(), st.fractions(Fraction(1, 100), 10)), min_size=1, max_size=4), st.randoms())
def test_order_does_not_matter(releases: list[tuple[PrivacyUnit, Fraction]], order: Any) -> None:
    told = [Guarantee(unit, ADD, epsilon, arithmetic=EXACT) for unit, epsilon in releases]
    shuffled = order.sample(told, len(told))
    try:
        first = compose(told)
    except UsageError:
        with pytest.raises(UsageError):
            compose(shuffled)
        return
    second = compose(shuffled)
    assert (first.unit, first.relation, first.epsilon) == (second.unit, second.relation, second.epsilon)
    if len({unit.kind for unit, _ in releases}) < 3:  # users and labels alone have no common unit
        one_by_one = told[0]
        for each in told[1:]:
            one_by_one += each
        assert (one_by_one.unit, one_by_one.epsilon, one_by_one.parts) == (first.unit, first.epsilon, first.parts)


# --- in parallel ---------------------------------------------------------------------------------------------------


def test_disjoint_parts_cost_the_largest_of_them() -> None:
    told = in_parallel([guarantee("1"), guarantee("0.5", delta="1e-9")])
    assert (told.epsilon, told.delta, told.parts) == (1, Fraction(1, 10**9), ())
    assert told.conditions == ("no item is in more than one of the 2 parts",)
    assert in_parallel([guarantee("1")]) == guarantee("1")


def test_a_replaced_unit_may_be_in_two_parts() -> None:
    # A row of the first part becomes one of the second: each part changes its size, which no guarantee covers.
    with pytest.raises(UsageError, match="replaced"):
        in_parallel([guarantee("1", relation=SUBSTITUTE)] * 2)
    with pytest.raises(UsageError, match="only for one unit"):
        in_parallel([guarantee("1"), guarantee("1", users(2))])
    with pytest.raises(UsageError, match="at least one"):
        in_parallel([])


def test_parts_that_share_noise_tell_parties_the_largest() -> None:
    shared = guarantee("1", party_epsilon=Fraction(3), conditions=("someone is honest",))
    assert in_parallel([shared, guarantee("2")]).party_epsilon == 3
    assert in_parallel([shared, guarantee("4")]).party_epsilon is None

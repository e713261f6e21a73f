"""What sketches promise: scales, and the arithmetic of merged epsilons."""

from fractions import Fraction

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.sketches import HashedSketch, NoiseShare
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import checked_parts, promise

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM, USER = PrivacyUnit.item(), PrivacyUnit.user(max_items=5)


def part(number: int, gamma: str, honest: int = 1, session: str = "") -> NoiseComponent:
    return NoiseComponent(f"{number:032x}", Fraction(gamma), Fraction(1, honest), session)


@pytest.mark.parametrize(
    ("unit", "relation", "gamma"),
    [(ITEM, ADD, "1/2"), (ITEM, SUBSTITUTE, "1/4"), (USER, ADD, "1/10"), (USER, SUBSTITUTE, "1/20")],
)
def test_a_new_sketch_spreads_its_epsilon_over_all_steps_of_a_unit(
    unit: PrivacyUnit, relation: NeighboringRelation, gamma: str
) -> None:
    sketch = HashedSketch(buckets=4, epsilon="0.5", key=b"k", unit=unit, relation=relation)
    assert [each.gamma for each in sketch.noise] == [Fraction(gamma)]
    promised = sketch.guarantee
    assert (promised.unit, promised.relation, promised.epsilon) == (unit, relation, Fraction(1, 2))
    assert (promised.delta, promised.spending) == (0, ())
    assert "floating point costs nothing" in str(promised)


def test_items_are_in_one_sketch_each_so_the_largest_epsilon_counts() -> None:
    merged = promise(ITEM, SUBSTITUTE, [part(1, "1/2"), part(2, "2"), part(3, "1/3")])
    assert (merged.epsilon, merged.spending) == (4, ())


def test_users_may_be_in_every_sketch_so_epsilons_add_up() -> None:
    merged = promise(USER, ADD, [part(1, "1/2"), part(2, "2"), part(3, "1/2")])
    assert merged.epsilon == 15
    assert merged.spending == (("2 sketches", Fraction(5)), ("one sketch", Fraction(10)))
    assert "spent in steps (5 for 2 sketches, 10 for one sketch)" in str(merged)


@pytest.mark.parametrize("unit", [ITEM, USER], ids=str)
def test_shares_of_one_session_are_one_part_once_they_are_complete(unit: PrivacyUnit) -> None:
    shares = [part(number, "1/5", 3, "s") for number in range(4)]
    for present in (1, 2):
        with pytest.raises(UsageError, match=f"not private: it holds {present} of at least 3 shares"):
            promise(unit, ADD, [part(9, "1"), *shares[:present]])
    for present in (3, 4):
        assert promise(unit, ADD, shares[:present]).epsilon == Fraction(1, 5) * unit.bound
    both = promise(unit, ADD, [part(9, "1/5"), *shares])
    assert both.epsilon == (Fraction(1, 5) if unit == ITEM else 2)


def test_shares_of_other_sessions_do_not_complete_each_other() -> None:
    shares = [part(1, "1", 2, "one"), part(2, "1", 2, "two")]
    with pytest.raises(UsageError, match="holds 1 of at least 2"):
        promise(ITEM, ADD, shares)
    with pytest.raises(UsageError, match="holds 1 of at least 2"):
        promise(ITEM, ADD, [*shares, part(3, "1", 2, "one")])


def test_nothing_is_read_before_all_shares_are_there() -> None:
    share = NoiseShare(honest=2, session="s")
    one, two = (HashedSketch(buckets=4, epsilon=1, key=b"k", noise_share=share) for _ in range(2))
    with pytest.raises(UsageError, match="not private"):
        one.reconstruct()
    assert (one + two).guarantee.epsilon == 1


def test_parts_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(DataError, match="one part of noise at least"):
        checked_parts([])
    with pytest.raises(DataError, match="one part of noise at least"):
        checked_parts(["noise"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="twice"):
        checked_parts([part(1, "1"), part(1, "2")])
    for other in (part(2, "2", 2, "s"), part(2, "1", 3, "s")):
        with pytest.raises(DataError, match="one epsilon and one number of honest parties"):
            checked_parts([part(1, "1", 2, "s"), other])
    assert checked_parts([part(2, "1"), part(1, "1")]) == (part(1, "1"), part(2, "1"))


def test_what_a_sketch_cannot_protect_is_refused() -> None:
    def make(**settings: object) -> HashedSketch:
        return HashedSketch(**{"buckets": 4, "epsilon": 1, "key": b"k", **settings})  # type: ignore[arg-type]

    with pytest.raises(UsageError, match="it cannot cap counts"):
        make(unit=PrivacyUnit.label(max_count=3))
    with pytest.raises(UsageError, match="does not bound how many edges a node has"):
        make(unit=PrivacyUnit.node(max_distance=3))
    with pytest.raises(UsageError, match="unit must be a PrivacyUnit"):
        make(unit="item")
    with pytest.raises(UsageError, match="relation must be a NeighboringRelation"):
        make(relation="substitute")
    with pytest.raises(UsageError, match="epsilon must be a finite number greater than zero"):
        make(epsilon=0)
    least = Fraction(1, 2**40)
    assert make(epsilon=10 * least, unit=USER, relation=SUBSTITUTE).guarantee.epsilon == 10 * least
    message = r"epsilon must be at least 10·2\^-40 \(about 9\.1e-12\) for one user with at most 5 items"
    with pytest.raises(UsageError, match=message):
        make(epsilon=9 * least, unit=USER, relation=SUBSTITUTE)

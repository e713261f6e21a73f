"""What sketches promise: scales, and the arithmetic of merged epsilons."""

import pickle
from fractions import Fraction

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.sketches import Adversary, HashedSketch, NoiseShare, UsersIn
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import checked_parts, promise, promise_of
from anonhist_testing.cases import each_of

ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE
ITEM, USER = PrivacyUnit.item(), PrivacyUnit.user(max_items=5)


def part(
    number: int, gamma: str, honest: int = 1, session: str = "", *, adversary: Adversary = Adversary.PARTY
) -> NoiseComponent:
    needed = honest if honest == 1 or adversary is Adversary.OUTSIDER else honest + 1
    return NoiseComponent(f"{number:032x}", Fraction(gamma), Fraction(1, honest), session, needed)


@each_of(
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
    assert merged.unit == PrivacyUnit.user(max_items=5, sketches=3)
    assert merged.unit.max_distance == 15
    assert merged.spending == (("2 sketches", Fraction(5)), ("one sketch", Fraction(10)))
    assert "when one user with all their items (at most 5 of them count in each of 3 sketches) is added" in str(merged)
    assert "spent in steps (5 for 2 sketches, 10 for one sketch)" in str(merged)


@pytest.mark.parametrize("relation", [ADD, SUBSTITUTE])
def test_users_of_one_sketch_each_lose_the_largest_epsilon_on_that_condition(relation: NeighboringRelation) -> None:
    parts = [part(1, "1/2"), part(2, "2"), *(part(number, "1", 2, "s") for number in (3, 4, 5))]
    merged = promise(USER, relation, parts, UsersIn.ONE_SKETCH)
    assert (merged.unit, merged.epsilon, merged.spending) == (USER, 10 * relation.distance, ())
    assert merged.conditions[0] == "no user has items in more than one of the 5 sketches"
    assert "provided that no user has items in more than one of the 5 sketches, and that at least 2" in str(merged)
    assert promise(USER, relation, parts[:1], UsersIn.ONE_SKETCH).conditions == ()


@pytest.mark.parametrize("shares", [4, 5])
def test_a_user_at_every_party_moves_the_sum_by_the_items_of_all(shares: int) -> None:
    """As many sketches with m items each as share one noise: the sum moves by so many times m."""
    merged = promise(USER, ADD, [part(number, "1/5", 3, "s") for number in range(shares)])
    assert merged.epsilon == shares
    assert str(merged.unit) == f"one user with all their items (at most 5 of them count in each of {shares} sketches)"
    assert merged.spending == ((f"{shares} sketches", Fraction(shares)),)


def test_shares_of_one_session_are_one_part_for_an_item_once_they_are_complete() -> None:
    shares = [part(number, "1/5", 3, "s") for number in range(5)]
    for present in (1, 3):
        with pytest.raises(UsageError, match=f"not private: it holds {present} of at least 4 shares"):
            promise(ITEM, ADD, [part(9, "1"), *shares[:present]])
    for present in (4, 5):
        made = promise(ITEM, ADD, shares[:present])
        assert (made.epsilon, made.party_epsilon) == (Fraction(1, 5), None)
        (condition,) = made.conditions
        assert condition.startswith("at least 3 parties besides the adversary, which may be one of them, draw their")
    assert promise(ITEM, ADD, [part(9, "1"), *shares]).epsilon == 1


@pytest.mark.parametrize(("epsilon", "toward_party"), [("0.01", "0.3555"), ("0.1", "0.606"), ("1", "1.676")])
def test_shares_against_outsiders_say_what_a_party_learns(epsilon: str, toward_party: str) -> None:
    shares = [part(number, epsilon, 2, "s", adversary=Adversary.OUTSIDER) for number in (1, 2)]
    made = promise(ITEM, ADD, shares)
    assert (made.epsilon, made.party_epsilon) == (Fraction(epsilon), Fraction(toward_party))
    assert str(made).startswith(f"{epsilon}-differentially private (δ = 0) toward outsiders when one item is added")
    assert f"and {toward_party}-differentially private toward each party" in str(made)
    assert made.conditions == ("at least 2 parties draw their shares of the noise, keep them secret and take part",)


def test_of_several_sessions_each_says_how_many_parties_it_needs() -> None:
    outsider = {"adversary": Adversary.OUTSIDER}
    parts = [part(at, "1", 2, "a") for at in range(3)] + [part(at, "1", 3, "b") for at in range(3, 7)]
    parts += [part(at, "1/10", 2, "c", **outsider) for at in (7, 8)]
    made = promise(ITEM, SUBSTITUTE, parts)
    assert made.epsilon == 2
    # What a party of the third learns is less than what the other sessions allow anybody.
    assert made.party_epsilon is None
    assert [each.split(" draw ")[0] for each in made.conditions] == [
        "as many parties as each session says besides the adversary, which may be one of them,",
        "at least 2 parties",
    ]
    users = promise(USER, ADD, parts)
    assert (users.epsilon, users.party_epsilon) == (36, 5 * (7 + 2 * Fraction("0.606")))


def test_shares_of_other_sessions_do_not_complete_each_other() -> None:
    shares = [part(1, "1", 2, "one"), part(2, "1", 2, "two"), part(3, "1", 2, "two")]
    with pytest.raises(UsageError, match="holds 1 of at least 3"):
        promise(ITEM, ADD, shares)
    with pytest.raises(UsageError, match="holds 2 of at least 3"):
        promise(ITEM, ADD, [*shares, part(4, "1", 2, "one"), part(5, "1", 2, "one")])


def test_nothing_is_read_before_all_shares_are_there() -> None:
    share = NoiseShare(honest=2, session="s")
    one, two, three = (HashedSketch(buckets=4, epsilon=1, key=b"k", noise_share=share) for _ in range(3))
    with pytest.raises(UsageError, match="not private"):
        (one + two).reconstruct()
    assert (one + two + three).guarantee.epsilon == 1


def test_what_is_said_of_users_belongs_to_users_and_to_all_that_is_merged() -> None:
    def make_sketch(unit: PrivacyUnit, users_in: UsersIn) -> HashedSketch:
        return HashedSketch(buckets=4, epsilon=1, key=b"k", unit=unit, users_in=users_in)

    with pytest.raises(UsageError, match="users_in applies only to sketches that protect users"):
        make_sketch(ITEM, UsersIn.ONE_SKETCH)
    with pytest.raises(UsageError, match=r"users_in must be UsersIn\.EVERY_SKETCH or"):
        make_sketch(USER, "one-sketch")  # type: ignore[arg-type]
    one, every = make_sketch(USER, UsersIn.ONE_SKETCH), make_sketch(USER, UsersIn.EVERY_SKETCH)
    with pytest.raises(UsageError, match="with the same users_in"):
        one.merge(every)
    merged = one + make_sketch(USER, UsersIn.ONE_SKETCH)
    assert (merged.users_in, merged.guarantee.epsilon) == (UsersIn.ONE_SKETCH, 1)
    assert pickle.loads(pickle.dumps(merged)) == merged  # noqa: S301 - pickled a moment ago
    with pytest.raises(UsageError, match="bounds the items of a user in this sketch only"):
        make_sketch(PrivacyUnit.user(max_items=5, sketches=2), UsersIn.EVERY_SKETCH)


def test_parts_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(DataError, match="at least one part of noise"):
        checked_parts([])
    with pytest.raises(DataError, match="at least one part of noise"):
        checked_parts(["noise"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="twice"):
        checked_parts([part(1, "1"), part(1, "2")])
    for other in (part(2, "2", 2, "s"), part(2, "1", 3, "s")):
        with pytest.raises(DataError, match="one epsilon, one number of honest parties"):
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
    message = r"epsilon must be at least 10·2\^-40 \(about 9\.1e-12\) for one user with all their items \(at most 5"
    with pytest.raises(UsageError, match=message):
        make(epsilon=9 * least, unit=USER, relation=SUBSTITUTE)


def test_a_sum_of_epsilons_that_cannot_be_written_is_refused() -> None:
    # Of different denominators, whose product has more digits than Python writes.
    rates = [1 + Fraction(1, 10_007 + 2 * number) for number in range(3_000)]
    with pytest.raises(DataError, match="add up to a fraction of more than 4,000 digits"):
        promise_of(PrivacyUnit.user(max_items=2), NeighboringRelation.ADD_OR_REMOVE, rates, (), UsersIn.EVERY_SKETCH)
    one = promise_of(PrivacyUnit.user(max_items=2), NeighboringRelation.ADD_OR_REMOVE, rates, (), UsersIn.ONE_SKETCH)
    assert one.epsilon == 2 * max(rates)

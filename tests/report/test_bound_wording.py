"""What is said of the items that a bound on users left out."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.grouping import release_groups
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles import Bounded, Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.releases import Excess, Release
from anonhist.report.wording import bound_of, describe_excess
from anonhist.sketches import HashedSketch

KEY = "0" * 32


def excess_of(*noisy: int, bound: int = 3, cap: int = 30) -> Excess:
    return Excess(bound, cap, NeighboringRelation.ADD_OR_REMOVE, Fraction(1, 80), Fraction(3, 80), *noisy)


def what_a_bound_costs(release: Release) -> str:
    return " ".join(sentence for _, sentence in bound_of(release))


def release_for(unit: PrivacyUnit) -> Release:
    return FrobeniusMechanism(1, unit).release(Profile.from_counts([20, 10]))


def test_the_page_says_how_to_ask_where_the_rest_could_have_been_counted() -> None:
    plain = release_for(PrivacyUnit.user(max_items=5))
    assert "excess share" not in what_a_bound_costs(plain)
    assert what_a_bound_costs(replace(plain, order_key=KEY)).endswith(
        "With an excess share of 0.05, a release also estimates that, for 5% of its ε."
    )
    assert what_a_bound_costs(release_for(PrivacyUnit.item())) == ""
    sketch = HashedSketch(buckets=50, epsilon=1, key=b"week 47", unit=PrivacyUnit.user(max_items=2))
    assert "excess share" not in what_a_bound_costs(sketch.reconstruct("three-tap", simulations=2))


def test_where_the_excess_is_known_it_is_told_instead() -> None:
    # The unit may protect users with more items than were kept of each.
    plain, excess = release_for(PrivacyUnit.user(max_items=5)), excess_of(8_000, 2_000, 20_000)
    made = replace(plain, excess=excess, guarantee=excess.add_to(plain.guarantee), order_key=KEY)
    told = what_a_bound_costs(made)
    assert told.startswith("At most 3 items of each user are counted in the whole release. Errors and intervals do not")
    assert told.endswith(describe_excess(excess))
    assert "excess share" not in told


def test_ends_at_nothing_are_said_as_upper_ends_alone() -> None:
    assert "at least 2,603 items (95% confidence), of up to 245 users, up to 4% of all" in describe_excess(
        excess_of(8_000, 5, 5_000)
    )
    nothing = describe_excess(excess_of(8_000, 12, -20, bound=1, cap=1))
    assert nothing == (
        "What the bound of 1 item per user left out is indistinguishable from nothing: 0 to 252 users had more items "
        "(95% interval). A larger share of epsilon would show more."
    )


def test_where_no_group_is_cut_there_may_not_be_more() -> None:
    of_groups = partial(replace, of=Bounded.GROUPS_OF_LABELS, groups=5)
    told = describe_excess(of_groups(excess_of(8_000, 2_000, 3_000, cap=2)))
    assert "left out 2,803 to 3,160 pairs of a label and a group, of 1,760 to 2,240 labels, 17 to 23% of all" in told
    assert "may be more" not in told
    assert "at least" not in told
    nothing = describe_excess(of_groups(excess_of(8_000, 12, -20, cap=2)))
    assert nothing == (
        "What the bound of 3 groups per label left out is indistinguishable from nothing: 0 to 252 labels were in more "
        "groups, and up to 140 pairs of a label and a group were left out (95% intervals). A larger share of epsilon "
        "would show more."
    )
    # One more group may be cut.
    assert "may be more" in describe_excess(replace(of_groups(excess_of(8_000, 2_000, 3_000, cap=2)), groups=6))


def test_no_excess_is_advised_that_would_be_refused() -> None:
    # A bound of two groups leaves none of two out.
    unit = PrivacyUnit.label(max_count=5, groups=2)
    for number, advised in ((2, False), (3, True)):
        profiles = {(f"g{at}",): Profile.from_counts([2]) for at in range(number)}
        grouped = GroupedProfile(("g",), profiles, unit=unit, order_key=KEY)
        [(_, told)] = bound_of(release_groups(grouped, epsilon=1, simulations=0))
        assert ("an excess share of 0.05" in told) is advised


def test_items_are_of_as_many_users_as_they_need() -> None:
    # By chance the noise on users can be far below, that on items far above.
    told = describe_excess(excess_of(8_000, -500, 30_000))
    assert "at least 27,603 items (95% confidence), of up to 921 users, up to 1% of all" in told
    assert "of 1,760 to 9,587 users" in describe_excess(excess_of(8_000, 2_000, 290_000))

"""Relations of totals and groups hold for every table and every choice that a bound leaves open, and others do not."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from anonhist.errors import UsageError
from anonhist.ingest.groups.read import read_groups
from anonhist.mechanisms.setting import cap_counts
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.grouped import Group, GroupedProfile
from anonhist.releases.relations import (
    AtLeast,
    Design,
    ReachWithinSum,
    Relation,
    SameItems,
    WithinSum,
    check_adjusted,
)

LEAVES: tuple[Group, ...] = (("n", "x"), ("n", "y"), ("s", "x"))
WIDE: tuple[Group, ...] = (("a",), ("b",), ("c",))
Profiles = dict[Group, Profile]


def tables(design: Design, most: int = 3) -> Iterator[Profiles]:
    """Every table of one label, with each choice of the groups that count.

    Relations are inequalities of sums over labels: they hold for all tables if they hold for those of one label.
    """
    cap = design.unit.max_count or most * len(design.groups)
    for counts in product(range(most + 1), repeat=len(design.groups)):
        rows = dict(zip(design.groups, counts, strict=True))
        levels = []
        for level in design.levels:
            own = {group: sum(of for leaf, of in rows.items() if leaf[: len(group)] == group) for group in level}
            having = [group for group, of in own.items() if of]
            kept = len(having) if design.has_one_table else min(design.unit.groups, len(having))
            levels.append([{group: own[group] for group in some} for some in combinations(having, kept)])
        for chosen in product(*levels):
            found = {group: of for level in chosen for group, of in level.items()}
            yield {
                group: Profile.from_counts([min(found.get(group, 0), cap)])
                for level in design.levels
                for group in level
            }


def possible(design: Design) -> list[Relation]:
    """All relations that there could be between an ancestor and its groups, and between levels."""
    every = [group for level in design.levels for group in level]
    found: list[Relation] = [AtLeast(one, two) for one in every for two in every if one == two[: len(one)] != two]
    for total, parts in design.children.items():
        # Of one part, the sum is the part.
        found += [WithinSum(total, parts), *([SameItems(total, parts)] if len(parts) > 1 else [])]
    found += [ReachWithinSum(one, two) for one in design.levels for two in design.levels[1:] if one is not two]
    return found


def follows(relation: Relation, design: Design) -> bool:
    """Whether a relation is one of the design's, or follows from several."""
    claimed = design.relations
    if relation in claimed:
        return True
    if isinstance(relation, AtLeast):
        steps = [each for each in claimed if isinstance(each, AtLeast) and each.part == relation.part]
        return any(follows(AtLeast(relation.total, each.total), design) for each in steps)
    if isinstance(relation, ReachWithinSum):
        # Levels that leave nothing out: the total of each is at least its groups, and at most their sum.
        return all(design.is_whole(len(each[0])) for each in (relation.totals, relation.parts))
    return False


DESIGNS = [
    Design(groups, unit)
    for groups in (LEAVES, WIDE)
    for unit in (
        PrivacyUnit.item(),
        *(PrivacyUnit.label(max_count=cap, groups=groups) for cap in (2, 4) for groups in (1, 2, 3, 4)),
    )
]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda each: f"{len(each.levels)} levels, {each.unit}")
def test_these_relations_and_no_others_hold_for_every_table(design: Design) -> None:
    left = possible(design)
    broken = set()
    for table in tables(design):
        broken |= {relation for relation in left if relation not in broken and not relation.holds(table)}
    assert not broken & {*design.relations}
    # Counts cut at 2 leave out most of what distinguishes sums.
    if design.unit.max_count != 2:
        assert {*left} - broken == {relation for relation in left if follows(relation, design)}


def test_of_users_in_few_groups_nothing_is_known() -> None:
    assert Design(LEAVES, PrivacyUnit.user(max_items=5, groups=3)).relations == ()
    assert Design(LEAVES, replace(PrivacyUnit.user(max_items=5), in_one_group=True)).relations == ()


def test_users_in_all_groups_have_the_relations_of_items() -> None:
    for groups in (LEAVES, WIDE):
        of_users = Design(groups, PrivacyUnit.user(max_items=5)).relations
        assert of_users == Design(groups, PrivacyUnit.item()).relations


def of_two_users(bound: int, groups: int | None) -> Iterator[GroupedProfile]:
    """Read small tables on crossing levels: two users with one row or several, in each of three groups or elsewhere."""
    leaves = [*LEAVES, ("s", "y")]
    rows = list(product("ab", leaves))
    for own in combinations(rows, 3):
        for others in ((), own[1:]):
            held = [("u", *row) for row in own] + [("v", *row) for row in others]
            table = pl.DataFrame(
                [(user, label, *leaf) for user, label, leaf in held], schema=list("ulgh"), orient="row"
            )
            yield read_groups(
                table,
                label="l",
                by=["g", "h"],
                groups=LEAVES,
                levels="crossing",
                user="u",
                max_per_user=bound,
                max_groups_per_user=groups,
                order_key=f"{len(held):032x}",
            )


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "groups"), [(1, None), (2, None), (1, 2)])
def test_one_sample_of_rows_serves_all_levels(bound: int, groups: int | None) -> None:
    design = Design(LEAVES, PrivacyUnit.user(max_items=bound))
    left = set(possible(design))
    for read in of_two_users(bound, groups):
        assert read.unit == PrivacyUnit.user(max_items=bound, groups=groups or 1)
        found = {group: each for level in (*read.above, read) for group, each in level.items()}
        left = {relation for relation in left if relation.holds(found)}
    # If each level keeps rows of few groups, other totals have fewer labels than their groups, or other items.
    expected = {relation for relation in possible(design) if follows(relation, design)}
    assert (left >= expected) == (groups is None)


@cache
def rows(seed: int, size: int = 400, labels: int = 90) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "user": [f"u{i}" for i in rng.integers(0, 60, size)],
            "label": [f"v{i}" for i in rng.integers(0, labels, size)],
            "g": rng.choice(["n", "s", "w"], size),
            "h": rng.choice(["x", "y"], size),
        }
    )


def truth(seed: int, unit: PrivacyUnit, groups: int | None) -> tuple[Design, Profiles]:
    """Return what the program reads on crossing levels, with counts up to the cap."""
    leaves = [(g, h) for g in "nsw" for h in "xy"]
    bound = {} if groups is None else {"unit": unit, "max_groups_per_label": groups}
    read = read_groups(rows(seed), label="label", by=["g", "h"], groups=leaves, levels="crossing", **bound)
    found = {group: each for level in (*read.above, read) for group, each in level.items()}
    cap = unit.max_count
    return Design(tuple(leaves), read.unit), {g: cap_counts(p, cap) if cap else p for g, p in found.items()}


def test_relations_hold_for_what_the_program_reads() -> None:
    for seed in range(3):
        check_adjusted(*truth(seed, PrivacyUnit.item(), None))
        for groups in (1, 3, 6):
            check_adjusted(*truth(seed, PrivacyUnit.label(max_count=5), groups))


def test_a_group_may_exceed_its_total_if_users_are_bounded_on_each_level() -> None:
    # Each level keeps other rows of a user: one of all, and one of each group.
    fewer = 0
    for seed in range(8):
        table = rows(seed).with_columns(g=pl.when(pl.col("h") == "y").then(pl.lit("n")).otherwise(pl.col("g")))
        read = read_groups(
            table,
            label="label",
            by="g",
            groups=["n", "s", "w"],
            levels="crossing",
            user="user",
            max_per_user=1,
            max_groups_per_user=3,
        )
        fewer += read.above[0][()].num_labels < read["n"].num_labels
    assert fewer


def test_days_of_a_campaign_may_exceed_it_if_a_label_counts_in_one_group() -> None:
    read = read_groups(
        rows(0), label="label", by=["g", "h"], groups=[(g, h) for g in "nsw" for h in "xy"], levels="crossing",
        unit=PrivacyUnit.label(max_count=5), max_groups_per_label=1,
    )  # fmt: skip
    campaigns = read.above[1]
    assert any(campaigns[g].num_labels > read[g, "x"].num_labels + read[g, "y"].num_labels for g in "nsw")


def test_profiles_of_other_groups_are_refused() -> None:
    design = Design((("a",),), PrivacyUnit.item())
    with pytest.raises(UsageError, match="each group and total"):
        check_adjusted(design, {(): Profile([], [])})
    with pytest.raises(UsageError, match="contradict"):
        check_adjusted(design, {(): Profile([], []), ("a",): Profile.from_counts([1])})

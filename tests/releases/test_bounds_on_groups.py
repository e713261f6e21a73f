"""What numbers take for granted where the groups of users or labels were bounded, if only to one."""

from typing import Any

import polars as pl
import pytest

import anonhist as ah
from anonhist.report.wording import remarks

EACH_IN_THREE = pl.DataFrame({"user": [f"u{at // 3}" for at in range(90)], "label": [str(at) for at in range(90)]})
TABLE = EACH_IN_THREE.with_columns(group=pl.Series([*"ABC"] * 30))
OF_USERS = {"user": "user", "max_per_user": 5, "max_groups_per_user": 1}
OF_LABELS = {"unit": ah.PrivacyUnit.label(max_count=5), "max_groups_per_label": 1}


def released(**said: Any) -> ah.GroupedRelease:
    grouped = ah.read_groups(TABLE, label="label", by="group", groups=[*"ABC"], **said)
    return ah.release_groups(grouped, epsilon=4, simulations=2)


@pytest.mark.parametrize(("said", "unit"), [(OF_USERS, "user"), (OF_LABELS, "label")])
def test_one_group_for_each_is_a_bound(said: dict[str, Any], unit: str, tmp_path: Any) -> None:
    made = released(**said)
    ah.write(made, tmp_path / "groups.json")
    for each in (made, ah.read(tmp_path / "groups.json")):
        alone = each["A"]
        told = f"Each {unit} is counted in at most 1 group, with at most 5 items there."
        for value in (each, alone, alone.k_plus(2), alone.num_items(), ah.entropy(alone)):
            assert value.left_out.startswith(told), value
        for number in (alone.k_plus(2), alone.prevalence(1), alone.num_items()):
            assert "in more than 1 group" in number.assumes


def test_items_of_users_in_all_groups_are_not_bounded_in_groups() -> None:
    alone = released(user="user", max_per_user=5)["A"]
    assert alone.left_out.startswith("At most 5 items of each user are counted in the whole release.")
    assert alone.k_plus(2).assumes == "users with more than 5 items had none left out"


def test_a_bound_on_groups_leaves_nothing_out_of_everything() -> None:
    made = released(levels="crossing", **OF_LABELS)
    assert made.adjusted is not None
    guessed = ah.guessing_curve(made[()])
    for value in (made[()], made[()].k_plus(2), made[()].num_items(), ah.support_size(made[()]), guessed):
        assert value.left_out.startswith("At most 5 items of each label are counted"), value
    assert "group" not in made[()].k_plus(2).assumes
    assert "in more than 1 group" in made["A"].k_plus(2).assumes


def test_of_crossing_levels_each_is_bounded_by_itself() -> None:
    made = released(levels="crossing", user="user", max_per_user=5)
    assert made.left_out.startswith("At most 5 items of each user are counted in each level.")


def test_a_label_of_several_groups_counts_in_each_of_a_sum(tmp_path: Any) -> None:
    twice = pl.concat([TABLE, TABLE.with_columns(group=pl.lit("A"))])
    sums = ah.read_groups(twice, label="label", by="group", groups=[*"ABC"], levels="nested")
    ah.write(ah.release_groups(sums, epsilon=4, simulations=2), tmp_path / "sums.json")
    made = ah.read(tmp_path / "sums.json")
    said = "a label counts once in each of its groups, which were added up"
    total = made[()]
    for number in (total.k_plus(2), total.prevalence(1), ah.support_size(total), ah.guessing_curve(total)):
        assert said in number.assumes, number
    for number in (total.num_items(), made["A"].k_plus(2), ah.support_size(made["A"])):
        assert said not in number.assumes, number
    assert ("Groups", f"A{said[1:]}.") in remarks(total)
    assert "Groups" not in dict(remarks(made["A"]))

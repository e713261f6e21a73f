"""Files of releases of groups: what is written is read, and what cannot be is refused."""

import csv
import io
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anonhist.catalogue import Levels
from anonhist.errors import DataError, UsageError
from anonhist.formats.document import to_document
from anonhist.formats.files import read, write
from anonhist.formats.releases import from_grouped_document, read_release, to_grouped_document
from anonhist.formats.tables import csv_text
from anonhist.mechanisms.grouping import release_groups
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.grouped import Group, GroupedProfile
from anonhist.releases.content import content_digest
from anonhist.releases.grouped import GroupedRelease, NestedTotals
from anonhist.report.wording import describe_excess

KEY = "0123456789abcdef" * 2
UNITS = {
    "item": (PrivacyUnit.item(), None),
    "users": (PrivacyUnit.user(max_items=3), KEY),
    "users in groups": (PrivacyUnit.user(max_items=3, groups=2), KEY),
    "labels": (PrivacyUnit.label(max_count=5, groups=2), KEY),
}


def release_of(unit: str, *, epsilon: str = "2") -> GroupedRelease:
    profiles = {
        ("a", "1"): Profile.from_counts([5, 3, 3, 1]),
        ("b", None): Profile.from_counts([2]),
        ("c", "ü"): Profile([], []),
    }
    protected, key = UNITS[unit]
    grouped = GroupedProfile(("g", "h"), profiles, unit=protected, order_key=key)
    return release_groups(grouped, epsilon=epsilon, simulations=2).with_error()


@pytest.mark.first(2)
@pytest.mark.parametrize("epsilon", ["0.5", "6"])
@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("unit", list(UNITS))
def test_what_is_written_is_read(unit: str, ending: str, epsilon: str, tmp_path: Path) -> None:
    release = release_of(unit, epsilon=epsilon)
    path = tmp_path / f"groups.{ending}"
    write(release, path)
    back = read(path)
    assert isinstance(back, GroupedRelease)
    assert (back.by, back.groups, back.guarantee) == (release.by, release.groups, release.guarantee)
    assert (back.mechanism, back.reason, back.order_key) == (release.mechanism, release.reason, release.order_key)
    for group, each in release.items():
        assert back[group].profile == each.profile
        assert back[group].guarantee == each.guarantee
        assert str(back[group].k_plus(1)) == str(each.k_plus(1))
    write(back, tmp_path / f"again.{ending}")
    if ending == "json":
        assert path.read_text(encoding="utf-8") == (tmp_path / "again.json").read_text(encoding="utf-8")


def with_excess(unit: str, of: Bounded, bound: int, levels: Levels | None = None) -> GroupedRelease:
    protected, key = UNITS[unit]
    units = BoundedUnits(bound, Profile.from_counts([1, 4, 5]), of)
    profiles: dict[Group, Profile] = {(name, "1"): Profile.from_counts([5, 3]) for name in "abcd"}
    profiles["a", "1"] = Profile.from_counts([2])
    grouped = GroupedProfile(("g", "h"), profiles, unit=protected, order_key=key, levels=levels, units=units)
    return release_groups(grouped, epsilon=2, excess_share="1/4", excess_cap=7, simulations=2).with_error()


EXCESSES: dict[str, Callable[[], GroupedRelease]] = {
    "groups of labels": lambda: with_excess("labels", Bounded.GROUPS_OF_LABELS, 2),
    "groups of users": lambda: with_excess("users in groups", Bounded.GROUPS_OF_USERS, 2),
    "items of users": lambda: with_excess("users", Bounded.ITEMS_OF_USERS, 3),
    "on levels": lambda: with_excess("users", Bounded.ITEMS_OF_USERS, 3, Levels.NESTED),
}


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("name", list(EXCESSES))
def test_the_excess_of_all_groups_is_written_and_read(name: str, ending: str, tmp_path: Path) -> None:
    release = EXCESSES[name]()
    assert release.excess is not None
    assert release.guarantee.epsilon == 2
    assert sum(spent for _, spent in release.guarantee.spending) == 2
    write(release, tmp_path / f"groups.{ending}")
    back = read(tmp_path / f"groups.{ending}")
    assert isinstance(back, GroupedRelease)
    assert (back.excess, back.guarantee, back.levels) == (release.excess, release.guarantee, release.levels)
    assert back.excess is not None
    # Four groups and a bound of two: a cap of seven counts two beyond.
    assert (back.excess.cap, back.excess.groups) == ((2, 4) if "groups" in name else (7, None))
    assert str(back.excess.amount) == str(release.excess.amount)
    assert describe_excess(back.excess) == describe_excess(release.excess)
    copied = pickle.loads(pickle.dumps(back))  # noqa: S301  # ours
    assert copied == back
    assert (copied.excess, copied.with_error().excess) == (release.excess, release.excess)
    assert to_document(back["a", "1"])["excess"] is None


def test_a_file_whose_cap_counts_more_groups_than_there_are_is_read() -> None:
    document = to_grouped_document(EXCESSES["groups of labels"]())
    for cap, has_end in ((1, False), (2, True), (9, True)):
        back = from_grouped_document(broken(document, lambda top, cap=cap: top["excess"].update(cap=cap)))
        assert back.excess is not None
        assert (back.excess.amount.interval[1] < float("inf")) is has_end
        assert from_grouped_document(to_grouped_document(back)) == back


BAD_EXCESS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no field": (lambda top: top.pop("excess"), "a release of groups by exactly the fields"),
    "no excess": (lambda top: top.update(excess=None), "holds for all groups together"),
    "other unit": (lambda top: top["excess"].update(of="groups of users"), "for the unit and the relation"),
    "other bound": (lambda top: top["excess"].update(bound=3), "for the unit and the relation"),
    "of counts": (lambda top: top["excess"].update(of="items of labels", bound=5), "for the unit and the relation"),
    "epsilon": (lambda top: top["excess"].update(users_epsilon="1"), "holds for all groups together"),
    "fields": (lambda top: top["excess"].update(more=1), "the excess by exactly the fields"),
}


@pytest.mark.parametrize("name", list(BAD_EXCESS))
def test_what_no_excess_of_groups_says_is_refused(name: str) -> None:
    change, says = BAD_EXCESS[name]
    document = to_grouped_document(EXCESSES["groups of labels"]())
    with pytest.raises(DataError, match=says):
        from_grouped_document(broken(document, change))


def test_one_group_is_saved_as_a_release_of_its_own(tmp_path: Path) -> None:
    release = release_of("labels")
    write(release["a", "1"], tmp_path / "one.json")
    back = read_release(tmp_path / "one.json")
    assert json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))["guarantee"]["groups"] == 2
    assert back.guarantee == release["a", "1"].guarantee
    assert back.guarantee.unit.groups == 2


def test_the_table_has_the_groups_first() -> None:
    release = release_of("item", epsilon="20")
    rows = list(csv.DictReader(io.StringIO(csv_text(release))))
    assert list(rows[0])[:4] == ["g", "h", "count", "prevalence"]
    assert [(row["g"], row["h"], row["count"]) for row in rows][-1] == ("b", "", "2")
    assert sum(int(row["count"]) * int(row["prevalence"]) for row in rows) == sum(
        each.profile.n for each in release.values()
    )
    assert release.to_arrow().column_names == list(rows[0])


def broken(document: dict[str, Any], change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    copied: dict[str, Any] = json.loads(json.dumps(document))
    change(copied)
    return copied


BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no field": (lambda top: top.pop("by"), "exactly the fields"),
    "no spending": (lambda top: top.pop("found_with"), "exactly the fields"),
    "spending": (lambda top: top.update(found_with=["1"]), "an epsilon and a delta"),
    "no levels": (lambda top: top.pop("nested"), "exactly the fields"),
    "format": (lambda top: top.update(format="anonhist/release"), "a release by exactly the fields"),
    "older": (lambda top: top.update(format="anonhist.grouped-release"), "written by a version before 1.0"),
    "version": (lambda top: top.update(version=2), "its version is not 1, .* a newer program may read it"),
    "version of groups": (lambda top: top["release"].update(version=2), "its version is not 1"),
    "no groups": (lambda top: top.update(groups=[]), "at least one group"),
    "groups": (lambda top: top.update(groups={}), "must be lists"),
    "by": (lambda top: top.update(by=["g"]), "one name for each grouping column"),
    "twice": (lambda top: top["groups"].append(top["groups"][0]), "listed twice"),
    "name": (lambda top: top["groups"][0].update(group=["a", 7]), "plain text"),
    "control": (lambda top: top["groups"][0].update(group=["a", "\x1b[2J"]), "plain text"),
    "names": (lambda top: top["groups"][0].update(group="a"), "must be a list"),
    "more": (lambda top: top["groups"][0].update(guarantee={}), "its names, its profile, its error"),
    "no items": (lambda top: top["groups"][0].pop("items"), "its error, and items, zeros and a draw or null"),
    "no zeros": (lambda top: top["groups"][-1].pop("zeros"), "its error, and items, zeros and a draw or null"),
    "no draw": (lambda top: top["groups"][-1].pop("draw"), "its error, and items, zeros and a draw or null"),
    "items": (lambda top: top["groups"][0].update(items=5), "items belong to"),
    "counts": (lambda top: top["groups"][0]["profile"].update(counts=[3, 2]), "as many counts as prevalences"),
    "sentence": (lambda top: top.update(guarantee="perfectly private"), "holds for all groups together"),
    "epsilon": (lambda top: top["release"]["guarantee"].update(epsilon="1"), "guarantee"),
    "groups of unit": (lambda top: top["release"]["guarantee"].update(groups="2"), "must be whole numbers"),
}


ADJUSTED = {"group": [], "profile": {"counts": [99], "prevalences": [1]}}
BAD_LEVELS: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "no field": ("nested", lambda top: top.pop("nested"), "exactly the fields"),
    "nor the other": ("nested", lambda top: top.pop("crossing"), "exactly the fields"),
    "no levels": ("crossing", lambda top: top.update(crossing=None), "holds for all groups together"),
    "both": ("nested", lambda top: top.update(crossing=[]), "must be nested or crossing, and not both"),
    "no list": ("nested", lambda top: top.update(nested={}), "must be lists"),
    "no total": ("nested", lambda top: top["nested"].pop(), "need the total of each"),
    "twice": ("nested", lambda top: top["nested"].append(top["nested"][0]), "listed twice"),
    "error": ("nested", lambda top: top["nested"][0].update(error={}), "exactly the fields"),
    "profile": ("nested", lambda top: top["nested"][0].update(profile={}), "exactly the fields"),
    "no level": ("crossing", lambda top: top["crossing"].pop(), "need the total of each"),
    "level": ("crossing", lambda top: top["crossing"].append(7), "a level"),
    "no lists": ("crossing", lambda top: top.update(crossing=7), "must be lists"),
    "no adjusted": ("crossing", lambda top: top.pop("adjusted"), "exactly the fields"),
    "adjusted sums": ("nested", lambda top: top.update(adjusted=[]), "belong to crossing levels"),
    "adjusted no list": ("crossing", lambda top: top.update(adjusted={}), "must be lists"),
    "adjusted twice": ("crossing", lambda top: top.update(adjusted=[ADJUSTED] * 2), "listed twice"),
    "adjusted otherwise": ("crossing", lambda top: top.update(adjusted=[ADJUSTED]), "do not follow"),
    "adjusted stranger": ("crossing", lambda top: top.update(adjusted=[ADJUSTED | {"group": ["z"]}]), "do not follow"),
    "adjusted without": ("crossing", lambda top: top.update(adjusted=[{"group": []}]), "exactly the fields"),
    "epsilon": ("crossing", lambda top: top["crossing"][0]["release"]["guarantee"].update(epsilon="1/9"), "epsilon"),
}


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_adjusted_numbers_are_written_and_read_beside_those_that_were_drawn(ending: str, tmp_path: Path) -> None:
    profiles = {(g,): Profile.from_counts([3, 1, 1]) for g in "abc"}
    above = GroupedProfile((), {(): Profile.from_counts([3, 3, 3, 2, 2, 2])}, unit=PrivacyUnit.item())
    own = {"unit": PrivacyUnit.item(), "levels": Levels.CROSSING, "above": (above,)}
    release = release_groups(GroupedProfile(("g",), profiles, **own), epsilon="0.2", simulations=2).with_error()
    assert release.is_consistent
    write(release, tmp_path / f"groups.{ending}")
    back = read(tmp_path / f"groups.{ending}")
    assert isinstance(back, GroupedRelease)
    assert back == release == pickle.loads(pickle.dumps(release))  # noqa: S301  # our own
    assert {g: each.profile for g, each in back.drawn.items()} == {g: each.profile for g, each in release.drawn.items()}
    assert content_digest(back) == content_digest(release)
    drawn = release_groups(GroupedProfile(("g",), profiles, **own), epsilon="0.2", simulations=2, consistent=False)
    assert to_grouped_document(drawn)["adjusted"] is None
    with pytest.raises(UsageError, match="no file of its own"):
        to_document(release["a"])
    unadjusted = release["a"].unadjusted
    assert unadjusted is not None
    assert to_document(unadjusted)["profile"] == to_grouped_document(release)["groups"][0]["profile"]


@pytest.mark.parametrize("case", list(BAD_LEVELS))
def test_what_levels_cannot_be_is_refused(case: str, tmp_path: Path) -> None:
    levels, change, told = BAD_LEVELS[case]
    profiles = {(g, h): Profile.from_counts([3, 1]) for g in "ab" for h in "xy"}
    above = tuple(
        GroupedProfile(by, dict.fromkeys(groups, Profile.from_counts([6, 2])), unit=PrivacyUnit.item())
        for by, groups in (((), [()]), (("g",), [("a",), ("b",)]))
    )
    known = {"nested": (Levels.NESTED, ()), "crossing": (Levels.CROSSING, above)}[levels]
    grouped = GroupedProfile(("g", "h"), profiles, unit=PrivacyUnit.item(), levels=known[0], above=known[1])
    write(release_groups(grouped, epsilon=2, simulations=2), tmp_path / "good.json")
    document = json.loads((tmp_path / "good.json").read_text(encoding="utf-8"))
    read(tmp_path / "good.json")
    (tmp_path / "bad.json").write_text(json.dumps(broken(document, change)), encoding="utf-8")
    with pytest.raises(DataError, match=told):
        read(tmp_path / "bad.json")


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_totals_may_say_more_of_their_error_than_their_groups(ending: str, tmp_path: Path) -> None:
    # Groups have no range here, and the first no interval for its items; totals are made anew.
    profiles = {(g, h): Profile.from_counts([3, 1]) for g in "ab" for h in "xy"}
    grouped = GroupedProfile(("g", "h"), profiles, unit=PrivacyUnit.item(), levels=Levels.NESTED)
    made = release_groups(grouped, epsilon=2, simulations=2)
    first = next(iter(made))
    old = {
        group: replace(
            each,
            recorded_error=replace(
                each.error,
                simulated_range=None,
                items_interval=None if group == first else each.error.items_interval,
            ),
        )
        for group, each in made.items()
    }
    release = GroupedRelease(made.by, old, totals=NestedTotals(dict.fromkeys([(), ("a",), ("b",)])))
    assert release[()].error.simulated_range is not None
    write(release, tmp_path / f"levels.{ending}")
    back = read(tmp_path / f"levels.{ending}")
    assert isinstance(back, GroupedRelease)
    for group, each in release.everything.items():
        assert back[group].error == each.error
    document = to_grouped_document(release)
    has_range = [
        [each["error"]["sorted_l1"]["range"] is not None for each in document[part]] for part in ("nested", "groups")
    ]
    assert has_range == [[True] * 3, [False] * 4]


@pytest.mark.parametrize("case", list(BAD))
def test_what_a_release_of_groups_cannot_be_is_refused(case: str, tmp_path: Path) -> None:
    write(release_of("labels"), tmp_path / "good.json")
    document = json.loads((tmp_path / "good.json").read_text(encoding="utf-8"))
    change, told = BAD[case]
    (tmp_path / "bad.json").write_text(json.dumps(broken(document, change)), encoding="utf-8")
    with pytest.raises(DataError, match=told) as caught:
        read(tmp_path / "bad.json")
    assert "bad.json" in str(caught.value)


def test_rows_that_were_changed_are_refused(tmp_path: Path) -> None:
    write(release_of("item", epsilon="20"), tmp_path / "good.parquet")
    table = pq.read_table(tmp_path / "good.parquet")
    for changed in (table.slice(1), table.set_column(0, "g", pa.array(["z"] * table.num_rows)), table.drop(["h"])):
        pq.write_table(changed, tmp_path / "bad.parquet")
        with pytest.raises(DataError, match="changed later"):
            read(tmp_path / "bad.parquet")


def test_a_grouping_column_named_like_a_column_of_the_table_is_refused(tmp_path: Path) -> None:
    profiles = {("a",): Profile.from_counts([2])}
    release = release_groups(GroupedProfile(("count",), profiles, unit=PrivacyUnit.item()), epsilon=1, simulations=2)
    with pytest.raises(UsageError, match="rename it in the data"):
        write(release, tmp_path / "x.csv")
    write(release, tmp_path / "x.json")
    assert not (tmp_path / "x.csv").exists()

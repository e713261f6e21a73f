"""The harness of the way in: its tables are what it says, its distances are right, and what is broken is caught."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist_testing.cases import each_of
from anonhist_testing.way_in import judging, soak
from anonhist_testing.way_in.breaking import BREAKS, broken
from anonhist_testing.way_in.coverage import ENTRANCES, SOURCES, pairwise
from anonhist_testing.way_in.distances import capped_l1, increments_l1, sorted_l1_of_profiles
from anonhist_testing.way_in.engines import lent_duckdb
from anonhist_testing.way_in.entrances import Entrance
from anonhist_testing.way_in.judging import Case, Found, judge
from anonhist_testing.way_in.sources import Source
from anonhist_testing.way_in.tables import PLACES, UNITS, Made
from anonhist_testing.way_in.values import BEGINNINGS, BEGINNINGS_OF_DATES, ENDINGS, FRESH, Kind, has_name, name_of

# Broken readers are caught in fewer cases than this, or not at all.
_MOST_CASES = 40
_OF = {source.name: source for source in SOURCES}


# The same seeds at every run.
@cache
def made_tables() -> list[tuple[Case, Made]]:
    return [(case, case.make()) for case in pairwise()]


@pytest.fixture(scope="module", autouse=True)
def _lent() -> Iterator[None]:
    with lent_duckdb():
        yield


@pytest.mark.slow
def test_tables_begin_uniformly_and_are_long_enough() -> None:
    num_uniform = 0
    for _, made in made_tables():
        assert 150 <= len(made.rows) <= 400
        assert Counter(made.reordered) == Counter(made.rows)
        kinds = [{type(value) for value in values[:100]} for values in zip(*made.rows, strict=True)]
        num_uniform += all(len(of_column) == 1 for of_column in kinds)
    # One table in ten is shuffled, and some of those are of one type all the same.
    assert 0.85 <= num_uniform / len(made_tables()) < 1


@pytest.mark.full
def test_neighbors_differ_by_one_unit() -> None:
    for case, made in made_tables():
        assert [pair.place for pair in made.pairs] == [place for place in PLACES for _ in range(UNITS)]
        for pair in made.pairs:
            assert Counter(pair.rows) - Counter(made.rows) == Counter(pair.unit)
            assert 1 <= len(pair.unit) <= case.entrance.unit.most_rows
            if pair.place == "beginning":
                assert pair.rows[0] == pair.unit[0] or pair.rows[0] in pair.unit
            own = case.entrance.unit.own
            if own is not None:
                at = list(made.columns).index(own)
                names = {name_of(row[at]) for row in pair.unit}
                assert len(names) == 1
                assert not names & {name_of(row[at]) for row in made.rows}


def test_rows_without_the_unit_have_names() -> None:
    with_nameless = 0
    for case, made in made_tables():
        assert made.is_named(made.rows, case.entrance.roles)
        with_nameless += any(not made.is_named(pair.unit, case.entrance.roles) for pair in made.pairs)
    assert 0 < with_nameless < len(made_tables()) / 4


def test_columns_that_may_hold_values_of_several_types_do() -> None:
    mixed = Counter[str]()
    for case, made in made_tables():
        for values in zip(*made.rows, strict=True):
            mixed[case.source.name] += len({type(value) for value in values} - {type(None)}) > 1
    for source in SOURCES:
        is_text = source.of_edges or source.name in ("csv", "tsv", "csv files")
        assert (mixed[source.name] > 10) == (source.kinds is None and not is_text), source.name


def test_values_of_units_are_new() -> None:
    rng = np.random.default_rng(1)
    drawn = [value for ending in ENDINGS.values() for _ in range(20) for value in ending(rng, 50)]
    held = [value for each in (BEGINNINGS, BEGINNINGS_OF_DATES) for one in each.values() for value in one.values]
    names = {name_of(value) for value in (*drawn, *held)} - {"True"}
    assert not names & {name_of(form) for forms in FRESH for form in forms}


@each_of("counts", combinations_with_replacement(range(4), 3))
def test_distances_are_the_smallest_over_all_matchings(counts: tuple[int, ...]) -> None:
    first = Profile.from_counts([count for count in counts if count])
    for others in combinations_with_replacement(range(4), 3):
        second = Profile.from_counts([count for count in others if count])
        assert sorted_l1_of_profiles(first, second) == _smallest(counts, others)
        few, more = ([min(count, 2) for count in each if count] for each in (counts, others))
        changed = sum(abs(few.count(count) - more.count(count)) for count in (1, 2))
        assert capped_l1({"a": first}, {"a": second}, 2) == changed


def _smallest(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    from itertools import permutations

    return min(sum(abs(a - b) for a, b in zip(first, each, strict=True)) for each in permutations(second))


def test_windows_of_groups_are_added_up() -> None:
    class _Windows:
        def __init__(self, increments: list[list[int]]) -> None:
            self.increments = np.array(increments)

    few: dict[str, Any] = {"a": _Windows([[1, 0], [0, 0]]), "b": _Windows([[0, 0], [0, 0]])}
    more: dict[str, Any] = {"a": _Windows([[0, 1], [0, 1]]), "b": _Windows([[2, 0], [0, 0]])}
    # Of single days: 1 + 2 on the first, 1 + 2 on the second.
    assert increments_l1(few, more) == (5, 3)


def _broken_reader(entrance: Entrance, renaming: Callable[[list[Any]], list[str | None]]) -> Source:
    """Return text that is read as if some rows decided the names of others, on the fastest engine there is."""
    fastest = next(source for source in (_OF["polars"], _OF["csv"]) if entrance.takes(source))
    return broken(fastest, renaming)


@pytest.mark.slow
@pytest.mark.drawn(8)
@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.name)
def test_each_reader_that_is_broken_is_caught(entrance: Entrance) -> None:
    for renaming in BREAKS:
        source = _broken_reader(entrance, renaming)
        cases = (Case(seed, entrance, source) for seed in range(2 * _MOST_CASES))
        assert any(_is_caught(case) for case in cases), renaming.__name__


def _is_caught(case: Case) -> bool:
    # What is first decides most.
    found = judge(case, pairs=range(UNITS), also_reordered=False)
    return any("distance" in failure or "is refused" in failure for failure in found.failures)


@pytest.mark.full
def test_readers_that_are_not_broken_are_not_caught() -> None:
    for entrance in ENTRANCES[:3]:
        source = _broken_reader(entrance, lambda values: [name_of(value) for value in values])
        for seed in range(3):
            found = judge(Case(seed, entrance, source))
            assert found.failures == []
            assert found.pairs == UNITS * len(PLACES)


@pytest.mark.full
def test_a_failure_says_how_to_read_the_same_tables_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = broken(_OF["polars"], BREAKS[0])
    monkeypatch.setattr(soak, "SOURCES", (source,))
    monkeypatch.setattr(soak, "SERVED", ())
    only = ["--entrance", "profile", "--source", source.name]
    assert soak.main(["--seed", "1", "--rounds", str(_MOST_CASES), *only]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "Seed 1"
    failure = next(place for place, line in enumerate(told) if ": distance" in line)
    command = told[failure + 2].split("soak ")[1]
    seed = command.split()[1]
    assert command == f"--seed {seed} --entrance 'profile' --source '{source.name}'"
    assert soak.main(["--seed", seed, *only]) == 1
    again = capsys.readouterr().out.splitlines()
    found = again.index(told[failure])
    assert again[found : found + 3] == told[failure : failure + 3]


def test_a_soak_begins_with_what_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[tuple[Case, Any]] = []

    def seen(case: Case, **options: Any) -> Found:
        judged.append((case, options))
        return Found(pairs=1)

    monkeypatch.setattr(soak, "judge", seen)
    monkeypatch.setattr(judging, "judge", seen)
    names, minutes = ("profile", "profile of users"), 0.01
    soak.run(soak.Task(7, names, ("csv", "polars", "arrow"), minutes, None))
    planned = {
        (case.entrance.name, case.source.name): replace(case, seed=7)
        for case in pairwise(sources=[_OF[name] for name in ("csv", "polars", "arrow")])
        if case.entrance.name in names
    }
    first = {(case.entrance.name, case.source.name): case for case, options in judged[: len(planned)] if options}
    assert first == planned
    assert all(len(options["pairs"]) == 1 for _, options in judged[: len(planned)])
    # Then all pairs of tables that follow from the seed alone.
    case, options = judged[len(planned)]
    assert (case.beginning, case.ending, options) == (None, None, {})


def test_what_breaks_the_harness_is_told_and_starves_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: Case, **_: Any) -> Found:
        if case.entrance.name == "profile":
            raise ValueError("of the harness")
        return Found(pairs=1)

    monkeypatch.setattr(soak, "judge", broken)
    monkeypatch.setattr(judging, "judge", broken)
    found = soak.run(soak.Task(7, ("profile", "profile of users"), ("polars",), 0.01, None))
    told = found["profile", "polars"].failures
    assert all(each.startswith("profile, polars: ValueError: of the harness\n  python -m") for each in told)
    assert abs(len(told) - found["profile of users", "polars"].pairs) <= 1


def test_what_a_process_read_that_died_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Deadly(soak.Task):
        def __reduce__(self) -> Any:
            return os._exit, (3,)

    monkeypatch.setattr(soak, "Task", Deadly)
    assert soak.main(["--entrance", "profile", "--source", "polars", "--minutes", "0.01"]) == 1
    assert capsys.readouterr().out.endswith("ended while it read this; its other results are lost:\n  nothing yet\n")


def test_what_is_as_promised_ends_with_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--rounds", "2", "--entrance", "profile", "--source", "polars"]) == 0
    told = capsys.readouterr().out
    assert "  polars                                12 pairs,    0 refused, largest distance 1 / 1\n" in told
    assert told.endswith("\n12 pairs of neighbors, 0 failures; 0 of 1 were not read, 0 of them for want of time\n")


def test_names_of_values_are_their_own() -> None:
    assert [name_of(value) for value in (7, 7.0, "7.0", -0.0, True)] == ["7", "7", "7.0", "0", "True"]
    assert [has_name(value) for value in (2.0**53, 2**53, float("inf"), 1.5)] == [False, True, False, True]
    assert not has_name(1.5, only_whole=True)
    assert {kind.value for kind in Kind} == {
        kind for source in SOURCES if source.kinds for kind in map(_value, source.kinds)
    }


def _value(kind: Kind) -> str:
    return kind.value

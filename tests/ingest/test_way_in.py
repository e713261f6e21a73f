"""Neighbors through every way in, pairwise: each entrance with each source, each beginning with each ending."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from anonhist_testing.way_in.coverage import ENTRANCES, SOURCES, pairwise
from anonhist_testing.way_in.databases import postgresql as in_postgresql
from anonhist_testing.way_in.engines import lent_duckdb
from anonhist_testing.way_in.judging import Case, judge
from anonhist_testing.way_in.tables import PLACES, UNITS
from anonhist_testing.way_in.values import BEGINNINGS, ENDINGS

CASES: dict[str, list[Case]] = defaultdict(list)
for each in pairwise():
    CASES[each.entrance.name].append(each)


@pytest.fixture(scope="module", autouse=True)
def _lent() -> Iterator[None]:
    with lent_duckdb():
        yield


def failures_of(cases: list[Case]) -> str:
    """Judge each case with one unit, in places that take turns, and some in another order."""
    told: list[str] = []
    for case in cases:
        told += judge(case, pairs=[case.seed % (UNITS * len(PLACES))], also_reordered=case.seed % 8 == 0).failures
    return "\n".join(told)


@pytest.mark.first(5)
@pytest.mark.parametrize("entrance", CASES)
def test_one_unit_changes_what_it_may(entrance: str) -> None:
    assert failures_of(CASES[entrance]) == ""


@pytest.mark.slow
def test_one_unit_of_a_server_changes_what_it_may(postgresql: str) -> None:
    assert failures_of(pairwise(sources=[in_postgresql(postgresql)])) == ""


@pytest.mark.slow
def test_each_pair_of_choices_is_tried() -> None:
    cases = pairwise()
    # Twice, for sources that take turns.
    both_turns = [*cases, *pairwise((ENTRANCES[-1], *ENTRANCES))]
    tried = {(case.entrance.name, case.source.name) for case in both_turns}
    assert tried == {(each.name, source.name) for each in ENTRANCES for source in SOURCES if each.takes(source)}
    made = [column for case in cases for column in case.make().columns.values()]
    both = {(column.begins, column.ends) for column in made}
    assert both >= {(beginning, ending) for beginning in BEGINNINGS for ending in ENDINGS}

"""Neighbors through a few ways in, from each source, each beginning with each ending; ``make soak`` reads them all."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from anonhist_testing.way_in.coverage import ENTRANCES, SOURCES, pairwise
from anonhist_testing.way_in.engines import lent_duckdb
from anonhist_testing.way_in.judging import Case, judge_in_turn
from anonhist_testing.way_in.values import BEGINNINGS, ENDINGS

CASES: dict[str, list[Case]] = defaultdict(list)
for each in pairwise():
    CASES[each.entrance.name].append(each)


@pytest.fixture(scope="module", autouse=True)
def _lent() -> Iterator[None]:
    with lent_duckdb():
        yield


# All entrances are for the soak of neighbors, which begins with these cases, with fresh seeds.
@pytest.mark.full
@pytest.mark.parametrize("entrance", list(CASES)[:3])
def test_one_unit_changes_what_it_may(entrance: str) -> None:
    failures = [failure for case in CASES[entrance] for failure in judge_in_turn(case, case.seed).failures]
    assert not failures, "\n".join(failures)


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

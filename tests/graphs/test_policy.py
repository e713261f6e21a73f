import pytest

from anonhist.errors import UsageError
from anonhist.graphs.graph import SIMPLE, Direction, EdgePolicy


def test_a_policy_says_what_it_is_in_a_sentence() -> None:
    assert str(SIMPLE) == "Edges have no direction; self-loops are left out; equal edges count once."
    told = {
        str(EdgePolicy(direction, loops, duplicates))
        for direction in Direction
        for loops in ("drop", "count")
        for duplicates in ("merge", "count")
    }
    assert len(told) == 12
    assert str(EdgePolicy(Direction.OUT, "count", "count")) == (
        "Edges have a direction, and out-degrees are counted; self-loops count; equal edges count each."
    )
    assert "self-loops count twice at their node;" in str(EdgePolicy(self_loops="count"))


def test_a_policy_is_simple_only_if_nothing_more_than_simple_edges_counts() -> None:
    assert SIMPLE.is_simple
    assert EdgePolicy(Direction.IN).is_simple
    assert not EdgePolicy(self_loops="count").is_simple
    assert not EdgePolicy(duplicates="count").is_simple


def test_one_edge_moves_both_its_ends_or_one_where_it_has_a_direction() -> None:
    assert [EdgePolicy(direction).degrees_per_edge for direction in Direction] == [2, 1, 1]
    assert [direction.is_directed for direction in Direction] == [False, True, True]


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"direction": "in"}, "direction"), ({"self_loops": "keep"}, "self_loops"), ({"duplicates": True}, "duplicates")],
)
def test_other_words_are_refused(settings: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        EdgePolicy(**settings)  # type: ignore[arg-type]

"""Neighboring tables on every engine: one user or one row more changes what is read by what is promised."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import DataError
from anonhist.graphs.graph import Graph
from anonhist.graphs.reading import read_degrees, read_edges
from anonhist.ingest import read_profile
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.sketches import HashedSketch
from anonhist.sketches.reading import update_sketch

pytestmark = pytest.mark.usefixtures("lent_duckdb")

Table = dict[str, list[Any]]
Held = Callable[[Table], AbstractContextManager[tuple[Any, dict[str, Any]]]]

LARGE = 2**53 + 1
# What a column may hold in all rows, and what else the rows of one user may hold in it.
VALUES: dict[str, tuple[list[Any], list[Any]]] = {
    "small": ([0, 1, 2, 7, 9, 10, 100], [None, 7, 11]),
    "large": ([1, LARGE - 1, LARGE, LARGE + 1], [None, LARGE, 3]),
    "floats": ([0.0, -0.0, 7.0, 10.0, 2.0**53 - 1], [None, 1.5, 2.0**60, float("inf")]),
    "fractions": ([1.5, 2.0, 0.1, 7.25], [None, 2.0, 1.25]),
    "text": (["10", "9", "A", "a", "7.0", "é"], [None, "7", "0"]),
}
BOUND, KEY = 2, "0" * 32
# In text, which is taken as it is written, nothing has a type.
TYPED = ["parquet", "pandas", "pandas pyarrow", "polars", "polars lazy", "arrow", "duckdb relation", "ibis duckdb"]
typed = pytest.mark.parametrize("hold", [*TYPED, "duckdb", "sqlite", "postgresql"], indirect=True)


class Neighbors(NamedTuple):
    """Two tables as their writer would hold them: some rows, and before them those of one user or of nobody."""

    without: Table
    added: Table
    num_added: int
    has_user: bool


def neighbors(seed: int, kinds: dict[str, str]) -> Neighbors:
    rng = np.random.default_rng(seed)
    num_added = int(rng.integers(1, 4))
    few: Table = {name: list(rng.choice(np.array(VALUES[kind][0], dtype=object), 14)) for name, kind in kinds.items()}
    more: Table = {
        name: [VALUES[kind][1][place] for place in rng.integers(0, len(VALUES[kind][1]), num_added)]
        for name, kind in kinds.items()
    }
    # One user, whom no other row is of, or rows without one.
    user = {"small": 11, "large": 3, "floats": -5.0, "text": "new"}[kinds["who"]] if seed % 3 else None
    more["who"] = [user] * num_added
    both = {name: [*more[name], *few[name]] for name in kinds}
    return Neighbors(_as_floats(few), _as_floats(both), num_added, user is not None)


def _as_floats(table: Table) -> Table:
    """Hold whole numbers as floats beside a missing one, as pandas and what it writes does."""
    return {
        name: [None if value is None else float(value) for value in values] if _becomes_floats(values) else values
        for name, values in table.items()
    }


def _becomes_floats(values: list[Any]) -> bool:
    return None in values and any(isinstance(value, int) for value in values)


def _in_categories(source: Any) -> Any:
    """Make categories of a column of texts where tables in memory have them, in order of first appearance."""
    if isinstance(source, pd.DataFrame) and source["when"].dtype == "str":
        held = source["when"]
        return source.assign(when=pd.Categorical(held, categories=list(dict.fromkeys(held.dropna()))))
    if isinstance(source, pl.DataFrame | pl.LazyFrame) and source.lazy().collect_schema()["when"] == pl.String:
        found = source.lazy().collect()["when"].drop_nulls().unique(maintain_order=True)
        return source.with_columns(pl.col("when").cast(pl.Enum(found)))
    if isinstance(source, pa.Table) and source.schema.field("when").type == pa.string():
        return source.set_column(source.column_names.index("when"), "when", source["when"].dictionary_encode())
    return source


def _read(held: Held, table: Table, read: Callable[..., Any]) -> Any:
    """Return what is read, or None if a value is refused that no float can hold."""
    with held(table) as (source, said):
        try:
            return read(_in_categories(source) if "when" in table else source, **said)
        except DataError as error:
            if "to whole numbers or text first" in str(error):
                return None
            raise


def _is_refused(table: Table, *columns: str, only_whole: bool) -> bool:
    return any(
        isinstance(value, float) and (abs(value) >= 2**53 or (only_whole and value % 1 != 0))
        for name in columns
        for value in table[name]
    )


def _both(
    held: Held, made: Neighbors, read: Callable[..., Any], columns: tuple[str, ...], *, only_whole: bool
) -> tuple[Any, Any] | None:
    """Read both tables, seeing that those are refused, and no others, that hold what has no name."""
    results = []
    for table in (made.without, made.added):
        result = _read(held, table, read)
        assert (result is None) == _is_refused(table, *columns, only_whole=only_whole)
        results.append(result)
    return None if None in results else (results[0], results[1])


@pytest.mark.slow
@typed
def test_one_user_changes_a_profile_by_the_bound(hold: Held) -> None:
    for seed, *kinds in (
        (1, "small", "large", "text"),
        (2, "text", "fractions", "large"),
        (4, "floats", "small", "text"),
        (5, "large", "text", "small"),
        (7, "small", "floats", "floats"),
    ):
        made = neighbors(seed, dict(zip(("who", "what", "when"), kinds, strict=True)))

        def read(order: dict[str, str], source: Any, **said: Any) -> Profile:
            options: dict[str, Any] = {"label": "what", "user": "who", "keep_null": True, "order_key": KEY}
            return read_profile(source, max_per_user=BOUND, count_users=True, **options, **order, **said)

        # In the order of chance users are named, which is hardest for numbers.
        for order in ({}, {"order_by": "when"}) if kinds[0] in ("floats", "large") else ({"order_by": "when"},):
            found = _both(hold, made, partial(read, order), ("who", "what"), only_whole=False)
            if found is not None:
                assert sorted_l1(*found) <= (min(BOUND, made.num_added) if made.has_user else 0)
                own = [made.num_added] if made.has_user else []
                assert sorted(_items_of_users(found[1])) == sorted([*_items_of_users(found[0]), *own])


def _items_of_users(profile: Profile) -> list[int]:
    assert profile.users is not None
    items: list[int] = profile.users.numbers.partition().tolist()
    return items


@pytest.mark.slow
@typed
def test_rows_change_nodes_and_degrees_by_their_ends(hold: Held) -> None:
    for seed, kind, other in ((4, "small", "text"), (6, "floats", "small")):
        made = neighbors(seed, {"who": "text", "source": kind, "target": other})

        def read(source: Any, **said: Any) -> tuple[Graph, Profile]:
            ends: dict[str, Any] = {"origin": "source", "target": "target"}
            return read_edges(source, **ends, **said), read_degrees(source, **ends, **said).profile

        found = _both(hold, made, read, ("source", "target"), only_whole=True)
        if found is None:
            continue
        assert sorted_l1(found[0][1], found[1][1]) <= 2 * made.num_added
        few, more = (found[0][0], found[1][0])
        assert set(few.identities) <= set(more.identities)
        assert more.num_nodes - few.num_nodes <= 2 * made.num_added
        assert _edges(few) <= _edges(more)
        assert more.num_edges - few.num_edges <= made.num_added


def _edges(graph: Graph) -> set[frozenset[int]]:
    names = graph.identities.tolist()
    return {frozenset((names[u], names[v])) for u, v in zip(graph.sources, graph.targets, strict=True)}


@pytest.mark.slow
@typed
def test_one_user_changes_a_sketch_by_the_bound(hold: Held) -> None:
    for seed, *kinds in ((5, "small", "small"), (8, "text", "floats")):
        made = neighbors(seed, dict(zip(("who", "what"), kinds, strict=True)))
        sketch = HashedSketch(buckets=1000, epsilon=1, key=b"neighbors", unit=PrivacyUnit.user(max_items=BOUND))

        def counters(source: Any, sketch: HashedSketch = sketch, **said: Any) -> list[int]:
            before = sketch.counters.copy()
            update_sketch(sketch, source, label="what", user="who", order_key=KEY, **said)
            counted: list[int] = (sketch.counters - before).tolist()
            return counted

        found = _both(hold, made, counters, ("what",), only_whole=True)
        if found is not None:
            assert int(np.abs(np.subtract(*found)).sum()) <= min(BOUND, made.num_added)

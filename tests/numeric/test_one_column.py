"""Values of one column are values, whatever holds them: for surveys, their alphabets and candidates, and sketches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist import read_profile
from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.graphs import as_graph
from anonhist.local import KRR, ORR
from anonhist.sketches import HashedSketch
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

ANSWERS = ["yes", "no", "yes", "yes"]
HOLDERS: dict[str, Any] = {
    "tuple": tuple(ANSWERS),
    "NumPy": np.array(ANSWERS),
    "NumPy, objects": np.array(ANSWERS, dtype=object),
    "Arrow": pa.array(ANSWERS),
    "Arrow, chunks": pa.chunked_array([ANSWERS[:1], ANSWERS[1:]]),
    "Arrow, dictionary": pa.array(ANSWERS).dictionary_encode(),
    "Arrow, table": pa.table({"answer": ANSWERS}),
    "Arrow, batch": pa.record_batch({"answer": ANSWERS}),
    "pandas": pd.Series(ANSWERS, index=[7, 7, 1, 0]),
    "pandas, categories": pd.Series(ANSWERS, dtype="category"),
    "pandas, index": pd.Index(ANSWERS),
    "pandas, table": pd.DataFrame({"answer": ANSWERS}, index=[7, 7, 1, 0]),
    "Polars": pl.Series(ANSWERS),
    "Polars, table": pl.DataFrame({"answer": ANSWERS}),
}


@each_of("values", HOLDERS.values())
def test_surveys_randomize_what_a_column_holds(values: Any) -> None:
    for survey in (KRR(alphabet=["yes", "no"], epsilon=1), ORR(buckets=8, cohorts=2, key="k", epsilon=1)):
        plain, held = (survey.randomize(each, source=SeededSource(3)) for each in (ANSWERS, values))
        assert {name: column.tolist() for name, column in plain.columns.items()} == {
            name: column.tolist() for name, column in held.columns.items()
        }


@each_of("values", HOLDERS.values())
def test_sketches_count_what_a_column_holds(values: Any) -> None:
    plain, held = (HashedSketch(buckets=64, epsilon=1, key=b"k", source=SeededSource(3)) for _ in range(2))
    plain.update(ANSWERS)
    held.update(values)
    assert plain.counters.tolist() == held.counters.tolist()


@each_of(
    "labels",
    [pa.array(["yes", "no"]), pd.DataFrame({"answer": ["yes", "no"]}), pl.DataFrame({"answer": ["yes", "no"]})],
)
def test_alphabets_and_candidates_may_be_columns(labels: Any) -> None:
    survey = KRR(alphabet=labels, epsilon=1)
    assert survey.alphabet.names() == ("yes", "no")
    anything = ORR(buckets=8, cohorts=2, key="k", epsilon=1)
    tally = anything.tally(anything.randomize(ANSWERS, source=SeededSource(3)))
    assert tuple(anything.estimate(tally, candidates=labels).labels) == ("yes", "no")


def randomize(values: Any) -> object:
    return ORR(buckets=8, cohorts=2, key="k", epsilon=1).randomize(values)


def update(values: Any) -> None:
    HashedSketch(buckets=64, epsilon=1, key=b"k").update(values)


PAIRS = np.array([("ann", 1), ("bob", 2)], dtype=[("name", "U3"), ("number", int)])


@each_of(
    ("take", "values", "says"),
    [
        *(
            (take, values, says)
            for take in (randomize, update)
            for values, says in (
                (pd.DataFrame({"a": ["x"], "b": ["y"]}), "This table has 2 columns: pass the one"),
                (pa.table({"a": ["x"], "b": ["y"]}), "This table has 2 columns: pass the one"),
                (pl.DataFrame({"a": ["x"], "b": ["y"]}), "This table has 2 columns: pass the one"),
                (pl.DataFrame({"a": ["x"]}).lazy(), "not in memory yet: collect it first"),
            )
        ),
        *(
            (take, values, says)
            for take in (randomize, update, read_profile)
            for values, says in (
                (PAIRS, r"fields \('name', 'number'\): pass one of them, as in array\['name'\]"),
                (PAIRS.view(np.recarray), r"fields \('name', 'number'\)"),
                (np.array([["x", "y"]]), "must be one-dimensional, and this one has 2 dimensions"),
            )
        ),
        (as_graph, PAIRS, "This array has fields: pass its edges as a table"),
    ],
)
def test_what_is_no_list_of_values_is_refused(take: Callable[[Any], object], values: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        take(values)


@each_of("take", [randomize, update, lambda values: as_graph([(values[0], "b")])])
def test_half_a_character_is_called_so(take: Callable[[Any], object]) -> None:
    for values in (["\ud83d"], np.array(["\ud83d"]), pd.Series(["\ud83d"], dtype=object)):
        with pytest.raises(DataError, match="a lone surrogate, which is not a character"):
            take(values)


@each_of("values", [pa.array(["yes", None]), pd.Series(["yes", None]), pl.Series(["yes", None])])
def test_missing_values_are_refused(values: Any) -> None:
    for take in (randomize, update):
        with pytest.raises(AnonhistError, match="drop missing ones"):
            take(values)

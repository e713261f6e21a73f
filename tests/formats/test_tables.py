"""Values as tables: what CSV has, every library of data frames has, without a digit less."""

import csv
import io
import sys
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from anonhist.errors import MissingExtraError, UsageError
from anonhist.formats.tables import csv_text
from anonhist.graphs import DegreeStatistics, degree_statistics
from anonhist.kinds import KINDS as ROWS
from anonhist.kinds import Tabular
from anonhist.local import KRR, OptimizedUnary, recommend
from anonhist.mechanisms import compare, plan_bounds, plan_groups
from anonhist.mechanisms.planning import Plan, plan
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.profiles import Profile
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.properties.entropy import entropy
from anonhist.properties.estimate import Estimates
from anonhist.properties.orders import hill_curve
from anonhist.properties.support_coverage import rarefaction_curve
from anonhist.properties.support_size import support_size
from anonhist.releases import Release
from anonhist.releases.cumulative import GroupedCumulativeRelease
from anonhist.releases.difference import compare_releases
from anonhist.releases.grouped import GroupedRelease
from anonhist.sketches.kinds import BucketRecommendation, BucketRow
from anonhist.species.comparison import compare_sites
from anonhist.species.releasing import release_incidence
from anonhist.species.sampling_units import SamplingUnits

PROFILE = Profile.from_counts([9, 8, 8, 3, 1, 1])
WINDOWS = CumulativeCounts((1, 3), ("2026-11", "2026-12"), [[5, 2], [1, 1]])
PETS = KRR(alphabet=["cat", 'd"og,', "<b>"], epsilon=2)
KINDS = ["release", "estimate", "estimates", "curve", "hill curve", "comparison", "frequencies", "tally", "reports"]
KINDS += ["plan", "bound plan", "group plan", "recommendation", "buckets", "degree statistics", "groups", "windows"]
KINDS += ["windows of groups", "site comparison", "incidence release", "release difference"]


@pytest.fixture
def values(releases: dict[str, Release]) -> dict[str, Tabular]:
    estimates = Estimates((("entropy", entropy(PROFILE)), ("support-size", support_size(PROFILE, method="pml"))))
    reports = PETS.randomize(["cat", "<b>", "cat"])
    return {
        "release": releases["frobenius"],
        "estimate": entropy(PROFILE, base=2),
        "estimates": estimates,
        "curve": rarefaction_curve(PROFILE, bootstraps=3, points=4),
        "hill curve": hill_curve(PROFILE, bootstraps=3, orders=[0, 0.5, 1]),
        "comparison": compare(PROFILE, epsilons=["1/3", 2], mechanisms=["isotonic"], repeats=2),
        "frequencies": PETS.estimate(PETS.tally(reports)),
        "tally": PETS.tally(reports),
        "reports": reports,
        "plan": plan(epsilons=["1/3", 2], items=1000, simulations=2, rng=np.random.default_rng(0)),
        "bound plan": plan_bounds({1: 9, 5: 2}, epsilons=[2], candidates=(1, 2)),
        "group plan": plan_groups({("é,", "1"): 50, ("b", None): 0}, by=["x", "y"], epsilon=1, simulations=2),
        "recommendation": recommend(alphabet_size=5, epsilon=1, users=1000),
        "buckets": BucketRecommendation((BucketRow(50, 2.0, 400, 0.1, 0.2, 0.01),), 50, "the only one"),
        "degree statistics": degree_statistics(PROFILE),
        "groups": GroupedRelease(("day",), {("Mon",): releases["frobenius"], ('T"ue,',): releases["frobenius"]}),
        "windows": release_cumulative(WINDOWS, epsilon=1),
        "windows of groups": release_cumulative_groups(
            GroupedCumulativeCounts(("x",), {("é,",): WINDOWS, (None,): WINDOWS}), epsilon=1
        ),
        "site comparison": compare_sites({"é,": PROFILE}, points=4, bootstraps=3, rng=np.random.default_rng(0)),
        "incidence release": release_incidence(SamplingUnits([["oak"]] * 90), epsilon=1, max_per_unit=1),
        "release difference": compare_releases(releases["frobenius"], releases["frobenius"].mechanism.release(PROFILE)),
    }


@pytest.mark.full
def test_every_kind_of_table_is_tried(values: dict[str, Tabular]) -> None:
    assert list(values) == KINDS
    assert {value.known_as for value in values.values()} == {name for name, kind in ROWS.items() if kind.table}
    # What several kinds share is no kind.
    described = {sub.known_as for sub in _all_below(Tabular) if hasattr(sub, "known_as")}
    assert described == {name for name, kind in ROWS.items() if kind.table}


def _all_below(kind: type[Tabular]) -> list[type[Tabular]]:
    found = [sub for sub in kind.__subclasses__() if sub.__module__.startswith("anonhist.")]
    return [*found, *(below for sub in found for below in _all_below(sub))]


@pytest.mark.full
def test_every_library_sees_the_same_rows(values: dict[str, Tabular]) -> None:
    for name, value in values.items():
        table = value.to_arrow()
        assert table.num_rows > 0, name
        assert pa.table(value).equals(table), name
        assert value.to_polars().equals(pl.DataFrame(value)), name
        assert value.to_polars().equals(pl.DataFrame(table)), name
        pd.testing.assert_frame_equal(value.to_pandas(), table.to_pandas())
        pd.testing.assert_frame_equal(pd.DataFrame.from_arrow(value), table.to_pandas(), check_dtype=False)
        assert duckdb.sql("SELECT * FROM value").to_arrow_table().to_pylist() == table.to_pylist(), name


@pytest.mark.full
def test_groups_are_a_mapping_to_people_and_a_table_to_libraries(values: dict[str, Tabular]) -> None:
    windows = values["windows of groups"]
    assert isinstance(windows, GroupedCumulativeRelease)
    assert dict(windows) == dict(windows.items()) == dict(zip(windows.keys(), windows.values(), strict=True))
    assert ("é," in windows, ("é,",) in windows, "x" in windows) == (True, True, False)
    assert (windows.get("é,"), windows.get("x")) == (windows["é,"], None)
    groups = values["groups"]
    assert isinstance(groups, GroupedRelease)
    assert dict(groups) == dict(groups.items()) == dict(zip(groups.keys(), groups.values(), strict=True))
    assert "Mon" in groups
    assert ("Mon",) in groups
    assert "Sun" not in groups
    assert groups.get("Mon") is groups["Mon"]
    assert groups.get("Sun") is None
    # It would have a row for each name of a group, and nothing that was released.
    for made_of_names in (pd.DataFrame, pd.Series, np.asarray):
        with pytest.raises(UsageError, match=r"to_pandas\(\)"):
            made_of_names(groups)
        with pytest.raises(UsageError, match=r"to_pandas\(\)"):
            made_of_names(windows)


@pytest.mark.full
def test_csv_has_the_same_rows_as_arrow(values: dict[str, Tabular]) -> None:
    for name, value in values.items():
        rows = list(csv.DictReader(io.StringIO(csv_text(value))))
        table = value.to_arrow()
        assert [list(row) for row in rows] == [table.column_names] * table.num_rows, name
        for row, expected in zip(rows, table.to_pylist(), strict=True):
            for column, text in row.items():
                assert _is_same(text, expected[column]), (name, column, text, expected[column])


def _is_same(text: str, number: Any) -> bool:
    """Say whether a cell of CSV is a value of Arrow, as far as it has digits."""
    if number is None:
        return text == ""
    if isinstance(number, bool):
        return text == str(number).lower()
    if isinstance(number, float):
        whole, _, under = text.partition("/")
        return float(whole) / float(under or 1) == pytest.approx(number, abs=6e-5, rel=1e-5)
    return text == str(number)


@pytest.mark.full
def test_what_is_not_known_is_no_number(values: dict[str, Tabular]) -> None:
    # A hill curve of data is off by more than chance; of an estimate that has a reason, no error is said.
    found = {name: values[name].to_arrow().column("standard_error").null_count for name in ("estimate", "estimates")}
    assert found == {"estimate": 1, "estimates": 2}


@pytest.mark.full
def test_exact_budgets_stay_exact_in_csv(values: dict[str, Tabular]) -> None:
    for name in ("comparison", "plan"):
        assert {row["epsilon"] for row in csv.DictReader(io.StringIO(csv_text(values[name])))} == {"1/3", "2"}
    assert set(values["comparison"].to_polars()["epsilon"]) == {1 / 3, 2.0}


@pytest.mark.full
def test_a_plan_is_a_sequence_of_rows(values: dict[str, Tabular]) -> None:
    predicted = values["plan"]
    assert isinstance(predicted, Plan)
    first, second = predicted
    assert (len(predicted), predicted[0], predicted[1]) == (2, first, second)
    assert predicted.to_polars()["sorted_l1"].to_list() == [first.sorted_l1.value, second.sorted_l1.value]


@pytest.mark.full
def test_statistics_of_degrees_are_named_and_bounded(values: dict[str, Tabular]) -> None:
    statistics = values["degree statistics"]
    assert isinstance(statistics, DegreeStatistics)
    table = statistics.to_pandas().set_index("statistic")
    assert list(table.index) == [name for name, _ in statistics.by_name()]
    assert table.loc["edges", ["value", "low", "high"]].tolist() == [PROFILE.n / 2] * 3


def test_large_x_are_written_in_full() -> None:
    curve = rarefaction_curve(Profile([1, 10**12], [5, 1]), bootstraps=3, points=4)
    assert csv_text(curve).splitlines()[-1].startswith(f"{2 * (10**12 + 5)},")


def test_reports_of_bits_are_hexadecimal_as_in_their_file() -> None:
    reports = OptimizedUnary(alphabet=12, epsilon=1).randomize([1, 2])
    column = reports.columns["report"]
    assert reports.to_polars()["report"].to_list() == [bytes(row.astype(np.uint8)).hex() for row in column]


@pytest.mark.full
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_named(
    library: str, values: dict[str, Tabular], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=f"needs {library}, which is not installed: pip install {library}"):
        getattr(values["curve"], f"to_{library}")()

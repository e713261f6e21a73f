"""Sites beside each other: rows, defaults, limits, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.report.figures import SERIES
from anonhist.species.comparison import SiteComparison, compare_sites
from anonhist.species.files import comparison_document
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.page import comparison_figure, diversity_rows
from anonhist.species.richness import species_richness
from anonhist.species.sample import ReferenceSample
from anonhist_testing.cases import each_of

NORTH = Profile.from_counts([30, 9, 4, 2, 2, 1, 1, 1])
SOUTH = Profile.from_counts([12, 12, 11, 3, 1])


def compared(**how: Any) -> SiteComparison:
    given: dict[str, Any] = {"points": 8, "bootstraps": 5, "rng": np.random.default_rng(1), **how}
    return compare_sites({"north": NORTH, "south": SOUTH}, **given)


def test_the_default_coverage_is_the_smallest_at_twice_the_size() -> None:
    samples = [ReferenceSample.of(data) for data in (NORTH, SOUTH)]
    least = min(sample.coverage(2 * sample.size) for sample in samples)
    assert {row.coverage for row in compared().of("equal coverage")} == {least}
    assert max(row.size for row in compared().of("equal coverage")) == pytest.approx(2 * NORTH.n)
    # Where nothing was found once, everything seems to be covered.
    full = compare_sites({"a": Profile.from_counts([3, 3])}, points=0, bootstraps=3)
    assert (full.of("equal coverage"), full.of("equal size")[0].size) == ((), 12)


def test_rows_are_those_that_were_asked_for() -> None:
    found = compared(orders=(0, 2), coverage=(0.8, 0.9), size=(10, 200))
    assert {(row.base, row.order) for row in found.estimates} == {
        (base, order) for base in ("curve", "equal size", "equal coverage", "asymptote") for order in (0, 2)
    }
    assert [row.coverage for row in found.of("equal coverage")] == [0.8, 0.8, 0.9, 0.9] * 2
    assert {(row.size, row.kind) for row in found.of("equal size")} == {(10, "interpolated"), (200, "extrapolated")}
    assert {row.size for row in found.of("asymptote")} == {math.inf}
    assert compared(points=0, size=10).of("curve") == ()
    for row in found.estimates:
        assert row.low <= row.value <= row.high
        has_ends = row.kind in ("observed", "asymptotic") or row.base == "equal coverage"
        assert has_ends != math.isnan(row.coverage_low)
        assert not has_ends or 0 <= row.coverage_low <= row.coverage <= row.coverage_high <= 1


def test_curves_meet_the_data_and_end_at_twice_the_size() -> None:
    rows = [row for row in compared(points=20).of("curve") if row.site == "north" and row.order == 0]
    sizes = [row.size for row in rows]
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (1, 2 * NORTH.n)
    assert 14 <= len(sizes) <= 24
    observed = [row for row in rows if row.kind == "observed"]
    assert [(row.size, row.value) for row in observed] == [(NORTH.n, NORTH.num_labels)]


def test_far_extrapolations_and_lower_bounds_are_said() -> None:
    assert any("Beyond twice" in warning for warning in compared(size=1000).warnings)
    assert not any("Beyond twice" in warning for warning in compared(size=60).warnings)
    assert compared(orders=2, size=1000).warnings == ()


def test_the_same_generator_gives_the_same_comparison() -> None:
    assert compared() == compared()
    assert compared() != compared(rng=np.random.default_rng(2))


def test_intervals_shrink_at_equal_sizes_with_more_units() -> None:
    few, many = (
        compare_sites(
            {
                "a": IncidenceFrequencies(
                    20 * times, Profile.from_counts([times * c for c in (15, 9, 5, 3, 2, 2, 1, 1)])
                )
            },
            orders=(2,),
            size=20,
            points=0,
            bootstraps=100,
            rng=np.random.default_rng(5),
        ).of("equal size")[0]
        for times in (1, 25)
    )
    assert many.standard_error < few.standard_error / 3


@each_of(
    "how",
    [
        {"orders": ()},
        {"orders": (3,)},
        {"coverage": 1},
        {"coverage": 0},
        {"coverage": "0.9"},
        {"coverage": 1e-6},
        {"size": 0},
        {"size": 2.5},
        {"size": range(1, 200)},
        {"points": 3},
        {"points": 10**6},
        {"bootstraps": 2},
        {"level": 1},
    ],
)
def test_impossible_numbers_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        compared(**how)


def test_individuals_are_of_one_species_at_least_and_of_one_each_at_most() -> None:
    few = Profile.from_counts([2, 2, 1, 1, 1])
    rows = compare_sites({"few": few}, size=[1, 3, 7], rng=np.random.default_rng(1)).of("equal size")
    one = [(row.value, row.standard_error, row.low, row.high) for row in rows if row.size == 1]
    assert np.array(one) == pytest.approx(np.array([(1, 0, 1, 1)] * 3), rel=1e-12, abs=0)
    assert all(1 <= row.low <= row.value <= row.high <= row.size for row in rows if row.size > 1)
    assert {row.high for row in rows if row.order == 0 and row.size > 1} == {3, 7}
    # Nobody knows how many species a sampling unit has.
    units = compare_sites({"few": IncidenceFrequencies(3, few)}, size=3, rng=np.random.default_rng(1))
    assert max(row.high for row in units.of("equal size")) > 3


def test_sites_that_cannot_be_compared_are_refused() -> None:
    for sites in ({}, [NORTH], {"a": NORTH, "b": IncidenceFrequencies(9, NORTH.from_counts([1]))}, {"a": [1, 2]}):
        with pytest.raises(UsageError):
            compare_sites(sites)  # type: ignore[arg-type]
    for small in (Profile.from_counts([1]), Profile([], []), IncidenceFrequencies(1, Profile.from_counts([1, 1]))):
        with pytest.raises(DataError, match="Site 1 of 1: "):
            compare_sites({"a": small})


COMMUNITIES = {
    "log-normal": np.exp(1.2 * np.random.default_rng(1).normal(size=120)),
    "geometric": 0.93 ** np.arange(120),
    "broken stick": np.random.default_rng(3).exponential(size=60),
    "zipf": 1 / np.arange(1, 121),
}


def hill(shares: np.ndarray, order: int) -> float:
    return math.exp(-float(shares @ np.log(shares))) if order == 1 else 1 / float(shares @ shares)


@pytest.mark.first(3)
@pytest.mark.parametrize("of_units", [False, True])
@pytest.mark.parametrize("shape", COMMUNITIES)
def test_intervals_hold_as_often_as_they_say(shape: str, of_units: bool) -> None:  # noqa: FBT001
    weights = COMMUNITIES[shape]
    shares, rng = weights / weights.sum(), np.random.default_rng(11)
    draws, chances = (250, 0.6 * weights / weights.max()) if of_units else (900, shares)
    pairs = draws * (draws - 1) * float(chances @ chances) + draws * float(chances.sum())
    # The Hill number of order 2 of the numbers of species that are expected with each count.
    of_draws = (draws * float(chances.sum())) ** 2 / pairs
    held: dict[Any, list[bool]] = {}
    for _ in range(200):
        counts = rng.binomial(250, 0.6 * weights / weights.max()) if of_units else rng.multinomial(900, shares)
        profile = Profile.from_counts(counts)
        data = IncidenceFrequencies(250, profile) if of_units else profile
        found = compare_sites({"a": data}, orders=(1, 2), size=draws, points=0, bootstraps=30, rng=rng)
        curve = next(row for row in found.of("equal size") if row.order == 2)
        held.setdefault("curve", []).append(curve.low <= of_draws <= curve.high)
        for row in found.of("asymptote"):
            assert math.isnan(row.low) == (found.sites[0].coverage < 0.9)
            if not math.isnan(row.low):
                held.setdefault(row.order, []).append(row.low <= hill(shares, row.order) <= row.high)
        seen = float(shares[counts > 0].sum())
        held.setdefault("coverage", []).append(found.sites[0].coverage_low <= seen <= found.sites[0].coverage_high)
    assert all(len(each) > 100 for each in held.values())
    assert {name: np.mean(each) for name, each in held.items() if np.mean(each) < 0.92} == {}


def test_what_a_small_sample_says_too_little_about_has_no_interval() -> None:
    found = compare_sites({"x y": Profile.from_counts([5, 2, 2, 1, 1, 1, 1])}, points=0, size=3, bootstraps=5)
    ends = {row.order: (row.low, row.high) for row in found.of("asymptote")}
    assert [order for order, (low, _) in ends.items() if math.isnan(low)] == [1, 2]
    assert any("no interval for site 'x y'" in warning for warning in found.warnings)
    assert not any("no interval" in warning for warning in compared().warnings)


def test_species_that_are_everywhere_do_not_tell_how_many_rare_ones_there_are() -> None:
    def orders_without(rare: int) -> set[float]:
        # Three species in 18 of 30 units each, and rare ones in one each.
        data = IncidenceFrequencies(30, Profile.from_counts([18] * 3 + [1] * rare))
        low = ReferenceSample.of(data).coverage(10)
        found = compare_sites({"a": data}, orders=(0, 1), coverage=low, points=0, bootstraps=5)
        return {row.order for row in found.of("equal coverage") if math.isnan(row.low)}

    assert (orders_without(49), orders_without(50)) == ({0}, set())


def test_few_that_were_found_once_do_not_tell_that_nothing_is_left_to_find() -> None:
    # Nothing was found once: 3.84 more are still likely enough, the upper end of a Poisson number that was 0.
    found = compare_sites({"a": Profile.from_counts([9, 5, 4, 2, 2])}, size=(22, 33, 44), orders=(0, 1), points=0)
    above = {(row.order, row.size): row.high - row.value for row in found.of("equal size")}
    assert above[0, 33] >= 0.5 * 3.84
    assert above[0, 44] >= 3.84
    assert above[0, 44] < 12


def test_only_the_lower_end_of_all_species_is_shown() -> None:
    rows = [row for row in compared(orders=(0, 1)).of("asymptote") if row.order == 0]
    assert {row.high for row in rows} == {math.inf}
    assert [row.low >= found.num_labels for row, found in zip(rows, (NORTH, SOUTH), strict=True)] == [True, True]
    document = json.loads(json.dumps(comparison_document(compared())))
    assert [row["high"] for row in document["estimates"] if (row["base"], row["order"]) == ("asymptote", 0)] == [
        None
    ] * 2
    assert diversity_rows(rows, 0.95)[1][0][-1].startswith("at least ")
    found = IncidenceFrequencies(50, Profile.from_counts([9] * 10))
    told = species_richness(found)
    assert (told.statement.holds, told.interval[0]) == (Holds.AT_LEAST, 10)


def test_beyond_a_sample_order_0_has_no_interval_at_equal_coverage() -> None:
    rows = compared(orders=(0, 1)).of("equal coverage")
    # Nor has order 1 here: 3 of 50 were found once, so the sample may cover less than 90%.
    assert {(row.order, row.kind) for row in rows if math.isnan(row.low)} == {(0, "extrapolated"), (1, "extrapolated")}
    assert any("At equal coverage beyond a sample" in warning for warning in compared().warnings)
    low = ReferenceSample.of(NORTH).coverage(10)
    within = compared(orders=(0,), coverage=low)
    assert not any(math.isnan(row.low) for row in within.estimates)
    assert not any("beyond a sample" in warning for warning in within.warnings)


@pytest.mark.parametrize(
    ("counts", "units", "missing"),
    [
        ([40, 18, 18, 8, 6, 6, 2, 1], None, [0]),
        # One was found once and two twice: a seventh may be missed.
        ([20, 9, 9, 4, 3, 2, 2, 1], None, [0, 1]),
        # Six of 26 are labels found once.
        ([12, 4, 2, 2, 1, 1, 1, 1, 1, 1], None, [0, 1]),
        ([20, 18, 10, 10, 9, 9, 8, 4, 3, 3, 2, 1], 25, [0]),
        # One incidence fewer than fifty.
        ([10, 9, 9, 8, 4, 3, 2, 2, 1, 1], 25, [0, 1, 2]),
    ],
)
def test_at_equal_coverage_intervals_that_hold_too_rarely_are_not_shown(
    counts: list[int], units: int | None, missing: list[int]
) -> None:
    profile = Profile.from_counts(counts)
    data = profile if units is None else IncidenceFrequencies(units, profile)
    sample = ReferenceSample.of(data)
    for size in (1.5 * sample.size, 0.5 * sample.size):
        rows = compare_sites({"a": data}, coverage=sample.coverage(size), points=0, bootstraps=3).of("equal coverage")
        hidden = [row.order for row in rows if math.isnan(row.low)]
        assert hidden == (missing if size > sample.size or len(missing) == 3 else [])


def test_few_bootstrap_samples_widen_intervals() -> None:
    # With three, z is Student's t with two degrees of freedom, 4.3; the upper end also has what they fall short.
    for bootstraps, z in ((3, 4.3), (2000, 1.96)):
        compared_at = compared(bootstraps=bootstraps, size=20, points=0, orders=(2,))
        totals = {site.name: site.total for site in compared_at.sites}
        for row in compared_at.of("equal size"):
            of_few = 1 + 4 / math.sqrt(totals[row.site])
            reach = (row.value - row.low) / row.standard_error
            assert reach == pytest.approx(z * of_few, rel=0.01) or row.low == 1
            assert row.high - row.value >= 0.999 * (row.value - row.low)


def test_coverage_intervals_hold_where_everything_seems_to_be_seen() -> None:
    low, high = ReferenceSample.of(Profile.from_counts([3, 3, 2, 2, 2])).coverage_ends(1.96)
    assert 0.4 < low < 0.9
    assert high == 1


def test_a_default_coverage_that_no_sites_share_does_not_fail() -> None:
    sites = {"one kind": Profile.from_counts([500, 1]), "all once": Profile.from_counts([1] * 30)}
    found = compare_sites(sites, points=4, bootstraps=3, rng=np.random.default_rng(1))
    assert (found.of("equal coverage"), len(found.of("asymptote"))) == ((), 6)
    (told,) = (warning for warning in found.warnings if "No coverage is common" in warning)
    assert "'one kind'" in told
    assert "'all once'" in told
    with pytest.raises(UsageError, match="at site 'one kind' one of the individuals"):
        compare_sites(sites, coverage=0.1)


def test_sites_beyond_the_colors_are_not_drawn_and_that_is_said(tmp_path: Path) -> None:
    many = {f"site {at}": NORTH for at in range(len(SERIES) + 2)}
    found = compare_sites(many, points=4, bootstraps=3, orders=(0,))
    axes = comparison_figure(found).axes[0]
    colors = [line.get_color() for line in axes.lines if line.get_linestyle() == "-"]
    assert len(colors) == len(set(colors)) == len(SERIES) - 1
    said = f"Curves are drawn for the first {len(SERIES) - 1} of {len(many)} sites."
    assert said in found._repr_html_()
    ah.write_report(found, tmp_path / "sites.html")
    assert said in (tmp_path / "sites.html").read_text(encoding="utf-8")
    few = compare_sites({"a": NORTH}, points=4, bootstraps=3)
    assert "Curves are drawn" not in few._repr_html_()


def test_rounding_is_no_extrapolation_beyond_twice_the_size() -> None:
    for seed in range(60):
        counts = np.random.default_rng(seed).geometric(0.05, size=40)
        counts[:6] = (1, 1, 1, 2, 2, 3)
        found = compare_sites({"a": Profile.from_counts(counts)}, points=0, bootstraps=3)
        assert not any("Beyond twice" in warning for warning in found.warnings)

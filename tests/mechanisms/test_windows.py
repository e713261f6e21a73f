"""Cumulative windows: how far one unit moves increments, what noise that needs, and what is made of it."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.ingest.windows import read_cumulative
from anonhist.mechanisms.window_mechanism import WindowMechanism, monotone_whole, moved
from anonhist.mechanisms.window_release import (
    WINDOW_MECHANISMS,
    prepare_cumulative,
    release_cumulative,
    with_best_levels,
)
from anonhist.mechanisms.windows_by_day import (
    AnchorsMechanism,
    DailyMechanism,
    IncrementsMechanism,
    Levels,
    TreeMechanism,
)
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.profiles.windows import CumulativeCounts
from anonhist_testing.apart import Row, days_apart, read_apart, rows_apart
from anonhist_testing.sources import SeededSource

DAYS = ["2026-11-01", "2026-11-02", "2026-11-03"]
POSSIBLE: list[Row] = list(product(("u", "v"), ("a", "b"), DAYS))
KEY = "0f" * 16
LABEL = PrivacyUnit.label(max_count=3)
CASES: dict[str, tuple[int, int, dict[str, Any], PrivacyUnit]] = {
    "item": (0, 1, {}, PrivacyUnit.item()),
    "user of 1": (0, 3, {"user": "user", "max_per_user": 1}, PrivacyUnit.user(max_items=1)),
    "user of 2": (0, 3, {"user": "user", "max_per_user": 2}, PrivacyUnit.user(max_items=2)),
    "label": (1, 4, {"unit": LABEL}, LABEL),
}
THRESHOLDS = [(1,), (2,), (1, 2), (1, 3), (1, 2, 3)]


def read(rows: list[Row], days: list[str], **given: Any) -> CumulativeCounts:
    table = pl.DataFrame(rows, schema={"user": pl.String, "label": pl.String, "day": pl.String}, orient="row")
    key = {"order_key": KEY} if "user" in given else {}
    return read_cumulative(table, label="label", by="day(day)", days=days, thresholds=(1, 2, 3), **given, **key)


def of_one(column: int, most: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """Small data sets without a unit, and all that the unit may add: few rows of one value in a column."""
    own = [row for row in POSSIBLE if row[column] == POSSIBLE[0][column]]
    others = [row for row in POSSIBLE if row[column] != POSSIBLE[0][column]]
    rests = [(), *combinations(others, 2), *((each,) * 2 for each in others)]
    for rest, more in product(rests, range(1, most + 1)):
        for added in combinations_with_replacement(own, more):
            yield list(rest), list(added)


def summed(increments: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Increments of intervals of so many days."""
    return np.add.reduceat(increments, np.arange(0, increments.shape[-1], width), axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_one_unit_moves_increments_by_what_the_noise_is_for(case: str) -> None:
    column, most, given, unit = CASES[case]
    rests, added = zip(*of_one(column, most), strict=True)
    units = set()

    def increments(rows: list[Row], days: list[str]) -> NDArray[np.int64]:
        found = read(rows, days, **given)
        units.add(found.unit)
        return found.increments

    before = read_apart(increments, rests, DAYS)
    after = read_apart(increments, [rest + more for rest, more in zip(rests, added, strict=True)], DAYS)
    assert units == {unit}
    # A release for some thresholds reads the rows of all of them: each has its own.
    for thresholds, width in product(THRESHOLDS, (1, 2, 3)):
        rows = [k - 1 for k in thresholds]
        change = np.abs(summed(after[:, rows], width) - summed(before[:, rows], width)).sum(axis=(1, 2))
        assert change.max() <= moved(unit, thresholds=len(rows), intervals=-(-len(DAYS) // width))
        daily = (after - before)[:, rows].cumsum(axis=2)
        if unit.max_count is not None:
            # How many labels are between two thresholds.
            daily = np.diff(daily, axis=1, append=0)
        assert np.abs(daily).sum(axis=1).max() <= (1 if unit.max_count is not None else unit.max_distance)


@pytest.mark.parametrize("case", list(CASES))
def test_data_sets_that_are_read_as_one_are_counted_apart(case: str) -> None:
    column, most, given, _ = CASES[case]
    sets = [rest + added for rest, added in of_one(column, most)][:330]
    together = read_apart(lambda rows, days: read(rows, days, **given).increments, sets, DAYS)
    for at in range(0, len(together), 30):
        alone = read(rows_apart(at, sets[at], DAYS), days_apart(at, DAYS), **given)
        assert (alone.increments == together[at]).all()


def running(days: tuple[int, ...], thresholds: tuple[int, ...]) -> NDArray[np.int64]:
    """The increments of one label with so many items on each day, by the definition."""
    before = np.cumsum([0, *days[:-1]])
    after = before + np.array(days)
    return np.array([[int(b < k <= a) for b, a in zip(before, after, strict=True)] for k in thresholds])


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_bounds_are_reached(number: int) -> None:
    # All labels with at most three items on each of so many days, and one item of theirs less.
    for size in (1, 2, 3, 4):
        thresholds = tuple(range(1, size + 1))
        item, label = 0, 0
        for days in product(range(4), repeat=number):
            own = running(days, thresholds)
            label = max(label, int(own.sum()))
            for day in range(number):
                if days[day]:
                    less = (*days[:day], days[day] - 1, *days[day + 1 :])
                    item = max(item, int(np.abs(own - running(less, thresholds)).sum()))
        assert item == moved(PrivacyUnit.item(), thresholds=size, intervals=number)
        # Three items a day reach three thresholds.
        assert label == min(size, 3 * number)
        assert moved(PrivacyUnit.label(max_count=9), thresholds=size, intervals=number) == size


def asked(mechanism: WindowMechanism, increments: NDArray[np.int64]) -> list[tuple[Fraction, int]]:
    """The rates of the noise that a release asks for, and of how many numbers."""
    drawn: list[tuple[Fraction, int]] = []

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        drawn.append((gamma, size))
        return np.zeros(size, dtype=np.int64)

    estimates = mechanism._run(increments, noise)
    assert np.allclose(estimates, np.cumsum(increments, axis=1))
    return drawn


UNITS = [PrivacyUnit.item(), PrivacyUnit.user(max_items=3), PrivacyUnit.label(max_count=9)]


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("unit", UNITS)
def test_noise_has_the_rate_that_the_unit_needs(unit: PrivacyUnit, relation: NeighboringRelation) -> None:
    increments = np.array([[5, 0, 2, 1], [3, 1, 0, 0]])
    half = Fraction(1, 2)
    added = IncrementsMechanism(half, unit, relation, thresholds=2, days=4)
    far = {UNITS[0]: 4, UNITS[1]: 12, UNITS[2]: 2}[unit] * relation.distance
    assert asked(added, increments) == [(half / far, 8)]
    daily = DailyMechanism(half, unit, relation, thresholds=2, days=4)
    far = {UNITS[0]: 4, UNITS[1]: 12, UNITS[2]: 4}[unit] * relation.distance
    assert asked(daily, increments) == [(half / far, 8)]


@pytest.mark.parametrize("relation", list(NeighboringRelation))
@pytest.mark.parametrize("unit", UNITS)
def test_levels_share_epsilon(unit: PrivacyUnit, relation: NeighboringRelation) -> None:
    increments = np.array([[5, 0, 2, 1, 7], [3, 1, 0, 0, 6]])
    settings: dict[str, Any] = {"thresholds": 2, "days": 5, "width": 2, "share": "0.25"}
    step = relation.distance
    of_days = Fraction(3, 8) / ({UNITS[0]: 4, UNITS[1]: 12, UNITS[2]: 2}[unit] * step)
    # Three blocks: of tree, all increments of an item may move in two of them, and of anchors each has its own.
    of_blocks = Fraction(1, 8) / ({UNITS[0]: 4, UNITS[1]: 12, UNITS[2]: 2}[unit] * step)
    tree = TreeMechanism("0.5", unit, relation, **settings)
    assert asked(tree, increments) == [(of_blocks, 6), (of_days, 10)]
    of_ends = Fraction(1, 8) / ({UNITS[0]: 3, UNITS[1]: 9, UNITS[2]: 3}[unit] * step)
    anchors = AnchorsMechanism("0.5", unit, relation, **settings)
    assert asked(anchors, increments) == [(of_ends, 6), (of_days, 10)]
    for made in (tree, anchors):
        assert np.isclose(made.worst, made.standard_errors.max())
        assert type(made).from_parameters(made.parameters) == made


def by_least_squares(known: Levels) -> NDArray[np.float64]:
    """The variances of running sums, from all equations at once."""
    number, starts = known.days, range(0, known.days, known.width)
    rows, precisions = [*np.eye(number) - np.eye(number, k=-1)], [1 / known.of_day] * number
    for start in starts:
        end = min(start + known.width, number)
        last = np.eye(number)[end - 1]
        before = np.eye(number)[start - 1] if start else np.zeros(number)
        rows += [last - before, last]
        precisions += [1 / known.of_block, 1 / known.of_end]
    system = np.array(rows)
    return np.diag(np.linalg.inv(system.T @ (np.array(precisions)[:, np.newaxis] * system)))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 11])
@pytest.mark.parametrize("spread", [(2.0, 3.0, np.inf), (2.0, np.inf, 0.7), (0.5, 4.0, 9.0)])
def test_estimates_are_those_of_least_squares(width: int, spread: tuple[float, float, float]) -> None:
    known = Levels(11, width, *spread)
    assert np.allclose(known.variances, by_least_squares(known))
    # Weights of each number: unbiased, and of the variance that is claimed.
    days, blocks = np.zeros((known.blocks, 11)), np.zeros((11, known.blocks))
    alone = np.eye(known.blocks)
    weights = (
        known.estimate(np.eye(11), blocks, blocks),
        known.estimate(days, alone, 0 * alone),
        known.estimate(days, 0 * alone, alone),
    )
    found = sum((each**2).sum(axis=0) * size for each, size in zip(weights, spread, strict=True) if np.isfinite(size))
    assert np.allclose(found, known.variances)


@pytest.mark.full
def test_a_tree_is_better_than_what_was_computed_for_subtraction() -> None:
    # 126 and 69: a level of blocks without anything above it, whose later blocks are subtracted all the same.
    unit = PrivacyUnit.label(max_count=10)
    for days, subtraction in ((365, 126), (30, 69)):
        made = [with_best_levels(kind, 1, unit, thresholds=10, days=days) for kind in (TreeMechanism, AnchorsMechanism)]
        tree, anchors = (each.worst for each in made)
        assert anchors < tree < subtraction


def shape_of(name: str) -> CumulativeCounts:
    """Reach that no program was tuned to: slow, at once, a jump late, nearly nobody."""
    rng = np.random.default_rng(5)
    increments = {
        "steady": rng.poisson([[40.0], [25.0], [9.0]], (3, 20)),
        "at once": np.array([[900, *[0] * 19], [0, 800, *[0] * 18], [0, 0, 5, *[0] * 17]]),
        "late": np.array([[*[0] * 18, 300, 9], [*[0] * 18, 0, 300], [0] * 20]),
        "nobody": np.zeros((3, 20), dtype=np.int64),
    }[name]
    return CumulativeCounts((1, 2, 5), tuple(f"2026-11-{day:02}" for day in range(1, 21)), increments)


@pytest.mark.slow
@pytest.mark.drawn(6)
@pytest.mark.parametrize("mechanism", list(WINDOW_MECHANISMS))
@pytest.mark.parametrize("shape", ["steady", "at once", "late", "nobody"])
@pytest.mark.parametrize("epsilon", ["0.2", "3"])
def test_intervals_hold(shape: str, mechanism: Any, epsilon: str) -> None:
    counts, source = shape_of(shape), SeededSource(11)
    made, _ = prepare_cumulative(
        epsilon=epsilon,
        unit=PrivacyUnit.label(max_count=5),
        relation=NeighboringRelation.ADD_OR_REMOVE,
        mechanism=mechanism,
        thresholds=3,
        days=20,
    )
    held = np.zeros(counts.increments.shape)
    for _ in range(200):
        release = made.release(counts, source=source)
        held += (release.lows <= counts.k_plus) & (counts.k_plus <= release.highs)
    # 95 % meant; on average 92 % demanded, and of single numbers what 200 runs of 92 % would show: z = 3.
    assert held.mean() >= 184
    assert held.min() >= 172


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", list(WINDOW_MECHANISMS))
@pytest.mark.parametrize("unit", UNITS[::2])
def test_standard_errors_are_those_of_the_noise(mechanism: str, unit: PrivacyUnit) -> None:
    made, _ = prepare_cumulative(
        epsilon=1,
        unit=unit,
        relation=NeighboringRelation.ADD_OR_REMOVE,
        mechanism=mechanism,
        thresholds=3,
        days=7,
    )
    rng = np.random.default_rng(3)

    def noise(gamma: Fraction, size: int) -> NDArray[np.int64]:
        stop = -np.expm1(-float(gamma))
        return np.asarray(rng.geometric(stop, size) - rng.geometric(stop, size), dtype=np.int64)

    zeros = np.zeros((3, 7), dtype=np.int64)
    runs = np.array([made._run(zeros, noise) for _ in range(4000)])
    # The standard error of a variance from 4,000 runs is below 4% of it where the kurtosis is below 6; five of these.
    assert np.allclose(runs.var(axis=0), made.standard_errors**2, rtol=0.2)
    assert np.allclose(runs.mean(axis=0) / made.standard_errors, 0, atol=5 / np.sqrt(4000))
    assert ((made.excess_kurtosis > 0) & (made.excess_kurtosis <= 3)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mechanism", ["auto", *WINDOW_MECHANISMS])
@pytest.mark.parametrize("epsilon", ["1000", "1e9"])
def test_without_any_noise_to_speak_of_the_truth_comes_out(mechanism: Any, epsilon: str) -> None:
    days = [f"2026-11-{day:02}" for day in range(1, 10)]
    increments = np.array([np.arange(1, 10) + 40, np.arange(1, 10)])
    made = release_cumulative(CumulativeCounts((1, 2), days, increments), epsilon=epsilon, mechanism=mechanism)
    assert made.values.tolist() == increments.cumsum(axis=1).tolist()
    assert np.abs(made.highs - made.lows).max() <= 4
    assert (made.mechanism.standard_errors < 1e-9).all()


def test_tables_come_out_in_order() -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        estimates = rng.normal(0, 30, (4, 9)) + np.arange(9)
        values = monotone_whole(estimates)
        assert (np.diff(values, axis=1) >= 0).all()
        assert (np.diff(values, axis=0) <= 0).all()
        assert values.min() >= 0
    right = np.array([[1.0, 4.0, 9.0], [0.0, 4.0, 5.0]])
    assert monotone_whole(right).tolist() == right.tolist()
    # Far from each other, so that floats would not add up.
    assert monotone_whole(np.array([[1e300], [-1e300]])).tolist() == [[2**62], [0]]


def test_the_choice_is_by_public_numbers() -> None:
    given: dict[str, Any] = {"relation": NeighboringRelation.ADD_OR_REMOVE, "mechanism": "auto"}
    few, why = prepare_cumulative(epsilon=1, unit=UNITS[2], thresholds=9, days=3, **given)
    assert few.name == "daily"
    assert why.startswith("The largest standard error of a number is 12.7 labels; it would be ")
    for name in WINDOW_MECHANISMS:
        asked_for, told = prepare_cumulative(
            epsilon=1, unit=UNITS[2], thresholds=9, days=3, **given | {"mechanism": name}
        )
        assert (asked_for.name, told) == (name, "It was requested.")
        assert few.worst <= asked_for.worst


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mechanism": "frobenius"}, "mechanism of cumulative windows must be one of auto, "),
        ({"epsilon": "1e-20"}, "too small"),
        ({"unit": PrivacyUnit.label(max_count=1)}, "must not exceed"),
        ({"unit": PrivacyUnit.edge()}, "items, users or labels"),
        ({"unit": PrivacyUnit.user(max_items=1)}, "protect at least that"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], told: str) -> None:
    unit = PrivacyUnit.user(max_items=2) if "protect" in told else PrivacyUnit.item()
    counts = CumulativeCounts((1, 2), ("2026-11-01",), [[3], [1]], unit=unit)
    with pytest.raises(UsageError, match=told):
        release_cumulative(counts, **{"epsilon": 1, **given})
    with pytest.raises(UsageError, match="Cumulative counts are needed"):
        release_cumulative([3, 1], epsilon=1)  # type: ignore[arg-type]  # that is the point

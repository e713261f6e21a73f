"""The lower bound near a data set: certificates prove what they say, and families are what the proof needs."""

import importlib
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anonhist as ah
from anonhist_testing.cases import each_of

BENCH = Path(__file__).parent.parent.parent / "bench"
COUNTS = [[1], [3, 3, 3, 3], [9, 5, 4, 4, 2, 1, 1, 1], list(range(1, 30)), [200, 90, 7, 7, 7, 2, *([1] * 40)]]


@pytest.fixture(scope="module")
def bench() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    names = ("boxes", "boundary", "box_mechanisms")
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(BENCH))


def best_of_2_by_2(e: Fraction) -> tuple[list[list[Fraction]], Fraction]:
    """Return a mechanism in the box of 2 × 2 cells, of the form in the proof note, and its risk.

    Columns are a(1, q, q², q², q³, q⁴), (b, c, cq, cq, cq², cq³), (gq², gq, g, s, gq, gq²), and the reflected ones.
    """
    q = 1 / Fraction(e)
    zero, one = Fraction(0), Fraction(1)
    # The unknowns are a, b, c, g, s and the risk: three rows add up to one, and three risks are equal.
    equations = [
        [1 + q**4, one, q**3, 2 * q**2, zero, zero, one],
        [q + q**3, zero, 1 + q**2, 2 * q, zero, zero, one],
        [2 * q**2, zero, 2 * q, one, one, zero, one],
        [4 * q**4, one, 3 * q**3, 4 * q**2, zero, -one, zero],
        [q + 3 * q**3, zero, 2 * q**2, 2 * q, zero, -one, zero],
        [4 * q**2, zero, 2 * q, zero, 2 * one, -one, zero],
    ]
    for at in range(6):
        pivot = next(row for row in range(at, 6) if equations[row][at])
        equations[at], equations[pivot] = equations[pivot], equations[at]
        equations[at] = [value / equations[at][at] for value in equations[at]]
        for row in (row for row in range(6) if row != at):
            equations[row] = [x - equations[row][at] * y for x, y in zip(equations[row], equations[at], strict=True)]
    a, b, c, g, s, risk = (row[-1] for row in equations)
    columns = [
        [a, a * q, a * q**2, a * q**2, a * q**3, a * q**4],
        [b, c, c * q, c * q, c * q**2, c * q**3],
        [g * q**2, g * q, g, s, g * q, g * q**2],
    ]
    columns += [[column[i] for i in (0, 1, 3, 2, 4, 5)] for column in columns[:0:-1][:1]]
    columns += [columns[1][::-1], columns[0][::-1]]
    return [list(row) for row in zip(*columns, strict=True)], risk


def is_private(bench: Any, mechanism: list[list[Fraction]], e: Fraction) -> bool:
    first, second = bench.boxes.box_of(2, 2).neighbors
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    return all(0 <= p <= e * p2 for x, x2 in pairs for p, p2 in zip(mechanism[x], mechanism[x2], strict=True))


@pytest.mark.full
@each_of("e", [Fraction(3), Fraction(4), Fraction(15, 2), Fraction(2.718281828459045)])
def test_the_best_mechanism_of_four_cells_errs_as_the_certificate_says(bench: Any, e: Fraction) -> None:
    box = bench.boxes.box_of(2, 2)
    mechanism, risk = best_of_2_by_2(e)
    assert is_private(bench, mechanism, e)
    for row, distances in zip(mechanism, box.distances.tolist(), strict=True):
        assert sum(row) == 1
        assert sum(p * d for p, d in zip(row, distances, strict=True)) == risk
    # ln e rounded up: the certificate is for a little more ε.
    epsilon = Fraction(float(np.nextafter(np.log(float(e)), 9)))
    assert 0 <= risk - bench.boxes.solve(box, epsilon).bound() < 1e-8


def test_known_risks(bench: Any) -> None:
    one, bound = bench.boxes.certified(1, 1, Fraction(1))
    assert bound <= Fraction(1) / (1 + Fraction(np.e))
    assert float(bound) == pytest.approx(1 / (1 + np.e), abs=1e-10)
    # By hand: equal priors, and weight 1/(1 + e) on each constraint that keeps a right answer from being likelier.
    whole = 2**40
    weight = int(whole / (1 + np.e))
    weights = np.array([[weight, 0], [0, weight]])
    by_hand = bench.boxes.Certificate(one.box, Fraction(1), np.array([whole, whole]), weights)
    assert float(by_hand.bound()) == pytest.approx(1 / (1 + np.e), abs=1e-10)
    assert float(bench.boxes.certified(2, 2, Fraction(1))[1]) == pytest.approx(0.71946929, abs=1e-8)


@pytest.mark.full
def test_a_broken_certificate_proves_less_or_nothing(bench: Any) -> None:
    box = bench.boxes.box_of(2, 2)
    epsilon = Fraction(11, 10)
    good = bench.boxes.solve(box, epsilon)
    risk = best_of_2_by_2(Fraction(bench.boxes.exp_above(epsilon), 2**bench.boxes.BITS))[1]
    rng = np.random.default_rng(3)
    for _ in range(200):
        prior = np.rint(good.prior * rng.uniform(0.5, 1.5, good.prior.shape)).astype(np.int64)
        weights = np.rint(good.weights * rng.uniform(0.5, 1.5, good.weights.shape)).astype(np.int64)
        for other in ((prior, good.weights), (good.prior, weights), (prior, weights)):
            assert bench.boxes.Certificate(box, epsilon, *other).bound() < good.bound() < risk
    largest = np.unravel_index(good.weights.argmax(), good.weights.shape)
    for value in (-1, 0):
        weights = good.weights.copy()
        weights[largest] = value
        broken = bench.boxes.Certificate(box, epsilon, good.prior, weights)
        if value < 0:
            with pytest.raises(ValueError, match="at least zero"):
                broken.bound()
        else:
            assert broken.bound() < good.bound() - Fraction(1, 100)
    with pytest.raises(ValueError, match="at least zero"):
        bench.boxes.Certificate(box, epsilon, 0 * good.prior, good.weights).bound()
    for prior in (good.prior[:1], good.prior / 2):
        with pytest.raises(ValueError, match="whole number for each diagram"):
            bench.boxes.Certificate(box, epsilon, prior, good.weights).bound()


def test_the_exponential_is_rounded_up(bench: Any) -> None:
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4), Fraction(39, 10)):
        above = bench.boxes.exp_above(epsilon)
        assert 0 < above - np.exp(float(epsilon)) * 2**40 < 1.1


@each_of(("rows", "columns"), [(1, 2), (2, 1), (2, 2)])
def test_thick_cells_scale_the_bound(bench: Any, rows: int, columns: int) -> None:
    epsilon = Fraction(1, 2)
    area = rows * columns
    filling = bench.boundary.Filling(1, 2, rows, columns, epsilon)
    assert filling.bound == area * bench.boxes.certified(1, 2, area * epsilon)[1]
    # Thick diagrams are some of those of the box, so less must be erred on them.
    assert filling.bound <= bench.boxes.certified(rows, 2 * columns, epsilon)[1]
    chain = bench.boundary.Filling(1, 2, 0, area, epsilon)
    assert chain.bound == filling.bound


def diagram(profile: ah.Profile, size: int) -> np.ndarray:
    rows = np.zeros(size, dtype=np.int64)
    rows[: profile.num_labels] = np.sort(profile.partition())[::-1]
    return np.arange(size) < rows[:, None]


@each_of("counts", COUNTS)
def test_regions_are_disjoint_and_lie_on_the_boundary(bench: Any, counts: list[int]) -> None:
    profile = ah.Profile.from_counts(counts)
    for epsilon in (Fraction(2), Fraction(1, 2)):
        family = bench.boundary.Family.near(profile, epsilon, diagrams=10)
        assert family.regions
        for before, after in pairwise(family.regions):
            assert after.bottom <= before.top
            assert after.left >= before.right
        rows = np.concatenate([[10**6], np.sort(counts)[::-1], np.zeros(500, dtype=np.int64)])
        for region in family.regions:
            for row, column in ((region.bottom, region.left), (region.top, region.right)):
                assert rows[row + 1] <= column <= rows[row]
            filling = region.filling
            height, width = region.bottom - region.top, region.right - region.left
            if filling.rows:
                assert filling.height * filling.rows <= height
                assert filling.width * filling.columns <= width
            else:
                assert filling.width * filling.columns <= height * width


def test_regions_have_the_largest_sum(bench: Any) -> None:
    fillings = bench.boundary.Fillings(Fraction(1), 100, 10)
    values, _ = fillings.tables
    points = bench.boundary.points_of(ah.Profile.from_counts([7, 5, 4, 4, 1, 1]), 20)
    best = [0.0] * len(points)
    for end in range(len(points)):
        for start in range(end):
            height, width = points[start][0] - points[end][0], points[end][1] - points[start][1]
            value = values[height, width] if height * width <= 100 else 0
            best[end] = max(best[end], best[start] + value)
    chosen = bench.boundary.choose_regions(points, fillings)
    assert sum(float(region.filling.bound) for region in chosen) == pytest.approx(best[-1])


@pytest.mark.full
@each_of("counts", COUNTS)
def test_members_differ_from_the_data_in_their_regions_only(bench: Any, counts: list[int]) -> None:
    profile = ah.Profile.from_counts(counts)
    rng = np.random.default_rng(len(counts))
    for epsilon in (Fraction(2), Fraction(1, 2)):
        family = bench.boundary.Family.near(profile, epsilon, diagrams=10)
        size = 450
        inside = np.zeros((size, size), dtype=bool)
        for region in family.regions:
            inside[region.top : region.bottom, region.left : region.right] = True
        assert inside.sum() == family.area
        for _ in range(20):
            member, distance = family.draw(rng)
            differ = diagram(member, size) != diagram(profile, size)
            assert not (differ & ~inside).any()
            assert differ.sum() == distance == ah.properties.sorted_l1(profile, member)


def test_regions_hold_what_was_drawn(bench: Any) -> None:
    rng = np.random.default_rng(5)
    epsilon = Fraction(1)
    box = bench.boundary.Filling(2, 2, 2, 3, epsilon)
    region = bench.boundary.Region(0, 5, 10, 17, box)
    old = np.array([17, 15, 15, 12, 10])
    seen = {tuple(region.drawn(old, rng).tolist()) for _ in range(500)}
    thick = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert seen <= {(17, 10 + 3 * a, 10 + 3 * a, 10 + 3 * b, 10 + 3 * b) for a, b in thick}
    assert len(seen) > 3
    chain = bench.boundary.Region(0, 2, 0, 7, bench.boundary.Filling(1, 3, 0, 4, epsilon))
    filled = {tuple(chain.drawn(old[:2], rng).tolist()) for _ in range(500)}
    assert filled == {(0, 0), (4, 0), (7, 1), (7, 5)}


@each_of("e", [Fraction(3), Fraction(301, 100), Fraction(4), Fraction(15, 2), Fraction(50)])
def test_the_partition_mechanism_is_not_the_best_in_four_cells(bench: Any, e: Fraction) -> None:
    box = bench.boxes.box_of(2, 2)
    mechanism, least = best_of_2_by_2(e)
    assert is_private(bench, mechanism, e)
    q = 1 / e
    assert least == q * (3 + 5 * q**2) / (1 + 2 * q + 4 * q**3 - 3 * q**4)
    outer, next_to_it, other = 1 / (1 + q), (1 - q - q**2) / (1 + q) ** 2, 1 / (1 + q) ** 2
    weights = [outer, next_to_it, other, other, next_to_it, outer]
    drawn = [[q**d * w for d, w in zip(row, weights, strict=True)] for row in box.distances.tolist()]
    assert [sum(row) for row in drawn] == [1] * 6
    found = bench.box_mechanisms.partition_mechanism(box, np.log(float(e)))
    np.testing.assert_allclose(found, np.array(drawn, dtype=float), atol=1e-12)
    # Under this prior, and after the best processing of each result.
    prior = [share / (2 * (1 + q - q**2)) for share in (q, 1 - q**2, 0, 0, 1 - q**2, q)]
    assert sum(prior) == 1
    after = sum(
        min(sum(prior[x] * drawn[x][z] * int(box.distances[x, y]) for x in range(6)) for y in range(6))
        for z in range(6)
    )
    assert after == q * (3 + q) / ((1 + q) * (1 + q - q**2))
    above = q**2 * (1 - q) ** 2 * (1 - q + 2 * q**2)
    assert after - least == above / ((1 + q) * (1 + q - q**2) * (1 + 2 * q + 4 * q**3 - 3 * q**4)) > 0
    assert bench.box_mechanisms.risk_after_processing(box, found) == pytest.approx(float(after))


def test_risks_of_the_partition_mechanism_in_four_cells(bench: Any) -> None:
    box = bench.boxes.box_of(2, 2)
    assert bench.box_mechanisms.risk(box, bench.box_mechanisms.partition_mechanism(box, np.log(3))) == pytest.approx(
        7 / 9
    )
    assert best_of_2_by_2(Fraction(3))[1] == Fraction(2, 3)
    with pytest.raises(ValueError, match="too small"):
        bench.box_mechanisms.partition_mechanism(box, 0.4)

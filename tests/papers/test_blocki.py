"""Blocki's experiments: the published table, exact losses by enumeration, and verdicts, both ways."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

import anonhist as ah
from anonhist.mechanisms import FamilyParameters
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.noise import SimulatedChoices
from anonhist.profiles import FrobeniusCoordinates
from anonhist_papers.blocki import conjecture, figure_1, items, pure, running_time, theorem_1
from anonhist_papers.blocki.data import coauthors, drawn, rockyou, squares
from anonhist_papers.blocki.draws import PUBLISHED, l1_errors, relaxed
from anonhist_papers.blocki.growth import exponent, steps
from anonhist_papers.blocki.table import Table, table_size
from anonhist_papers.experiment import Experiment, Point, Size
from anonhist_testing.cases import each_of
from anonhist_testing.exact import DecidedChoices, Decisions, output_distribution
from anonhist_testing.partitions import Partition, distance, partitions_up_to


def line(
    series: str, value: Callable[[float], float], xs: Sequence[float], *, panel: str = "", runs: int = 100
) -> list[Point]:
    return [Point(panel, series, x, value(x), 0.001 * value(x) if runs else 0.0, runs) for x in xs]


def is_inside(mu: Partition, table: Table) -> bool:
    rows = [*mu, *[0] * (table.rows.size - len(mu))]
    return len(mu) <= table.rows.size and all(
        low <= row <= high for row, low, high in zip(rows, table.lowest.tolist(), table.highest.tolist(), strict=True)
    )


@pytest.mark.full
@each_of("radius", [1, 2, 5])
@each_of("reference", [(), (1,), (3, 1), (2, 2, 2), (6,), (1, 1, 1, 1)])
def test_the_published_window_is_the_one_of_the_mechanism(reference: Partition, radius: int) -> None:
    profile = ah.Profile.from_partition(reference)
    table = Table(profile, radius=radius, c=0.5)
    window = ah.mechanisms.exponential.partition.Window(profile, radius)
    listed = partitions_up_to(14)
    assert {mu for mu in listed if is_inside(mu, table)} == {
        mu for mu in listed if window.holds(ah.Profile.from_partition(mu))
    }


@each_of("reference", [(), (2,), (2, 1), (1, 1, 1)])
def test_the_published_table_draws_the_same(reference: Partition) -> None:
    c = 0.6
    table = Table(ah.Profile.from_partition(reference), radius=3, c=c)

    def run(decisions: Decisions) -> Partition:
        return tuple(part for part in table.draw(DecidedChoices(decisions)).tolist() if part)

    distribution = output_distribution(run, unexplored=1e-12)
    weights = {
        mu: math.exp(-c * distance(reference, mu))
        for mu in partitions_up_to(sum(reference) + 12)
        if is_inside(mu, table)
    }
    assert set(distribution.probabilities) == set(weights)
    for mu, weight in weights.items():
        assert distribution.probabilities[mu] == pytest.approx(weight / math.fsum(weights.values()), rel=1e-9)


@pytest.mark.slow
def test_the_size_of_the_table_is_counted_without_making_it() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        profile = ah.Profile.from_counts(rng.integers(1, 9, rng.integers(0, 12)))
        radius = int(rng.integers(1, 15))
        assert table_size(profile, radius) == Table(profile, radius=radius, c=1.0).size


@pytest.mark.slow
def test_rockyou_is_drawn_in_time_with_the_error_of_its_corners() -> None:
    # Of 2t + 1 corners, t = 2,040 different counts, each is flipped with a chance of about e^(−ε/2) = e^(−4).
    errors = l1_errors(PUBLISHED, 8.0, rockyou(), 20, np.random.default_rng(1))
    expected = (2 * len(rockyou()) + 1) * math.exp(-4)
    assert expected < np.mean(errors) < 1.1 * expected
    made = relaxed(0.1, public_items=2 * rockyou().n)
    assert ah.properties.sorted_l1(rockyou(), made.release(rockyou()).profile) < made.radius


def test_data_are_what_they_are_said_to_be() -> None:
    assert coauthors().degrees().max() == 81
    for name in ("steps of one", "Zipf", "squares"):
        profile = drawn(name, 10_000, 1.0)
        assert 0.8 * 10_000 < profile.n <= 10_000
    assert len(squares(10**6, 7).counts) == int(squares(10**6, 7).counts[-1]) // 7
    for epsilon in (1.0, 0.1):
        number = conjecture.least_items(epsilon)
        assert 1 < epsilon / (48 * math.pi**2 / math.sqrt(number)) < 1.011
        for name in ("steps of one", "Zipf", "squares"):
            assert drawn(name, math.ceil(1.05 * number), epsilon).n >= 48**2 * math.pi**4 / epsilon**2


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 0.2, 0.05])
def test_the_error_on_squares_is_above_what_is_proved(epsilon: float) -> None:
    c, factor, side, steps_ = epsilon / 2, 3.5, math.ceil(8 / epsilon), 100
    profile = squares(side**2 * steps_ * (steps_ + 1) // 2, side)
    assert len(profile) == steps_
    assert epsilon > 48 * math.pi**2 / math.sqrt(profile.n)
    reference = FrobeniusCoordinates.of(profile)
    high, low = (DiagonalChain(reference, FamilyParameters(each, 0.0)).log_normalizer for each in (c, factor * c))
    one = math.fsum(math.log(math.expm1(c * (side + k)) / math.expm1(c * k)) - c * side for k in range(1, side + 1))
    assert one >= (1.608 - c * (1 + math.log(1 / c))) / c
    assert high >= (steps_ + 1) * one
    assert low <= (2 * steps_ + 1) * math.pi**2 / (6 * factor * c)
    proved = (high - low) / ((factor - 1) * c)
    errors = l1_errors(PUBLISHED, epsilon, profile, 10, np.random.default_rng(2))
    assert 0.1 * math.sqrt(profile.n) / epsilon < proved < np.mean(errors)


def test_exponents_are_those_of_powers() -> None:
    points = {x: Point("", "", x, 5 * x**0.7, 0.05 * x**0.7, 9) for x in (1.0, 2.0, 10.0)}
    assert exponent(points)[0] == pytest.approx(0.7)
    assert [slope for slope, _ in steps(points)] == pytest.approx([0.7, 0.7])
    # Two points: the standard error is √2 · 1 % over ln 2.
    assert steps(points)[0][1] == pytest.approx(math.sqrt(2) * 0.01 / math.log(2))


@pytest.mark.parametrize("c", [0.05, 0.7])
def test_losses_are_found_by_enumeration(c: float) -> None:
    # Over all partitions the loss is known; a small domain has less.
    bound = ah.mechanisms.privacy_loss(ah.mechanisms.FamilyParameters(c, 0.0))
    for domain in (pure.partitions(4), pure.below_hyperbola(4)):
        assert c < pure.privacy_loss(domain, 4, c) <= min(bound, 2 * c)
    assert set(pure.partitions(5)) == set(partitions_up_to(5))
    assert set(pure.partitions(5)) < set(pure.below_hyperbola(5))


@pytest.mark.parametrize(("power", "agrees"), [(0.5, True), (0.6, True), (1.0, False)])
def test_figure_1_is_confirmed_where_the_exponent_is_nearer_to_a_half(power: float, agrees: bool) -> None:  # noqa: FBT001
    points = line(PUBLISHED, lambda x: 100 * x ** (2 * power), (0.4, 1, 3, 10))
    assert figure_1.FIGURE_1.judge(points).agrees is agrees
    assert {point.series for point in figure_1.FIGURE_1.view(points)} == {PUBLISHED, "∝ 1/√ε", "∝ 1/ε"}


def test_the_conjecture_is_contradicted_by_any_data_on_which_the_factor_grows() -> None:
    def judged(power: float) -> bool | None:
        points = line("RockYou", lambda _: 0.6, (0.1, 1)) + line("squares", lambda x: x**-power, (0.01, 0.1, 1))
        return conjecture.CONJECTURE_1.judge(points).agrees

    assert [judged(0), judged(0.5)] == [True, False]


def test_errors_are_confirmed_where_they_grow_no_faster_than_the_bound() -> None:
    def judged(power: float) -> bool | None:
        points = [
            point
            for name in ("steps of one", "squares", "Zipf")
            for point in line(name, lambda x: x**power, (1e3, 1e4, 1e5), panel="ε = 1")
        ]
        assert len(items.ERROR_AND_ITEMS.view(points)) == len(points) + 6
        return items.ERROR_AND_ITEMS.judge(points).agrees

    assert [judged(0.45), judged(0.5), judged(0.6)] == [True, True, False]


@pytest.mark.parametrize(("power", "rival", "agrees"), [(0.6, 2.0, True), (0.6, 0.9, False), (1.0, 2.0, False)])
def test_squared_errors_are_confirmed_where_they_grow_slowly_and_are_below_those_of_the_rival(
    power: float,
    rival: float,
    agrees: bool,  # noqa: FBT001
) -> None:
    points = [
        point
        for name in ("steps of one", "squares", "Zipf")
        for who, factor in ((PUBLISHED, 1.0), (items.HAY, rival))
        for point in line(who, lambda x, f=factor: f * x**power, (1e3, 1e4, 1e5), panel=f"{name}, ε = 1")
    ]
    assert items.SQUARED_ERROR.judge(points).agrees is agrees
    assert len(items.SQUARED_ERROR.view(points)) == len(points) + 18


def test_losses_are_confirmed_up_to_epsilon() -> None:
    points = [point for cell in pure.PURE.cells(Size.QUICK) for point in pure.PURE.run(cell, np.random.default_rng())]
    assert pure.PURE.judge(points).agrees is True
    assert pure.PURE.judge([replace(points[0], mean=1.01), *points[1:]]).agrees is False


def test_running_time_is_confirmed_where_the_table_grows_no_faster_than_published() -> None:
    def judged(power: float) -> bool | None:
        points = line("Zipf, ε = 1", lambda x: x**power, (1e2, 1e3), panel=running_time.SIZES, runs=0)
        points += line("RockYou, ε = 1", lambda _: 2e7, (3.3e7,), panel=running_time.SIZES, runs=0)
        for panel in (running_time.SECONDS, running_time.ERRORS):
            for series in ("published table, Zipf", "ours: draws until inside, Zipf"):
                points += line(series, lambda _: 5.0, (1e2, 1e3), panel=panel)
        for series in ("ours: draws until inside, RockYou", "bounded by N̂ = 2N, RockYou"):
            points += line(series, lambda _: 0.5, (3.3e7,), panel=running_time.SECONDS)
        return running_time.RUNNING_TIME.judge(points).agrees

    assert [judged(0.7), judged(1.6)] == [True, False]


def test_theorem_1_is_decided_only_inside_the_condition() -> None:
    def judged(rise: float, epsilons: Sequence[float], bound: int) -> bool | None:
        points = []
        for name, value, runs in (
            (theorem_1.THEOREM, lambda x: 100 * x**-rise, 20),
            ("k + √(md/ε)", lambda x: 100 * x**-0.5, 0),
            ("the extension alone", lambda _: 10.0, 0),
        ):
            points += line(name, value, epsilons, panel=f"d = {bound}", runs=runs)
        return theorem_1.THEOREM_1.judge(points).agrees

    assert judged(0.5, (1, 8), 16) is True
    assert judged(1.0, (1, 8), 16) is None
    # The condition is ε/(3d) > 48π²/√(2·14,484) = 2.78.
    assert judged(1.0, (34, 80), 4) is False
    assert judged(1.0, (33, 80), 4) is None


def test_the_error_over_the_nodes_has_to_fall() -> None:
    def judged(power: float) -> bool | None:
        points = line("ε = 4", lambda x: x**-power, (1e3, 1e5))
        points += line("√(md/ε)/n, ε = 4", lambda x: x**-0.5, (1e3, 1e5), runs=0)
        return theorem_1.THEOREM_1_NODES.judge(points).agrees

    assert [judged(0.7), judged(0.3), judged(0)] == [True, False, False]


@each_of("experiment", [figure_1.FIGURE_1, running_time.RUNNING_TIME, theorem_1.THEOREM_1])
def test_the_full_setting_holds_what_the_quick_one_does(experiment: Experiment) -> None:
    assert len(experiment.cells(Size.FULL)) > len(experiment.cells(Size.QUICK))


def test_draws_of_the_table_follow_its_rows() -> None:
    profile = ah.Profile.from_counts([30, 20, 10])
    table = Table(profile, radius=40, c=3.0)
    runs = [table.draw(SimulatedChoices(np.random.default_rng(seed))) for seed in range(20)]
    assert all((np.diff(run) <= 0).all() for run in runs)
    assert np.mean([np.abs(run - table.rows).sum() for run in runs]) < 2

"""Sentences and numbers of a page."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.report.local.wording import promise as local_promise
from anonhist.report.wording import exclusions, interval, percent, promise, share_of_items, with_error
from anonhist.testing.sources import SeededSource

NUMBERS = st.floats(0, 1e15)
ADD, SUBSTITUTE = NeighboringRelation.ADD_OR_REMOVE, NeighboringRelation.SUBSTITUTE


def guarantee(epsilon: Fraction, *, relation: NeighboringRelation = ADD, delta: Fraction = Fraction(0)) -> Guarantee:
    return Guarantee(PrivacyUnit.item(), relation, epsilon, delta, "noise is exact")


@pytest.mark.parametrize(
    ("made", "parts"),
    [
        (guarantee(Fraction(1)), ["one item been added to the data or removed", "exp(1) (about 2.72) times"]),
        (
            guarantee(Fraction(1, 2), relation=SUBSTITUTE),
            ["replaced by another", "exp(0.5) (about 1.649) times", "strong", "62.3 %"],
        ),
        (
            guarantee(Fraction(2), delta=Fraction(1, 2**60)),
            ["exp(2) (about 7.39) times", "unlikely, apart from δ.", "moderate"],
        ),
        (guarantee(Fraction(10)), ["exp(10) (about 22,026) times", "weak"]),
        (guarantee(Fraction(11)), ["an epsilon of 11 rules out practically nothing.", "practically no protection"]),
        (guarantee(Fraction(1, 1000)), ["exp(0.001) (about 1.00100) times"]),
    ],
)
def test_promise(made: Guarantee, parts: list[str]) -> None:
    assert all(part in promise(made) for part in parts), promise(made)


def test_no_large_epsilon_is_called_private() -> None:
    for epsilon in (11, 100, 10**9):
        made = guarantee(Fraction(epsilon))
        for said in (promise(made), local_promise(made)):
            assert "practically no protection" in said
            assert "practically certain" in said
            assert not re.search("nearly|likely, or as unlikely|exp\\(", said)


def test_budgets_of_the_same_people_add_up_whatever_the_data() -> None:
    """Whoever releases a week's log of the same users every week has other data each time."""
    units = {"users": PrivacyUnit.user(max_items=2), "labels": PrivacyUnit.label(max_count=3)}
    for people, unit in (units | {"nodes": PrivacyUnit.node(max_distance=4)}).items():
        told = f"Further releases of data of the same {people}, such as those of next week: their budgets add up."
        assert told in exclusions(unit)
    assert "Further releases of the same data: their budgets add up." in exclusions(PrivacyUnit.item())


@pytest.mark.parametrize(
    ("unit", "first"),
    [
        (PrivacyUnit.item(), "Anyone with several items"),
        (PrivacyUnit.user(max_items=1), "More than 1 item of one user"),
        (PrivacyUnit.user(max_items=1000), "More than 1,000 items of one user"),
        (PrivacyUnit.label(max_count=30), "How often a label occurs beyond 30 times"),
        (PrivacyUnit.edge(degrees=1), "That somebody has many edges"),
        (PrivacyUnit.node(max_distance=8), "Anyone with several nodes"),
    ],
)
def test_not_covered_begins_with_what_the_unit_leaves_out(unit: PrivacyUnit, first: str) -> None:
    lines = exclusions(unit)
    assert lines[0].startswith(first)
    assert any("budgets add up" in line for line in lines)
    assert any("running time" in line for line in lines)


@pytest.mark.parametrize(
    ("value", "error", "written"),
    [
        (15166.8, 89.43, "15,167 ± 89"),
        (48020, 1234.0, "48,000 ± 1,200"),
        (7, 0, "7 ± 0"),
        (1234567.0, 0, "1,234,567 ± 0"),
        (1701.625, 7.49, "1,701.6 ± 7.5"),
        (0.0, 0.03125, "0.000 ± 0.031"),
        (2.15625, 0.3595, "2.16 ± 0.36"),
    ],
)
def test_errors_are_written_with_two_digits(value: float, error: float, written: str) -> None:
    assert with_error(value, error) == written


@given(NUMBERS, NUMBERS, st.integers(0, 2))
def test_intervals_are_rounded_outwards(first: float, second: float, places: int) -> None:
    low, high = sorted((first, second))
    ends = [float(end.replace(",", "")) for end in interval(low, high, places=places).split(" to ")]
    assert ends[0] <= low * (1 + 1e-15)
    assert ends[1] >= high * (1 - 1e-15)
    assert low - ends[0] <= 10.0**-places + 1e-15 * low
    assert ends[1] - high <= 10.0**-places + 1e-15 * high


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0000524, "0.0052 %"), (0.25, "25 %"), (0, "0 %"), (-0.1, "0 %"), (1.08, "108 %"), (1e-9, "0.00000010 %")],
)
def test_percent(share: float, written: str) -> None:
    assert percent(share) == written


@given(st.floats(1e-10, 1))
def test_percent_keeps_two_digits(share: float) -> None:
    shown = float(percent(share).removesuffix(" %").replace(",", "")) / 100
    assert math.isclose(shown, share, rel_tol=0.051)


@pytest.mark.slow
def test_releases_that_are_mostly_noise_are_said_to_be() -> None:
    noise = FrobeniusMechanism("0.5").release(Profile.from_counts([2, 1]), source=SeededSource(1))
    assert re.fullmatch(r", [\d.,]+ % of the items: mostly noise", share_of_items(noise))
    data = FrobeniusMechanism("1").release(Profile.from_prevalences({1: 5000, 70: 30}), source=SeededSource(1))
    assert re.fullmatch(r", 0\.\d+ % of the items", share_of_items(data))


def test_a_share_is_one_of_the_degree_sum() -> None:
    graph = Profile([1, 2], [40, 30], unit=PrivacyUnit.edge())
    released = FrobeniusMechanism(4, PrivacyUnit.edge()).release(graph, source=SeededSource(7))
    assert "of the degree sum" in share_of_items(released)

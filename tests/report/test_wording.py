"""Sentences and numbers of a page."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.mechanisms import CumulativeMechanism, FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.mechanisms.setting import NOISE_IS_EXACT
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.estimate import percent
from anonhist.report.page import facts
from anonhist.report.wording import interval, runs_text, share_of_items, with_error
from anonhist_testing.sources import SeededSource

NUMBERS = st.floats(0, 1e15)


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
def test_intervals_are_rounded_outward(first: float, second: float, places: int) -> None:
    low, high = sorted((first, second))
    ends = [float(end.replace(",", "")) for end in interval(low, high, places=places).split(" to ")]
    assert ends[0] <= low * (1 + 1e-15)
    assert ends[1] >= high * (1 - 1e-15)
    assert low - ends[0] <= 10.0**-places + 1e-15 * low
    assert ends[1] - high <= 10.0**-places + 1e-15 * high


@pytest.mark.parametrize(
    ("share", "written"),
    [(0.0000524, "0.0052%"), (0.25, "25%"), (0, "0%"), (-0.1, "0%"), (1.08, "108%"), (1e-9, "less than 0.0001%")],
)
def test_percent(share: float, written: str) -> None:
    assert percent(share) == written


@given(st.floats(1e-6, 1))
def test_percent_keeps_two_digits(share: float) -> None:
    shown = float(percent(share).removesuffix("%").replace(",", "")) / 100
    assert math.isclose(shown, share, rel_tol=0.051)


@pytest.mark.slow
def test_releases_that_are_mostly_noise_are_said_to_be() -> None:
    noise = FrobeniusMechanism("0.5").release(Profile.from_counts([2, 1]), source=SeededSource(1))
    assert re.fullmatch(r", [\d.,]+% of the items: mostly noise", share_of_items(noise))
    data = FrobeniusMechanism("1").release(Profile.from_prevalences({1: 5000, 70: 30}), source=SeededSource(1))
    assert re.fullmatch(r", 0\.\d+% of the items", share_of_items(data))


def test_where_nearly_all_is_noise_the_range_of_the_error_is_shown_alone() -> None:
    data = Profile.from_counts([40, 20, 9, 4, 4, 1], unit=PrivacyUnit.user(max_items=20))
    for epsilon, vague in (("0.05", True), ("4", False)):
        released = FrobeniusMechanism(epsilon, data.unit).release(data, source=SeededSource(2))
        assert released.error_is_vague is vague
        expected, known = released.error.sorted_l1, dict(facts(released))["Error"]
        assert expected is not None
        assert released.error.expected_range is not None
        low, high = released.error.expected_range
        assert (known.startswith("about "), "nearly everything is noise" in known) == (not vague, vague)
        if vague:
            # Three digits, rounded outward.
            shown = [float(each.replace(",", "")) for each in re.findall(r"[\d,]+", known.split(" items")[0])]
            assert shown[0] <= low < high <= shown[1]
            assert shown[1] <= 1.01 * high + 1
            assert f"{expected.value:,.0f}" not in known


def test_pages_say_what_errors_come_from() -> None:
    data = Profile.from_prevalences({count: 400 // count for count in range(1, 60)})
    noisy, near, drawn = (
        mechanism.release(data, source=SeededSource(1))
        for mechanism in (FrobeniusMechanism("0.1"), FrobeniusMechanism("1"), PartitionMechanism("2"))
    )
    runs = "Errors come from {} new runs of the mechanism on the released profile"
    both, alone = "and from the noisy values that it was read from", "where they are far above the noise"
    few, many = (runs.format(each.error.simulations) for each in (noisy, drawn))
    assert runs_text(drawn) == f"{many}, which costs no privacy."
    assert runs_text(noisy) == f"{few} {both}, which costs no privacy."
    assert runs_text(noisy, near) == f"{few} {both}, or from these alone {alone}, which costs no privacy."
    assert runs_text(drawn, near) == f"{many}, or from noisy values {alone}, which costs no privacy."
    assert f"{noisy.error.simulations} simulations and the noisy values" in dict(facts(noisy))["Error"]
    assert "by the noisy values" in dict(facts(near))["Error"]


def test_an_expected_error_of_less_than_one_is_not_shown_where_it_is_vague() -> None:
    data = Profile.from_prevalences({20: 300}, unit=PrivacyUnit.user(max_items=20))
    released = [FrobeniusMechanism("0.001", data.unit).release(data, source=SeededSource(seed)) for seed in range(4)]
    assert any(each.error.sorted_l1 is not None and each.error.sorted_l1.value < 0.5 for each in released)
    for each in released:
        assert re.match(r"[\d,]+ to [\d,]+ items expected: nearly everything is noise", dict(facts(each))["Error"])


def test_large_data_are_no_noise_though_few_labels_or_small_counts_have_a_small_diagram() -> None:
    users = Profile.from_counts([400_000], unit=PrivacyUnit.user(max_items=20))
    few = FrobeniusMechanism(1, users.unit).release(users, source=SeededSource(2))
    assert (few.error_is_vague, few.mostly_noise) == (True, False)
    assert re.fullmatch(r", at most 0\.\d+% of the items", share_of_items(few))
    # Noise on single prevalences leaves nothing vague.
    capped = Profile.from_prevalences({1: 30_000, 2: 20_000, 3: 9_000}, unit=PrivacyUnit.label(max_count=3))
    exact = PrevalenceMechanism("0.4", capped.unit).release(capped, source=SeededSource(2))
    assert (exact.error_is_vague, exact.mostly_noise) == (False, False)
    assert re.fullmatch(r", 0\.\d+% of the items", share_of_items(exact))


def test_a_share_is_one_of_the_degree_sum() -> None:
    graph = Profile([1, 2], [40, 30], unit=PrivacyUnit.edge())
    released = FrobeniusMechanism(4, PrivacyUnit.edge()).release(graph, source=SeededSource(7))
    assert "of the degree sum" in share_of_items(released)


def test_where_less_than_one_item_is_wrong_no_share_of_nothing_is_said() -> None:
    made = FrobeniusMechanism(40).release(Profile.from_counts([50, 50, 3]))
    told = dict(facts(made))["Error"]
    assert told.startswith("less than one item expected (sorted ℓ1, ")
    assert dict(facts(FrobeniusMechanism(1).release(Profile.from_counts([50, 50, 3]))))["Error"].startswith("about ")


def test_arithmetic_that_costs_nothing_is_the_last_line_and_no_part_of_the_promise() -> None:
    profile = Profile.from_counts([50, 50, 3])
    exact = facts(CumulativeMechanism(1, public_cap=90).release(profile))
    assert exact[-1] == ("Arithmetic", f"{NOISE_IS_EXACT}.")
    promise = dict(exact)["Promise"]
    assert "floating point" not in promise
    # What limits the promise stays in it.
    assert promise.endswith("; it holds for data where no count is above 90, which must be public knowledge.")
    assert facts(PartitionMechanism(2).release(profile))[-1] == (
        "Arithmetic",
        "draws are exact, so floating point costs nothing.",
    )
    drawn = facts(PartitionMechanism(1).release(profile))
    assert "Arithmetic" not in dict(drawn)
    assert "for profiles of Durfee size up to 2^20" in dict(drawn)["Promise"]

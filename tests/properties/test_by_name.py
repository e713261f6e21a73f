"""All properties by name: what they take, and that each gives a number with an interval, whatever the profile."""

import math
import re
from typing import Any

import pytest
from hypothesis import example, given, settings

from anonhist.errors import UsageError
from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
from anonhist.profiles import Profile
from anonhist.properties.by_name import PROPERTIES, estimate_all
from anonhist.properties.estimate import Estimate, Holds
from anonhist_testing.cases import each_of
from anonhist_testing.properties import answer, questions
from anonhist_testing.strategies import profiles, repeatable

ASKED = list(questions())
ALL = PROPERTIES | {f"private {name}": known for name, known in PRIVATE_PROPERTIES.items()}
# Those that take long: bootstraps, and polynomials of high degree.
SLOW = ("pml", "polynomial")


def check_sane(estimate: Estimate) -> None:
    low, high = estimate.interval
    assert math.isfinite(estimate.value)
    assert math.isfinite(estimate.standard_error)
    assert estimate.standard_error >= 0
    assert low <= estimate.value <= high
    assert math.isfinite(low)


def check_all(profile: Profile, *, slow: bool) -> None:
    for name, options in ASKED:
        found = answer(profile, name, options) if (options.get("method") in SLOW) is slow else None
        if found is not None:
            try:
                check_sane(found)
            except AssertionError as error:
                error.add_note(f"{name} {options}: {found}")
                raise


@pytest.mark.slow
@settings(repeatable, max_examples=50)
@example(Profile([1], [2**63 - 1]))
@example(Profile([2], [2**62 - 1]))
@example(Profile([2**63 - 1], [1]))
@example(Profile([1, 2**62], [2**61, 1]))
@example(Profile([2**30, 2**31], [2**30, 2**30]))
@example(Profile([1, 2, 2**62], [1, 1, 1]))
@example(Profile([1, 10**15], [1, 1]))
@given(profiles())
def test_every_estimator_is_finite_whatever_the_profile(profile: Profile) -> None:
    check_all(profile, slow=False)


@pytest.mark.slow
@settings(repeatable, max_examples=8)
@example(Profile([1], [2**62]))
@example(Profile([2**63 - 1], [1]))
@example(Profile([1, 58], [1, 7_034_994_354_083_477]))
@example(Profile([71_950, 827_531], [139, 392_942]))
# Samples drawn again from many labels of large counts have thousands of distinct counts: those cost seconds each.
@given(profiles(max_distinct=4, max_items=10**6))
def test_the_slow_ones_too(profile: Profile) -> None:
    check_all(profile, slow=True)


@each_of("name", ALL)
def test_what_is_required_is_taken_and_explained(name: str) -> None:
    known = ALL[name]
    assert set(known.required) <= set(known.options)
    assert ("method" in known.options) == bool(known.methods)
    with pytest.raises(UsageError, match=f"^color does not apply to {name}; leave it out.$"):
        known.check(name, {"color": 1})
    for option in known.required:
        with pytest.raises(UsageError, match=f"^{name} needs {option}: "):
            known.check(name, {})
    if known.methods:
        given = dict.fromkeys(known.required, 2)
        known.check(name, {**given, "method": known.methods[-1]})
        with pytest.raises(UsageError, match=f"^There is no method 'x' for {name}; choose one of {known.methods[0]}"):
            known.check(name, {**given, "method": "x"})


@each_of("name", PROPERTIES)
def test_methods_are_told_by_name(name: str) -> None:
    profile = Profile.from_prevalences({1: 5, 2: 3, 10: 2})
    for method in PROPERTIES[name].methods:
        found: Any = next(o for each, o in ASKED if each == name and o.get("method") == method)
        estimate = PROPERTIES[name].estimate(profile, **found)
        assert estimate.method == method
        assert estimate.assumes
        assert not estimate.assumes.endswith(".")


def test_all_holds_every_method_once_and_says_how_far_it_is() -> None:
    profile, shares = Profile.from_prevalences({1: 40, 2: 20, 3: 12, 70: 1}), list[float]()
    found = estimate_all(profile, progress=shares.append)
    told = [(name, estimate.method) for name, estimate in found]
    assert len(set(told)) == len(told)
    for name in ("entropy", "sample-coverage", "support-size"):
        methods = [method for each, method in told if each == name]
        assert methods == [method for method in PROPERTIES[name].methods if method != "chebyshev"]
    assert shares == pytest.approx([(i + 1) / len(found) for i in range(len(found))])
    # What stands together in a table is told together.
    properties = [re.split(", ", name)[0] for name, _ in found]
    assert len(set(properties)) == 1 + sum(one != other for one, other in zip(properties[1:], properties, strict=False))


@pytest.mark.slow
def test_all_is_told_more_with_an_alphabet_and_in_other_units() -> None:
    profile = Profile.from_prevalences({1: 40, 2: 20, 3: 12, 70: 1})
    plain, more = estimate_all(profile), estimate_all(profile, alphabet_size=500, draws=777, base=2, level=0.5)
    names = {(name, estimate.method) for name, estimate in more} - {(name, estimate.method) for name, estimate in plain}
    assert {("support-size", "chebyshev"), ("distance-to-uniformity", "plug-in")} < names
    assert "support-coverage, 777 draws" in {name for name, _ in more}
    assert {estimate.unit for name, estimate in more if "entropy" in name} == {"bits"}
    widths = [e.interval[1] - e.interval[0] for _, e in more if e.statement.holds is Holds.BOTH]
    assert {estimate.level for _, estimate in more} == {0.5}
    assert all(map(math.isfinite, widths))
    # Without an alphabet size the polynomial has no leg to stand on, and says so.
    (polynomial,) = (estimate for _, estimate in plain if estimate.method == "polynomial")
    assert "Without an alphabet size" in polynomial.warnings[0]


def test_all_refuses_what_is_no_data() -> None:
    with pytest.raises(UsageError, match="A Profile or a Release is needed"):
        estimate_all([3, 1])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="below the number of labels"):
        estimate_all(Profile.from_counts([3, 1]), alphabet_size=1)

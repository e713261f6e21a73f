"""All properties by name: what they take, and that each gives a number with an interval, whatever the profile."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

import anonhist as ah
from anonhist.cli.commands import PROPERTY_NAMES
from anonhist.errors import UsageError
from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
from anonhist.profiles import Profile
from anonhist.properties import Estimate
from anonhist.properties.catalogue import PROPERTIES, estimate_all
from anonhist.testing.strategies import profiles, repeatable

_TRUTH = Profile.from_prevalences({1: 40, 2: 20, 3: 12, 5: 6, 8: 3, 20: 2, 70: 1})
# One good value of each number that a property needs.
_REQUIRED = {"draws": 500, "order": 2, "alphabet_size": 2**62, "guesses": 3, "share": 0.5}


def options_of(name: str) -> Iterator[dict[str, Any]]:
    """Every method, and orders and draws of every kind."""
    known = PROPERTIES[name]
    required = {option: _REQUIRED[option] for option in known.required}
    varied: list[dict[str, Any]] = [required]
    if "order" in required and name != "power-sum":
        varied = [{"order": order} for order in (0, 0.5, 1, 2, 3.7, 12)]
    if "draws" in required:
        varied = [{"draws": draws} for draws in (1, 500, 10**6, 2**64)]
    for numbers in varied:
        for method in known.methods or (None,):
            if method == "unbiased" and (numbers["order"] < 2 or numbers["order"] % 1):
                continue
            named = {} if method is None else {"method": method}
            if method == "chebyshev":
                named["alphabet_size"] = 2**62
            yield numbers | named


ASKED = [(name, options) for name in PROPERTIES for options in options_of(name)]
EVERY = pytest.mark.parametrize(("name", "options"), ASKED, ids=[f"{name}-{o}" for name, o in ASKED])


def check_sane(estimate: Estimate) -> None:
    low, high = estimate.interval
    assert math.isfinite(estimate.value)
    assert math.isfinite(estimate.standard_error)
    assert estimate.standard_error >= 0
    assert low <= estimate.value <= high
    assert math.isfinite(low)


def asked(profile: Profile, name: str, options: dict[str, Any]) -> Estimate | None:
    """Estimate, but for what is refused: more draws than items in rarefaction, and more labels than there can be."""
    if options.get("alphabet_size", profile.num_labels) < profile.num_labels:
        return None
    if options.get("method") == "rarefaction" and options["draws"] > profile.n > 0:
        with pytest.raises(UsageError, match="no more draws than there are items"):
            PROPERTIES[name].estimate(profile, **options)
        return None
    found: Estimate = PROPERTIES[name].estimate(profile, **options)
    return found


@repeatable
@example(Profile([1], [2**63 - 1]))
@example(Profile([2], [2**62 - 1]))
@example(Profile([2**63 - 1], [1]))
@example(Profile([1, 2**62], [2**61, 1]))
@example(Profile([2**30, 2**31], [2**30, 2**30]))
@example(Profile([1, 2, 2**62], [1, 1, 1]))
@example(Profile([1, 10**15], [1, 1]))
@given(profiles())
def test_every_estimator_is_finite_whatever_the_profile(profile: Profile) -> None:
    for name, options in ASKED:
        found = asked(profile, name, options)
        if found is not None:
            try:
                check_sane(found)
            except AssertionError as error:
                error.add_note(f"{name} {options}: {found}")
                raise

"""The example: a release as a measurement of OpenDP."""

import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import anonhist as ah

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "opendp_measurement.py"


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    pytest.importorskip("opendp", reason="OpenDP is not installed")
    return runpy.run_path(str(EXAMPLE))


def test_the_recipe_composes(recipe: dict[str, Any]) -> None:
    assert 0.5 <= recipe["both"].map(1) < 0.5 + 1e-12
    assert isinstance(recipe["first"], ah.Release)
    assert [recipe[name].guarantee.epsilon for name in ("first", "second")] == [Fraction(3, 10), Fraction(1, 5)]


@pytest.mark.parametrize("epsilon", [Fraction(3, 10), Fraction(1, 10), Fraction(1, 3), Fraction(2)], ids=str)
def test_the_map_is_never_below_what_was_promised(recipe: dict[str, Any], epsilon: Fraction) -> None:
    measurement = recipe["make_profile_release"](epsilon)
    promised = measurement(["a", "b", "a"]).guarantee
    assert (promised.unit, promised.relation.value, promised.delta) == (ah.PrivacyUnit.item(), "add-or-remove", 0)
    for items in (1, 2, 3, 7):
        told = Fraction(measurement.map(items))
        assert promised.epsilon * items <= told <= promised.epsilon * items * (1 + Fraction(1, 10**15))


def test_more_is_not_promised(recipe: dict[str, Any]) -> None:
    measurement = recipe["make_profile_release"](Fraction(3, 10))
    assert measurement.check(1, 0.31)
    assert not measurement.check(1, 0.3 - 1e-9)
    assert not measurement.check(2, 0.31)


@pytest.mark.full
def test_an_adaptive_composition_takes_it(recipe: dict[str, Any]) -> None:
    dp, measurement = recipe["dp"], recipe["make_profile_release"](Fraction(1, 2))
    space = measurement.input_domain, measurement.input_metric, measurement.output_measure
    queryable = dp.c.make_adaptive_composition(*space, d_in=1, d_mids=[0.5, 0.5])(["a", "b"])
    assert queryable(measurement).guarantee.epsilon == Fraction(1, 2)
    queryable(measurement)
    with pytest.raises(dp.OpenDPException):
        queryable(measurement)

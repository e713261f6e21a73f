"""A release of labels takes counts from a cap on together: nothing is said of what lies beyond."""

import pytest

import anonhist as ah
from anonhist.privacy import PrivacyUnit
from anonhist.properties.by_name import PROPERTIES
from anonhist_testing.sources import SeededSource

# One label has nearly all items: nothing that is true of counts up to 10 is true of these.
SKEWED = ah.Profile([1, 2, 3, 5_000], [300, 80, 40, 1])
TOLD = {
    "support-coverage": {"draws": 600},
    "hill-number": {"order": 2},
    "renyi-entropy": {"order": 2},
    "tsallis-entropy": {"order": 2},
    "power-sum": {"order": 2},
    "distance-to-uniformity": {"alphabet_size": 1_000},
    "guessing-success": {"guesses": 1},
    "work-factor": {"share": 0.5},
    "guesswork": {"share": 0.5},
}


@pytest.fixture(scope="module")
def capped_release() -> ah.Release:
    unit = PrivacyUnit.label(max_count=10)
    return ah.release(SKEWED, epsilon=4, unit=unit, simulations=4, source=SeededSource(3))


def test_beyond_the_cap_there_are_at_most_as_many_as_at_it(capped_release: ah.Release) -> None:
    most = capped_release.k_plus(10).interval[1]
    assert most >= 1
    assert capped_release.prevalence(10).interval[1] >= 1
    for found in (capped_release.k_plus(11), capped_release.prevalence(11)):
        assert found.statement.holds.value == "at most"
        assert found.interval == (0, most)


def test_no_property_of_capped_counts_has_an_interval_but_the_number_of_labels(capped_release: ah.Release) -> None:
    """The one most frequent label has 90% of the items, and a capped profile says 2%: "at most" would be false."""
    for name, known in PROPERTIES.items():
        found = known.estimate(capped_release, **TOLD.get(name, {}))
        if name == "support-size":
            assert found.statement.holds.value == "at least"
            assert found.interval[0] <= SKEWED.num_labels
        else:
            assert found.statement.holds.value == "no interval", name
            assert "counts of 10 or more were merged" in found.statement.reason


def test_curves_of_capped_counts_have_no_band(capped_release: ah.Release) -> None:
    for draw in (ah.properties.rarefaction_curve, ah.guessing_curve, ah.properties.hill_curve):
        curve = draw(capped_release, bootstraps=3)
        assert "counts of 10 or more were merged" in curve.why_unknown
        # Chance has no part in it, and no side is known.
        assert not curve.bias
        assert (curve.high - curve.low)[-1] > 0.9 * curve.value[-1]

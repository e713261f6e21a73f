"""Do the intervals hold the truth as often as they say? Many releases of one profile, each with its own simulations."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import simulate_error

ZIPF = Profile.from_counts(np.maximum(1, (400 / np.arange(1, 401) ** 0.9).astype(np.int64)))
LABEL = PrivacyUnit.label(max_count=20)
RELEASES = 30
# Hits at one level over the releases are independent: with a chance of 0.95, 30 releases hit fewer than 21 times with
# probability 1e-6. Levels of one release err together, so their mean is given more room than their number would ask.
LEAST_AT_A_LEVEL, LEAST_ON_AVERAGE = 21, 0.92
SETTINGS = {
    f"{make.__name__} {epsilon}": (make, Fraction(epsilon))
    for make in (FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism)
    for epsilon in ("1/2", "1", "2")
}


def hits(setting: str) -> dict[str, Any]:
    """For φ_r and φ_{k+}, at each count up to 60: whether the interval held the truth, and how wide it was."""
    make, epsilon = SETTINGS[setting]
    mechanism = make(epsilon, LABEL) if make is PrevalenceMechanism else make(epsilon)
    truth = mechanism.admit(ZIPF)
    rng = np.random.default_rng([77, list(SETTINGS).index(setting)])
    levels = range(1, (20 if make is PrevalenceMechanism else 60) + 1)
    found: dict[str, Any] = {"prevalence": [], "k_plus": []}
    for run in mechanism.simulate(truth, size=RELEASES, rng=rng):
        released = run.with_unit(mechanism.unit)
        error = simulate_error(released, mechanism, simulations=None, rng=rng)
        for name, seen in found.items():
            row = []
            for level in levels:
                low, high = getattr(error, name)(released, level).interval
                row.append((low <= getattr(truth, name)(level) <= high, high - low))
            seen.append(row)
    return {name: np.array(seen) for name, seen in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_hold_the_truth_as_often_as_they_say_and_are_not_wide_for_nothing(setting: str) -> None:
    for name, seen in hits(setting).items():
        held, widths = seen[:, :, 0], seen[:, :, 1]
        assert len(held) == RELEASES
        assert held.mean() >= LEAST_ON_AVERAGE, name
        assert held.sum(axis=0).min() >= LEAST_AT_A_LEVEL, name
        # A fifth of the labels: an interval that always holds the truth because it says nothing would pass above.
        assert widths.min() >= 1, name
        assert widths.mean() <= 0.2 * ZIPF.num_labels, name

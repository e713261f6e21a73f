"""Do the intervals hold the truth as often as they say? Many releases of one profile, each with its own simulations."""

from typing import Any

import numpy as np
import pytest

from anonhist.mechanisms import BoundedPartitionMechanism, PartitionMechanism
from anonhist.profiles import Profile
from anonhist.releases import simulate_error
from anonhist.releases.runs import prevalences_at

ZIPF = Profile.from_counts(np.maximum(1, (400 / np.arange(1, 401) ** 0.9).astype(np.int64)))
RELEASES = 30
# Hits at one level over the releases are independent: with a chance of 0.95, 30 releases hit fewer than 21 times with
# probability 1e-6. Levels of one release err together, so their mean is given more room than their number would ask.
LEAST_AT_A_LEVEL, LEAST_ON_AVERAGE = 21, 0.92
# Of mechanisms with noisy values the intervals come from these: see tests/mechanisms/test_*_band.py.
SETTINGS: dict[str, PartitionMechanism | BoundedPartitionMechanism] = {
    **{f"partition {epsilon}": PartitionMechanism(epsilon) for epsilon in ("1.1", "2", "4")},
    **{f"bounded {epsilon}": BoundedPartitionMechanism(epsilon, public_items=10_000) for epsilon in ("1.5", "3")},
}


def hits(setting: str) -> dict[str, Any]:
    """For φ_r and φ_{k+}, at each count up to 60: whether the interval held the truth, and how wide it was."""
    mechanism = SETTINGS[setting]
    truth = mechanism.admit(ZIPF)
    rng = np.random.default_rng([77, list(SETTINGS).index(setting)])
    levels = np.arange(1, 61)
    true = {"prevalence": prevalences_at(truth, levels), "k_plus": truth.cumulative_prevalence(levels)}
    found: dict[str, Any] = {name: [] for name in true}
    for run in mechanism.simulate(truth, size=RELEASES, rng=rng):
        released = run.with_unit(mechanism.unit)
        error = simulate_error(released, mechanism, simulations=None, rng=rng)
        for name, seen in found.items():
            low, high = getattr(error, f"{name}_interval")(released, levels)
            seen.append(np.stack(((low <= true[name]) & (true[name] <= high), high - low), axis=1))
    return {name: np.array(seen) for name, seen in found.items()}


@pytest.mark.slow
@pytest.mark.drawn(3)
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

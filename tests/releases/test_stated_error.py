"""The stated range of the error holds the real mean error, also on data that no fit expects. Draws are fixed."""

import numpy as np
import pytest

from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism
from anonhist.mechanisms.basis.setting import make_release
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile, sorted_l1
from anonhist.releases.flattening import flattened
from anonhist_testing.sources import SeededSource

ITEM, USER = PrivacyUnit.item(), PrivacyUnit.user(max_items=20)
FEW = {
    "ten plateaus": Profile.from_prevalences(dict.fromkeys(range(20, 201, 20), 20)),
    "powers of two": Profile.from_prevalences({10 * 2**power: 40 for power in range(6)}),
    "five plateaus": Profile.from_prevalences(dict.fromkeys(range(30, 151, 30), 40)),
}
POISSON = Profile.from_counts(np.maximum(1, np.random.default_rng(1).poisson(30, 400)))


def real_mean(mechanism: FrobeniusMechanism | PartitionMechanism, data: Profile, runs: int) -> float:
    found = mechanism.simulate(data, size=runs, rng=np.random.default_rng(2))
    return float(np.mean([sorted_l1(data, run.with_unit(data.unit)) for run in found]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "epsilon", "unit"),
    [
        ("ten plateaus", "0.1", ITEM),
        ("ten plateaus", "0.5", ITEM),
        ("powers of two", "0.1", ITEM),
        ("powers of two", "0.5", ITEM),
        ("five plateaus", "0.1", ITEM),
        ("five plateaus", "0.5", ITEM),
        ("ten plateaus", "1", USER),
    ],
)
def test_the_range_holds_the_mean_error_on_data_with_few_different_counts(
    name: str, epsilon: str, unit: PrivacyUnit
) -> None:
    data = FEW[name].with_unit(unit)
    mechanism = FrobeniusMechanism(epsilon, unit)
    real, held = real_mean(mechanism, data, 48), 0
    drawn = mechanism.simulate_with_evidence(data, size=4, rng=np.random.default_rng(3))
    for profile, evidence in drawn:
        error = make_release(profile, mechanism, reason=None, evidence=evidence, simulations=8).error
        assert error.sorted_l1 is not None
        assert error.expected_range is not None
        low, high = error.expected_range
        assert low < error.sorted_l1.value < high < 12 * low
        held += low <= real <= high
    assert held == 4

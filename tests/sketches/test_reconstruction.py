"""From a sketch to a release: by which method, of what, and what it says of itself."""

import numpy as np
import pytest

from anonhist.profiles import Profile
from anonhist.sketches import HashedSketch
from anonhist.testing.sources import SeededSource


def _rare_and_huge(buckets: int, rare: int, huge: int, seed: int, method: str) -> Profile:
    """Read a sketch of labels that occur once, and of some beyond all windows."""
    sketch = HashedSketch(buckets=buckets, epsilon=20, key=b"%d" % seed, source=SeededSource(seed))
    sketch.update([f"rare {number}" for number in range(rare)])
    sketch.update([f"huge {number}" for number in range(huge)], counts=10**6 + 1000 * np.arange(huge))
    return sketch.reconstruct(method, simulations=2).profile


@pytest.mark.parametrize(
    ("method", "buckets", "rare", "huge", "runs"), [("decompounding", 50, 60, 15, 3), ("fourier", 4000, 2000, 2000, 1)]
)
def test_labels_in_buckets_with_huge_ones_are_not_lost(
    method: str, buckets: int, rare: int, huge: int, runs: int
) -> None:
    found = [_rare_and_huge(buckets, rare, huge, seed, method) for seed in range(runs)]
    # A quarter of the rare labels and more are in a bucket with a huge one; standard errors are at most 4 and 8 %.
    assert np.mean([each.k_plus(1) - each.k_plus(1000) for each in found]) == pytest.approx(rare, rel=0.15)
    assert np.mean([each.k_plus(1000) for each in found]) == pytest.approx(huge, rel=0.15)

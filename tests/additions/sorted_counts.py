"""A mechanism as CONTRIBUTING adds one: noise on the counts in descending order, and nothing else."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, frozen, named
from anonhist.mechanisms.noise import add_noise
from anonhist.mechanisms.setting import whole_items
from anonhist.mechanisms.skeletons import AdditiveMechanism, round_sorted

if TYPE_CHECKING:
    from anonhist.mechanisms.noise import Noise
    from anonhist.profiles import Profile


@frozen
class SortedCountsMechanism(AdditiveMechanism):
    """Release the counts in descending order under noise, sorted again."""

    name: ClassVar[str] = "sorted-counts"

    _: KW_ONLY
    public_labels: Converted[SupportsIndex, int] = named(whole_items, most=2**24)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, None]:
        counts = np.zeros(self.public_labels, dtype=np.int64)
        counts[: profile.num_labels] = profile.partition()
        noisy = add_noise(counts, noise(self.epsilon_per_cell, counts.size))
        return round_sorted(np.sort(noisy)[::-1].astype(np.float64)), None

"""A mechanism as CONTRIBUTING adds one: noise on the counts in descending order, and nothing else."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.basis.noise import add_noise
from anonhist.mechanisms.basis.published import round_sorted
from anonhist.mechanisms.basis.setting import holds_where, whole_items
from anonhist.mechanisms.basis.skeletons import AdditiveMechanism

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.mechanisms.basis.noise import Noise
    from anonhist.profiles import Profile


@frozen
class SortedCountsMechanism(AdditiveMechanism):
    """Release the counts in descending order under noise, sorted again."""

    _: KW_ONLY
    public_labels: Converted[SupportsIndex, int] = converted(partial(whole_items, name="public_labels", most=2**24))

    @property
    def name(self) -> str:
        """The name to ask for this mechanism by."""
        return "sorted-counts"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters, enough to make the mechanism again."""
        return {**super().parameters, "public_labels": self.public_labels}

    @property
    def arithmetic(self) -> str:
        """What floating point costs, and for which data the promise is made."""
        return f"{super().arithmetic}; {holds_where(f'there are at most {self.public_labels:,} labels')}"

    def exceeded_number(self, profile: Profile) -> str | None:
        """Name the public number of labels where there are more."""
        return "public_labels" if profile.num_labels > self.public_labels else None

    def _run(self, profile: Profile, noise: Noise) -> Profile:
        counts = np.zeros(self.public_labels, dtype=np.int64)
        counts[: profile.num_labels] = profile.partition()
        noisy = add_noise(counts, noise(self.epsilon_per_cell, counts.size))
        return round_sorted(np.sort(noisy)[::-1].astype(np.float64))

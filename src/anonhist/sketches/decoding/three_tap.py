"""stand-in"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.sketches.decoding.decoder import Setting
    from anonhist.sketches.observed import Observed


@dataclass(frozen=True)
class ThreeTap:
    """stand-in"""

    @property
    def name(self) -> str:
        return "three-tap"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        return {}

    def decode(self, observed: Observed, setting: Setting) -> Prevalences:
        low, high = int(observed.values[0]), int(observed.values[-1])
        found = observed.dense(low - 1, high + 1).astype(float)
        for gamma, _ in setting.law.parts:
            p = math.exp(-float(gamma))
            found = np.convolve(found, np.array([-p, 1 + p * p, -p]) / (1 - p) ** 2, mode="same")
        numbers = np.maximum(found[1 - low :], 0) * observed.size / np.maximum(found[1 - low :], 0).sum()
        return Prevalences(np.arange(numbers.size), numbers)

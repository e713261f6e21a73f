"""From an estimate of the sample coverage to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.sample_coverage.good_turing import GoodTuring
from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from anonhist.properties.sample import Sample

_LITTLE = 0.5
_FEW = "the interval is that of a count: labels may be missing even if none was seen once"


@dataclass(frozen=True)
class CoverageInterval:
    """``1 − M`` with ``n·M`` from ``φ_1 + z²/2 ± z·sqrt(n²·error² + z²)``, whatever the method; M the share not seen.

    ``n·M`` is as random as φ_1, which estimates it, and both are as a rule few and large steps: one label that was
    missed may have been expected five times. So the interval is that of a count, as Wilson's is of a share, with four
    times the term z²/4 of Poisson numbers, where the worst of the measured shapes would hold 87 %. Of n items without
    any label seen once or twice, M may be up to ``1.5·z²/n``. Where less than half is covered, the upper end of the
    coverage is ``C + z²/n + z·sqrt(error² + z²/n²)``: n singletons may be of a coverage up to ``2·z²/n``.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = CoverageInterval().of(Sample(Profile([5], [20])), 1.0, 0.0)
    >>> round(found.low, 4), found.high
    (0.9424, 1.0)
    """

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
        covered, spread = sample.of(GoodTuring())
        z, n = sample.z, float(sample.profile.n)
        middle, half = 1.0 - covered + z**2 / (2 * n), z * math.hypot(spread, z / n)
        low, high = max(1.0 - middle - half, 0.0), min(1.0 - middle + half, 1.0)
        if covered < _LITTLE:
            # Then it is the repeats that are a count, and each is two items.
            high = min(covered + z**2 / n + half, 1.0)
        return Bounds(low, high, Statement(Holds.BOTH, _FEW)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

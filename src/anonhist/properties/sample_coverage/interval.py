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
    """``1 − M`` with ``n·M`` from ``φ_1 + z²/2 ± z·sqrt(n²·error² + z²)``, for all methods; M is the missing mass.

    ``n·M`` is as random as its estimate φ_1, and both move in few, large steps: a missed label may have an expected
    count of five. So the interval is that of a count, as Wilson's is of a share, with four times the Poisson term z²/4;
    with z²/4 itself, the interval held in only 87 % on the worst measured shape. For n items without labels seen once
    or twice, M may be up to ``1.5·z²/n``. If less than half is covered, the upper end of the coverage is
    ``C + z²/n + z·sqrt(error² + z²/n²)``: n singletons may have a coverage up to ``2·z²/n``.

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
            # Then the repeats are the count, and each is two items.
            high = min(covered + z**2 / n + half, 1.0)
        return Bounds(low, high, Statement(Holds.BOTH, _FEW)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

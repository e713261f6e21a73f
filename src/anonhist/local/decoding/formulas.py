"""The decoders that need only the raw estimates: projection, normalization, and none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.local.decoding.decoder import Decoded, Decoder
from anonhist.numeric.projections import project_to_simplex, project_to_solid_simplex, truncate_and_renormalize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.decoder import Observed


@dataclass(frozen=True)
class Projected(Decoder):
    """``argmin_{f ≥ 0, Σf = 1} |f − raw|²``, as in Kairouz et al. (2016); best if few items are frequent.

    If there may be other items, the sum is at most 1, and "other" is the rest.

    Examples
    --------
    >>> Projected().decode(np.array([0.75, 0.5, -0.25])).frequencies.tolist()
    [0.625, 0.375, 0.0]
    """

    name: ClassVar[str] = "projected"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        if not other:
            return Decoded(project_to_simplex(raw))
        listed = project_to_solid_simplex(raw)
        return Decoded(np.append(listed, max(1.0 - float(listed.sum()), 0.0)))


@dataclass(frozen=True)
class Normalized(Decoder):
    """``max(raw, 0)``, divided by its sum; equal frequencies if nothing is above 0.

    If noise is far larger than every frequency, this often has a lower ℓ1 error than a projection, because it stays
    closer to uniform. If there may be other items, only a sum above 1 is scaled, and "other" is the rest up to 1.

    Examples
    --------
    >>> Normalized().decode(np.array([1.5, -1.0, 0.5])).frequencies.tolist()
    [0.75, 0.0, 0.25]
    """

    name: ClassVar[str] = "normalized"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        if not other:
            return Decoded(truncate_and_renormalize(raw))
        listed = np.maximum(raw, 0.0)
        rest = 1.0 - float(listed.sum())
        return Decoded(np.append(listed if rest >= 0 else truncate_and_renormalize(listed), max(rest, 0.0)))


@dataclass(frozen=True)
class Unbiased(Decoder):
    """The raw estimates, unchanged: unbiased, but some frequencies are below 0; "other" is the rest up to 1.

    Examples
    --------
    >>> Unbiased().decode(np.array([0.75, -0.25]), other=True).frequencies.tolist()
    [0.75, -0.25, 0.5]
    """

    name: ClassVar[str] = "unbiased"

    def _decode(self, raw: NDArray[np.float64], observed: Observed, *, other: bool) -> Decoded:
        del observed
        return Decoded(np.append(raw, 1.0 - float(raw.sum())) if other else raw.copy())

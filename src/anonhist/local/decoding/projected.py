"""The distribution nearest to the raw estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.local.decoding.decoder import Decoded, Decoder, checked_raw
from anonhist.numeric.simplex import project_to_simplex, project_to_solid_simplex

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.channel import Channel


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

    def decode(
        self,
        raw: NDArray[np.float64],
        channel: Channel | None = None,
        counts: NDArray[np.float64] | None = None,
        *,
        other: bool = False,
    ) -> Decoded:
        """Return the frequencies; see :meth:`Decoder.decode`."""
        del channel, counts
        values = checked_raw(raw)
        if not other:
            return Decoded(project_to_simplex(values))
        listed = project_to_solid_simplex(values)
        return Decoded(np.append(listed, max(1.0 - float(listed.sum()), 0.0)))

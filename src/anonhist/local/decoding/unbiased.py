"""The raw estimates as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.local.decoding.decoder import Decoded, Decoder, checked_raw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.decoding.channel import Channel


@dataclass(frozen=True)
class Unbiased(Decoder):
    """The raw estimates, unchanged: unbiased, but some frequencies are below 0; "other" is the rest up to 1.

    Examples
    --------
    >>> Unbiased().decode(np.array([0.75, -0.25]), other=True).frequencies.tolist()
    [0.75, -0.25, 0.5]
    """

    name: ClassVar[str] = "unbiased"

    def decode(
        self,
        raw: NDArray[np.float64],
        channel: Channel | None = None,
        counts: NDArray[np.float64] | None = None,
        *,
        other: bool = False,
    ) -> Decoded:
        """Return the raw estimates; see :meth:`Decoder.decode`."""
        del channel, counts
        values = checked_raw(raw)
        return Decoded(np.append(values, 1.0 - float(values.sum())) if other else values.copy())

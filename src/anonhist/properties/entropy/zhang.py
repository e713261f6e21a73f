"""The entropy of Zhang: never too high on average, for any distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class Zhang:
    """``H_Z = Σ_r φ_r·(r/n)·(ψ(n) − ψ(r))`` in nats, ψ the digamma function (Zhang 2012, closed form of Schürmann).

    Its mean is ``Σ_x p_x·Σ_{1≤s<n} (1 − p_x)^s/s``, the truncated series of ``−ln p_x``. So its bias is exactly
    ``−Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``, never positive, and due to labels that may be missed; intervals are therefore
    computed from it. For one label it is 0, for n singletons ``ψ(n) + γ``, γ Euler's constant.

    References
    ----------
    .. [1] Z. Zhang, "Entropy estimation in Turing's perspective", Neural Computation 24 (2012), 1368–1389.
    .. [2] T. Schürmann, "A note on entropy estimation", Neural Computation 27 (2015), 2097–2106.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(Zhang().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.333333
    """

    name: ClassVar[str] = "zhang"
    assumes: ClassVar[str] = "items drawn independently; the value is too low by the contribution of labels not seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        from scipy.special import psi

        n = float(profile.n)
        of_all = float(psi(n))

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            return np.asarray(counts / n * (of_all - psi(np.maximum(counts, 1))))

        return Point(max(0.0, float(weights(profile.counts) @ profile.prevalences)), weights)

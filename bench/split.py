"""The split of a Young diagram: a simple mechanism for comparisons, which no paper has in this form."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.mechanisms.noise import add_noise
from anonhist.mechanisms.skeletons import AdditiveMechanism, profile_of_fit
from anonhist.numeric.fits import decreasing_fit
from anonhist.profiles import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.mechanisms.noise import Noise


@dataclass(frozen=True)
class SplitMechanism(AdditiveMechanism):
    """Cut the diagram at column ``T = ⌈√N⌉``, add noise to the columns before it and to the rows beyond it.

    ``φ̃_{r+} = φ_{r+} + G`` for r = 1..T and ``ρ̃_i = max(λ_i − T, 0) + G`` for i = 1..T, independent G with
    ``P(G = j) ∝ exp(−ε'|j|/Δ)``; each side is made decreasing by isotonic regression, and where they disagree about how
    many labels pass T the change that costs least is made. One more item is one more cell, in one column or one row:
    it changes one of the numbers, by one. A cell outside both has T others before it in each of T rows, so there is
    none where N ≥ n.

    With N public the error is O(√n/e^ε) from ε = 1 on, the rate that Manurangsi proves for an algorithm of his [1]_,
    whose text was not to be had; the split is this project's own.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    public_items
        N = n, if it is known to everybody and is not paid for.
    share
        Else the share of epsilon that is spent on ``N = n + G``, and ε' is the rest.

    References
    ----------
    .. [1] P. Manurangsi, "Tight bounds for differentially private anonymized histograms", SOSA 2022, abstract.
    """

    name: ClassVar[str] = "split"

    _: KW_ONLY
    public_items: int | None = None
    share: Fraction = Fraction(1, 50)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, None]:
        epsilon, items = self.epsilon_per_cell, self.public_items
        if items is None:
            spent = epsilon * self.share
            items, epsilon = max(1, profile.n + int(noise(spent, 1)[0])), epsilon - spent
        cut = math.isqrt(items - 1) + 1
        levels = np.arange(1, cut + 1)
        columns = _fit(add_noise(profile.cumulative_prevalence(levels), noise(epsilon, cut)))
        rows = _fit(add_noise(_beyond(profile, cut), noise(epsilon, cut)))
        reaching = _agree(columns, rows)
        columns, rows = np.maximum(columns, reaching), rows[:reaching]
        # Of the labels that reach the last column, the first have rows beyond it.
        base = profile_of_fit(levels[:-1], columns[:-1].astype(np.float64) - reaching)
        tall, labels = np.unique(np.append(cut + rows, np.full(reaching - rows.size, cut)), return_counts=True)
        return Profile(np.append(base.counts, tall), np.append(base.prevalences, labels)), None


def _fit(noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.rint(np.maximum(decreasing_fit(noisy), 0)).astype(np.int64)


def _beyond(profile: Profile, cut: int) -> NDArray[np.int64]:
    """Return how far the ``cut`` largest counts pass the cut, descending, zeros included."""
    tall = profile.counts > cut
    found = np.repeat(profile.counts[tall] - cut, profile.prevalences[tall])[::-1][:cut]
    return np.append(found, np.zeros(cut - found.size, dtype=np.int64))


def _agree(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> int:
    """Return how many labels reach the cut: raising columns to k costs cells, and so does leaving rows after k out."""
    least, most = int(columns[-1]), int(np.count_nonzero(rows))
    if most <= least:
        return least
    tried = np.arange(least, most + 1)
    raised = np.array([int(np.maximum(k - columns, 0).sum()) for k in tried])
    left_out = np.append(rows[::-1].cumsum()[::-1], 0)[tried]
    return int(tried[np.argmin(raised + left_out)])

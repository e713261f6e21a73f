"""Posteriors of many groups under a prior that was learned from all of them: attempts that no release uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from anonhist.mechanisms.frobenius import posterior
from anonhist.mechanisms.frobenius import posterior as row_posterior
from anonhist.mechanisms.frobenius.posterior import RowPosterior
from anonhist.mechanisms.frobenius.row_weights import RowWeights
from anonhist.mechanisms.skeletons import bounded_profile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    import anonhist as ah
    from anonhist.mechanisms.frobenius.row_weights import NoisyCoordinates, NoisyRows

    _Numbers = NDArray[np.float64]

_GRID, _COARSE = 0.05, 0.1
_LEAST, _STEEPEST = 0.02, 300.0


@dataclass(frozen=True)
class LearnedPrior:
    """Independent geometric prevalences: those of group g have means ``labels[g] · rates[r]`` at count r.

    Attributes
    ----------
    rates : ndarray of float64
        For counts 1, 2, …; beyond the last they fall as 1/r².
    labels : ndarray of float64, shape (groups,)
        Expected number of labels of each group.
    """

    rates: _Numbers
    labels: _Numbers

    @classmethod
    def of(cls, curves: _Numbers) -> LearnedPrior:
        """Learn the rates from expected cumulative prevalences of all groups, in bins of counts that grow by a third.

        Examples
        --------
        >>> prior = LearnedPrior.of(np.array([[4.0, 1.0, 0.0], [2.0, 1.0, 0.0]]))
        >>> prior.labels.tolist(), prior.rates[:2].round(3).tolist()
        ([4.0, 2.0], [0.667, 0.333])
        """
        labels, top = np.maximum(curves[:, 0], 0.3), curves.shape[1]
        begins = [*range(1, min(8, top) + 1)]
        while begins[-1] * 1.35 + 1 < top:
            begins.append(int(begins[-1] * 1.35) + 1)
        starts = np.array(begins)
        ends = np.append(starts[1:], top + 1)
        reaching = np.append(curves.sum(axis=0), 0.0)
        rates = (reaching[starts - 1] - reaching[ends - 1]) / (ends - starts) / labels.sum()
        middles = np.log(np.sqrt(starts * (ends - 1.0)))
        logs = np.interp(np.log(np.arange(1.0, top + 1)), middles, np.log(np.maximum(rates, 1e-9 / starts**2)))
        return cls(np.exp(logs), labels)

    def of_groups(self, places: NDArray[np.int64]) -> LearnedPrior:
        """Keep these groups only."""
        return LearnedPrior(self.rates, self.labels[places])

    def means(self, counts: _Numbers) -> _Numbers:
        """Return the mean prevalences at counts ≥ 1, one row for each group."""
        last = self.rates.size
        inside = self.rates[np.minimum(counts, last).astype(np.int64) - 1]
        return np.asarray(self.labels[:, None] * inside * np.minimum(last / counts, 1.0) ** 2)


class LearnedWeights(RowWeights):
    """Weights of rows under a learned prior: the first half of the sides are arms, the second half their legs.

    Given m, arms have weight ``x(y)`` each, ``x = λ/(1 + λ)``, and legs ``Π_{k≤m} (1 − x_k) x_k^{y_k − y_{k+1}}`` with
    ``y_{m+1} = m``, since columns fall by a prevalence: a factor for each row that is exponential in it.
    """

    def __init__(
        self,
        prior: LearnedPrior,
        noisy: NoisyRows,
        epsilon: float,
        grid: float,
        scales: _Numbers | None,
        *,
        reach: float,
    ) -> None:
        del scales
        super().__init__(noisy, epsilon, grid, None, reach=reach)
        self._prior, self._sides = prior, noisy.sums.shape[0] // 2
        self._half = self.places.size // 2
        here = np.arange(1.0, noisy.sums.shape[1] + 1)
        means = np.maximum(prior.means(np.broadcast_to(here, (self._sides, here.size))), _LEAST)
        logs = np.log(means / (1 + means))
        tilts = np.diff(logs, axis=1, prepend=0.0)
        self._tilts = tilts.T
        arms, legs = self.ends[: self._sides, 1:], self.ends[self._sides :, 1:]
        arms += np.cumsum(np.log1p(self.step * means), axis=1) / self.step
        middles = (self.low[:, self._sides :] + self._half) * self.step
        legs += np.cumsum(tilts * middles.T - np.log1p(means), axis=1) - logs * here

    def at(self, k: int) -> _Numbers:
        """Return the weights in the windows of position k."""
        weight = super().at(k).copy()
        sides = self._sides
        lengths = (self.low[k, :sides, None] + self.places) * float(self.step)
        means = self.step * np.maximum(self._prior.means(np.maximum(lengths, 1.0)), 1e-9)
        weight[:sides] *= means / (1 + means)
        tilt = self._tilts[k][:, None] * self.step * (self.places - self._half)
        weight[sides:] *= np.exp(np.clip(tilt, -_STEEPEST, _STEEPEST))
        return weight


@dataclass(frozen=True)
class Posteriors:
    """What noisy values say of each group.

    Attributes
    ----------
    medians
        The profiles of all cells that are more likely in than out.
    curves : ndarray of float64, shape (groups, top)
        Expected number of labels with each count or more.
    """

    medians: list[ah.Profile]
    curves: _Numbers


def posteriors(
    drawn: Iterable[tuple[NDArray[np.int64], NoisyCoordinates]],
    epsilon: float,
    *,
    groups: int,
    top: int,
    prior: LearnedPrior | None = None,
) -> Posteriors:
    """Return the posteriors of all groups, under the prior of a release or a learned one."""
    medians: list[ah.Profile | None] = [None] * groups
    curves = np.zeros((groups, top + 2))
    for places, noisy in drawn:
        enough = epsilon * noisy.sizes >= posterior.SIZE_IS_ENOUGH
        for chosen in (enough, ~enough):
            if not chosen.any():
                continue
            some, mine = noisy.of(chosen), places[chosen]
            if prior is None:
                sides = _zipf_sides(some, epsilon, fit=not enough[chosen].all())
                _note(sides, some, mine, medians, curves)
            else:
                weights = partial(LearnedWeights, prior.of_groups(mine))
                with patch.object(row_posterior, "RowWeights", weights):
                    _note(_sides(some, epsilon), some, mine, medians, curves)
    return Posteriors([found for found in medians if found is not None], np.cumsum(curves, axis=1)[:, 1:-1])


def _sides(
    noisy: NoisyCoordinates, epsilon: float, sizes: NDArray[np.int64] | None = None, grid: float = _GRID
) -> RowPosterior:
    count = noisy.sizes.size

    def settled(evidence: _Numbers) -> bool:
        joint = posterior._log_weights(noisy.sizes, evidence, epsilon) + evidence[:count] + evidence[count:]  # noqa: SLF001
        return bool(np.all(joint[:, -1] < joint.max(axis=1) - 50))

    scales = None if sizes is None else np.tile(np.maximum(sizes, 1).astype(np.float64), 2)
    return RowPosterior(noisy.arms.beside(noisy.legs), epsilon=epsilon, grid=grid, settled=settled, scales=scales)


def _zipf_sides(noisy: NoisyCoordinates, epsilon: float, *, fit: bool) -> RowPosterior:
    """Return the posterior of a release."""
    sizes = noisy.sizes
    if fit:
        sizes = _size(_sides(noisy, epsilon, grid=_COARSE), noisy)
        sizes = _size(_sides(noisy, epsilon, sizes), noisy)
    return _sides(noisy, epsilon, sizes)


def _size(sides: RowPosterior, noisy: NoisyCoordinates) -> NDArray[np.int64]:
    return posterior._size(posterior._durfee(sides, noisy.sizes)[0])  # noqa: SLF001


def _note(
    sides: RowPosterior,
    noisy: NoisyCoordinates,
    places: NDArray[np.int64],
    medians: list[ah.Profile | None],
    curves: _Numbers,
) -> None:
    """Note medians, and differences of expected cumulative prevalences."""
    reaches, others = posterior._durfee(sides, noisy.sizes)  # noqa: SLF001
    found = posterior._size(reaches)  # noqa: SLF001
    kept: list[_Numbers] = []
    original = RowPosterior._medians  # noqa: SLF001

    def keep(self: RowPosterior, above: _Numbers, low: NDArray[np.int64], reach: _Numbers) -> tuple[Any, Any]:
        marginal = -np.diff(above, axis=2, append=0.0)
        kept.append(marginal / np.maximum(above[:, :, :1], 1e-300) * reach[:, :, None])
        return original(self, above, low, reach)

    with patch.object(RowPosterior, "_medians", keep):
        rows, _ = sides.median_rows(others, np.concatenate((reaches, reaches)))
    marginal = np.concatenate(kept[::-1])
    top, count, positions = curves.shape[1] - 2, noisy.sizes.size, np.arange(1, marginal.shape[0] + 1)
    weights = sides._weights  # noqa: SLF001
    lengths = (weights.low[: positions.size, :, None] + weights.places) * weights.step
    for number, place in enumerate(places.tolist()):
        size = int(found[number])
        arm, leg = (posterior._coordinates(rows[side], size) for side in (number, count + number))  # noqa: SLF001
        medians[place] = bounded_profile(arm, leg)
        # A cell (i, k) belongs to arm i if k > i, to leg k if i > k, else to the diagonal.
        reach = reaches[number, 1:]
        legs = (marginal[:, count + number] * lengths[:, count + number]).sum(axis=1)
        square = np.diff(reach + np.maximum(legs - positions * reach, 0), prepend=0, append=0)
        arms = marginal[:, number]
        ends = np.maximum(lengths[:, number], positions[:, None]) + 1
        for counts, change in (
            (np.append(positions, positions.size + 1), square),
            (positions + 1, arms.sum(axis=1)),
            (ends.ravel(), -arms.ravel()),
        ):
            np.add.at(curves[place], np.minimum(counts, top + 1), change)

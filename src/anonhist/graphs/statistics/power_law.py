"""The discrete power law: its fit to the tail of a profile by maximum likelihood, and the distance of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile

# Exponents are looked for between these; the distribution itself needs more than 1.
LEAST, MOST = 1.0 + 1e-6, 20.0
_HALVINGS = 34
# Where degrees were bounded, a distribution is looked for that spans such a factor below the bound.
_SPAN = 4
# From here on an asymptotic series is right to 12 digits for all exponents up to MOST.
_FAR = 1000.0
# Steps of differences, beside the distance to the pole at 1.
_SLOPE_STEP, _CURVE_STEP = 1e-4, 1e-2


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """Degrees of which those from q on may follow ``P(D = d) = d^(−α) / ζ(α, q)``, ``ζ(α, q) = Σ_{k≥0} (q + k)^(−α)``.

    Above a bound θ degrees were cut down to it: θ then stands for θ or more.

    Attributes
    ----------
    degrees, nodes : ndarray of float64, shape (t,)
        The distinct degrees, ascending, and how many nodes have each.
    bound
        θ, or infinity.

    References
    ----------
    .. [1] A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-law distributions in empirical data", SIAM Review 2009:
       eq. 3.5 is the likelihood; section 3.3 the distance.
    """

    degrees: NDArray[np.float64]
    nodes: NDArray[np.float64]
    bound: float = np.inf

    @classmethod
    def of(cls, profile: Profile, max_degree: int | None = None) -> PowerLaw:
        """Take degrees from a profile."""
        bound = np.inf if max_degree is None else float(max_degree)
        return cls(profile.counts.astype(np.float64), profile.prevalences.astype(np.float64), bound)

    def num_at_least(self, degrees: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many nodes have at least each degree."""
        sums = np.append(np.cumsum(self.nodes[::-1])[::-1], 0.0)
        return np.asarray(sums[np.searchsorted(self.degrees, degrees)])

    def exponents(self, starts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the α of the largest likelihood for each q, where some node has a degree of at least q.

        The likelihood is ``Π d_v^(−α) / ζ(α, q)`` over the nodes of degrees from q on, a node of degree θ or more
        adding ``ζ(α, θ) / ζ(α, q)``. Its logarithm rises before the maximum and falls after it, which is found by
        halving; beyond the ends of the range, 1 and 20, the end is returned.
        """
        below = self.degrees < self.bound
        logs = np.where(below, self.nodes * np.log(self.degrees), 0.0)
        sums = np.append(np.cumsum(logs[::-1])[::-1], 0.0)[np.searchsorted(self.degrees, starts)]
        reaching = self.num_at_least(starts)
        means, cut, bounds = sums / reaching, self._cut / reaching, self._bounds(starts)
        is_cut = bool(cut.any())
        low, high = np.full(starts.shape, LEAST), np.full(starts.shape, MOST)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            of_cut = cut * _mean_log(middle, bounds) if is_cut else 0.0
            rises = _mean_log(middle, starts) > means + of_cut
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.asarray((low + high) / 2)

    def sampling_error(self, exponent: float, start: float) -> float:
        """Return the standard error of α when degrees are drawn again: one over the root of the curvature of the log.

        ``1 / sqrt(n·(ln ζ)''(α, q) − m·(ln ζ)''(α, θ))`` for n nodes from q on, m of them cut down to θ.
        """
        q = np.array([start])
        n = float(self.num_at_least(q)[0])
        curvature = n * _curvature(exponent, q) - (
            self._cut * _curvature(exponent, self._bounds(q)) if self._cut else 0
        )
        return float(curvature) ** -0.5 if curvature > 0 else np.inf

    def distances(
        self, exponents: NDArray[np.float64], starts: NDArray[np.float64], *, most: int
    ) -> NDArray[np.float64]:
        """Return, for each q and its α, the largest difference between the fit and the degrees, in shares of nodes.

        The Kolmogorov–Smirnov distance ``max_{r ≥ q} |P(D ≥ r) − φ_{r+}/φ_{q+}|``, where it is largest: at
        the degrees that occur, at most so many of them, and right after each.
        """
        seen = self.degrees[_spread(self.degrees.size, most)]
        places = np.concatenate((seen, seen + 1))
        places = places[places <= self.bound]
        law = np.exp(
            log_zeta(exponents[:, np.newaxis], np.maximum(places, starts[:, np.newaxis]))
            - log_zeta(exponents, starts)[:, np.newaxis]
        )
        shares = self.num_at_least(places) / self.num_at_least(starts)[:, np.newaxis]
        far = np.where(places >= starts[:, np.newaxis], np.abs(law - shares), 0.0)
        return np.asarray(far.max(axis=1, initial=0.0))

    def best_start(self, *, least_nodes: int, starts: int, places: int) -> float:
        """Return the q of the least distance, from at most so many degrees with so many nodes from there on.

        At least two degrees lie from there on; where that is too much to ask, the smallest degree of all is returned.
        """
        able = self.degrees[(self.num_at_least(self.degrees) >= least_nodes) & (self.degrees <= self.bound / _SPAN)]
        able = able[able < self.degrees[-1]]
        if not able.size:
            return float(self.degrees[0])
        tried = able[_spread(able.size, starts)]
        return float(tried[np.argmin(self.distances(self.exponents(tried), tried, most=places))])

    def resample(self, rng: np.random.Generator) -> PowerLaw:
        """Return as many nodes, drawn from these with replacement."""
        total = int(min(self.nodes.sum(), 2.0**62))
        nodes = rng.multinomial(total, self.nodes / self.nodes.sum())
        return PowerLaw(self.degrees[nodes > 0], nodes[nodes > 0].astype(np.float64), self.bound)

    @property
    def _cut(self) -> float:
        """How many nodes were cut down to the bound."""
        return float(self.nodes[self.degrees >= self.bound].sum())

    def _bounds(self, starts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(self.bound, starts)


def log_zeta(exponents: NDArray[np.float64], starts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``ln ζ(α, q)``, for 1 < α ≤ 20 and q ≥ 1, however large.

    From q = 1000 on by Euler and Maclaurin: ``ζ(α, q) = q^(−α) (q/(α − 1) + 1/2 + α/(12 q) − α(α+1)(α+2)/(720 q³))``.

    Examples
    --------
    >>> np.exp(log_zeta(np.array([2.0]), np.array([1.0]))) * 6 / np.pi**2
    array([1.])
    """
    from scipy.special import zeta

    if bool((starts < _FAR).all()):
        return np.asarray(np.log(zeta(exponents, starts)))
    near = np.log(zeta(exponents, np.minimum(starts, _FAR)))
    far = np.maximum(starts, _FAR)
    a = exponents
    series = far / (a - 1) + 0.5 + a / (12 * far) - a * (a + 1) * (a + 2) / (720 * far**3)
    return np.asarray(np.where(starts < _FAR, near, np.log(series) - a * np.log(far)))


def _mean_log(exponents: NDArray[np.float64], starts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``E ln D = −∂ ln ζ(α, q)/∂α``."""
    step = _SLOPE_STEP * (exponents - 1)
    less, more = log_zeta(np.array((exponents - step, exponents + step)), starts)
    return np.asarray((less - more) / (2 * step))


def _curvature(exponent: float, start: NDArray[np.float64]) -> float:
    """Return ``Var ln D = ∂² ln ζ(α, q)/∂α²``."""
    step = _CURVE_STEP * (exponent - 1)
    below, at, above = (log_zeta(np.array([exponent + side * step]), start)[0] for side in (-1, 0, 1))
    return float(below - 2 * at + above) / step**2


def _spread(size: int, most: int) -> NDArray[np.int64]:
    """Return at most so many places of a list, evenly spread on a log scale, ends included."""
    return np.unique(np.rint(np.geomspace(1, size, min(size, most))).astype(np.int64)) - 1

"""The exponent of a power law in the tail of the degrees, by maximum likelihood, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonhist.frozen import frozen
from anonhist.graphs.degree_data import DegreeData, DegreeSource
from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate, Holds, Statement, widening_factor
from anonhist.releases.evidence import NORMAL_95

# A smallest degree is chosen among this many, by this many points of the distribution, if this many nodes remain.
_STARTS, _PLACES, _LEAST_NODES = 50, 256, 50
_BOOTSTRAPS = 32
_EMPTY = "No node has a degree in the tail, so nothing can be estimated: the interval covers every possible value."
_STEEP = "Hardly any degree exceeds the start of the tail: the exponent may be arbitrarily large."
_FLAT = "The distribution of degrees falls more slowly than any power law."
_OF_LIKELIHOOD = "the interval is that of the likelihood"
_OF_STARTS = "the interval is that of the likelihood, for all smallest degrees that may as well have been chosen"
_NO_END = "hardly any degree exceeds the smallest of the tail"
_FEW = f"fewer than {_LEAST_NODES} nodes have degrees to choose the smallest of the tail from; give `min_degree`"
_FAR_OFF = "the degrees are far from a power law, wherever it may begin"
# Exponents are searched between these; the distribution itself needs more than 1.
LEAST, MOST = 1.0 + 1e-6, 20.0
_HALVINGS = 34
# Twice the fall of the log-likelihood up to the ends: the 95% quantile of χ² with one degree of freedom; if all degrees
# are equal, −2·ln 0.025, because their probability itself is known.
_FALL, _FALL_OF_EQUAL = NORMAL_95**2, -2 * math.log(0.025)
# At most 1% of the samples of a power law are farther off than this: Stephens, "EDF statistics for goodness of fit and
# some comparisons", JASA 69 (1974), for the exponential distribution, the limit for large degrees.
_TOO_FAR = 1.308
# If degrees were bounded, the search is for a distribution that spans this factor below the bound.
_SPAN = 4
# From here on, an asymptotic series is correct to 12 digits for all exponents up to MOST.
_FAR = 1000.0
# Steps of finite differences, relative to the distance from the pole at 1.
_SLOPE_STEP, _CURVE_STEP = 1e-4, 1e-2


@frozen
class PowerLawTail:
    """A power law in the tail of the degrees: ``P(D = d) ∝ d^(−α)`` for degrees d from ``min_degree`` on.

    Attributes
    ----------
    exponent
        α, in (1, 20], with its interval.
    min_degree
        The smallest degree to which the distribution was fitted.
    nodes
        The number of nodes with such a degree.
    distance
        The largest difference between the distribution and the degrees, as a share of these nodes: about 0.02 is a good
        fit, 0.1 is not.
    """

    exponent: Estimate
    min_degree: int
    nodes: int
    distance: float

    def __str__(self) -> str:
        return f"{self.exponent}, of degrees from {self.min_degree:,} on"


def power_law_tail(data: DegreeSource, *, min_degree: int | None = None) -> PowerLawTail:
    """Fit a power law to the degrees from a smallest one on, by maximum likelihood.

    ``α̂`` maximizes ``−n ln ζ(α, q) − α Σ_{d_v ≥ q} ln d_v``, ``ζ(α, q) = Σ_{k≥0} (q + k)^(−α)``, n the number of nodes
    of degree at least q, which is ``min_degree``. If degrees were bounded by θ, a node of degree θ counts as one of
    degree θ or more.

    The interval is that of α, not of α̂: it covers **both** the sampling error, as if the nodes' degrees were drawn
    again, and the privacy noise, as the root of the sum of their squares. For a given q the first is the likelihood
    interval: all α whose log-likelihood is less than 1.92 below its maximum. If q is chosen, the interval goes from the
    least to the largest end over all q that are chosen for 32 bootstrap samples of the nodes or for the runs of the
    release. If too few degrees exceed q, α has no upper end. If there are too few degrees to choose q, or they are too
    far from any power law (1% level), there is no interval.

    Source: Clauset and others 2009, eq. 3.5 and 3.6, sections 3.3 and 3.4.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    min_degree
        q, from 1 to 2^62. By default, the degree from which on the distribution is closest to the degrees: the least
        Kolmogorov–Smirnov distance, among degrees that at least 50 nodes reach; of many degrees, 50 are tried, evenly
        spread on a log scale.

    Returns
    -------
    PowerLawTail
        If no node has such a degree, the exponent is 1 with an interval of all possible values.

    Raises
    ------
    UsageError
        If ``min_degree`` is out of range, or ``data`` has no degrees.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> degrees = np.arange(1, 1000)
    >>> nodes = np.round(1e6 * degrees**-2.5).astype(int)
    >>> tail = power_law_tail(Profile(degrees[nodes > 0], nodes[nodes > 0]), min_degree=2)
    >>> round(tail.exponent.value, 2)
    2.5
    """
    given = None if min_degree is None else float(parse_whole_number(min_degree, name="min_degree"))
    found = DegreeData.of(data)
    law = PowerLaw.of(found.profile, found.max_degree)
    fit = _fit(law, given)
    if fit is None:
        return _nothing(found, given)
    (start, value), at = fit, np.array([fit[0]])
    steep, flat = value > MOST - 0.01, value < LEAST + 1e-3
    distance = float(law.distances(np.array([value]), at, most=_PLACES)[0])
    nodes = float(law.num_at_least(at)[0])
    # A run without such a tail carries no information about its exponent.
    runs = [_fit(PowerLaw.of(profile, found.max_degree), given) or fit for profile in found.runs]
    # Seeded, so that the same degrees always give the same error.
    rng = np.random.default_rng(0)
    drawn = [] if given is not None else [_fit(law.resample(rng), None) or fit for _ in range(_BOOTSTRAPS)]
    own = law.sampling_error(value, start) if given is not None else _off(value, drawn)
    noise = _off(value, runs)
    statement = found.unknown
    low, high = 1.0, math.inf
    if statement is None:
        starts = np.unique([start, *(each for each, _ in (*drawn, *runs))])
        low, high = law.likelihood_interval(starts[starts <= law.degrees[-1]])
        far = NORMAL_95 * widening_factor(len(runs)) * noise if runs else 0.0
        low, high = max(1.0, value - math.hypot(value - low, far)), value + math.hypot(high - value, far)
        statement = _statement(law, given, nodes, distance, is_open=math.isinf(high))
        if statement.holds is Holds.NONE:
            low, high = 1.0, math.inf
    exponent = Estimate(
        value,
        math.hypot(own, noise),
        (low, high),
        "maximum likelihood of a power law" + ("" if found.error is None else ", from a release"),
        assumes=_assumes(found, start),
        parts=(("sampling", own), *((("privacy noise", noise),) if runs else ())),
        warnings=(*((_STEEP,) if steep else ()), *((_FLAT,) if flat else ()), *found.warnings),
        guarantee=found.guarantee,
        statement=statement,
    )
    return PowerLawTail(exponent, int(start), int(nodes), distance)


def _statement(law: PowerLaw, given: float | None, nodes: float, distance: float, *, is_open: bool) -> Statement:
    """Return which ends of the interval hold."""
    if given is None and not law.has_choice():
        return Statement(Holds.NONE, _FEW)
    scaled = (distance - 0.2 / nodes) * (math.sqrt(nodes) + 0.26 + 0.5 / math.sqrt(nodes))
    if given is None and scaled > _TOO_FAR:
        return Statement(Holds.NONE, _FAR_OFF)
    if is_open:
        return Statement(Holds.AT_LEAST, _NO_END)
    return Statement(Holds.BOTH, _OF_LIKELIHOOD if given is not None else _OF_STARTS)


def _fit(law: PowerLaw, given: float | None) -> tuple[float, float] | None:
    """Return the start of the tail, chosen unless given, and its exponent; None if there is no tail."""
    if not law.degrees.size or (given is not None and not law.degrees[-1] >= given < law.bound):
        return None
    start = law.best_start() if given is None else given
    return start, float(law.exponents(np.array([start]))[0])


def _off(value: float, fits: list[tuple[float, float]]) -> float:
    """Return the root mean square error of exponents; 0 without any."""
    return math.hypot(*(exponent - value for _, exponent in fits)) / math.sqrt(len(fits)) if fits else 0.0


def _assumes(data: DegreeData, start: float) -> str:
    law = f"degrees from {start:,.0f} on follow a power law, independently for each node"
    return f"{law}; {data.assumes}" if data.assumes else law


def _nothing(data: DegreeData, given: float | None) -> PowerLawTail:
    start = given or 1.0
    exponent = Estimate(
        1.0,
        0.0,
        (1.0, math.inf),
        "maximum likelihood of a power law" + ("" if data.error is None else ", from a release"),
        assumes=_assumes(data, start),
        warnings=(_EMPTY, *data.warnings),
        guarantee=data.guarantee,
    )
    return PowerLawTail(exponent, int(start), 0, 0.0)


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """Degrees that may follow ``P(D = d) = d^(−α) / ζ(α, q)`` from q on, ``ζ(α, q) = Σ_{k≥0} (q + k)^(−α)``.

    ``degrees`` are distinct and ascending. Above a ``bound`` θ degrees were cut down to it: θ then stands for θ or
    more.

    Source: Clauset and others 2009, eq. 3.5 is the likelihood; section 3.3 the distance.
    """

    degrees: Floats
    nodes: Floats
    bound: float = np.inf

    @classmethod
    def of(cls, profile: Profile, max_degree: int | None = None) -> PowerLaw:
        """Take degrees from a profile."""
        bound = np.inf if max_degree is None else float(max_degree)
        return cls(profile.counts.astype(np.float64), profile.prevalences.astype(np.float64), bound)

    def num_at_least(self, degrees: Floats) -> Floats:
        """Return how many nodes have at least each degree."""
        return np.asarray(np.append(np.cumsum(self.nodes[::-1])[::-1], 0.0)[np.searchsorted(self.degrees, degrees)])

    def has_choice(self) -> bool:
        """Return whether a q can be chosen: enough nodes have some degree or more, or all have the same degree."""
        return bool(self._able.size) or (self.degrees.size == 1 and self.nodes[0] >= _LEAST_NODES)

    def exponents(self, starts: Floats) -> Floats:
        """Return the α of the largest likelihood for each q, where some node has a degree of at least q.

        The likelihood is ``Π d_v^(−α) / ζ(α, q)`` over the nodes of degrees from q on, a node of degree θ or more
        adding ``ζ(α, θ) / ζ(α, q)``. Its logarithm rises before the maximum and falls after it, so bisection finds it;
        beyond the ends of the range, 1 and 20, the result is the end.
        """
        means, cut, bounds = self._means(starts)
        is_cut = bool(cut.any())
        low, high = np.full(starts.shape, LEAST), np.full(starts.shape, MOST)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            of_cut = cut * _mean_log(middle, bounds) if is_cut else 0.0
            rises = _mean_log(middle, starts) > means + of_cut
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.asarray((low + high) / 2)

    def likelihood_interval(self, starts: Floats) -> tuple[float, float]:
        """Return the least and the largest α that the likelihood allows for any of these q.

        At the ends of the range, 1 and 20, they are 1 and infinity.
        """
        means, cut, bounds = self._means(starts)
        nodes = self.num_at_least(starts)
        are_equal = self.num_at_least(starts + 1) == 0

        def likelihood(exponents: Floats) -> Floats:
            of_cut = cut * log_zeta(exponents, bounds) if bool(cut.any()) else 0.0
            return np.asarray(nodes * (of_cut - log_zeta(exponents, starts) - exponents * means))

        best = self.exponents(starts)
        # For equal degrees the likelihood is their probability, which has no maximum: it rises towards 1.
        least = np.where(are_equal, -_FALL_OF_EQUAL, 2 * likelihood(best) - _FALL) / 2
        ends = []
        for end in (LEAST, MOST):
            inside, outside = best, np.full(starts.shape, end)
            for _ in range(_HALVINGS):
                middle = (inside + outside) / 2
                is_inside = likelihood(middle) >= least
                inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
            ends.append(outside)
        low, high = float(ends[0].min()), float(ends[1].max())
        return (low if low > LEAST else 1.0), (high if high < MOST else math.inf)

    def sampling_error(self, exponent: float, start: float) -> float:
        """Return the standard error of α under resampling of degrees: one over the root of the curvature of the log.

        ``1 / sqrt(n·(ln ζ)''(α, q) − m·(ln ζ)''(α, θ))`` for n nodes from q on, m of them cut down to θ.
        """
        q = np.array([start])
        n = float(self.num_at_least(q)[0])
        curvature = n * _curvature(exponent, q) - (
            self._cut * _curvature(exponent, self._bounds(q)) if self._cut else 0
        )
        return float(curvature) ** -0.5 if curvature > 0 else np.inf

    def distances(self, exponents: Floats, starts: Floats, *, most: int) -> Floats:
        """Return, for each q and its α, the largest difference between the fit and the degrees, in shares of nodes.

        This is the Kolmogorov–Smirnov distance ``max_{r ≥ q} |P(D ≥ r) − φ_{r+}/φ_{q+}|``, evaluated where it is
        largest: at the degrees that occur, at most ``most`` of them, and right after each.
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

    def best_start(self) -> float:
        """Return the q of the least distance, from at most 50 degrees with 50 nodes or more from there on.

        At least two degrees must lie from there on; if that is impossible, the result is the smallest degree.
        """
        able = self._able
        if not able.size:
            return float(self.degrees[0])
        tried = able[_spread(able.size, _STARTS)]
        return float(tried[np.argmin(self.distances(self.exponents(tried), tried, most=_PLACES))])

    def resample(self, rng: np.random.Generator) -> PowerLaw:
        """Return as many nodes, drawn from these with replacement."""
        nodes = rng.multinomial(int(min(self.nodes.sum(), 2.0**62)), self.nodes / self.nodes.sum())
        return PowerLaw(self.degrees[nodes > 0], nodes[nodes > 0].astype(np.float64), self.bound)

    @property
    def _cut(self) -> float:
        """The number of nodes that were cut down to the bound."""
        return float(self.nodes[self.degrees >= self.bound].sum())

    @property
    def _able(self) -> Floats:
        """The degrees that may be chosen as q."""
        able = self.degrees[(self.num_at_least(self.degrees) >= _LEAST_NODES) & (self.degrees <= self.bound / _SPAN)]
        return np.asarray(able[able < self.degrees[-1]])

    def _means(self, starts: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the mean of ``ln d`` of nodes from q on, the share of those cut down to the bound, and the bound."""
        below = self.degrees < self.bound
        logs = np.where(below, self.nodes * np.log(self.degrees), 0.0)
        sums = np.append(np.cumsum(logs[::-1])[::-1], 0.0)[np.searchsorted(self.degrees, starts)]
        reaching = self.num_at_least(starts)
        return np.asarray(sums / reaching), np.asarray(self._cut / reaching), self._bounds(starts)

    def _bounds(self, starts: Floats) -> Floats:
        return np.maximum(self.bound, starts)


def log_zeta(exponents: Floats, starts: Floats) -> Floats:
    """Return ``ln ζ(α, q)``, for 1 < α ≤ 20 and q ≥ 1, however large.

    From q = 1000 on it uses the formula of Euler and Maclaurin: ``ζ(α, q) = q^(−α) (q/(α − 1) + 1/2 + α/(12 q) −
    α(α+1)(α+2)/(720 q³))``.
    """
    from scipy.special import zeta

    if bool((starts < _FAR).all()):
        return np.asarray(np.log(zeta(exponents, starts)))
    near = np.log(zeta(exponents, np.minimum(starts, _FAR)))
    far = np.maximum(starts, _FAR)
    a = exponents
    series = far / (a - 1) + 0.5 + a / (12 * far) - a * (a + 1) * (a + 2) / (720 * far**3)
    return np.asarray(np.where(starts < _FAR, near, np.log(series) - a * np.log(far)))


def _mean_log(exponents: Floats, starts: Floats) -> Floats:
    """Return ``E ln D = −∂ ln ζ(α, q)/∂α``."""
    step = _SLOPE_STEP * (exponents - 1)
    less, more = log_zeta(np.array((exponents - step, exponents + step)), starts)
    return np.asarray((less - more) / (2 * step))


def _curvature(exponent: float, start: Floats) -> float:
    """Return ``Var ln D = ∂² ln ζ(α, q)/∂α²``."""
    step = _CURVE_STEP * (exponent - 1)
    below, at, above = (log_zeta(np.array([exponent + side * step]), start)[0] for side in (-1, 0, 1))
    return float(below - 2 * at + above) / step**2


def _spread(size: int, most: int) -> Ints:
    """Return at most this many positions of a list, evenly spread on a log scale, including both ends."""
    return np.unique(np.rint(np.geomspace(1, size, min(size, most))).astype(np.int64)) - 1

"""The exponent of a power law in the tail of the degrees, with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.graphs.statistics.degree_data import DegreeData, DegreeSource
from anonhist.graphs.statistics.power_law import LEAST, MOST, PowerLaw
from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import Estimate
from anonhist.properties.statement import PLUS_MINUS
from anonhist.releases.whole_interval import NORMAL_95

if TYPE_CHECKING:
    from anonhist.profiles import Profile

# A smallest degree is chosen among so many, by so many places of the distribution, where so many nodes are left.
_STARTS, _PLACES, _LEAST_NODES = 50, 256, 50
_BOOTSTRAPS = 32
_EMPTY = "No node has a degree in the tail, so nothing can be estimated: the interval covers every possible value."
_STEEP = "Hardly any degree exceeds the smallest of the tail: the exponent may be arbitrarily large."
_FLAT = "The distribution of degrees falls more slowly than any power law."


@dataclass(frozen=True)
class PowerLawTail:
    """A power law in the tail of the degrees: ``P(D = d) ∝ d^(−α)`` for degrees d from ``min_degree`` on.

    Attributes
    ----------
    exponent
        α, in (1, 20], with its interval.
    min_degree
        From which degree on the distribution was fitted.
    nodes
        How many nodes have such a degree.
    distance
        The largest difference between the distribution and the degrees, as a share of these nodes: some 0.02 is a good
        fit, 0.1 is none.
    """

    exponent: Estimate
    min_degree: int
    nodes: int
    distance: float

    def __str__(self) -> str:
        return f"{self.exponent}, of degrees from {self.min_degree:,} on"


def power_law_tail(data: DegreeSource, *, min_degree: int | None = None) -> PowerLawTail:
    """Fit a power law to the degrees from one on, by maximum likelihood.

    ``α̂`` maximizes ``−n ln ζ(α, q) − α Σ_{d_v ≥ q} ln d_v``, ``ζ(α, q) = Σ_{k≥0} (q + k)^(−α)``, n the number of nodes
    of degree at least q, which is ``min_degree``. Where degrees were bounded by θ, a node of degree θ counts as one of
    degree θ or more.

    The interval is that of α, not of α̂: it covers **both** the sampling error, as if the nodes' degrees were drawn
    again, and the privacy noise, added in squares. For a given q the first is that of the likelihood; where q is
    chosen, it is the spread over 32 bootstrap samples of the nodes, q chosen anew in each, as it is in each run of the
    mechanism for the second. It assumes a power law, which ``distance`` checks.

    Parameters
    ----------
    data
        A release of degrees; or a graph, its degrees or their profile, which are private.
    min_degree
        q, from 1 to 2^62. By default that from which on the distribution is nearest to the degrees: least
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

    References
    ----------
    .. [1] A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-law distributions in empirical data", SIAM Review 2009:
       eq. 3.5 and 3.6, sections 3.3 and 3.4.

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
    if not _has_tail(law, given):
        return _nothing(found, given)
    start = _start(law, given)
    value = _exponent(law, start)
    steep, flat = value > MOST - 0.01, value < LEAST + 1e-3
    own = law.sampling_error(value, start) if given is not None else _redraw(law, value)
    noise = found.noise(value, lambda profile, _: _refit(profile, found.max_degree, given, value))
    error = math.hypot(own, noise)
    low = max(1.0, value - NORMAL_95 * error) if found.is_known else 1.0
    exponent = Estimate(
        value,
        error,
        (low, math.inf if steep or not found.is_known else value + NORMAL_95 * error),
        "maximum likelihood of a power law" + ("" if found.error is None else ", from a release"),
        assumes=_assumes(found, start),
        parts=(("sampling", own), *((("privacy noise", noise),) if found.runs else ())),
        warnings=(*((_STEEP,) if steep else ()), *((_FLAT,) if flat else ()), *found.warnings),
        guarantee=found.guarantee,
        statement=PLUS_MINUS if found.is_known else found.unknown,
    )
    at = np.array([start])
    distance = float(law.distances(np.array([value]), at, most=_PLACES)[0])
    return PowerLawTail(exponent, int(start), int(law.num_at_least(at)[0]), distance)


def _has_tail(law: PowerLaw, given: float | None) -> bool:
    return bool(law.degrees.size) and (given is None or (law.degrees[-1] >= given and given < law.bound))


def _start(law: PowerLaw, given: float | None) -> float:
    return law.best_start(least_nodes=_LEAST_NODES, starts=_STARTS, places=_PLACES) if given is None else given


def _exponent(law: PowerLaw, start: float) -> float:
    return float(law.exponents(np.array([start]))[0])


def _refit(profile: Profile, max_degree: int | None, given: float | None, otherwise: float) -> float:
    """Fit the distribution to a run as it was to the release; a run without a tail returns ``otherwise``."""
    law = PowerLaw.of(profile, max_degree)
    return _exponent(law, _start(law, given)) if _has_tail(law, given) else otherwise


def _redraw(law: PowerLaw, value: float) -> float:
    """Return how far the exponent falls when nodes are drawn again and the smallest degree is chosen anew."""
    # Seeded, so that the same degrees always give the same error.
    rng = np.random.default_rng(0)
    again = [law.resample(rng) for _ in range(_BOOTSTRAPS)]
    return math.hypot(*(_exponent(each, _start(each, None)) - value for each in again)) / math.sqrt(_BOOTSTRAPS)


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

"""A curve with its uncertainty: one value for each x, and a band around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from anonhist.frozen import frozen
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.numeric.arrays import Floats
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import Guarantee, PrivacyUnit, left_out, parse_whole_number
from anonhist.profiles import Profile
from anonhist.properties.estimate import check_level, format_number, quantile, widening_factor
from anonhist.properties.estimator import Resimulated, assumption, profile_of, truncation_reason, why_unknown
from anonhist.properties.sampling import spread

_DROWNED = "The release is mostly noise: the data may be much smaller, and this curve very wrong."
_NOT_SIMULATED = "the error due to privacy noise was not simulated (0 simulations)"


@frozen
class Curve(Shown, Tabular, Saved):
    """Values against x, with their errors and assumptions.

    Attributes
    ----------
    x_name, value_name
        The counted things on the axes, in the plural: ``"draws"``, ``"labels"``.
    x : ndarray of float64
        Where the curve was computed, ascending.
    value : ndarray of float64
        The value at each x.
    standard_error : ndarray of float64
        Root of the expected squared error of each value, ≥ 0.
    low, high : ndarray of float64
        The band. Each interval is meant to contain the true value at its x with probability ``level``; the band does
        not cover the whole curve at once. If ``bias`` says that values are biased, it covers random error only.
    kinds
        The kind of each point, such as ``"interpolated"``, ``"observed"`` or ``"extrapolated"``.
    method
        Source of the values and the band, in a few words.
    assumes
        What the band assumes.
    level
        Probability with which each interval is meant to contain the truth.
    parts
        (cause, standard errors) for each cause of error, if there are several; their squares add up.
    warnings
        Sentences about assumptions that visibly fail.
    guarantee
        The guarantee of the release, if the curve is estimated from one.
    bias
        One sentence on the direction of the bias; empty if there is none.
    why_unknown
        Why the error is unknown; the band then covers all possible values. Empty if it is known.
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.
    bounded_unit
        The unit as it was bounded for this curve; None if as in the guarantee.

    Examples
    --------
    >>> ones = np.ones(1)
    >>> curve = Curve("draws", "labels", ones, ones, 0 * ones, ones, ones, ("interpolated",), "rarefaction")
    >>> curve.header
    ('draws', 'labels', 'low', 'high', 'kind')
    >>> list(curve.rows())
    [(1.0, 1.0, 1.0, 1.0, 'interpolated')]
    """

    known_as = "curve"
    x_name: str
    value_name: str
    x: Floats
    value: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    kinds: tuple[str, ...]
    method: str
    assumes: str = ""
    level: float = 0.95
    parts: tuple[tuple[str, Floats], ...] = ()
    warnings: tuple[str, ...] = ()
    guarantee: Guarantee | None = None
    bias: str = ""
    why_unknown: str = ""
    where: str | None = None
    bounded_unit: PrivacyUnit | None = None

    def __repr__(self) -> str:
        ends = (
            f" from {format_number(self.x[0], digits=6)} to {format_number(self.x[-1], digits=6)}" if len(self) else ""
        )
        return f"Curve({self.value_name} against {self.x_name}, {len(self):,} points{ends}; {self.method})"

    @property
    def left_out(self) -> str:
        """What the band leaves out, because units were bounded before noise was added; empty if they were not."""
        return "" if self.guarantee is None else left_out(self.bounded_unit or self.guarantee.unit)

    @property
    def header(self) -> tuple[str, str, str, str, str]:
        """Names of the columns of :meth:`rows`."""
        return self.x_name, self.value_name, "low", "high", "kind"

    def rows(self) -> Iterator[tuple[float, float, float, float, str]]:
        """Iterate over the points: x, value, low, high, kind."""
        columns = (self.x.tolist(), self.value.tolist(), self.low.tolist(), self.high.tolist(), self.kinds)
        return zip(*columns, strict=True)

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self.x.size)


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of a curve: what they count, where to compute it, the kind of each point, and the range of values."""

    x_name: str
    value_name: str
    x: Floats
    kinds: tuple[str, ...]
    least: Floats | float = -math.inf
    most: Floats | float = math.inf


def estimated_curve(
    data: Profile | Resimulated,
    statistic: Callable[[Profile], Floats],
    axes: Axes,
    *,
    method: str,
    assumes: str = "",
    level: float = 0.95,
    bootstraps: int = 50,
    rng: np.random.Generator | None = None,
    warnings: tuple[str, ...] = (),
    bias: str = "",
) -> Curve:
    """Compute a curve and its band: ``value ± z·error``, clipped to the range of the values.

    For a release it is post-processing. The sampling error is the spread over ``bootstraps`` ≥ 3 samples. For a
    release, the error due to privacy noise is added in squares: ``sqrt(mean_b (f(R*_b) − f(R))²)``, with R the released
    profile and R*_b runs of its mechanism on R. If a release has no runs (``simulations=0``), its runs understate the
    error, or its large counts were capped before noise was added, the band covers all possible values, and
    :attr:`Curve.why_unknown` says why. The statistic must take an empty profile, too.
    """
    check_level(level)
    size = parse_whole_number(bootstraps, name="bootstraps", least=3)
    profile = profile_of(data)
    # A small file may describe a profile too large to simulate: it is refused before any work.
    simulated = () if isinstance(data, Profile) else data.resimulate()
    value = statistic(profile)
    rng = np.random.default_rng() if rng is None else rng
    sampling = spread(profile, statistic, size=size, rng=rng) if profile.n else np.zeros(value.shape)
    parts: tuple[tuple[str, Floats], ...] = ()
    error, wide = sampling, sampling
    unknown = "" if profile.n else "the profile is empty"
    if not isinstance(data, Profile):
        cut = truncation_reason(data.guarantee.unit)
        not_run = why_unknown(data) if simulated else _NOT_SIMULATED
        parts = (("sampling", sampling),)
        unknown = "; ".join(filter(None, (unknown, cut.reason if cut else "", not_run)))
        if not not_run:
            runs = np.array(list(pulsing(statistic(run) for run in simulated)))
            noise = np.sqrt(((runs - value) ** 2).mean(axis=0))
            error, wide = np.hypot(sampling, noise), np.hypot(sampling, widening_factor(len(simulated)) * noise)
            parts = (*parts, ("privacy noise", noise))
        method = f"{method}, from a release"
        if data.mostly_noise:
            warnings = (*warnings, _DROWNED)
        # The statistic's bias does not cover counts that were capped.
        bias = "" if cut else bias
        assumes = "; ".join(filter(None, (assumes, assumption(data))))
    # Fewer runs give their spread less precisely.
    half = quantile(level) * wide
    low, high = np.maximum(value - half, axes.least), np.minimum(value + half, axes.most)
    if unknown:
        low, high = np.broadcast_to(axes.least, value.shape), np.broadcast_to(axes.most, value.shape)
    return Curve(
        axes.x_name,
        axes.value_name,
        axes.x,
        value,
        error,
        np.minimum(low, value),
        np.maximum(high, value),
        axes.kinds,
        method,
        assumes=assumes,
        level=level,
        parts=parts,
        warnings=warnings,
        guarantee=None if isinstance(data, Profile) else data.guarantee,
        bias=bias,
        why_unknown=unknown,
        where=data.where,
        bounded_unit=None if isinstance(data, Profile) else data.bounded_unit,
    )

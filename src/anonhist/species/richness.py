"""The number of species from incidence frequencies: Chao2 and ICE, with published errors and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from anonhist.privacy import parse_whole_number
from anonhist.properties.estimate import Estimate, Holds, Statement, check_level, quantile
from anonhist.properties.estimator import check_method
from anonhist.species.hill import unseen_species
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.sample import ReferenceSample

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats

RichnessMethod = Literal["chao2", "chao2-bc", "ice", "ice-1"]
RICHNESS_METHODS: tuple[str, ...] = get_args(RichnessMethod)
_MOST_INFREQUENT = 1_000
_ASSUMES = {
    "chao2": "sampling units are alike and independent, and species not found are about as rare as those found once",
    "ice": "sampling units are alike and independent, and species not found vary as much as infrequent ones",
}
_STATES = {
    "chao2": Statement(Holds.AT_LEAST, "any number of species may be too rare to be found"),
    "ice": Statement(
        Holds.NONE,
        "where many species are equally rare, its lower end was above the truth too often in trials, and its upper end "
        "below elsewhere: take chao2 for a lower end",
    ),
}
_LITTLE = "All infrequent species were found once, so ICE is not defined: the value is that of chao2-bc."
_NO_PAIRS = "No species was found in exactly two units: the number of species missed is a guess with unknown error."


def species_richness(
    data: IncidenceFrequencies, *, method: RichnessMethod = "chao2", infrequent: int = 10, level: float = 0.95
) -> Estimate:
    """Estimate the number of species from how many sampling units each was found in.

    With T units, ``Q_k`` species in exactly k of them, S species found and ``c = (T − 1)/T``:

    * ``"chao2"``: ``S + c·Q_1²/(2Q_2)``, or ``S + c·Q_1·(Q_1 − 1)/2`` if Q_2 is 0;
    * ``"chao2-bc"``, with less bias: ``S + c·Q_1·(Q_1 − 1)/(2·(Q_2 + 1))``;
    * ``"ice"``: ``S_freq + S_infr/C + (Q_1/C)·γ²`` with the S_infr species found in at most K units, their detections
      ``u = Σ_{k≤K} k·Q_k``, ``C = 1 − (Q_1/u)·A`` with the A of the sample coverage, and
      ``γ² = max((S_infr/C)·T/(T − 1)·Σ_{k≤K} k(k − 1)Q_k/(u·(u − 1)) − 1, 0)``;
    * ``"ice-1"``, if detection varies much: γ² is multiplied by
      ``1 + (Q_1/C)·T/(T − 1)·Σ_{k≤K} k(k − 1)Q_k/(u·(u − 1))``.

    Standard errors of Chao2 are the published formulas; those of ICE follow from its derivatives by the Q_k, whose
    covariances are ``Q_k·(1 − Q_k/S)`` and ``−Q_k·Q_l/S``, S the estimate. The interval is log-normal above S:
    ``S + (Ŝ − S)·K^(±1)`` with ``K = exp(z·sqrt(ln(1 + error²/(Ŝ − S)²)))``. If no species seems to be missing, it is
    ``S/(1 − P) ± z·error/(1 − P)``, at least S, with ``P = Σ_k Q_k·e^(−k)/S``. The lower end is rounded down: where
    nearly all species were found, it is S and a small part of one more, which held too rarely.

    Source: Chao 1987; Chao 2005; Lee and Chao 1994, eq. 3.18, with ``u·(u − 1)`` and A as in SpadeR; Chiu and others
    2014.

    Parameters
    ----------
    data
        T and the Q_k, exact: the estimate is not private.
    method
        ``"chao2"`` (default), ``"chao2-bc"``, ``"ice"`` or ``"ice-1"``.
    infrequent
        K, for ICE: species in at most so many units are infrequent; from 2 to 1,000.
    level
        Probability with which the interval is meant to contain the truth.

    Returns
    -------
    Estimate
        In species. Chao2 is too low on average for every community. Intervals are those of SpadeR, of which the lower
        end of Chao2 alone is stated: the upper one does not cover species far rarer than those found, and in trials the
        lower end of ICE was above the truth too often.

    Raises
    ------
    UsageError
        If there is no such method, or a number is out of range.
    DataError
        If there are fewer than two sampling units, or no species.

    Examples
    --------
    >>> from anonhist.species import IncidenceFrequencies
    >>> ants = IncidenceFrequencies.from_frequencies([200, 80, 59, 34, 23, 19, 15, 13, 8, 8, 4, 3, 2, 2, 1])
    >>> species_richness(ants).value
    14.24875
    """
    check_method(method, RICHNESS_METHODS, of="species richness")
    check_level(level)
    sample = ReferenceSample.of(data)
    sample.check_large_enough()
    most = parse_whole_number(infrequent, name="infrequent", least=2, most=_MOST_INFREQUENT)
    value, error, warnings = _VALUES[method](sample, most)
    low, high = log_normal_ends(sample, value, error, level)
    kind = method.partition("-")[0]
    return Estimate(
        value,
        error,
        (float(math.floor(low)), high),
        method,
        assumes=_ASSUMES[kind],
        level=level,
        warnings=warnings,
        unit="species",
        statement=_STATES[kind],
    )


def chao_error(sample: ReferenceSample) -> float:
    """Return the standard error of Chao1 or Chao2 in iNEXT's form (Chao 1987; Chiu and others 2014).

    With q = f_1/f_2 its square is ``f_2·(c·q²/2 + c²·q³ + c²·q⁴/4)``; if f_2 is 0,
    ``c·f_1(f_1 − 1)/2 + c²·f_1(2f_1 − 1)²/4 − c²·f_1⁴/(4S)``; if nothing seems to be missing,
    ``Σ_r f_r·(e^−r − e^−2r) − (Σ_r r·f_r·e^−r)²/n``.
    """
    once, twice, c = float(sample.of_count(1)), float(sample.of_count(2)), (sample.size - 1) / sample.size
    if once and twice:
        q = once / twice
        variance = twice * (c * q**2 / 2 + c**2 * (q**3 + q**4 / 4))
    elif once > 1:
        value = sample.num_species + unseen_species(sample)
        variance = c * once * (once - 1) / 2 + c**2 * (once * (2 * once - 1) ** 2 / 4 - once**4 / (4 * value))
    else:
        variance = _variance_of_found(sample)
    return math.sqrt(max(variance, 0.0))


def _variance_of_found(sample: ReferenceSample) -> float:
    lost = sample.prevalences * np.exp(-sample.counts.astype(np.float64))
    kept = -np.expm1(-sample.counts.astype(np.float64))
    return float(lost @ kept) - float(sample.counts @ lost) ** 2 / sample.size


def _chao2(sample: ReferenceSample, _: int) -> tuple[float, float, tuple[str, ...]]:
    doubts = (_NO_PAIRS,) if sample.of_count(1) > 1 and not sample.of_count(2) else ()
    return sample.num_species + unseen_species(sample), chao_error(sample), doubts


def _chao2_bc(sample: ReferenceSample, _: int) -> tuple[float, float, tuple[str, ...]]:
    """Return the bias-corrected form: with s = Q_1 and d = Q_2 + 1, the variance is the sum of three terms."""
    s, d, c = float(sample.of_count(1)), float(sample.of_count(2) + 1), (sample.size - 1) / sample.size
    value = sample.num_species + c * s * (s - 1) / (2 * d)
    if s <= 1:
        return value, math.sqrt(max(_variance_of_found(sample), 0.0)), ()
    middle = c**2 * s * (2 * s - 1) ** 2 / (4 * d**2)
    variance = c * s * (s - 1) / (2 * d) + middle + c**2 * s**2 * (d - 1) * (s - 1) ** 2 / (4 * d**4)
    return value, math.sqrt(variance), ()


@dataclass(frozen=True)
class _Ice:
    """ICE as a function of the numbers of species in 1, …, K units, and in more."""

    units: int
    varies_much: bool

    def value(self, numbers: Floats) -> float:
        """Return the estimate; ``numbers`` has shape (K + 1,), the last for frequent species."""
        few, k, t = numbers[:-1], np.arange(1.0, numbers.size), self.units
        detections, found, once, twice = float(k @ few), float(few.sum()), float(few[0]), float(few[1])
        if not detections:
            return float(numbers.sum())
        rest = 0.0
        if once:
            rest = (t - 1) * once / ((t - 1) * once + 2 * twice)
            if not twice:
                rest = (t - 1) * (once - 1) / ((t - 1) * (once - 1) + 2)
        covered = 1 - once / detections * rest
        pairs = float((k * (k - 1)) @ few)
        # Without pairs there is at most one detection, or the coverage is next to 0: γ² is then 0.
        share = t / (t - 1) * pairs / (detections * (detections - 1)) if pairs else 0.0
        spread = max(found / covered * share - 1, 0.0)
        if self.varies_much:
            spread *= 1 + once / covered * share
        return float(numbers[-1]) + found / covered + once / covered * spread


def _ice(sample: ReferenceSample, most: int, *, varies_much: bool = False) -> tuple[float, float, tuple[str, ...]]:
    numbers = np.array([sample.of_count(count) for count in range(1, most + 1)] + [0], dtype=np.float64)
    numbers[-1] = sample.num_species - numbers.sum()
    if numbers[0] and not numbers[1:-1].any():
        value, error, warnings = _chao2_bc(sample, most)
        return value, error, (_LITTLE, *warnings)
    ice = _Ice(sample.size, varies_much)
    value = ice.value(numbers)
    if value <= sample.num_species:
        return value, math.sqrt(max(_variance_of_found(sample), 0.0)), ()
    # Derivatives where there are species; A jumps when a first one is found in two units.
    slopes = np.zeros(numbers.size)
    for at in np.flatnonzero(numbers).tolist():
        step = np.zeros(numbers.size)
        step[at] = 1e-5 * numbers[at]
        slopes[at] = (ice.value(numbers + step) - ice.value(numbers - step)) / (2 * step[at])
    variance = float(numbers @ slopes**2) - float(numbers @ slopes) ** 2 / value
    return value, math.sqrt(max(variance, 0.0)), ()


_VALUES: dict[str, Callable[[ReferenceSample, int], tuple[float, float, tuple[str, ...]]]] = {
    "chao2": _chao2,
    "chao2-bc": _chao2_bc,
    "ice": _ice,
    "ice-1": lambda sample, most: _ice(sample, most, varies_much=True),
}


def log_normal_ends(sample: ReferenceSample, value: float, error: float, level: float) -> tuple[float, float]:
    """Return the ends of the interval of :func:`species_richness` for an estimate with its standard error."""
    found, z = float(sample.num_species), quantile(level)
    if value > found:
        factor = math.exp(z * math.sqrt(math.log1p((error / (value - found)) ** 2)))
        return found + (value - found) / factor, found + (value - found) * factor
    kept = 1.0 - float(sample.prevalences @ np.exp(-sample.counts.astype(np.float64))) / found
    return max(found, (found - z * error) / kept), max(found, (found + z * error) / kept)

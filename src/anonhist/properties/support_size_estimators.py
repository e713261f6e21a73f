"""Estimators of the number of labels: observed, Chao, jackknife, ACE, Chao and Lee."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from anonhist.numeric.arrays import Floats, Ints
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.properties.estimate import chao_unseen, undersampling_warning, without_repeats
from anonhist.properties.estimator import LinearEstimator, LinearStatistic, Point


@dataclass(frozen=True)
class Observed:
    """``S_obs = Σ_{r≥1} φ_r``."""

    name: ClassVar[str] = "observed"
    assumes: ClassVar[str] = "all labels have been seen"

    def point(self, profile: Profile) -> Point:
        """Count the labels."""
        return Point(float(profile.num_labels), is_seen, warnings=undersampling_warning(profile))


def is_seen(counts: Ints) -> Floats:
    """Return 1 for counts above 0, else 0."""
    return (counts > 0).astype(np.float64)


@dataclass(frozen=True)
class Chao1:
    """``S = S_obs + φ_1·(φ_1 − 1)/(2·(φ_2 + 1))``, a bias-corrected form of Chao's lower bound (Chao 2005).

    The bound itself is ``S_obs + φ_1²/(2·φ_2)`` (Chao 1984, eq. 6). The variance is that of EstimateS
    (Colwell 2009, appendix B, eq. 6 to 8): with s = φ_1, d = φ_2,
    ``s(s−1)/(2(d+1)) + s(2s−1)²/(4(d+1)²) + s²d(s−1)²/(4(d+1)⁴)`` (eq. 6); if no label was seen twice,
    ``s(s−1)/2 + s(2s−1)²/4 − s⁴/(4S)`` (eq. 7); if none was seen once, ``S_obs·P·(1 − P)`` with ``P = exp(−n/S_obs)``
    (eq. 8). For one label it is 1, for n singletons ``n + n(n−1)/2``.
    """

    name: ClassVar[str] = "chao1"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        value = profile.num_labels + once * (once - 1) / (2 * (twice + 1))
        error = math.sqrt(_variance(once, twice, value, profile))
        return Point(value, standard_error=error, warnings=without_repeats(profile))


def _variance(once: float, twice: float, value: float, profile: Profile) -> float:
    """Return the variance by the equation of EstimateS that applies."""
    if not once:
        return _variance_without_singletons(profile.n, profile.num_labels)
    return _variance_without_doubletons(once, value) if not twice else _variance_bias_corrected(once, twice)


def _variance_bias_corrected(s: float, d: float) -> float:
    """Return equation 6 of EstimateS; s labels were seen once, d twice."""
    more = d + 1
    return s * (s - 1) / (2 * more) + s * (2 * s - 1) ** 2 / (4 * more**2) + s**2 * d * (s - 1) ** 2 / (4 * more**4)


def _variance_without_doubletons(s: float, value: float) -> float:
    """Return equation 7 of EstimateS, at least 0; s labels were seen once, and there are S = ``value``."""
    return max(s * (s - 1) / 2 + s * (2 * s - 1) ** 2 / 4 - s**4 / (4 * value), 0.0)


def _variance_without_singletons(n: int, seen: int) -> float:
    """Return equation 8 of EstimateS; ``seen`` labels have n items."""
    missed = math.exp(-n / seen)
    return seen * missed * (1 - missed)


@dataclass(frozen=True)
class Chao1Inext:
    """``S = S_obs + c·φ_1²/(2·φ_2)`` with ``c = (n − 1)/n``; ``S_obs + c·φ_1·(φ_1 − 1)/2`` if φ_2 is 0 (Chao 1984).

    The variance is that of (Chiu and others 2014): with s = φ_1, d = φ_2 and q = s/d, ``d·(c·q²/2 + c²·q³ + c²·q⁴/4)``;
    if d is 0 ``c·s(s−1)/2 + c²·s(2s−1)²/4 − c²·s⁴/(4S)``; if S is S_obs
    ``Σ_r φ_r·(e^−r − e^−2r) − (Σ_r r·φ_r·e^−r)²/n``. For one label it is 1, for n singletons ``n + (n − 1)²/2``.
    """

    name: ClassVar[str] = "chao1-inext"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once; otherwise the value is too low"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        once, twice = float(profile.prevalence(1)), float(profile.prevalence(2))
        value, finite = profile.num_labels + chao_unseen(profile), (profile.n - 1) / profile.n
        if once and twice:
            variance = _inext_variance(once, twice, finite)
        elif once > 1:
            variance = _inext_variance_without_doubletons(once, value, finite)
        else:
            variance = _sampling_variance(profile)
        return Point(value, standard_error=math.sqrt(max(variance, 0.0)), warnings=without_repeats(profile))


def _inext_variance(s: float, d: float, c: float) -> float:
    """Return the variance if s labels were seen once and d twice; ``c = (n − 1)/n`` (Chiu and others 2014)."""
    q = s / d
    return d * (c * q**2 / 2 + c**2 * (q**3 + q**4 / 4))


def _inext_variance_without_doubletons(s: float, value: float, c: float) -> float:
    """Return the same if s labels were seen once, none twice, and there are S = ``value``."""
    return c * s * (s - 1) / 2 + c**2 * (s * (2 * s - 1) ** 2 / 4 - s**4 / (4 * value))


def _sampling_variance(profile: Profile) -> float:
    """Return the same if no labels seem to be missing: the variance of S_obs, with the counts seen as mean counts."""
    counts = profile.counts.astype(np.float64)
    lost = profile.prevalences * np.exp(-counts)
    return float(lost @ -np.expm1(-counts)) - float(counts @ lost) ** 2 / profile.n


class Jackknife1(LinearEstimator):
    """``S = S_obs + ((n − 1)/n)·φ_1`` (Burnham and Overton 1979).

    It is at most twice the number of labels seen. For one label it is 1, for n singletons ``2n − 1``.
    """

    name = "jackknife-1"
    assumes = "few labels have not been seen, so the bias is small beside 1/n"

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n ≥ 1 items: ``w(1) = 1 + (n − 1)/n``, and 1 for larger counts."""
        once = 1 + (n - 1) / n
        return LinearStatistic(lambda counts: np.where(counts == 1, once, (counts > 0) * 1.0), head=2)


class Jackknife2(LinearEstimator):
    """``S = S_obs + ((2n − 3)/n)·φ_1 − ((n − 2)²/(n·(n − 1)))·φ_2``, at least S_obs (Burnham and Overton 1979).

    For one label it is 1, for n ≥ 2 singletons ``3n − 3``.
    """

    name = "jackknife-2"
    assumes = "few labels have not been seen, so the bias is small beside 1/n²"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        point, seen = super().point(profile), float(profile.num_labels)
        if point.value >= seen:
            return point
        why = "The jackknife is below the number of labels seen, so the value is that number."
        return replace(point, value=seen, warnings=(*point.warnings, why))

    def statistic(self, n: int) -> LinearStatistic:
        """Return the statistic for n items: ``w(1) = 1 + (2n − 3)/n``, ``w(2) = 1 − (n − 2)²/(n·(n − 1))``, 1 beyond.

        For n = 1, where two items cannot be left out, all weights except ``w(0) = 0`` are 1.
        """
        more = (2 * n - 3) / n if n > 1 else 0.0
        less = (n - 2) ** 2 / (n * (n - 1)) if n > 1 else 0.0
        return LinearStatistic(
            lambda counts: np.where(counts == 1, 1 + more, np.where(counts == 2, 1 - less, (counts > 0) * 1.0)), head=3
        )


@dataclass(frozen=True)
class CoverageSums:
    """``S = (a + s·γ²)/C`` with ``C = 1 − s/m``, ``R = q/(m·(m − 1))`` and ``γ² = max(a·R/C − 1, 0)``.

    There are a ``labels`` with m items: s of them were seen ``once``, and the others have ``repeated = m − s`` items,
    which must be above 0: then C is not 0, and m at least 2. ``pairs`` is ``q = Σ r(r − 1)·φ_r``. With ``spread``, γ²
    is multiplied by ``1 + s·R/C``, against its bias if frequencies differ much (Chao and Lee 1992, eq. 2.14 and 2.15).
    """

    once: float
    labels: float
    repeated: float
    pairs: float
    spread: bool = False

    @classmethod
    def of(cls, profile: Profile, *, rare: int, spread: bool = False) -> Self:
        """Sum over all labels with counts up to ``rare``; for singletons alone, ``repeated`` is 0."""
        end = int(np.searchsorted(profile.counts, rare, side="right"))
        counts, prevalences = profile.counts[:end].astype(np.float64), profile.prevalences[:end]
        pairs = float((counts * (counts - 1)) @ prevalences)
        repeated = float(np.where(counts > 1, counts, 0.0) @ prevalences)
        return cls(float(profile.prevalence(1)), float(prevalences.sum()), repeated, pairs, spread)

    @property
    def items(self) -> float:
        """The number m of items."""
        return self.once + self.repeated

    @property
    def coverage(self) -> float:
        """The coverage ``C = 1 − s/m`` of Good and Turing."""
        return self.repeated / self.items

    @property
    def value(self) -> float:
        """The estimate S by eq. 2.14, or 2.15 with ``spread``."""
        return (self.labels + self.once * self._excess * self._stretch) / self.coverage

    def gradient(self, counts: Ints, *, with_items: bool) -> Floats:
        """Return the derivatives of S by the number of labels with count j ≥ 1, with m changing too, or kept fixed."""
        s, a, m, c, r = self.once, self.labels, self.items, self.coverage, self._repeats
        excess, stretch = self._excess, self._stretch
        straight, bent = 1.0 if excess else 0.0, 1.0 if self.spread else 0.0
        # Derivatives of γ² (stretched) by each of its arguments, then of S with C fixed; γ² = 0 stays 0.
        of_labels = straight * r / c * stretch
        of_once = excess * bent * r / c
        of_repeats = straight * a / c * stretch + excess * bent * s / c
        of_coverage = -(straight * a * r * stretch + excess * bent * s * r) / c**2
        by_labels = (1 + s * of_labels) / c
        by_once = (excess * stretch + s * of_once) / c
        by_repeats = s * of_repeats / c
        by_coverage = s * of_coverage / c - self.value / c
        j = counts.astype(np.float64)
        added = by_labels + by_repeats * j * (j - 1) / m / (m - 1) + (by_once - by_coverage / m) * (counts == 1)
        if with_items:
            added += j * (by_coverage * s / m**2 - by_repeats * r * (1 / m + 1 / (m - 1)))
        return np.asarray(added, dtype=np.float64)

    @property
    def _repeats(self) -> float:
        """The share R of pairs of items with the same label."""
        return self.pairs / self.items / (self.items - 1)

    @property
    def _excess(self) -> float:
        """The squared coefficient of variation γ² of equation 2.14."""
        return max(self.labels * self._repeats / self.coverage - 1, 0.0)

    @property
    def _stretch(self) -> float:
        """The factor by which equation 2.15 multiplies γ²."""
        return 1 + self.once * self._repeats / self.coverage if self.spread else 1.0


# At this multiple of Chao1, a few frequent labels determine the estimate.
_FAR = 2.0


@dataclass(frozen=True)
class ChaoLee:
    """``S = S_obs/C + (n·(1 − C)/C)·γ²`` with ``C = 1 − φ_1/n`` (Chao and Lee 1992, eq. 2.14).

    ``γ² = max((S_obs/C)·Σ_r r(r − 1)φ_r/(n(n − 1)) − 1, 0)`` estimates the squared coefficient of variation of the
    probabilities. For large ones, ``spread`` multiplies γ² by ``1 + n(1 − C)·Σ_r r(r − 1)φ_r/(n(n − 1)C)`` (eq. 2.15).
    If all labels are singletons, so that C is 0, it is :class:`Chao1`, with a warning. So for one label seen often it
    is 1, for n singletons ``n + n(n − 1)/2``.
    """

    spread: bool = False

    name: ClassVar[str] = "chao-lee"
    assumes: ClassVar[str] = "the frequencies of labels not seen vary about as much as those of labels seen"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        sums = CoverageSums.of(profile, rare=MAX_ITEMS, spread=self.spread)
        if not sums.repeated:
            return without_coverage(
                profile, "The estimated coverage is 0, so Chao–Lee is not defined: the value is Chao1's."
            )
        warnings: tuple[str, ...] = ()
        if sums.value > _FAR * Chao1().point(profile).value:
            warnings = ("Frequencies vary too much for this method: use chao1 or ace.",)
        return Point(
            sums.value,
            lambda counts: np.where(counts > 0, sums.gradient(counts, with_items=False), 0.0),
            warnings=warnings,
        )


def without_coverage(profile: Profile, why: str) -> Point:
    """Return the Chao1 estimate, with a warning that says why."""
    point = Chao1().point(profile)
    return replace(point, warnings=(why, *point.warnings))


@dataclass(frozen=True)
class Ace:
    """``S = S_abundant + S_rare/C + (φ_1/C)·γ²``: Chao–Lee for the rare labels, the others counted.

    With ``n_rare = Σ_{r≤10} r·φ_r``, ``C = 1 − φ_1/n_rare`` and ``γ² = max((S_rare/C)·Σ_{r≤10} r(r −
    1)φ_r/(n_rare·(n_rare − 1)) − 1, 0)`` (Chao and others 2000, eq. 2.2). Without rare labels it is S_obs; if all rare
    labels are singletons, so that C is 0, it is :class:`Chao1`, with a warning. So for one label it is 1, for n
    singletons ``n + n(n − 1)/2``.
    """

    rare: int = 10

    name: ClassVar[str] = "ace"
    assumes: ClassVar[str] = (
        "the frequencies of labels not seen vary about as much as those of labels seen up to ten times"
    )

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        sums = CoverageSums.of(profile, rare=self.rare)
        if not sums.labels:
            return Point(float(profile.num_labels), is_seen)
        if not sums.repeated:
            why = "All rare labels were seen once, so ACE is not defined: the value is Chao1's."
            return without_coverage(profile, why)

        def weights(counts: Ints) -> Floats:
            of_rare = sums.gradient(np.minimum(counts, self.rare), with_items=True)
            return np.where(counts > self.rare, 1.0, np.where(counts > 0, of_rare, 0.0))

        return Point(profile.num_labels - sums.labels + sums.value, weights)

"""A reference sample, of individuals or of sampling units, and how much of its community samples of any size cover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError, kind_of
from anonhist.profiles import Profile
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.subsamples import log_missed

if TYPE_CHECKING:
    from typing import Self

    from anonhist.numeric.arrays import Ints

# Counts of species at one site: of individuals, or of sampling units.
SiteData = Profile | IncidenceFrequencies
# Sizes are found to this share of themselves.
_CLOSE = 1e-13


@dataclass(frozen=True, eq=False)
class ReferenceSample:
    """What was found, in the terms in which abundances and incidences have the same formulas.

    Attributes
    ----------
    counts, prevalences : ndarray of int64, shape (t,)
        The distinct counts r, ascending, and the number ``f_r`` of species with each.
    size : int
        What is drawn: the number n of individuals, or T of sampling units.
    total : int
        ``Σ_r r·f_r``: n, or the number U of detections.
    of_incidence : bool
        Whether counts are of sampling units.
    """

    counts: Ints
    prevalences: Ints
    size: int
    total: int
    of_incidence: bool

    @classmethod
    def of(cls, data: SiteData) -> Self:
        """Return the sample that a profile of individuals, or that incidence frequencies describe.

        Raises
        ------
        UsageError
            If it is neither.

        Examples
        --------
        >>> ReferenceSample.of(Profile.from_counts([3, 1])).size
        4
        """
        if isinstance(data, IncidenceFrequencies):
            profile = data.profile
            return cls(profile.counts, profile.prevalences, data.sampling_units, profile.n, of_incidence=True)
        if not isinstance(data, Profile):
            raise UsageError(f"A site is a Profile of individuals or IncidenceFrequencies, not {kind_of(data)}.")
        return cls(data.counts, data.prevalences, data.n, data.n, of_incidence=False)

    @property
    def drawn(self) -> str:
        """What is drawn, in the plural."""
        return "sampling units" if self.of_incidence else "individuals"

    @property
    def num_species(self) -> int:
        """The number of species found."""
        return int(self.prevalences.sum())

    def of_count(self, count: int) -> int:
        """Return ``f_r``, how many species have a count of exactly r."""
        at = int(np.searchsorted(self.counts, count))
        return int(self.prevalences[at]) if at < self.counts.size and self.counts[at] == count else 0

    def check_large_enough(self) -> None:
        """Refuse a sample of one, which says nothing about what it missed, and one without species.

        Raises
        ------
        DataError
            If there are fewer than two draws, or no species.
        """
        if not self.total:
            raise DataError("No species was found at a site: there is nothing to estimate.")
        if self.size < 2:
            raise DataError(f"A site needs at least two {self.drawn}: one says nothing about species that it missed.")

    @property
    def alike(self) -> float:
        """``1 − A``, A the share of the missing probability that a species seen once would add; see :meth:`coverage`.

        It is ``2f_2/((n − 1)·f_1 + 2f_2)``, and ``2/((n − 1)·(f_1 − 1) + 2)`` if f_2 is 0; 1 if f_1 is 0.
        """
        once, twice, more = self.of_count(1), self.of_count(2), self.size - 1
        if not once:
            return 1.0
        return 2 * twice / (more * once + 2 * twice) if twice else 2 / (more * (once - 1) + 2)

    def coverage(self, size: float) -> float:
        """Return the expected coverage of a sample of m draws: the share of the community with a species in it.

        With r the counts, n draws and ``N = Σ_r r·f_r``:

        * below n, ``C(m) = 1 − Σ_r f_r·(r/N)·C(n − r, m)/C(n − 1, m)``: unbiased for whole m, with gamma functions in
          between as in iNEXT, and on a straight line from n − 1 to n;
        * from n on, ``C(m) = 1 − (f_1/N)·A^(m − n + 1)`` with ``A = (n − 1)·f_1/((n − 1)·f_1 + 2f_2)``, or
          ``(n − 1)·(f_1 − 1)/((n − 1)·(f_1 − 1) + 2)`` if f_2 is 0; 1 if f_1 is 0.

        Source: Chao and Jost 2012, eq. 4a, 4b and 12; for sampling units, Chao and others 2014, table 2.

        Parameters
        ----------
        size
            m > 0, of a sample with n ≥ 2.

        Returns
        -------
        float
            From 0 to 1; it never falls as m grows. 0 for a sample without species.
        """
        if not self.total:
            return 0.0
        if size >= self.size:
            once, alike = self.of_count(1), self.alike
            left = math.exp((size - self.size + 1) * math.log1p(-alike)) if alike < 1 else 0.0
            return 1.0 - once / self.total * left
        last = self.size - 1
        if size > last:
            return (self.size - size) * self._covered(last) + (size - last) * self.coverage(self.size)
        return self._covered(size)

    def coverage_error(self) -> float:
        """Return the standard error of the coverage of the sample itself, as an estimate of the share actually seen.

        It is ``sqrt(f_1·(1 − f_1/N) + 2f_2)/N``: that of the difference, because the share seen is random, too.

        Source: Esty 1983.
        """
        once, twice, total = float(self.of_count(1)), float(self.of_count(2)), float(self.total)
        return math.sqrt(once * (1 - once / total) + 2 * twice) / total

    def coverage_ends(self, z: float) -> tuple[float, float]:
        """Return the ends of an interval for the share of the community that has a species in the sample.

        With D the share not seen, ``f_1 − N·D`` has mean 0 and a variance of about ``N·D + 2f_2``. So the ends of N·D
        are ``f_1 + z²/2 ± z·sqrt(f_1 + 2f_2 + z²/4)``, where the difference is z standard deviations; they also hold if
        f_1 is 0. The interval is widened to hold ``C(n) ± z·error`` with :meth:`coverage_error`, within 0 and 1.

        Parameters
        ----------
        z
            The quantile of the normal distribution.
        """
        once, twice = float(self.of_count(1)), float(self.of_count(2))
        middle, half = once + z**2 / 2, z * math.sqrt(once + 2 * twice + z**2 / 4)
        covered, reach = self.coverage(self.size), z * self.coverage_error()
        low = min(1 - (middle + half) / self.total, covered - reach)
        high = max(1 - (middle - half) / self.total, covered + reach)
        return max(low, 0.0), min(high, 1.0)

    def _covered(self, size: float) -> float:
        """Return the same for m ≤ n − 1."""
        missed = self.counts < self.size - size + 1
        # C(n − r, m)/C(n − 1, m) is the chance that m of n − 1 draws miss the r − 1 others of a species.
        chances = np.exp(log_missed(self.size - 1, size, self.counts[missed] - 1))
        return 1.0 - float((self.counts[missed].astype(np.float64) * self.prevalences[missed]) @ chances) / self.total

    def size_at(self, coverage: float) -> float:
        """Return the size m at which :meth:`coverage` has a value: not whole in general.

        Parameters
        ----------
        coverage
            A number at least C(1) and below 1.

        Raises
        ------
        UsageError
            If it is no such number: a sample of one draw covers more, or no sample covers so much.
        """
        if not self.coverage(1.0) <= coverage < 1:
            raise UsageError(
                f"The coverage {coverage:.6g} cannot be compared: it must be below 1, and at least what one of the "
                f"{self.drawn} of each site covers."
            )
        if coverage >= self.coverage(self.size):
            # C(m) = 1 − (f_1/N)·A^(m−n+1), solved for m.
            left = (1.0 - coverage) * self.total / self.of_count(1) if self.of_count(1) else 1.0
            alike = self.alike
            further = math.log(left) / math.log1p(-alike) - 1.0 if alike < 1 else 0.0
            return self.size + max(further, 0.0)
        low, high = 1.0, float(self.size)
        while high - low > _CLOSE * high:
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self.coverage(middle) < coverage else (low, middle)
        return high

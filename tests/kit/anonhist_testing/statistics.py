"""Does a sampler follow its pmf? Assertions with error rates that hold, not only approximately.

A test looks at events that are fixed before any data are seen: every value (or, if there are more than 1,000, every
group of neighboring values of about a thousandth of the mass), all values up to each of them, and all values farther
out than all of them. The number of samples in an event is binomial, so each event has an exact p-value on either side,
and the sum of their error rates bounds the test's error rate for any distribution. There is no χ² approximation, which
would be off in the far tail, so bins need not have five expected samples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Either {value: probability}, or a function from an array of whole numbers to their probabilities, most of them near 0.
Pmf = Mapping[Any, float] | Callable[[Any], Any]

MAX_GROUPS = 1000
# Groups, cumulated groups and the outside, each tested on two sides.
MAX_TESTS = 2 * (2 * MAX_GROUPS + 2)
OUTSIDE_MASS = 1e-12
LARGEST_WINDOW = 2**24
# The possible rounding of a probability: relative for one group, absolute for a sum of many. It favors the samples.
RELATIVE_SLACK, ABSOLUTE_SLACK = 1e-9, 1e-13


def assert_pmf_equal(samples: Iterable[Hashable], pmf: Pmf, *, false_fail_rate: float = 1e-9) -> None:
    """Fail if the samples do not look like independent draws from a pmf.

    Parameters
    ----------
    samples
        The draws: an array of whole numbers or bits, or any values that are keys of a mapping.
    pmf
        ``{value: probability}``, adding up to 1, or a function from an int64 array to probabilities.
    false_fail_rate
        Upper bound of the probability to fail although the samples follow the pmf. A distribution for which the
        probability of one event is off by d is missed with probability at most r if there are
        ``min_samples_for(d, false_fail_rate=…, false_pass_rate=r)`` samples.

    Raises
    ------
    AssertionError
        If a value of probability 0 occurs, or an event occurs so often or so seldom that this has probability below
        ``false_fail_rate`` divided by the number of tests.

    Examples
    --------
    >>> assert_pmf_equal([0, 1, 1, 0], {0: 0.5, 1: 0.5})
    """
    p_value, reason = _p_value(samples, pmf)
    if p_value < false_fail_rate:
        message = f"The samples do not follow the pmf (p < {p_value:.1e}): {reason}."
        raise AssertionError(message)


def assert_pmf_differs(samples: Iterable[Hashable], pmf: Pmf, *, false_fail_rate: float = 1e-9) -> None:
    """Fail if :func:`assert_pmf_equal` would accept the samples: the other direction, which shows its power.

    Parameters
    ----------
    samples, pmf
        As there, but with a wrong pmf.
    false_fail_rate
        The rate of the assertion that must refuse the samples. This assertion fails with probability at most r if there
        are ``min_samples_for(pmf_discrepancy(right_pmf, pmf), false_fail_rate=…, false_pass_rate=r)`` samples.

    Raises
    ------
    AssertionError
        If the samples are accepted.

    Examples
    --------
    >>> assert_pmf_differs([0] * 100, {0: 0.5, 1: 0.5})
    """
    p_value, _ = _p_value(samples, pmf)
    if p_value >= false_fail_rate:
        message = f"The samples do not show that they do not follow the pmf (p-value {min(p_value, 1):.1e})."
        raise AssertionError(message)


def min_samples_for(discrepancy: float, *, false_fail_rate: float = 1e-9, false_pass_rate: float = 1e-9) -> int:
    """Return how many samples suffice to notice that the probability of an event is off by ``discrepancy``.

    The number is ``(√ln(m/f) + √ln(1/r))²/(2d²)`` for the discrepancy d, the rates f and r, and the largest number of
    tests m, by Hoeffding's inequality; the exact p-values of the tests are never above its bound.

    Parameters
    ----------
    discrepancy
        From 0 (not included) to 1; see :func:`pmf_discrepancy`.
    false_fail_rate
        The rate of the assertion.
    false_pass_rate
        Upper bound of the probability that the assertion passes although the distribution is off by the discrepancy.

    Raises
    ------
    UsageError
        If the discrepancy is not above 10^−6, or a rate is not between 0 and 1.

    Examples
    --------
    >>> min_samples_for(0.1)
    4940
    """
    if not 1e-6 < discrepancy <= 1 or not 0 < false_fail_rate < 1 or not 0 < false_pass_rate < 1:
        raise UsageError("The discrepancy must be above 1e-6 and at most 1, and the rates between 0 and 1.")
    seen = discrepancy - 2 * RELATIVE_SLACK
    deviations = math.sqrt(math.log(MAX_TESTS / false_fail_rate)) + math.sqrt(math.log(1 / false_pass_rate))
    return math.ceil(deviations**2 / (2 * seen**2))


def pmf_discrepancy(true_pmf: Pmf, tested_pmf: Pmf) -> float:
    """Return the largest difference between two pmfs on a tested event.

    Examples
    --------
    >>> pmf_discrepancy({0: 0.75, 1: 0.25}, {0: 0.5, 1: 0.5})
    0.25
    """
    groups = _Groups.of(tested_pmf)
    true = groups.masses_under(true_pmf)
    off = np.abs(true - groups.masses)
    return float(max(off.max(), np.abs(np.cumsum(true - groups.masses)).max()))


@dataclass(frozen=True)
class _Groups:
    """The values of a pmf in groups, which are known before any data."""

    pmf: Pmf
    values: list[Hashable]
    group: NDArray[np.int64]  # of each value
    masses: NDArray[np.float64]  # of each group; the last one is the outside

    @classmethod
    def of(cls, pmf: Pmf) -> _Groups:
        values: list[Hashable]
        if isinstance(pmf, Mapping):
            values, masses = list(pmf), np.array(list(pmf.values()), dtype=np.float64)
            if abs(math.fsum(masses) - 1) > RELATIVE_SLACK:
                raise UsageError("The probabilities of a pmf must add up to 1.")
        else:
            window, masses = _window(pmf)
            values = window.tolist()
        if masses.min() < 0:
            raise UsageError("The probabilities of a pmf must not be negative.")
        group = np.arange(masses.size)
        if masses.size > MAX_GROUPS:
            group = np.minimum((np.cumsum(masses) - masses) * MAX_GROUPS, MAX_GROUPS - 1).astype(np.int64)
            group = np.unique(group, return_inverse=True)[1]
        outside = max(1 - math.fsum(masses), 0.0)
        return cls(pmf, values, group, np.append(np.bincount(group, weights=masses), outside))

    def counts(self, samples: Iterable[Hashable]) -> tuple[NDArray[np.int64], list[Hashable]]:
        """Count the samples in each group, and list the values that occur with probability 0."""
        listed = samples.tolist() if isinstance(samples, np.ndarray) else samples
        tally = Counter(listed)
        inside = np.array([tally.pop(value, 0) for value in self.values], dtype=np.int64)
        counts = np.zeros(self.masses.size, dtype=np.int64)
        np.add.at(counts, self.group, inside)
        counts[-1] = sum(tally.values())
        seen = [value for value, count in zip(self.values, inside.tolist(), strict=True) if count]
        if isinstance(self.pmf, Mapping):
            return counts, [*tally, *(value for value in seen if not self.pmf[value])]
        at = np.array([*seen, *tally], dtype=np.int64)
        return counts, at[np.asarray(self.pmf(at)) == 0].tolist()

    def describe(self, event: int) -> str:
        """Name an event: a group, the outside, or everything up to a group."""
        last = self.masses.size - 1
        if event == last:
            return "values outside the window"
        members = np.flatnonzero(self.group == event % self.masses.size)
        first, end = self.values[int(members[0])], self.values[int(members[-1])]
        return f"values {first!r} to {end!r}" if event < last else f"values up to {end!r}"

    def masses_under(self, other: Pmf) -> NDArray[np.float64]:
        """Return the probability of each group under another pmf."""
        if isinstance(other, Mapping):
            each = np.array([other.get(value, 0.0) for value in self.values], dtype=np.float64)
        else:
            each = np.asarray(other(np.array(self.values, dtype=np.int64)), dtype=np.float64)
        return np.append(np.bincount(self.group, weights=each), max(1 - math.fsum(each), 0.0))


def _window(pmf: Callable[[Any], Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return whole numbers around 0 with all but 10^−12 of the mass, without those of probability 0 at the ends."""
    half = 8
    while half <= LARGEST_WINDOW:
        values = np.arange(-half, half + 1, dtype=np.int64)
        masses = np.asarray(pmf(values), dtype=np.float64)
        total = math.fsum(masses)
        if total > 1 + RELATIVE_SLACK:
            raise UsageError("The probabilities of a pmf must add up to 1.")
        if total >= 1 - OUTSIDE_MASS:
            held = np.flatnonzero(masses)
            kept = slice(held[0], held[-1] + 1)
            return values[kept], masses[kept]
        half *= 4
    raise UsageError("The probabilities of a pmf must add up to 1 over whole numbers near 0.")


def _p_value(samples: Iterable[Hashable], pmf: Pmf) -> tuple[float, str]:
    """Return a bound of the probability of samples as unlikely as these, and what is unlikely about them."""
    from scipy.stats import binom

    groups = _Groups.of(pmf)
    counts, impossible = groups.counts(samples)
    size = int(counts.sum())
    if impossible:
        return 0.0, f"{impossible[0]!r} has probability 0 and occurs"
    if not size:
        raise UsageError("There are no samples to test.")
    up_to = np.cumsum(groups.masses)[:-1]
    low = np.concatenate((groups.masses * (1 - RELATIVE_SLACK), up_to - ABSOLUTE_SLACK)).clip(0, 1)
    high = np.concatenate((groups.masses * (1 + RELATIVE_SLACK), up_to + ABSOLUTE_SLACK)).clip(0, 1)
    # The mass outside is 1 minus the other masses, so its rounding is absolute.
    high[groups.masses.size - 1] += ABSOLUTE_SLACK
    seen = np.concatenate((counts, np.cumsum(counts)[:-1]))
    p_values = np.minimum(binom.cdf(seen, size, low), binom.sf(seen - 1, size, high))
    worst = int(np.argmin(p_values))
    expected = size * (low[worst] + high[worst]) / 2
    return 2 * seen.size * float(p_values[worst]), (
        f"{groups.describe(worst)} occur {int(seen[worst])} times in {size} samples, {expected:.6g} were expected"
    )

"""O-RAPPOR: one report of randomized Bloom bits, for unknown alphabets."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from anonhist.frozen import frozen
from anonhist.local.randomizers.bloom import BloomSurvey
from anonhist.numeric import ExponentialQuotient


@frozen(kw_only=True)
class ORAPPOR(BloomSurvey):
    """O-RAPPOR: h hashes of the value set bits of k, each kept with probability ``z/(1 + z)``, ``z = e^(ε/(2h))``.

    Two values differ in at most 2h bits, so a bit may cost ε/(2h). More hashes do not help: one hash and many bits have
    the lowest error. With an alphabet, each hash is a permutation of it, modulo k if buckets are given, too; one
    cohort, one hash and a bit for each label are k-RAPPOR, labels renamed.

    Parameters
    ----------
    buckets
        k, bits for any text; more bits mean fewer collisions. With an alphabet, by default, one for each label.
    alphabet
        Labels, their number, or an :class:`Alphabet`, if all of them are known.
    cohorts
        C; 2 or more for any text, 1 with a bit for each label of an alphabet.
    hashes
        h, from 1 to 64.
    key
        Public text that determines the hash functions.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If neither alphabet nor buckets are given, or a number is out of range.

    References
    ----------
    Kairouz, Bonawitz, Ramage 2016, §5; Erlingsson, Pihur, Korolova 2014 (the one-time RAPPOR).

    Examples
    --------
    >>> survey = ORAPPOR(buckets=64, cohorts=4, key="pets 2024", epsilon=4)
    >>> tally = survey.tally(survey.randomize(["cat", "dog", "axolotl"] * 10_000))
    >>> estimate = survey.estimate(tally, candidates=["axolotl", "cat", "emu"])
    >>> estimate.significant.tolist()
    [True, True, False]
    """

    name: ClassVar[str] = "o-rappor"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``z/(1 + z)``."""
        root = ExponentialQuotient.exponential(self.epsilon / (2 * self.hashes))
        return root / (1 + root)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + z)``."""
        return 1 - self.true_support_probability

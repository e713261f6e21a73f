"""Optimized local hashing: each person hashes their value with a random function, then answers by k-RR."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen
from anonhist.local.alphabet import Alphabet, AlphabetLike, distinct_candidates
from anonhist.local.cohort_counts import DEFAULT_KEY, check_key
from anonhist.local.decoder import Channel, SupportChannel
from anonhist.local.estimate import ForgedWeight
from anonhist.local.randomizers.closed import PureSurvey
from anonhist.local.reports import Column, Tally, WholeColumn
from anonhist.local.survey import check_entries
from anonhist.numeric import (
    ExponentialQuotient,
    HashSupport,
    bucket_widths,
    buckets,
    index_words,
    keyed_hash,
    label_words,
    paired_buckets,
    seed_coefficients,
)
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, bernoulli, uniform_integers

SEEDS = 1 << 32
MOST_BUCKETS = 1 << 16
# 16-bit words of an open label's hash: two labels agree in all three with probability 2⁻⁴⁸.
OPEN_WORDS = 3


@frozen(kw_only=True)
class LocalHashing(PureSurvey):
    """Optimized local hashing: a random seed, and k-RR on the g buckets into which the seed hashes the value.

    The report (s, y) supports the values that seed s hashes to y: the value itself with probability
    ``p = e^ε/(e^ε + g − 1)``, another with ``q = (1 + (e^ε − 1)·Σ_y ω_y²)/(e^ε + g − 1)``, ω_y the share of hashes that
    fall into bucket y, about 1/g.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`; None for any text, in which case candidates must be named.
    epsilon
        ε of each report.
    buckets
        g, from 2 to 65,536; by default the number with the lowest error, near ``e^ε + 1``.
    key
        Any plain text on one line, which is public and determines the hash functions.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If the number of buckets is out of range, or the key is not plain text on one line.

    Notes
    -----
    The seed is drawn on the device, independent of the value; hash functions are those of docs/hashing.md. Collisions
    never cost privacy. A second answer with fresh randomness costs ε again.

    Source: Wang and others 2017, §4.4.

    Examples
    --------
    >>> survey = LocalHashing(epsilon=1)
    >>> survey.buckets, round(survey.variance(), 3)
    (4, 3.692)
    """

    decode_cost: ClassVar[str] = "n·k"
    name: ClassVar[str] = "local-hashing"
    is_sparse: ClassVar[bool] = True
    alphabet: Converted[AlphabetLike | None, Alphabet | None] = converted(
        lambda given: None if given is None else Alphabet.of(given), default=None
    )
    buckets: Converted[SupportsIndex | None, int] = completed(lambda self, given: self._number(given), default=None)
    key: Checked[str] = converted(check_key, default=DEFAULT_KEY)

    def _number(self, given: SupportsIndex | None) -> int:
        if given is not None:
            return parse_whole_number(given, name="buckets", least=2, most=MOST_BUCKETS)
        near = min(MOST_BUCKETS, max(2, int(float(self.odds)) + 1))
        choices = {min(MOST_BUCKETS, max(2, g)) for g in (near - 1, near, near + 1)}
        return min(choices, key=lambda g: _variance(g, float(self.epsilon)))

    @property
    def is_open(self) -> bool:
        """Whether any text may be reported."""
        return self.alphabet is None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Two columns: ``seed``, the number of the hash function, and ``report``, the bucket."""
        return (WholeColumn("seed", SEEDS), WholeColumn("report", self.buckets))

    @property
    def cells(self) -> int:
        """One cell per pair (seed, bucket): ``seed·g + bucket``."""
        return SEEDS * self.buckets

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``p = e^ε/(e^ε + g − 1)``."""
        return self.odds / (self.odds + (self.buckets - 1))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``q = (1 + (e^ε − 1)·Σ ω_y²)/(e^ε + g − 1)``, 1/g if g divides 2¹⁶."""
        squares: int = sum(width * width for width in bucket_widths(self.buckets).tolist())
        return (1 + (self.odds - 1) * squares / (1 << 32)) / (self.odds + (self.buckets - 1))

    def matrix(self, seeds: Sequence[int] = (0,)) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value) if the seed is one of these, each equally likely.

        Parameters
        ----------
        seeds
            Whole numbers from 0 to 2³² − 1.

        Returns
        -------
        tuple
            Rows in alphabet order; columns by seed, then by bucket.

        Raises
        ------
        UsageError
            If the alphabet is open, or the matrix would have more than 2²⁰ entries.
        """
        if self.is_open:
            raise UsageError("The values of an open survey are unlimited; give it an alphabet to get a matrix.")
        check_entries(self.size * len(seeds) * self.buckets)
        words = self._words(np.arange(self.size))
        places = buckets(words, self._coefficients(np.array(seeds), words), self.buckets)
        low = 1 / (self.odds + (self.buckets - 1)) / len(seeds)
        high = self.odds * low
        return tuple(
            tuple(high if y == place else low for place in row for y in range(self.buckets))
            for row in places.T.tolist()
        )

    # From here on, values and candidates are words of 16 bits.

    def _words(self, codes: NDArray[np.int64]) -> NDArray[np.uint16]:
        return index_words(codes, -(-max(1, (self.size - 1).bit_length()) // 16))

    def _open_words(self, labels: Iterable[str]) -> NDArray[np.uint16]:
        return label_words(keyed_hash(list(labels), key=self.key.encode()), OPEN_WORDS)

    def _coefficients(self, seeds: NDArray[np.int64], words: NDArray[np.uint16]) -> NDArray[np.uint32]:
        return seed_coefficients(seeds, key=self.key.encode(), words=words.shape[1])

    def _codes(self, values: Any) -> NDArray[Any]:
        return self._open_words(values) if self.is_open else self._words(super()._codes(values))

    def _choose(self, candidates: Iterable[str] | None) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
        if not self.is_open:
            codes, names = super()._choose(candidates)
            return None if codes is None else self._words(codes), names
        if candidates is None:
            raise UsageError("This survey accepts any text; name the candidates of interest (`candidates`).")
        names = distinct_candidates(candidates)
        return self._open_words(names), names

    def _leaves_others(self, codes: NDArray[Any] | None) -> bool:
        return self.is_open or super()._leaves_others(codes)

    @property
    def _working_bytes(self) -> int:
        return 64

    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        return self.draw_words(codes, source=source)

    def draw_words(self, words: NDArray[np.uint16], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        """Return one report for each value, given as words of 16 bits, shape (n, w), w ≤ 3."""
        users = len(words)
        seeds = uniform_integers(SEEDS, users, source=source)
        own = paired_buckets(words, self._coefficients(seeds, words), self.buckets)
        kept = bernoulli((self.odds - 1) / (self.odds + (self.buckets - 1)), users, source=source)
        return {"seed": seeds, "report": np.where(kept, own, uniform_integers(self.buckets, users, source=source))}

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return columns["seed"] * self.buckets + columns["report"]

    @property
    def _support_sizes(self) -> tuple[int, int]:
        # Among 2³² seeds, one may hash all values into one bucket; no bound excludes that.
        return 0, self.size

    @property
    def forged_weight(self) -> ForgedWeight:
        """As in other pure surveys, if one seed hashed all values into one bucket; unbounded for an open survey."""
        if not self.is_open:
            return super().forged_weight
        _, q, gap = self._probabilities
        return ForgedWeight(max(q, 1 - q) / gap, math.inf)

    def _supports(self, tally: Tally, codes: NDArray[Any] | None) -> NDArray[np.int64]:
        return self._hash_support(tally, codes).counts(tally.counts)

    def _hash_support(self, tally: Tally, codes: NDArray[Any] | None) -> HashSupport:
        """Return which of the cells that occur support each value."""
        words = self._words(np.arange(self.size)) if codes is None else codes
        seeds, reported = np.divmod(tally.cells, self.buckets)
        return HashSupport(words, self._coefficients(seeds, words), reported, self.buckets)

    def channel_of(self, tally: Tally, codes: NDArray[Any] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each, as for other surveys with an alphabet."""
        g, support = self.buckets, self._hash_support(tally, codes)
        channel = SupportChannel(
            len(support.words),
            tally.cells.size,
            # Given the seed, and only for cells that occur: a factor common to a cell does not matter.
            1 / (float(self.odds) + g - 1),
            (float(self.odds) - 1) / (float(self.odds) + g - 1),
            support.frequencies,
            support.weights,
            bucket_widths(g)[support.reported] / (1 << 16) if self._leaves_others(codes) else None,
        )
        return channel, tally.counts


def _variance(num_buckets: int, epsilon: float) -> float:
    """Return n times the variance of a value that nobody has, with buckets of equal width."""
    gap = math.expm1(epsilon)
    return (gap + num_buckets) ** 2 / (gap**2 * (num_buckets - 1))

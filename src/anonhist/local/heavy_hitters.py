"""Frequent values of an unknown alphabet: prefixes grow byte by byte, and different people report each length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, completed, frozen, named
from anonhist.local.alphabet import distinct_candidates
from anonhist.local.cohort_counts import DEFAULT_KEY
from anonhist.local.estimate import (
    CorrectionLike,
    DecoderLike,
    FrequencyEstimate,
    NormalLimits,
    RawEstimate,
    SampleLimits,
    SupportLimits,
    as_decoder,
    refuse_least_squares,
)
from anonhist.local.randomizers.local_hashing import OPEN_WORDS, SEEDS, LocalHashing
from anonhist.local.reports import Column, Tally, WholeColumn
from anonhist.local.survey import Survey
from anonhist.numeric import hash_buffer, label_words, read_only
from anonhist.privacy import parse_whole_number
from anonhist.randomness import RandomSource, uniform_integers

MOST_BYTES = 64
# This many prefixes of each length are followed further.
BEAM = 64
# A prefix whose estimate is less than this many standard errors above 0 is not followed.
_FOLLOWED = 1.5
# No more prefixes than this are compared, unless the beam requires it: more only occur if no reports are about some
# lengths.
_MOST_PREFIXES = 1 << 20
FOUND_ON_OTHERS = "The values were found in the reports of some people and estimated from the reports of others."


@frozen(kw_only=True)
class HeavyHitters(Survey):
    """The prefix extending method: each person answers, by local hashing, about a prefix of their value.

    A value is its UTF-8 bytes, padded with zeros to L = ``max_bytes``. On the device a length ℓ is drawn, independent
    of the value: L with probability 1/2, each shorter one with ``1/(2(L − 1))``; the first ℓ bytes are reported by
    local hashing at the full ε. The people are divided, not the budget. The server follows the most frequent prefixes
    of each length to the next, and tests those of full length on reports that were not used to choose them: those about
    whole values with an even seed. Values that pass are estimated on those with an odd seed, because the noise that
    lifted a value in the search would bias its estimate upward.

    Parameters
    ----------
    epsilon
        ε of each report.
    max_bytes
        L, from 1 to 64. Longer values are truncated to as many of their first characters as fit.
    characters
        The characters of the values, such as ``"0123456789"``; empty for any. With fewer characters, fewer values
        are found by chance; values with other characters can be reported but not found.
    buckets, key
        As for :class:`LocalHashing`.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If a parameter is out of range.

    Source: Wang and others 2021 (PEM), with half of the people
    instead of an equal part on the full length.

    Examples
    --------
    >>> survey = HeavyHitters(epsilon=4, max_bytes=3)
    >>> tally = survey.tally(survey.randomize(["ant"] * 4000 + ["bee"] * 3000))
    >>> survey.estimate(tally).labels[:2]
    ('ant', 'bee')
    """

    name: ClassVar[str] = "heavy-hitters"
    max_bytes: Converted[SupportsIndex, int] = named(parse_whole_number, most=MOST_BYTES)
    characters: str = ""
    buckets: Converted[SupportsIndex | None, int] = completed(
        lambda self, given: LocalHashing(epsilon=self.epsilon, buckets=given).buckets, default=None
    )
    key: str = DEFAULT_KEY

    def __post_init__(self) -> None:
        super().__post_init__()
        # No value contains the padding, or half of a surrogate pair.
        if not isinstance(self.characters, str) or any(
            each == "\0" or "\ud800" <= each <= "\udfff" for each in self.characters
        ):
            raise UsageError("`characters` must be text that can be encoded as UTF-8, without the null character.")
        _ = self._hashing  # This refuses an invalid key.

    @cached_property
    def _hashing(self) -> LocalHashing:
        """The survey that reports a prefix."""
        return LocalHashing(epsilon=self.epsilon, buckets=self.buckets, key=self.key, title=self.title)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Three columns: ``length`` of the prefix minus one, ``seed`` and ``report`` as for :class:`LocalHashing`."""
        return (WholeColumn("length", self.max_bytes), *self._hashing.columns)

    @property
    def cells(self) -> int:
        """One cell per triple: ``length·2^32·g + seed·g + bucket``."""
        return self.max_bytes * self._hashing.cells

    def _codes(self, values: Any) -> NDArray[np.uint8]:
        rows = [self._pad(value) for value in values]
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), self.max_bytes)

    def _pad(self, value: object) -> bytes:
        if not isinstance(value, str) or "\0" in value:
            raise DataError("Values must be text without the null character.")
        try:
            whole = value.encode()
        except UnicodeEncodeError:
            raise DataError("A value cannot be encoded as UTF-8; leave it out.") from None
        if len(whole) > self.max_bytes:
            # Do not split a character: continuation bytes begin with the bits 10.
            end = self.max_bytes
            while whole[end] & 0xC0 == 0x80:
                end -= 1
            whole = whole[:end]
        return whole.ljust(self.max_bytes, b"\0")

    @property
    def _working_bytes(self) -> int:
        return 64 + self.max_bytes

    def _draw(self, codes: NDArray[np.uint8], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        longest = self.max_bytes - 1
        lengths = np.minimum(uniform_integers(max(1, 2 * longest), len(codes), source=source), longest)
        prefixes = np.where(np.arange(self.max_bytes) <= lengths[:, np.newaxis], codes, 0).astype(np.uint8)
        return {"length": lengths} | self._hashing.draw_words(self._words(prefixes), source=source)

    def _words(self, prefixes: NDArray[np.uint8]) -> NDArray[np.uint16]:
        offsets = np.arange(len(prefixes) + 1) * self.max_bytes
        return label_words(hash_buffer(prefixes.ravel(), offsets, key=self.key.encode()), OPEN_WORDS)

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        return (columns["length"] * SEEDS + columns["seed"]) * self.buckets + columns["report"]

    def estimate(
        self,
        tally: Tally,
        *,
        candidates: Iterable[str] | None = None,
        decoder: DecoderLike | None = None,
        correction: CorrectionLike = "holm",
        level: float = 0.95,
        beam: int = BEAM,
        progress: Callable[[float], None] | None = None,
    ) -> FrequencyEstimate:
        """Find the frequent values and estimate their frequencies.

        Parameters
        ----------
        tally
            A tally of this survey, with at least one report.
        candidates
            Values to estimate instead of searching.
        decoder, correction, level
            As for :meth:`Survey.estimate`. Without candidates, the correction covers all tested values, and the
            estimate has only the significant values, decoded separately, the most frequent first. Their p-values come
            from the reports that found them; everything else comes from other reports.
        beam
            The number of prefixes of each length that are followed, ≥ 1.
        progress
            Called with the share done, in (0, 1], after each length.

        Raises
        ------
        UsageError, DataError
            If the tally belongs to another survey, or has no reports about whole values or too few about prefixes.
        """
        self.check_tally(tally)
        width = parse_whole_number(beam, name="beam")
        refuse_least_squares(decoder)
        if candidates is not None:
            return self._raw_estimate(tally, candidates).decode(decoder, correction, level)
        last = self._last(tally)
        decoding = as_decoder(decoder or "projected")  # A wrong name is refused before a long search.
        grown = self._grow(tally, width, progress)
        choosing, others = self._halves(last)
        tested = self._of_values(choosing, tally.users, grown).decode("unbiased", correction, level)
        # Decoded separately: thousands of values that nobody has would take frequency from the values found and from
        # "other".
        found = np.flatnonzero(tested.significant)
        if not found.size:
            return _nothing(tested, decoding.name)
        raw = self._hashing.raw_of(others, self._words(grown[found])).frequencies
        found = found[np.argsort(-raw, kind="stable")]
        estimate = self._of_values(others, tally.users, grown[found]).decode(decoding, correction, level)
        return replace(
            estimate,
            p_values=tested.p_values[found],
            significant=tested.significant[found],
            note=f"{FOUND_ON_OTHERS} {estimate.note}".strip(),
        )

    def _raw_estimate(self, tally: Tally, candidates: Iterable[str] | None) -> RawEstimate:
        last, names = self._last(tally), distinct_candidates(candidates or ())
        return replace(self._of_values(last, tally.users, self._codes(names)), labels=names)

    def _last(self, tally: Tally) -> Tally:
        """Return the reports about whole values."""
        last = self._of_length(tally, self.max_bytes - 1)
        if not last.users:
            raise DataError("There are no reports about whole values yet, so nothing can be estimated.")
        return last

    def _halves(self, last: Tally) -> tuple[Tally, Tally]:
        """Return the reports with an even seed, and those with an odd seed: the seed was drawn before anything else."""
        is_odd = (last.cells // self._hashing.buckets % 2).astype(np.bool_)
        parts = [(last.cells[mask], last.counts[mask]) for mask in (~is_odd, is_odd)]
        if not all(cells.size for cells, _ in parts):
            raise DataError(
                "Too few people have answered about whole values to find any and estimate them on others; wait for "
                "more answers, or name candidates."
            )
        even, odd = (Tally(last.survey, int(counts.sum()), cells, counts) for cells, counts in parts)
        return even, odd

    def _of_values(self, last: Tally, users: int, rows: NDArray[np.uint8]) -> RawEstimate:
        """Return the raw estimates of values of full length from the reports about whole values."""
        words = self._words(rows)
        raw = self._hashing.raw_of(last, words)
        # The people who answered about whole values represent all who reported.
        share = np.clip(raw.frequencies, 0, 1)
        drawn = share * (1 - share) * (1 / last.users - 1 / users)
        errors = np.sqrt(raw.standard_errors**2 + drawn)
        assert isinstance(raw.limits, SupportLimits)  # noqa: S101  # local hashing is a pure survey
        limits = SampleLimits(raw.limits.supports, raw.limits.distribution)
        return RawEstimate(
            raw=replace(raw, standard_errors=errors, limits=limits),
            labels=_names(rows),
            users=users,
            complete=False,
            channel=lambda: self._hashing.channel_of(last, words),
            guarantee=self.guarantee,
        )

    def _of_length(self, tally: Tally, length: int) -> Tally:
        """Return the part of a tally about prefixes of one length, as a tally of local hashing."""
        size = self._hashing.cells
        start, end = np.searchsorted(tally.cells, [length * size, (length + 1) * size])
        counts = tally.counts[start:end]
        return Tally(self._hashing.digest, int(counts.sum()), tally.cells[start:end] - length * size, counts)

    def _grow(self, tally: Tally, beam: int, progress: Callable[[float], None] | None) -> NDArray[np.uint8]:
        """Return the values of full length that are worth a test, shape (m, max_bytes)."""
        kept = np.zeros((1, self.max_bytes), dtype=np.uint8)
        for length in range(self.max_bytes):
            if len(kept) * self._bytes.size > max(_MOST_PREFIXES, beam * self._bytes.size):
                raise DataError(
                    "Too few people have answered to look for values of so many bytes; wait for more answers, or name "
                    "candidates."
                )
            kept = self._extend(kept, length)
            if progress is not None:
                progress((length + 1) / self.max_bytes)
            asked = self._of_length(tally, length)
            if length == self.max_bytes - 1:
                break
            if not asked.users:
                continue  # No report distinguishes the prefixes: keep all.
            raw = self._hashing.raw_of(asked, self._words(kept))
            best = np.argsort(-raw.frequencies, kind="stable")[:beam]
            clear = raw.frequencies[best] >= _FOLLOWED * raw.standard_errors[best]
            # Keep at least one, so that there is a value to test.
            clear[0] = True
            kept = kept[best[clear]]
        return kept

    def _extend(self, prefixes: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
        """Return the prefixes extended by every possible byte; complete values stay unchanged."""
        ended = prefixes[prefixes[:, length - 1] == 0] if length else prefixes[:0]
        going = prefixes[prefixes[:, length - 1] != 0] if length else prefixes
        longer = np.repeat(going, self._bytes.size, axis=0)
        longer[:, length] = np.tile(self._bytes, len(going))
        return np.concatenate((ended, longer))

    @cached_property
    def _bytes(self) -> NDArray[np.uint8]:
        """The possible next bytes, including the end of the value."""
        used = set(self.characters.encode()) or set(range(256))
        return read_only(np.array(sorted(used | {0}), dtype=np.uint8))


def _nothing(tested: FrequencyEstimate, decoder: str) -> FrequencyEstimate:
    """Return the estimate of no values: all people have other values."""
    none = np.empty(0)
    return replace(
        tested,
        labels=(),
        frequencies=none,
        raw=none,
        standard_errors=none,
        p_values=none,
        significant=none.astype(np.bool_),
        decoder=decoder,
        other=1.0,
        other_standard_error=0.0,
        limits=NormalLimits(none, none),
    )


def _names(rows: NDArray[np.uint8]) -> tuple[str, ...]:
    # Bytes that are not valid text can only be found by chance; they are shown escaped.
    return tuple(bytes(row).rstrip(b"\0").decode(errors="backslashreplace") for row in rows)

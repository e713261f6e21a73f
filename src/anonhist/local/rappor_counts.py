"""Counts of RAPPOR reports that other programs collected, and their decoding."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.formats.atomic import content_of
from anonhist.frozen import Converted, converted, frozen, named
from anonhist.local.alphabet import distinct_candidates
from anonhist.local.cohort_counts import BitCounts, Supports
from anonhist.local.cohort_estimates import raw_estimates
from anonhist.local.estimate import CorrectionLike, DecoderLike, FrequencyEstimate, RawEstimate
from anonhist.local.randomizers.rappor import chance_of_one, logarithm, parse_probability, report_epsilon
from anonhist.local.shuffling import report_guarantee
from anonhist.privacy import Guarantee, parse_whole_number

# Smaller probabilities that a value leaves a bit unset are lost in the noise of any number of reports.
_LEAST_FREE = 1e-6
ARITHMETIC = "for {} of one person and value; what their devices did is taken from the file of parameters"


@frozen
class RapporParameters:
    """Parameters of the devices, named by the letters of the parameter file.

    Attributes
    ----------
    k, h, m
        Bits of a report, hashes of a value, cohorts.
    p, q
        Probabilities that a remembered 0, and a remembered 1, is reported as 1.
    f
        Probability that a bit is permanently replaced by a fair coin.

    Raises
    ------
    UsageError
        If a number is out of range, or the reports carry no information: q = p or f = 1.
    """

    k: Converted[SupportsIndex, int] = named(parse_whole_number, most=2**16)
    h: Converted[SupportsIndex, int] = named(parse_whole_number, most=64)
    m: Converted[SupportsIndex, int] = named(parse_whole_number, most=2**16)
    p: Fraction
    q: Fraction
    f: Fraction

    def __post_init__(self) -> None:
        if not all(0 <= each <= 1 for each in (self.p, self.q, self.f)):
            raise UsageError("p, q and f must be probabilities, from 0 to 1.")
        if self.p == self.q or self.f == 1:
            raise UsageError(
                "With these parameters reports carry no information: p and q must differ, and f must be less than 1."
            )
        if self.k > 1 and self.h * math.log1p(-1 / self.k) < math.log(_LEAST_FREE):
            raise UsageError(
                "With these parameters reports carry no information: so many hashes (h) of so few bits (k) set them "
                "all, whatever the value."
            )

    def check_candidates(self, candidates: RapporMap) -> None:
        """Refuse candidates whose bits do not match the parameters, or that no report can distinguish."""
        places, needed = candidates.places, self.m * self.h
        if places.shape != (needed, len(candidates.candidates)) or not 0 <= places.min() <= places.max() < self.k:
            raise UsageError(f"Each candidate must have {needed:,} bits, h in each cohort, as in the parameters.")
        if self.k == 1 and places.shape[1] > 1:
            raise UsageError(
                "Reports of one bit (k = 1) distinguish only one candidate from all other values, and there are "
                f"{places.shape[1]:,}, which set the same bit: keep the one that sets it, such as TRUE."
            )

    @property
    def true_probability(self) -> Fraction:
        """Probability of a 1 if the value sets the bit: ``q(1 − f/2) + p·f/2``."""
        return chance_of_one(self.q, self.p, self.f)

    @property
    def false_probability(self) -> Fraction:
        """Probability of a 1 if it does not: ``p(1 − f/2) + q·f/2``."""
        return chance_of_one(self.p, self.q, self.f)

    @property
    def guarantee(self) -> Guarantee | None:
        """ε_∞ for all reports of a person if f > 0, otherwise ε_1 for one report; None if they are not private."""
        if self.f:
            odds, covered = (1 - self.f / 2) / (self.f / 2), "all reports"
            epsilon = logarithm(odds, 1 if self.k == 1 else 2 * self.h)
        else:
            (p, q), covered = sorted((self.true_probability, self.false_probability)), "a single report"
            if p == 0 or q == 1:
                return None
            # Without another bit, values differ in a single bit.
            epsilon = logarithm(max(q / p, (1 - p) / (1 - q)), 1) if self.k == 1 else report_epsilon(p, q, self.h)
        return report_guarantee(epsilon, ARITHMETIC.format(covered))


@frozen
class RapporMap:
    """Candidates and the bits that they set.

    Attributes
    ----------
    candidates
        Texts.
    places
        Bit of each candidate under each hash, cohort by cohort, from 0 to k − 1: int32, shape (m·h, candidates).

    Raises
    ------
    UsageError
        If there is no candidate, or a duplicate one.
    """

    candidates: Converted[Iterable[str], tuple[str, ...]] = converted(distinct_candidates)
    places: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RapporCounts:
    """Counts of reports by cohort.

    Attributes
    ----------
    parameters
        The parameters of the devices.
    users
        Reports of each cohort, int64, shape (m,).
    bits
        The number of these with each bit set, int64, shape (m, k).

    Raises
    ------
    DataError
        If the shapes are wrong, there are no reports, or a bit is set in more reports than there are.

    Examples
    --------
    >>> from fractions import Fraction
    >>> half, quarter = Fraction(1, 2), Fraction(1, 4)
    >>> counts = RapporCounts(
    ...     RapporParameters(2, 1, 1, quarter, 3 * quarter, Fraction(0)), np.array([1000]), np.array([[700, 310]])
    ... )
    >>> counts.estimate(RapporMap(["cat", "dog"], np.array([[0], [1]], dtype=np.int32).T)).raw.round(2).tolist()
    [0.9, 0.12]
    """

    parameters: RapporParameters
    users: NDArray[np.int64]
    bits: NDArray[np.int64]

    def __post_init__(self) -> None:
        shape = (self.parameters.m, self.parameters.k)
        if self.users.shape != shape[:1] or self.bits.shape != shape:
            raise DataError(
                f"There must be {shape[0]:,} cohorts with counts of {shape[1]:,} bits each, as in the parameters."
            )
        if bool((self.bits < 0).any()) or bool((self.bits > self.users[:, np.newaxis]).any()):
            raise DataError("The count of a bit must be between 0 and the number of reports of its cohort.")
        if not 1 <= sum(self.users.tolist()) <= 2**62:
            raise DataError("There must be 1 to 2^62 reports.")

    def estimate(
        self,
        candidates: RapporMap,
        *,
        decoder: DecoderLike = "least-squares",
        correction: CorrectionLike = "holm",
        level: float = 0.95,
    ) -> FrequencyEstimate:
        """Estimate the frequency of each candidate among the reports.

        Parameters
        ----------
        candidates
            The candidates and the bits they set.
        decoder, correction, level
            As for any survey.

        Raises
        ------
        UsageError
            If the bits do not match the parameters, the reports are not private, or a choice is unknown.
        """
        given = self.parameters
        given.check_candidates(candidates)
        names, places = candidates.candidates, candidates.places
        guarantee = given.guarantee
        if guarantee is None:
            raise UsageError("These reports were not private: some reveal with certainty which bits are set.")
        # All hashes of a cohort select its only bit.
        supports = Supports(places[:: given.h] if given.k == 1 else places, given.m, given.k)
        collision, others = self._others(supports)
        counts = BitCounts(
            counts=self.bits,
            users=self.users,
            supports=supports,
            other_probability=float(given.false_probability),
            gap=float(given.true_probability - given.false_probability),
            shares=np.full(given.k, 1 / given.k),
            others=others,
            collision=collision,
        )
        return RawEstimate(
            raw=raw_estimates(counts),
            labels=names,
            users=counts.total,
            complete=others is None,
            channel=counts.channel,
            guarantee=guarantee,
            sharing=supports.sharing,
        ).decode(decoder, correction, level)

    def _others(self, supports: Supports) -> tuple[float, NDArray[np.float64] | None]:
        """Return the probability that labels collide, and that others support each cell, None if there are none."""
        given = self.parameters
        if given.k == 1:
            # There are two values: the candidate sets the bit, and people with the other value set none.
            return 0.0, np.zeros((given.m, 1))
        if given.m == given.h == 1 and np.unique(supports.places).size == supports.values:
            # In basic RAPPOR, every bit belongs to one label, so no other label sets the candidates' bits.
            unlisted = np.ones((1, given.k))
            unlisted[0, supports.places] = 0
            rest = given.k - supports.values
            return 0.0, unlisted / rest if rest else None
        chance = 1 - (1 - 1 / given.k) ** given.h
        return chance, np.full((given.m, given.k), chance)


_NAMES = ["k", "h", "m", "p", "q", "f"]
# The name of a candidate with empty text.
_EMPTY = "Empty"


def read_rappor(params: str | Path, counts: str | Path, candidates: str | Path) -> tuple[RapporCounts, RapporMap]:
    r"""Read the files of google/rappor, to decode them without that program.

    Parameters
    ----------
    params
        One line of names, ``k,h,m,p,q,f``, and one of numbers.
    counts
        One line for each of the m cohorts, without names: the number of reports, then the number of them with each of
        the k bits set.
    candidates
        The map: one line for each candidate, without names: its text, then h bits for each cohort, cohort after cohort;
        bit j, from 1, of cohort c, from 0, is the number c·k + j. An empty text is called "Empty". If k = 1 (booleans),
        there is one candidate, which sets the bit, such as TRUE; people with the other value set none.

    Returns
    -------
    RapporCounts, RapporMap
        ``counts.estimate(map)`` decodes them.

    Raises
    ------
    DataError
        If a file is missing or has another format; the message names the line, if it is about one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [Path(folder, name) for name in ("params.csv", "counts.csv", "map.csv")]
    ...     _ = paths[0].write_text("k,h,m,p,q,f\n2,1,1,0.25,0.75,0\n")
    ...     _ = paths[1].write_text("1000,700,310\n")
    ...     _ = paths[2].write_text("cat,1\ndog,2\n")
    ...     counts, candidates = read_rappor(*paths)
    >>> counts.estimate(candidates).raw.round(2).tolist()
    [0.9, 0.12]
    """
    given = _parameters(params)
    return _counts(counts, given), _map(candidates, given)


def _parameters(path: str | Path) -> RapporParameters:
    rows = [row for _, row in _rows(path)]
    if len(rows) != 2 or [name.strip() for name in rows[0]] != _NAMES or len(rows[1]) != len(_NAMES):
        raise _error(path, f"it needs a line of the names {','.join(_NAMES)} and one of six numbers")
    try:
        k, h, m = (int(text) for text in rows[1][:3])
        # Some texts are refused: a few letters may denote a number that fills the memory.
        p, q, f = (parse_probability(text, name="p, q and f") for text in rows[1][3:])
    except (ValueError, UsageError):
        raise _error(path, "k, h and m must be whole numbers, p, q and f decimals of a reasonable length") from None
    try:
        return RapporParameters(k, h, m, p, q, f)
    except AnonhistError as error:
        raise _error(path, str(error).removesuffix(".")) from None


def _counts(path: str | Path, given: RapporParameters) -> RapporCounts:
    table: list[list[int]] = []
    for line, row in _rows(path):
        if len(table) == given.m:
            raise _error(path, f"it has more lines than the {given.m:,} cohorts of the parameters")
        table.append(_numbers(path, line, row, 1 + given.k))
    try:
        numbers = np.array(table, dtype=np.int64).reshape(len(table), 1 + given.k)
        return RapporCounts(given, numbers[:, 0], numbers[:, 1:])
    except OverflowError:
        raise _error(path, "a count is 2^63 or more") from None
    except DataError as error:
        raise _error(path, str(error).removesuffix(".")) from None


def _map(path: str | Path, given: RapporParameters) -> RapporMap:
    names, columns = [], []
    lowest = [cohort * given.k + 1 for cohort in range(given.m) for _ in range(given.h)]
    for line, row in _rows(path):
        names.append(row[0] or _EMPTY)
        numbers = _numbers(path, line, row[1:], given.m * given.h)
        bits = [number - first for number, first in zip(numbers, lowest, strict=True)]
        if not all(0 <= bit < given.k for bit in bits):
            raise _error(path, f"in line {line} a bit is not one of the k of its cohort")
        columns.append(np.array(bits, dtype=np.int32))
    try:
        listed = RapporMap(names, np.array(columns, dtype=np.int32).T if columns else np.empty((0, 0), dtype=np.int32))
        given.check_candidates(listed)
    except AnonhistError as error:
        raise _error(path, str(error).removesuffix(".")) from None
    return listed


def _numbers(path: str | Path, line: int, row: list[str], count: int) -> list[int]:
    if len(row) != count:
        raise _error(path, f"line {line} has {len(row):,} numbers where {count:,} are needed")
    try:
        return [int(text) for text in row]
    except ValueError:
        raise _error(path, f"line {line} has a field that is not a whole number") from None


def _rows(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not empty, with their numbers."""
    try:
        reader = csv.reader(StringIO(content_of(path).decode("utf-8-sig"), newline=""), strict=True)
        for row in reader:
            if row:
                yield reader.line_num, row
    except (UnicodeDecodeError, csv.Error):
        raise _error(path, "it is not a CSV file in UTF-8") from None


def _error(path: str | Path, reason: str) -> DataError:
    return DataError(f"{str(path)!r} is not a file in the format of google/rappor: {reason}.")

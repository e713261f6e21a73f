"""A survey: the public configuration of how answers are randomized, and the operations of devices and servers."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.accounting import Receipt
from anonhist.errors import DataError, UsageError, kind_of
from anonhist.frozen import Converted, converted, frozen
from anonhist.kinds import Saved, Shown
from anonhist.local.alphabet import Alphabet
from anonhist.local.estimate import CorrectionLike, DecoderLike, ForgedWeight, FrequencyEstimate, refuse_least_squares
from anonhist.local.reports import Column, Reports, Tally, WholeColumn, count_cells
from anonhist.local.shuffling import ARITHMETIC, check_local_epsilon, report_guarantee, shuffled_guarantee
from anonhist.numeric import ExponentialQuotient
from anonhist.numeric.value_name import one_column
from anonhist.privacy import EpsilonLike, Guarantee, parse_whole_number, short_decimal
from anonhist.randomness import RandomSource, SystemSource

if TYPE_CHECKING:
    from anonhist.local.estimate import RawEstimate

SYSTEM = SystemSource()
# The largest size of a line of JSON.
MOST_REPORT_BYTES = 1 << 24
# Reports are drawn in chunks of this many bytes, which fit in a level-2 cache, and at least this many reports: with
# fewer, the overhead of a call dominates.
_CHUNK_BYTES, _LEAST_CHUNK = 1 << 18, 1 << 10
# More chunks than these are drawn by several threads: entropy and NumPy's loops release the interpreter lock.
_FEW_CHUNKS, WORKERS = 8, min(4, os.cpu_count() or 1)

# Fields of every survey; all others are its parameters.
COMMON = {"epsilon", "title", "receipt"}


@frozen(kw_only=True)
class Survey(Shown, Saved, ABC):
    """The public configuration of a local mechanism: frozen, printable, the same on every device and server.

    For all values x, x' and every report y: ``Q(y | x) ≤ e^ε · Q(y | x')``, exactly.

    Attributes
    ----------
    epsilon
        Privacy cost of one report for its sender; from 10⁻⁹ to 64, stored as an exact Fraction. Two reports cost twice
        as much.
    title
        Any text; surveys with different titles do not accept each other's reports.
    receipt
        Where the survey was charged, if it was (:func:`~anonhist.local.declare`); reports do not depend on it.
    """

    known_as = "survey"
    name: ClassVar[str]
    # Whether almost every report is unique, so that shares of reports carry no information.
    is_sparse: ClassVar[bool] = False
    # Names of parameters in files, if different.
    in_files: ClassVar[Mapping[str, str]] = {}
    epsilon: Converted[EpsilonLike, Fraction] = converted(check_local_epsilon)
    title: str = field(default="", repr=False)
    receipt: Receipt | None = field(default=None, repr=False, compare=False)

    def __init_subclass__(cls) -> None:
        """Keep the dataclasses below from writing a longer ``repr``."""
        # mypy lets nothing be assigned to a method; a dataclass keeps the one that the class itself has.
        cls.__repr__ = Survey.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        told = ((each.name, getattr(self, each.name)) for each in fields(self) if each.repr)
        texts = (
            f"{name}={short_decimal(value) if isinstance(value, Fraction) else repr(value)}"
            for name, value in told
            if value not in (None, "")
        )
        return f"{type(self).__name__}({', '.join(texts)})"

    def __post_init__(self) -> None:
        if not isinstance(self.title, str) or not self.title.isprintable():
            raise UsageError("The title of a survey must be plain text on one line.")

    # Public

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of a report; by default one, ``report``: the number of a cell."""
        return (WholeColumn("report", self.cells),)

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of cells that a tally counts; they are numbered from 0."""

    @property
    def parameters(self) -> dict[str, Any]:
        """All settings of the survey except its name, epsilon, title and receipt, as JSON values."""
        own = (each.name for each in fields(self) if each.name not in COMMON)
        return {self.in_files.get(name, name): _as_json(getattr(self, name)) for name in own}

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that identify the whole configuration."""
        described = {"mechanism": self.name, "epsilon": str(self.epsilon), "title": self.title, **self.parameters}
        text = json.dumps(described, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @cached_property
    def odds(self) -> ExponentialQuotient:
        """E = e^ε, exact."""
        return ExponentialQuotient.exponential(self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of each report for its sender."""
        return report_guarantee(self.epsilon, ARITHMETIC)

    def repeated_guarantee(self, times: int) -> Guarantee:
        """Return the guarantee of several reports of a person together, each drawn afresh: ``times·ε``.

        Answers may change from report to report. Of RAPPOR, it is that of all reports of one remembered answer.

        Parameters
        ----------
        times
            The number of reports of each person, ≥ 1.

        Raises
        ------
        UsageError
            If it is not a whole number ≥ 1.
        """
        many = parse_whole_number(times, name="times")
        return report_guarantee(many * self.epsilon, ARITHMETIC, reports=many)

    def shuffled_guarantee(self, users: int, delta: EpsilonLike, *, honest: int | None = None) -> Guarantee:
        """Return the central guarantee if a trusted party shuffles the reports of n people.

        Parameters
        ----------
        users
            The number n of people who report.
        delta
            δ of the guarantee, in (0, 1).
        honest
            How many of them, at least, follow the survey and keep their reports to themselves; by default, all. Only
            their reports hide each other.

        Raises
        ------
        UsageError
            If a number is out of its range.
        """
        return shuffled_guarantee(self.epsilon, users=users, delta=delta, honest=honest)

    @property
    def report_bytes(self) -> int:
        """The number of bytes that a report needs, packed."""
        return -(-sum(column.bits for column in self.columns) // 8)

    def check_report_size(self) -> None:
        """Refuse a survey with reports that are too large to be made, or to be read as lines of text.

        Raises
        ------
        UsageError
            If a report needs more than 2^24 bytes.
        """
        if self.report_bytes > MOST_REPORT_BYTES:
            raise UsageError(
                f"A report would need {self.report_bytes:,} bytes, and the limit is 2^24: choose a smaller alphabet, "
                "or a mechanism with shorter reports ('anonhist local recommend' lists them)."
            )

    @property
    def forged_weight(self) -> ForgedWeight | None:
        """The largest effect of one forged report on raw estimates; None if it depends on all other reports."""
        return None

    @property
    def cautions(self) -> tuple[str, ...]:
        """Public sentences that users of this survey should know besides the guarantee."""
        return ()

    # The device

    def randomize(self, values: Any, *, source: RandomSource = SYSTEM) -> Reports:
        """Return independent reports of devices with these values, one each.

        Parameters
        ----------
        values
            One value per person: labels of the alphabet, or whole numbers if the alphabet is their number. A list, an
            array, or a column or table of one column of pandas, Polars or Arrow.
        source
            The source of random words.

        Raises
        ------
        DataError
            If a value is not a possible answer. The message does not contain it.
        UsageError
            If a report would need more than 2^24 bytes, or a table has several columns.
        """
        self.check_report_size()
        codes = self._answers(values)
        users = len(codes)
        columns = {column.name: column.empty(users) for column in self.columns}
        step = max(_LEAST_CHUNK, _CHUNK_BYTES // max(8, self._working_bytes))

        def fill(start: int) -> None:
            part = slice(start, start + step)
            drawn = self._draw(codes[part], source=source)
            for name, column in columns.items():
                column[part] = drawn[name]

        starts = range(0, users, step)
        # The system's entropy keeps no state between calls, so several threads may use it. Other sources may not
        # support that, and their draws would not be reproducible.
        if len(starts) > _FEW_CHUNKS and WORKERS > 1 and type(source) is SystemSource:
            with ThreadPoolExecutor(WORKERS) as workers:
                for _ in workers.map(fill, starts):
                    pass
        else:
            for start in starts:
                fill(start)
        return Reports(self.digest, columns)

    def check_answers(self, values: Any) -> None:
        """Refuse what :meth:`randomize` would refuse, without drawing anything.

        Parameters
        ----------
        values
            One value per person, as for :meth:`randomize`.

        Raises
        ------
        DataError, UsageError
            As :meth:`randomize` does.
        """
        self.check_report_size()
        self._answers(values)

    @property
    def _working_bytes(self) -> int:
        """The approximate number of bytes of memory for drawing one report."""
        return 8 * len(self.columns)

    def _answers(self, values: Any) -> NDArray[Any]:
        """Return the internal form of the values; a single string is refused: it is not a list of its characters.

        A device that accepted it would report each character, and pay for each report.
        """
        values = one_column(values)
        try:
            iter(values)
            is_list = not isinstance(values, str | bytes | Mapping)
        except TypeError:
            is_list = False
        if not is_list:
            raise DataError("Values must be a list with one value per person, even for a single person.")
        return self._codes(values)

    @abstractmethod
    def _codes(self, values: Any) -> NDArray[Any]:
        """Return the internal form of the values: one number, or row of numbers, for each."""

    @abstractmethod
    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        """Return one report for each code, as columns."""

    # The server

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Return for each report whether a device that follows the survey can have sent it.

        Parameters
        ----------
        reports
            Reports of this survey.

        Returns
        -------
        ndarray of bool, shape (n,)
            False if a value is out of range, if a set has the wrong size, and, for reports of independent bits, if the
            number of ones is outside bounds that an honest report violates with probability at most 2⁻⁴⁰.

        Raises
        ------
        UsageError
            If they answer another survey.
        DataError
            If their columns are not those of the survey.

        Notes
        -----
        This depends only on the report, so dropping impossible reports costs no privacy. It only bounds the effect of
        one forged report: most forged reports are possible ones.

        Examples
        --------
        >>> from anonhist.local import OptimizedUnary
        >>> survey = OptimizedUnary(alphabet=800, epsilon=1)
        >>> forged = np.full((1, 100), 255, dtype=np.uint8)
        >>> survey.possible(Reports(survey.digest, {"report": forged})).tolist()
        [False]
        """
        if not isinstance(reports, Reports):
            raise UsageError(f"Only reports can be tallied, not {kind_of(reports)}: randomize the values first.")
        columns = reports.checked(self.digest, self.columns)
        mask = np.ones(len(reports), dtype=np.bool_)
        for column in self.columns:
            mask &= column.in_range(columns[column.name])
        return mask & self._honest(columns)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Return for each report whether an honest device can make it, if its columns are in range; by default, yes."""
        return np.ones(len(next(iter(columns.values()))), dtype=np.bool_)

    def tally(self, reports: Reports) -> Tally:
        """Count reports.

        Raises
        ------
        UsageError
            If they answer another survey.
        DataError
            If one of them is invalid for this survey; the message says which, counted from 1. See :meth:`possible`.
        """
        self._check_possible(reports)
        return self._tally(reports)

    def tally_possible(self, reports: Reports) -> tuple[Tally, NDArray[np.bool_]]:
        """Count the possible reports, and return which ones are not, in one pass.

        Returns
        -------
        tuple of Tally and ndarray of bool, shape (n,)
            The tally of all others, and True for each report that was left out; see :meth:`possible`.

        Raises
        ------
        UsageError, DataError
            As for :meth:`possible`.
        """
        mask = self.possible(reports)
        return self._tally(reports if mask.all() else reports.rows(mask)), ~mask

    def _check_possible(self, reports: Reports) -> None:
        mask = self.possible(reports)
        if not mask.all():
            raise DataError(f"Report {int(mask.argmin()) + 1:,} is invalid for this survey; nothing was counted.")

    def _tally(self, reports: Reports) -> Tally:
        """Count reports, all of which are possible."""
        cells, counts = self._count_cells(reports.checked(self.digest, self.columns))
        return Tally(self.digest, len(reports), cells, counts)

    def tally_groups(self, reports: Reports, times: NDArray[np.int64]) -> Tally:
        """Count distinct reports with multiplicities, as grouping on an engine returns them.

        Parameters
        ----------
        reports
            Distinct or not, in any order.
        times : ndarray of int64, shape (n,)
            The number of people who sent each, ≥ 1.

        Raises
        ------
        UsageError, DataError
            As for :meth:`tally`, and if a multiplicity is below 1.
        """
        if times.shape != (len(reports),) or times.dtype != np.int64 or bool((times < 1).any()):
            raise DataError("Each report must have been sent a whole number of times, at least once.")
        self._check_possible(reports)
        total = self.empty_tally()
        # Counting is additive: reports whose multiplicities share a binary digit are counted together.
        for digit in range(int(times.max(initial=0)).bit_length()):
            part = self._tally(reports.rows(np.flatnonzero(times >> digit & 1)))
            total += Tally(self.digest, part.users << digit, part.cells, part.counts << digit)
        return total

    def _count_cells(self, columns: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells that occur in the reports, ascending, and their counts."""
        return count_cells(self._cells_of(columns), size=self.cells)

    def _cells_of(self, columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the cells in which the reports are counted; by default one for each, which is the report."""
        return columns["report"]

    def empty_tally(self) -> Tally:
        """Return the empty tally."""
        return Tally(self.digest, 0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally that is invalid for this survey.

        Raises
        ------
        UsageError
            If it belongs to another survey.
        DataError
            If this survey cannot have produced it.
        """
        if tally.survey != self.digest:
            raise UsageError("This tally belongs to another survey; estimate with the configuration that made it.")
        if tally.cells.size and tally.cells[-1] >= self.cells:
            raise DataError("The tally has cells that this survey does not have.")
        if not self._is_possible(tally):
            raise DataError("The counts of the tally do not add up to its number of users.")

    @property
    def _cells_per_report(self) -> tuple[int, int]:
        """The least and the largest number of cells in which a possible report is counted."""
        return 1, 1

    def _is_possible(self, tally: Tally) -> bool:
        """Return whether the counts fit the number of users."""
        least, most = self._cells_per_report
        total: int = sum(tally.counts.tolist())
        return least * tally.users <= total <= most * tally.users

    def estimate(
        self,
        tally: Tally,
        *,
        candidates: Iterable[str] | None = None,
        decoder: DecoderLike | None = None,
        correction: CorrectionLike = "holm",
        level: float = 0.95,
    ) -> FrequencyEstimate:
        """Estimate the frequency of each value among those who reported.

        Parameters
        ----------
        tally
            A tally of this survey, with at least one report.
        candidates
            The values of interest, chosen before anybody sees the reports; all labels by default. Required if the
            survey accepts any text. The share of all other values is reported as ``other``.
        decoder
            ``"projected"`` (nearest distribution, the default), ``"normalized"``, ``"unbiased"``, ``"least-squares"``,
            ``"mle"`` or ``"em"`` (EM, stopped early). If labels can collide in cohorts of at most 2²² places
            together, the default is ``"least-squares"``, because its error is lowest then. Local hashing does not
            allow least squares, because almost every report is the only one with its seed.
        correction
            The correction for multiple tests: ``"holm"``, ``"bonferroni"`` or ``"benjamini-hochberg"``.
        level
            The level of intervals and tests.

        Returns
        -------
        FrequencyEstimate
            Raw estimates are unbiased. If labels can collide, they come from least squares over all candidates if these
            can be separated, otherwise candidate by candidate; both are unbiased over the keys, and errors and p-values
            include collisions of labels.

        Raises
        ------
        UsageError, DataError
            If the tally belongs to another survey or is empty; candidates are missing, named twice or outside the
            alphabet; or a choice is unknown.
        """
        if self.is_sparse:
            refuse_least_squares(decoder)
        self.check_tally(tally)
        if not tally.users:
            raise DataError("There are no reports yet, so nothing can be estimated.")
        return self._raw_estimate(tally, candidates).decode(decoder, correction, level)

    @abstractmethod
    def _raw_estimate(self, tally: Tally, candidates: Iterable[str] | None) -> RawEstimate:
        """Return the raw estimates of the candidates, or of all labels, from at least one report."""


MOST_ENTRIES = 2**20


def check_entries(entries: int) -> None:
    """Refuse a matrix that does not fit in memory: one with more than 2²⁰ entries."""
    if entries > MOST_ENTRIES:
        raise UsageError("The matrix of this survey has more than 2^20 entries; use a smaller survey.")


def _as_json(value: Any) -> Any:
    if isinstance(value, Alphabet):
        return value.parameters
    return str(value) if isinstance(value, Fraction) else value

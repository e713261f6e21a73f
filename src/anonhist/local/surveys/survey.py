"""A survey: what everybody knows of how answers are randomized, and what each side does with it."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.local.surveys.reports import Reports
from anonhist.local.surveys.shuffling import shuffled_guarantee
from anonhist.local.surveys.tally import Tally
from anonhist.numeric import ExponentialQuotient
from anonhist.outward import Saved, Shown
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, short_decimal
from anonhist.randomness import SystemSource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from anonhist.local.decoding import Correction, CorrectionName, Decoder, DecoderName
    from anonhist.local.surveys.estimate import FrequencyEstimate
    from anonhist.local.surveys.forgery import ForgedWeight
    from anonhist.local.surveys.reports import Column
    from anonhist.privacy import EpsilonLike
    from anonhist.randomness import RandomSource

SYSTEM = SystemSource()
# Above, a report says nearly everything; below, nearly nothing: 10^18 people would be needed to learn a share.
LARGEST_EPSILON, SMALLEST_EPSILON = Fraction(64), Fraction(1, 10**9)
# Reports are made so many bytes at a time, which stay in a level-2 cache, but so many reports at least: fewer
# would take longer to call for than to make.
_CHUNK_BYTES, _LEAST_CHUNK = 1 << 18, 1 << 10
# More chunks than these are made by several threads: entropy and NumPy's loops leave the interpreter to the others.
_FEW_CHUNKS, WORKERS = 8, min(4, os.cpu_count() or 1)

ARITHMETIC = (
    "every answer is randomized on the device of the person who gives it, with exact probabilities, so nobody need be "
    "trusted with it"
)


def check_local_epsilon(given: EpsilonLike) -> Fraction:
    """Return what a report costs, exactly.

    Raises
    ------
    UsageError
        If it is no number from 10^−9 to 64.

    Examples
    --------
    >>> check_local_epsilon("0.5")
    Fraction(1, 2)
    """
    epsilon = parse_epsilon(given)
    if not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        message = f"epsilon of a survey must lie between 1e-9 and {LARGEST_EPSILON}; beyond it promises nothing of use."
        raise UsageError(message)
    return epsilon


@frozen(kw_only=True)
class Survey(Shown, Saved, ABC):
    """The public configuration of a local mechanism: frozen, printable, the same on every device and server.

    For all values x, x' and every report y: ``Q(y | x) ≤ e^ε · Q(y | x')``, exactly.

    Attributes
    ----------
    epsilon
        What one report costs the person who sends it; from 10^−9 to 64, kept as an exact Fraction. Whoever answers
        twice pays twice.
    title
        Any text; surveys with different titles do not take each other's reports.
    """

    known_as = "survey"
    name: ClassVar[str]
    # What files call a parameter, where that is another name.
    in_files: ClassVar[Mapping[str, str]] = {}
    epsilon: Converted[EpsilonLike, Fraction] = converted(check_local_epsilon)
    title: str = field(default="", repr=False)

    def __init_subclass__(cls) -> None:
        """Keep the dataclasses below from writing a longer ``repr``."""
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

    # What everybody knows

    @property
    @abstractmethod
    def columns(self) -> tuple[Column, ...]:
        """What a report consists of."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many different things a tally counts; cells are numbered from 0."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Everything that describes the survey but its name, epsilon and title, as JSON values."""

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that stand for the whole configuration."""
        described = {"mechanism": self.name, "epsilon": str(self.epsilon), "title": self.title, **self.parameters}
        text = json.dumps(described, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @cached_property
    def odds(self) -> ExponentialQuotient:
        """E = e^ε, exact."""
        return ExponentialQuotient.exponential(self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """What each report promises the person who sends it."""
        unit = PrivacyUnit.user(max_items=1)
        return Guarantee(unit, NeighboringRelation.SUBSTITUTE, self.epsilon, arithmetic=ARITHMETIC)

    def shuffled_guarantee(self, users: int, delta: EpsilonLike) -> Guarantee:
        """Return what the survey promises where somebody trusted mixes the reports of so many people.

        Parameters
        ----------
        users
            How many people report, all honestly.
        delta
            Probability mass that the promise may miss, in (0, 1).

        Raises
        ------
        UsageError
            If a number is not as said.
        """
        return shuffled_guarantee(self.epsilon, users=users, delta=delta)

    @property
    def report_bytes(self) -> int:
        """Bytes that a report needs, packed."""
        return -(-sum(column.bits for column in self.columns) // 8)

    @property
    def forged_weight(self) -> ForgedWeight | None:
        """What one forged report can do to raw estimates at worst; None where that depends on all other reports."""
        return None

    @property
    def cautions(self) -> tuple[str, ...]:
        """What whoever chooses this survey should know besides the guarantee: sentences, public."""
        return ()

    # The device

    def randomize(self, values: Any, *, source: RandomSource = SYSTEM) -> Reports:
        """Return what devices with these values would send, one report each, independent.

        Parameters
        ----------
        values
            One value a person: labels of the alphabet, or whole numbers where the alphabet is their number.
        source
            Where the random words come from.

        Raises
        ------
        DataError
            If a value cannot be answered with. The message does not hold it.
        """
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
        # The system's entropy keeps nothing between calls, so several may ask for it at once; other sources need not
        # bear that, and would not repeat themselves.
        if len(starts) > _FEW_CHUNKS and WORKERS > 1 and type(source) is SystemSource:
            with ThreadPoolExecutor(WORKERS) as workers:
                for _ in workers.map(fill, starts):
                    pass
        else:
            for start in starts:
                fill(start)
        return Reports(self.digest, columns)

    @property
    def _working_bytes(self) -> int:
        """Bytes of memory that drawing one report takes, about."""
        return 8 * len(self.columns)

    def _answers(self, values: Any) -> NDArray[Any]:
        """Return what is drawn from, refusing what is no list: one text is no list of its characters.

        A device that took it for one would answer once for each, and pay each time.
        """
        try:
            iter(values)
            is_list = not isinstance(values, str | bytes | Mapping)
        except TypeError:
            is_list = False
        if not is_list:
            raise DataError("Values must be a list, one for each person; put a single one into a list, too.")
        return self._codes(values)

    @abstractmethod
    def _codes(self, values: Any) -> NDArray[Any]:
        """Return what is drawn from: one number, or row of numbers, for each value."""

    @abstractmethod
    def _draw(self, codes: NDArray[Any], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        """Return one report for each code, as columns."""

    # The server

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Say of each report whether a device that follows the survey can have sent it.

        Parameters
        ----------
        reports
            That answer this survey.

        Returns
        -------
        ndarray of bool, shape (n,)
            False for what is out of range, for a set that is not of the right size, and, where a report is made of
            independent bits, for more or fewer ones than an honest report has but for a probability of 2^−40.

        Raises
        ------
        UsageError
            If they answer another survey.
        DataError
            If their columns are not those of the survey.

        Notes
        -----
        This depends on the report alone, so leaving out what is not possible costs no privacy. It bounds what one
        forged report can do, and no more: most forged reports are possible ones.

        Examples
        --------
        >>> from anonhist.local import OptimizedUnary
        >>> survey = OptimizedUnary(alphabet=800, epsilon=1)
        >>> forged = np.full((1, 100), 255, dtype=np.uint8)
        >>> survey.possible(Reports(survey.digest, {"report": forged})).tolist()
        [False]
        """
        columns = self._columns_of(reports)
        mask = np.ones(len(reports), dtype=np.bool_)
        for column in self.columns:
            mask &= column.in_range(columns[column.name])
        return mask & self._honest(columns)

    def _honest(self, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Say of each report whether an honest device makes it, if its columns are in range; by default, yes."""
        return np.ones(len(next(iter(columns.values()))), dtype=np.bool_)

    def _columns_of(self, reports: Reports) -> dict[str, NDArray[Any]]:
        """Return the columns, in the types that cells are numbered in, or refuse reports of another survey."""
        if not isinstance(reports, Reports):
            message = f"Only reports are tallied, not a {type(reports).__name__}: randomize the values first."
            raise UsageError(message)
        if reports.survey != self.digest:
            raise UsageError(
                "These reports answer another survey; tally them with the configuration they were made by."
            )
        names = {column.name for column in self.columns}
        if set(reports.columns) != names:
            message = f"Reports of this survey have the columns {', '.join(sorted(names))}."
            raise DataError(message)
        if not all(column.admits(reports.columns[column.name], len(reports)) for column in self.columns):
            raise DataError("The columns are not of the types of this survey's reports; nothing was counted.")
        # Whole numbers of fewer bits would overflow where cells are numbered.
        return {
            column.name: reports.columns[column.name].astype(column.empty(0).dtype, copy=False)
            for column in self.columns
        }

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

    def _check_possible(self, reports: Reports) -> None:
        mask = self.possible(reports)
        if not mask.all():
            message = f"Report {int(mask.argmin()) + 1:,} is invalid for this survey; nothing was counted."
            raise DataError(message)

    def _tally(self, reports: Reports) -> Tally:
        """Count reports that are possible, all of them."""
        cells, counts = self._count_cells(self._columns_of(reports), len(reports))
        return Tally(self.digest, len(reports), cells, counts)

    def tally_groups(self, reports: Reports, times: NDArray[np.int64]) -> Tally:
        """Count reports each of which so many people sent: what grouping on an engine returns.

        Parameters
        ----------
        reports
            Different or not, in any order.
        times : ndarray of int64, shape (n,)
            How many people sent each, ≥ 1.

        Raises
        ------
        UsageError, DataError
            As for :meth:`tally`, and if the times are not as said.
        """
        if times.shape != (len(reports),) or times.dtype != np.int64 or bool((times < 1).any()):
            raise DataError("Each of the reports must have been sent a whole number of times, once at least.")
        self._check_possible(reports)
        total = self.empty_tally()
        # Counting is additive: reports whose times have a binary digit in common are counted at once.
        for digit in range(int(times.max(initial=0)).bit_length()):
            part = self._tally(reports.rows(np.flatnonzero(times >> digit & 1)))
            total += Tally(self.digest, part.users << digit, part.cells, part.counts << digit)
        return total

    @abstractmethod
    def _count_cells(self, columns: Any, users: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the cells met in the reports, ascending, and how often."""

    def empty_tally(self) -> Tally:
        """Return the tally of nobody."""
        return Tally(self.digest, 0, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def check_tally(self, tally: Tally) -> None:
        """Refuse a tally that is none of this survey.

        Raises
        ------
        UsageError
            If it is of another survey.
        DataError
            If this survey cannot have made it.
        """
        if tally.survey != self.digest:
            raise UsageError("This tally is of another survey; estimate with the configuration it was made by.")
        if tally.cells.size and tally.cells[-1] >= self.cells:
            raise DataError("The tally counts cells that this survey does not have.")
        if not self._is_possible(tally):
            raise DataError("The counts of the tally do not add up to its number of users.")

    def _is_possible(self, tally: Tally) -> bool:
        """Say whether the counts fit the number of users; by default, everybody reports one cell."""
        total: int = sum(tally.counts.tolist())
        return total == tally.users

    @abstractmethod
    def estimate(
        self,
        tally: Tally,
        *,
        candidates: Iterable[str] | None = None,
        decoder: DecoderName | Decoder = "projected",
        correction: CorrectionName | Correction = "holm",
        level: float = 0.95,
    ) -> FrequencyEstimate:
        """Estimate how frequent each value is among those who reported."""

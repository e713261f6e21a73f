"""What devices agree to before they answer: a survey, how often they may answer, and what is shown of the answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, SupportsIndex

from anonhist.catalogue import load
from anonhist.errors import UsageError, kind_of
from anonhist.frozen import Converted, converted, frozen, named
from anonhist.kinds import Saved
from anonhist.local.alphabet import distinct_candidates
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.randomizers.rappor import RAPPOR
from anonhist.local.survey import SYSTEM, Survey
from anonhist.local.wire import FIRST_DAY, LAST_DAY
from anonhist.privacy import EpsilonLike, Guarantee, PrivacyUnit, parse_epsilon, parse_whole_number
from anonhist.privacy.conversion import delta_after
from anonhist.randomness import RandomSource

# A person cannot answer more often than every minute for a lifetime.
_MOST_ANSWERS = 1 << 26
_MOST_DAYS = 3660
# JavaScript reads larger numbers as others.
_MOST_PEOPLE = 1 << 53


@frozen
class Once:
    """The first answer of a person stands for good: a device remembers its report, and never draws another one."""

    @property
    def times(self) -> int:
        """The number of reports of a person."""
        return 1


@frozen
class Fresh:
    """A person may answer on several occasions, with a report drawn afresh for each; every one costs ε.

    With RAPPOR, reports are drawn from the bits that were remembered at the first answer, which stands for good.

    Parameters
    ----------
    times
        T, the largest number of reports of a person, from 2 to 2²⁶.

    Examples
    --------
    >>> Fresh(7).times
    7
    """

    times: Converted[SupportsIndex, int] = named(parse_whole_number, least=2, most=_MOST_ANSWERS)


AnswersLike = Literal["once"] | SupportsIndex | Once | Fresh


def _answers(given: AnswersLike) -> Once | Fresh:
    if isinstance(given, Once | Fresh):
        return given
    if isinstance(given, str):
        if given == "once":
            return Once()
        raise UsageError("`answers` must be once, or the number of fresh answers, such as 7.")
    return Once() if given == 1 and not isinstance(given, bool) else Fresh(given)


@frozen
class Looks:
    """The operator sees every report; others see estimates from all of them whenever the operator looks."""


def _share_of_one(given: EpsilonLike) -> Fraction:
    delta = parse_epsilon(given, name="delta")
    if delta >= 1:
        raise UsageError("`delta` must be less than 1, such as 1e-6.")
    return delta


@frozen(kw_only=True)
class Batches:
    """Only sums over batches of n reports are ever shown; whoever sees no more has the stronger central guarantee.

    Parameters
    ----------
    users
        n, the number of people in a batch, at most 2⁵³.
    honest
        m, how many of them, at least, follow the survey, and keep their reports to themselves.
    delta
        δ of the central guarantee, in (0, 1).

    Examples
    --------
    >>> Batches(users=10_000, honest=5_000, delta="1e-6")
    Batches(users=10000, honest=5000, delta=Fraction(1, 1000000))
    """

    users: Converted[SupportsIndex, int] = named(parse_whole_number, least=2, most=_MOST_PEOPLE)
    honest: Converted[SupportsIndex, int] = named(parse_whole_number, least=1)
    delta: Converted[EpsilonLike, Fraction] = converted(_share_of_one)

    def __post_init__(self) -> None:
        if self.honest > self.users:
            raise UsageError(f"At most all {self.users:,} people of a batch can be honest, not {self.honest:,}.")


@frozen
class Anybody:
    """Everybody may report, as often as they like: nobody is known to the collector."""


@frozen
class Invited:
    """Only invitations count, each for one report: those who have none cannot forge any. Our server checks them.

    An invitation names whoever got it, so the collector can link report and person: ε is what protects, and all that
    does.
    """


def _day(given: date | str, name: str = "last_day") -> date:
    try:
        # A date with a time is not a day.
        found = date.fromisoformat(given) if isinstance(given, str) else given
        if type(found) is date and (not isinstance(given, str) or found.isoformat() == given):
            return found
    except ValueError:
        pass
    raise UsageError(f"`{name}` must be a day, such as 2026-12-31.")


def _candidates(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else distinct_candidates(given)


@frozen(kw_only=True)
class Collection(Saved):
    """What the devices of a collection agree to; the same file is on every device and server, and holds nothing secret.

    Parameters
    ----------
    survey
        How an answer is randomized.
    answers
        ``"once"``, or T, the number of fresh answers that a person may give.
    last_day
        The last day of the collection, in UTC: a date, or text such as ``"2026-12-31"``. Devices ask no clock of their
        own: they stop only if the collector says the day, and whoever collects must stop.
    candidates
        The values to be estimated, fixed beforehand, if any text may be answered; otherwise None.
    shown
        :class:`Looks`, the default, or :class:`Batches`.
    keep_ids
        For how many days the collector recognizes a report that was sent twice, from 1 to 3,660. An invitation is
        recognized until the last day.
    open_to
        :class:`Anybody`, the default, or :class:`Invited`.

    Attributes
    ----------
    digest
        64 hexadecimal digits, the SHA-256 digest of everything in the file. Pages pin it, so that nobody can be given
        another survey.
    guarantee
        The guarantee of all reports of a person together, toward everybody, the operator included. Of RAPPOR, it is ε_1
        for one report, drawn from bits that are forgotten, and ε_∞ for several.
    shown_guarantee
        The guarantee toward those who only see what is shown.

    Raises
    ------
    UsageError
        If candidates are missing, or given where the values are known; if batches are shown of RAPPOR, whose reports
        can be linked; or if a number is out of range.

    Notes
    -----
    Randomizing once and repeating the report does not bound the cost of answers that change: whoever sees whether two
    reports agree can distinguish (a, b) from (a, a). So the first answer stands, or each answer costs ε. A guarantee is
    for one memory: a person who answers again on another device, or after storage was cleared, pays again.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=["bus", "car"], epsilon="1/2")
    >>> Collection(survey=survey, answers="once", last_day="2026-12-31").guarantee.epsilon
    Fraction(1, 2)
    >>> Collection(survey=survey, answers=7, last_day="2026-12-31").guarantee.epsilon
    Fraction(7, 2)
    """

    known_as = "collection"
    survey: Survey
    answers: Converted[AnswersLike, Once | Fresh] = converted(_answers)
    last_day: Converted[date | str, date] = converted(_day)
    candidates: Converted[Iterable[str] | None, tuple[str, ...] | None] = converted(_candidates, default=None)
    shown: Looks | Batches = Looks()
    keep_ids: Converted[SupportsIndex, int] = named(parse_whole_number, most=_MOST_DAYS, default=14)
    open_to: Anybody | Invited = Anybody()

    def __post_init__(self) -> None:
        if not isinstance(self.survey, Survey):
            raise UsageError(f"A collection needs a survey, not {kind_of(self.survey)}.")
        if not isinstance(self.shown, Looks | Batches):
            raise UsageError(f"`shown` must be Looks() or Batches(…), not {kind_of(self.shown)}.")
        if not isinstance(self.open_to, Anybody | Invited):
            raise UsageError(f"`open_to` must be Anybody() or Invited(), not {kind_of(self.open_to)}.")
        if isinstance(self.open_to, Invited) and not FIRST_DAY <= self.last_day <= LAST_DAY:
            raise UsageError(f"Invitations are for collections whose last day is from {FIRST_DAY} to {LAST_DAY}.")
        self.survey.check_report_size()
        if self.candidates is None and self._is_open:
            raise UsageError("This survey accepts any text: fix the candidates to be estimated before anybody answers.")
        if self.candidates is not None and not self._is_open:
            raise UsageError("The values of this survey are known, or found by it: leave `candidates` out.")
        if isinstance(self.shown, Batches):
            if isinstance(self.survey, RAPPOR):
                raise UsageError("Reports of RAPPOR can be linked, so batches do not hide their senders: show looks.")
            _ = self.shown_guarantee  # This refuses a δ that many answers raise to 1.

    @property
    def _is_open(self) -> bool:
        return getattr(self.survey, "alphabet", None) is None and not isinstance(self.survey, HeavyHitters)

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of all reports of a person together."""
        return self.survey.repeated_guarantee(self.answers.times)

    @cached_property
    def shown_guarantee(self) -> Guarantee:
        """The guarantee toward those who only see what is shown: that of batches, times the number of answers.

        All reports of a person may be in one batch, so δ grows as for groups of people.
        """
        if isinstance(self.shown, Looks):
            return self.guarantee
        once = self.survey.shuffled_guarantee(self.shown.users, self.shown.delta, honest=self.shown.honest)
        times = self.answers.times
        unit, delta = PrivacyUnit.user(max_items=times), delta_after(times, once.epsilon, once.delta)
        if delta >= 1:
            raise UsageError("Together these answers promise nothing: their δ add up to 1 or more.")
        return replace(once, unit=unit, epsilon=times * once.epsilon, delta=delta)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Public sentences that those who answer should know besides the guarantee."""
        again = (
            "Whoever answers again, on another device, in a private window or after storage was cleared, pays the same "
            "epsilon again."
        )
        linked = "The collector can link a report to the person who was invited with its id: what protects is epsilon."
        invited = (linked,) if isinstance(self.open_to, Invited) else ()
        return (*(self.survey.cautions if self.answers.times > 1 else ()), again, *invited)

    @property
    def description(self) -> dict[str, Any]:
        """Everything that the digest covers, as JSON values."""
        survey, shown = self.survey, self.shown
        return {
            "survey": {
                "mechanism": survey.name,
                "epsilon": str(survey.epsilon),
                "title": survey.title,
                "parameters": survey.parameters,
                "digest": survey.digest,
            },
            "answers": "once" if isinstance(self.answers, Once) else self.answers.times,
            "candidates": None if self.candidates is None else list(self.candidates),
            "shown": "looks"
            if isinstance(shown, Looks)
            else {"users": shown.users, "honest": shown.honest, "delta": str(shown.delta)},
            "last_day": self.last_day.isoformat(),
            "keep_ids": self.keep_ids,
            "open_to": "invited" if isinstance(self.open_to, Invited) else "anybody",
            "guarantee": self.guarantee.sentence,
            "cautions": list(self.cautions),
        }

    def answer(
        self,
        value: Any,
        *,
        memory: str | Path,
        occasion: str = "",
        day: date | str | None = None,
        invitation: str | None = None,
        source: RandomSource = SYSTEM,
    ) -> str:
        """Return the report of an answer, as the JavaScript client does: drawn once, and the same line ever after.

        Parameters
        ----------
        value
            The answer of one person; it is not stored.
        memory
            The file that remembers the reports of this person, and of no other; it is made if it is missing.
        occasion
            If there may be several answers: which one, such as ``"2026-W48"``.
        day
            The day in UTC as the collector says it, if it says one. After the last day, nothing new is drawn.
        invitation
            Where only invited people may answer: 32 hexadecimal digits, one invitation for each answer. It is needed
            once, when the report is drawn.
        source
            The source of random words.

        Returns
        -------
        str
            A line of :func:`wire_line`. It is on the disk before it is returned.

        Raises
        ------
        DataError
            If the value is not a possible answer.
        OutputError
            If the file cannot be used; then no report is given.
        UsageError
            If all answers were given, the collection has ended, or an occasion or invitation is missing.

        Examples
        --------
        >>> import tempfile
        >>> from anonhist.local import KRR
        >>> survey = KRR(alphabet=["bus", "car"], epsilon=1)
        >>> collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     first = collection.answer("bus", memory=f"{folder}/me.db")
        ...     collection.answer("car", memory=f"{folder}/me.db") == first
        True
        """
        said = None if day is None else _day(day, "day")
        line: str = load(".local.device:answer")(
            self, value, memory=memory, occasion=occasion, day=said, invitation=invitation, source=source
        )
        return line

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the description: JSON with sorted keys, without spaces, in UTF-8."""
        text = json.dumps(self.description, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

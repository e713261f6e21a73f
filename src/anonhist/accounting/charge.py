"""Requests to a ledger and its answers: charges and receipts, both frozen."""

from __future__ import annotations

import getpass
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, SupportsIndex

from anonhist.accounting.budget import NOTHING, Cost, parse_name
from anonhist.errors import DataError, UsageError
from anonhist.frozen import Checked, Converted, converted, frozen, named
from anonhist.privacy import Guarantee, parse_whole_number

_FRACTION = re.compile(r"[0-9]+(?:/[0-9]+)?", re.ASCII)


def damaged(shown: str, what: str) -> DataError:
    """Return the error about a damaged ledger, with its address (without secrets) and a clause about the damage."""
    return DataError(
        f"The ledger {shown!r} is damaged: {what}; restore the last backup, and compare it with all releases "
        "('anonhist budget verify')."
    )


def exact(text: object) -> Fraction:
    """Return an exact ε or δ, which ledgers write as a fraction: at least 0, and never in floating point."""
    try:
        if isinstance(text, str) and _FRACTION.fullmatch(text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):  # too many digits, or 1/0
        pass
    raise DataError("a number of a ledger is not a fraction of at least 0")


def _hexadecimal(what: str, digits: int) -> Callable[[str], str]:
    """Return a check that refuses a text unless it has this many hexadecimal digits."""
    written = re.compile(f"[0-9a-f]{{{digits}}}")

    def parse(given: str) -> str:
        if not isinstance(given, str) or not written.fullmatch(given):
            raise UsageError(f"{what} must be {digits} hexadecimal digits, not {given!r:.80}.")
        return given

    return parse


parse_digest = _hexadecimal("A digest", 64)
_LANES, _DIGITS = 4, 16


class NoisePart(NamedTuple):
    """A part of a sketch's noise: a random public name, and the cost of changing one counter by one.

    A share of noise alone does not protect: its ``is_whole`` is false.
    """

    identity: str
    rate: Fraction
    is_whole: bool


@frozen
class Reading:
    """Identifies the state of a sketch that is read: the parts of its noise, and a fingerprint of its counters.

    The fingerprint is 64 hexadecimal digits, four numbers of 64 bits. The fingerprint of a sum of two states is the sum
    of their fingerprints.
    """

    parts: tuple[NoisePart, ...]
    fingerprint: Checked[str] = converted(_hexadecimal("A fingerprint", 64))

    @property
    def identities(self) -> frozenset[str]:
        """The names of its parts of noise."""
        return frozenset(part.identity for part in self.parts)

    def details(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "parts": [[part.identity, str(part.rate), part.is_whole] for part in self.parts],
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def read(cls, details: Mapping[str, Any]) -> Reading:
        """Parse these JSON values."""
        parts = tuple(NoisePart(name, exact(rate), is_whole) for name, rate, is_whole in details["parts"])
        return cls(parts, details["fingerprint"])


@dataclass(frozen=True)
class EarlierReading:
    """A read-out that was charged before.

    ``paid`` is its cost to the data set that is charged now: nothing if another one was charged.
    """

    entry: int
    reading: Reading
    paid: Cost


def further_cost(asked: Reading, cost: Cost, earlier: Iterable[EarlierReading]) -> Cost:
    """Return the further cost of a read-out after others with the same noise, or refuse it.

    All read-outs of its parts together cost what the guarantee of the largest states, if nothing was counted in
    between, or new noise covers it (docs/proofs/sketches.md, section 9). So earlier payments for its parts are
    deducted; noise that was read in another state, without new noise to hide what was counted in between, is refused.
    """
    own = asked.identities
    related = [each for each in earlier if own & each.reading.identities]
    within = [each for each in related if each.reading.identities <= own]
    if related and not _is_known(asked, within):
        conflicting = [each for each in related if each not in within] or ([] if _is_new(asked, within) else within)
        if conflicting:
            raise UsageError(
                "A sketch that shares noise with this one was already read in another state (entry "
                f"{conflicting[0].entry} of the ledger): together, both may reveal without noise what was counted in "
                "between. Nothing was released; count new data in a new sketch, and read that, or the sum of both."
            )
    epsilon, delta = cost
    for each in within:
        epsilon, delta = epsilon - each.paid.epsilon, delta - each.paid.delta
    return Cost(max(epsilon, NOTHING.epsilon), max(delta, NOTHING.delta))


def _is_known(asked: Reading, within: list[EarlierReading]) -> bool:
    """Return whether the state is that of an earlier read-out, or a sum of such states, which reveals nothing new."""
    left, total = set(asked.identities), (0,) * _LANES
    for each in sorted(within, key=lambda each: len(each.reading.parts), reverse=True):
        if each.reading.identities <= left:
            left -= each.reading.identities
            total = tuple(map(sum, zip(total, _numbers(each.reading.fingerprint), strict=True)))
    return not left and tuple(each % 2**64 for each in total) == _numbers(asked.fingerprint)


def _is_new(asked: Reading, within: list[EarlierReading]) -> bool:
    """Return whether it has its own noise, which protects everything it counts as well as any other part does."""
    seen = frozenset[str]().union(*(each.reading.identities for each in within))
    least = min(part.rate for part in asked.parts)
    return any(part.is_whole and part.rate == least and part.identity not in seen for part in asked.parts)


def _numbers(fingerprint: str) -> tuple[int, ...]:
    return tuple(int(fingerprint[start : start + _DIGITS], 16) for start in range(0, _LANES * _DIGITS, _DIGITS))


_LONGEST_ID, _LONGEST_SETTING = 1000, 200


def parse_run_id(given: str) -> str:
    """Return the id of a run, which must be one line."""
    if not isinstance(given, str) or not 0 < len(given) <= _LONGEST_ID or not given.isprintable():
        raise UsageError(f"`run_id` must be one line of 1 to {_LONGEST_ID:,} characters, not {given!r:.80}.")
    return given


def as_setting(value: object) -> str:
    """Return a public setting as a short line of text, the same for equal values; long ones become a digest."""
    text = value if isinstance(value, str) else repr(value)
    if not text.isprintable():
        text = ascii(text)
    return text if len(text) <= _LONGEST_SETTING else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@frozen
class Run:
    """A run, and its settings beyond those of its charge.

    Its id is the same for each attempt. Settings are all other inputs that determine the release, by name: public
    texts.
    """

    id: Checked[str] = converted(parse_run_id)
    settings: Mapping[str, str] = field(default_factory=dict)
    output: str = ""

    def __post_init__(self) -> None:
        texts = (*self.settings, *self.settings.values(), self.output)
        if not all(isinstance(each, str) and each.isprintable() for each in texts):
            raise UsageError("The settings of a run must be text on one line.")

    def details(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"id": self.id, "settings": dict(self.settings), "output": self.output}

    @classmethod
    def read(cls, details: Mapping[str, Any]) -> Run:
        """Parse these JSON values."""
        return cls(details["id"], dict(details["settings"]), details["output"])


_LONGEST_TEXT, _LONGEST_NUMBER = 1000, 10**2000


def parse_line(text: str, name: str) -> str:
    """Return a user's text, which must be one line."""
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not text.isprintable():
        raise UsageError(f"`{name}` must be one line of at most {_LONGEST_TEXT:,} characters, not {text!r:.80}.")
    return text


@frozen
class Charge:
    """The charge of a release to a data set, before the release is made.

    Parameters of the mechanism are public. A release read from a sketch, whose noise was drawn before, names the state
    that is read. A release that may be started again under one name belongs to a run, which is charged once.
    """

    dataset: str
    guarantee: Guarantee
    mechanism: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    purpose: str = ""
    reading: Reading | None = None
    run: Run | None = None

    def __post_init__(self) -> None:
        parse_name(self.dataset)
        if not isinstance(self.guarantee, Guarantee):
            raise UsageError("A charge needs the guarantee of its release.")
        parse_line(self.mechanism, "mechanism")
        parse_line(self.purpose, "purpose")
        told = self.guarantee
        numbers = [told.epsilon, told.delta, told.party_epsilon or told.epsilon]
        if max(max(each.numerator, each.denominator) for each in numbers) > _LONGEST_NUMBER:
            raise UsageError(
                "The ε or δ of a charge has more than 2,000 digits: charge the parts of a sum one by one, or round it "
                "up."
            )


@frozen
class Receipt:
    """The place of a charge in a ledger; a release carries it, so that a ledger without the charge is detected.

    Attributes
    ----------
    ledger
        The id of the ledger, 32 hexadecimal digits.
    entry
        The number of the entry, from 1 on.
    head
        The digest of that entry, which depends on all entries before it: 64 hexadecimal digits.

    Examples
    --------
    >>> Receipt("0" * 32, 7, "f" * 64).entry
    7
    """

    ledger: Checked[str] = converted(_hexadecimal("The id of a ledger", 32))
    entry: Converted[SupportsIndex, int] = named(parse_whole_number)
    head: Checked[str] = converted(parse_digest)


def who() -> str:
    """Return the name of the user who runs this, as the system knows it; empty if it does not.

    Environment variables such as ``LOGNAME`` come first. If their value is not a line of text, the system's user
    database is asked.
    """
    for ask in (getpass.getuser, _listed_name):
        try:
            return parse_line(ask(), "by")
        except (OSError, KeyError, ImportError, UsageError):
            pass
    return ""


def _listed_name() -> str:
    import os
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def printable(text: str) -> str:
    """Return text from a file in printable form: characters that would control a terminal are escaped."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)

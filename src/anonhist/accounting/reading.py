"""Read-outs of noise that was drawn before: which may be made, and what one costs after others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from anonhist.accounting.budget import NOTHING, Cost
from anonhist.accounting.damage import exact
from anonhist.errors import UsageError
from anonhist.frozen import Checked, converted, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from fractions import Fraction

_FINGERPRINT = re.compile("[0-9a-f]{64}")
_LANES, _DIGITS = 4, 16


class NoisePart(NamedTuple):
    """A part of the noise of a sketch.

    Attributes
    ----------
    identity
        A public name, drawn with the noise.
    rate
        What a step of one counter costs.
    is_whole
        Whether it protects alone; a share of a noise does not.
    """

    identity: str
    rate: Fraction
    is_whole: bool


def _parse_fingerprint(given: str) -> str:
    if not isinstance(given, str) or not _FINGERPRINT.fullmatch(given):
        raise UsageError(f"A fingerprint must be 64 hexadecimal digits, not {given!r:.80}.")
    return given


@frozen
class Reading:
    """Which state of a sketch is read: the parts of its noise, and a fingerprint of its counters.

    Attributes
    ----------
    parts
        The parts of the noise.
    fingerprint
        64 hexadecimal digits, four numbers of 64 bits. The fingerprint of the sum of two states is the sum of theirs.

    Examples
    --------
    >>> from fractions import Fraction
    >>> part = NoisePart("0" * 32, Fraction(1), is_whole=True)
    >>> Reading.read(Reading((part,), "f" * 64).details()).parts == (part,)
    True
    """

    parts: tuple[NoisePart, ...]
    fingerprint: Checked[str] = converted(_parse_fingerprint)

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
        """Return what these values say."""
        parts = tuple(NoisePart(name, exact(rate), is_whole) for name, rate, is_whole in details["parts"])
        return cls(parts, details["fingerprint"])


@dataclass(frozen=True)
class EarlierReading:
    """A read-out that was charged before.

    Attributes
    ----------
    entry
        The number of its entry.
    reading
        What was read.
    paid
        What it cost the data set that is charged now: nothing if another one was charged.
    """

    entry: int
    reading: Reading
    paid: Cost


def further_cost(asked: Reading, cost: Cost, earlier: Iterable[EarlierReading]) -> Cost:
    """Return what a read-out costs after others of the same noise, or refuse it.

    All read-outs of its parts together cost what the guarantee of the largest says, if nothing was counted in between,
    or new noise covers it (docs/proofs/sketches.md, section 9). So what was paid for its parts is taken off.

    Parameters
    ----------
    asked
        What is to be read.
    cost
        What it costs alone.
    earlier
        All read-outs that were charged before.

    Raises
    ------
    UsageError
        If the noise was read in another state, and no new noise hides what was counted in between.

    Examples
    --------
    >>> from fractions import Fraction
    >>> monday = Reading((NoisePart("a" * 32, Fraction(1), is_whole=True),), "0" * 64)
    >>> cost = Cost(Fraction(1), Fraction(0))
    >>> further_cost(monday, cost, [EarlierReading(2, monday, cost)]).epsilon
    Fraction(0, 1)
    """
    own = asked.identities
    related = [each for each in earlier if own & each.reading.identities]
    within = [each for each in related if each.reading.identities <= own]
    if related and not _is_known(asked, within):
        conflicting = [each for each in related if each not in within] or ([] if _is_new(asked, within) else within)
        if conflicting:
            raise UsageError(
                f"A sketch with noise of this one was read before in another state (entry {conflicting[0].entry} of "
                "the ledger): both together may show without noise what was counted in between. Nothing was released; "
                "count what is new in a new sketch, and read that, or the sum of both."
            )
    epsilon, delta = cost
    for each in within:
        epsilon, delta = epsilon - each.paid.epsilon, delta - each.paid.delta
    return Cost(max(epsilon, NOTHING.epsilon), max(delta, NOTHING.delta))


def _is_known(asked: Reading, within: list[EarlierReading]) -> bool:
    """Return whether the state is that of an earlier read-out, or the sum of such states: then it says nothing new."""
    left, total = set(asked.identities), (0,) * _LANES
    for each in sorted(within, key=lambda each: len(each.reading.parts), reverse=True):
        if each.reading.identities <= left:
            left -= each.reading.identities
            total = tuple(map(sum, zip(total, _numbers(each.reading.fingerprint), strict=True)))
    return not left and tuple(each % 2**64 for each in total) == _numbers(asked.fingerprint)


def _is_new(asked: Reading, within: list[EarlierReading]) -> bool:
    """Return whether it has noise of its own, which protects all that it counts as well as any other part does."""
    seen = frozenset[str]().union(*(each.reading.identities for each in within))
    least = min(part.rate for part in asked.parts)
    return any(part.is_whole and part.rate == least and part.identity not in seen for part in asked.parts)


def _numbers(fingerprint: str) -> tuple[int, ...]:
    return tuple(int(fingerprint[start : start + _DIGITS], 16) for start in range(0, _LANES * _DIGITS, _DIGITS))

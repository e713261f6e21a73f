"""What a ledger is asked for and what it answers: charges and receipts, both frozen."""

from __future__ import annotations

import getpass
import re
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any, SupportsIndex

from anonhist.accounting.budget import parse_name
from anonhist.accounting.reading import Reading
from anonhist.accounting.run import Run
from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.privacy import Guarantee, parse_whole_number

_LONGEST_TEXT, _LONGEST_NUMBER = 1000, 10**2000
_LEDGER, _DIGEST = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{64}")


def parse_line(text: str, name: str) -> str:
    """Return a line of text that people wrote, or refuse what is not one.

    Examples
    --------
    >>> parse_line("press 2026", "purpose")
    'press 2026'
    """
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or not text.isprintable():
        raise UsageError(f"`{name}` must be one line of at most {_LONGEST_TEXT:,} characters, not {text!r:.80}.")
    return text


def parse_digest(digest: str) -> str:
    """Return a SHA-256 digest as 64 hexadecimal digits, or refuse what is none.

    Examples
    --------
    >>> parse_digest("0" * 64) == "0" * 64
    True
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise UsageError(f"A digest must be 64 hexadecimal digits, not {digest!r:.80}.")
    return digest


def _parse_ledger(given: str) -> str:
    if not isinstance(given, str) or not _LEDGER.fullmatch(given):
        raise UsageError(f"The id of a ledger must be 32 hexadecimal digits, not {given!r:.80}.")
    return given


@frozen
class Charge:
    """What a release will cost a data set, before it is made.

    Attributes
    ----------
    dataset
        The name of the data set.
    guarantee
        The guarantee that the release will have.
    mechanism
        The name of the mechanism.
    parameters
        Its public parameters, as JSON values.
    purpose
        What the release is for, in words; may be empty.
    reading
        Of a release that is read from a sketch, whose noise was drawn before: which state is read.
    run
        Of a release that may be started again under one name: the run, which is charged once.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.privacy import NeighboringRelation, PrivacyUnit
    >>> relation = NeighboringRelation.ADD_OR_REMOVE
    >>> guarantee = Guarantee(PrivacyUnit.item(), relation, Fraction(1, 2), arithmetic="noise is exact")
    >>> Charge("passwords", guarantee, "frobenius", purpose="press 2026").purpose
    'press 2026'
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
            raise UsageError("A charge needs the guarantee that the release will have.")
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
    """Where a charge stands in a ledger; a release carries it, so that a ledger that forgot it is found out.

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

    ledger: Checked[str] = converted(_parse_ledger)
    entry: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="entry"))
    head: Checked[str] = converted(parse_digest)


def who() -> str:
    """Return the name of the person who runs this, as the system knows it; empty if it does not.

    Environment variables such as ``LOGNAME`` come first. If they say what is not a line of text, the list of users is
    asked.

    Examples
    --------
    >>> isinstance(who(), str)
    True
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
    r"""Return a text of a file as it can be printed: signs that would drive a terminal are spelled out.

    Examples
    --------
    >>> print(printable("eve\x1b[2J"), printable("Zoë"))
    eve\x1b[2J Zoë
    """
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)

"""The tree of errors this package raises on purpose.

::

    AnonhistError
    ├── UsageError               the call itself is wrong: an impossible epsilon, two options that exclude each other,
    │   │                        a public number that the data exceed
    │   └── MissingExtraError    the call needs an optional dependency that is not installed
    ├── DataError                the data cannot be used: not a profile, not what the file's ending says, not there
    └── OutputError              the result could not be written

A message is one sentence that says what is wrong, names the *public* value that is wrong, and says what to do.
It never carries a value taken from private data, and of a source only what :func:`mask` leaves.

Parameters stand in backticks in it, with the value they should have where there is one: ``"`relation='substitute'`
needs `public_items`."`` Whoever shows the sentence spells them as its readers write them: as keywords in Python, as
options on the command line.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Where parameters begin: those of an address, percent-encoded signs too, or "host=db password=…" as databases take
# them.
_PARAMETERS = re.compile(r"[?#;&]|%(?:23|26|3[BDF])|(?:^|(?<=[\s,]))\s*\w+\s*=", re.IGNORECASE)
_AT = re.compile(r"@|%40")
_MASK = "***"
_PARAMETER = re.compile(r"`([a-z_0-9]+)(?:=([^`]*))?`")


class AnonhistError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> print(UsageError("Give `max_count`, or `unit='item'`."))
    Give max_count, or unit='item'.
    """

    def __str__(self) -> str:
        return spell_out(self.sentence)

    @property
    def sentence(self) -> str:
        """What is wrong and what to do, with parameters in backticks."""
        return str(self.args[0]) if self.args else ""

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that the sentence names."""
        return frozenset(found[1] for found in _PARAMETER.finditer(self.sentence))


class UsageError(AnonhistError, ValueError):
    """The call is wrong, or says something public that is not true of the data: change the call."""


class MissingExtraError(UsageError):
    """The call needs an optional dependency: install it."""


class DataError(AnonhistError, ValueError):
    """The data cannot be used as asked: change the data or what is said of it."""


class OutputError(AnonhistError, OSError):
    """The result could not be written; nothing was left behind."""


def as_keyword(name: str, value: str | None) -> str:
    """Write a parameter as Python does.

    Examples
    --------
    >>> as_keyword("epsilon", None), as_keyword("unit", "'item'")
    ('epsilon', "unit='item'")
    """
    return name if value is None else f"{name}={value}"


def spell_out(sentence: str, spell: Callable[[str, str | None], str] = as_keyword) -> str:
    """Return a sentence with each parameter as its readers write it.

    Parameters
    ----------
    sentence
        Names of parameters stand in it between backticks, or such a name, ``=`` and the value it should have.
    spell
        Takes a name and the value, as Python writes it, or None.

    Examples
    --------
    >>> spell_out("Give `max_count`, or `unit='item'`.")
    "Give max_count, or unit='item'."
    >>> spell_out("`epsilon` is missing.", lambda name, value: "--" + name)
    '--epsilon is missing.'
    """
    return _PARAMETER.sub(lambda found: spell(found[1], found[2]), sentence)


def parameter(name: str) -> str:
    """Return how a sentence names a parameter; what is no name of one, but words for it, stays as it is.

    Examples
    --------
    >>> parameter("epsilon"), parameter("The share 'cut'")
    ('`epsilon`', "The share 'cut'")
    """
    return f"`{name}`" if name.isidentifier() else name


def mask(source: str) -> str:
    """Return a source as it may be named where others read it: in errors, logs and reports.

    An existing local file is named as it is. In anything else, whatever its scheme and however it is spelled, all that
    may be a secret is masked: what stands before the last ``@`` (but for ``scheme://``), and everything behind the
    first ``?``, ``#``, ``;`` or ``&``, or behind the ``=`` of the first ``key=value``; these signs may be
    percent-encoded, as ``%40`` or ``%3D``. If there is an ``@`` behind such a sign, a password may hold the sign, and
    all but the scheme is masked.

    Examples
    --------
    >>> mask("postgresql://me:se@cret@db/shop"), mask("https//me:secret@host/a.csv")
    ('postgresql://***@db/shop', '***@host/a.csv')
    >>> mask("https://host/a.csv#access_token=secret"), mask("host=db password=secret")
    ('https://host/a.csv#***', 'host=***')
    """
    if _exists(source):
        return source
    found = _SCHEME.match(source)
    scheme = found[0] if found else ""
    rest = source[len(scheme) :]
    sign = _PARAMETERS.search(rest)
    end = sign.end() if sign else len(rest)
    address, parameters = rest[:end], rest[end:]
    if _AT.search(parameters):
        return scheme + _MASK
    place = _AT.split(address)[-1]
    shown = address if place == address else f"{_MASK}@{place}"
    return scheme + shown + (_MASK if parameters.strip() else parameters)


def _exists(source: str) -> bool:
    try:
        return os.path.exists(source)  # noqa: PTH110  # pathlib may raise
    except ValueError:
        return False

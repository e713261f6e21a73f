"""The errors this package raises on purpose.

::

    AnonhistError
    ├── UsageError               the call itself is wrong: an impossible epsilon, two options that exclude each other,
    │   │                        a public number that the data exceed
    │   ├── MissingExtraError    the call needs an optional dependency that is not installed
    │   └── BudgetError          a release would cost more than is left of the budget of its data set
    ├── RunError                 a run was charged before, and is not charged or drawn again
    ├── DataError                the data cannot be used: missing, not a profile, or not of the file's extension
    └── OutputError              the result could not be written

A message is one sentence that says what is wrong, names the *public* value that is wrong, and says what to do.
It never contains a value from private data, and of a source it shows only what :func:`mask` leaves.

It has parameters in backticks, with the value they should have, if any: ``"`relation='substitute'`
needs `public_items`."`` They are displayed as the reader writes them: as keywords in Python, as options on
the command line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# Parameters begin here: those of an address, also with percent-encoded signs, or "host=db password=…" of a database.
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

    # Whether the error follows from public things alone, such as column names, whatever the rows are.
    is_public: bool = False
    # Whether it was raised while a source was open whose rows decide its column names or contents.
    may_tell_rows: bool = False
    # If a release failed with this error: the ledger entry that stays charged.
    stays_charged: str = ""
    # A more detailed sentence, if there is one, to be shown only on a terminal.
    for_operator: str

    def __str__(self) -> str:
        return spell_out(self.sentence)

    @property
    def sentence(self) -> str:
        """What is wrong and what to do, with parameters in backticks."""
        return str(self.args[0]) if self.args else ""

    @property
    def is_same_for_all_rows(self) -> bool:
        """Whether it provably follows from public things alone."""
        return not self.may_tell_rows and (isinstance(self, UsageError) or self.is_public)

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters that the sentence names."""
        return frozenset(found[1] for found in _PARAMETER.finditer(self.sentence))


class UsageError(AnonhistError, ValueError):
    """The call is wrong, or states a public number that the data exceed: change the call."""


class MissingExtraError(UsageError):
    """The call needs an optional dependency: install it."""


class BudgetError(UsageError):
    """A release would cost more than is left: make it cheaper, or do without it."""


class RunError(AnonhistError):
    """A run was charged before: its release exists, or its outcome is unknown."""


class DataError(AnonhistError, ValueError):
    """The data cannot be used as requested: change the data or the call."""


class OutputError(AnonhistError, OSError):
    """The result could not be written; no partial file remains."""


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
        A sentence with parameter names in backticks, possibly with ``=`` and a value.
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
    """Return a parameter as sentences name it; words that are not a parameter name stay unchanged.

    Examples
    --------
    >>> parameter("epsilon"), parameter("The share 'cut'")
    ('`epsilon`', "The share 'cut'")
    """
    return f"`{name}`" if name.isidentifier() else name


def kind_of(value: object) -> str:
    """Return the type of a value in words, with its article, for error messages.

    Examples
    --------
    >>> kind_of(7), kind_of("text"), kind_of(None)
    ('an int', 'a str', 'None')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeio' else 'a'} {name}"


def public_error(sentence: str) -> DataError:
    """Return an error about a source whose text is the same whatever the source's rows are.

    Examples
    --------
    >>> public_error("There is no file 'week.csv'.").is_public
    True
    """
    error = DataError(sentence)
    error.is_public = True
    return error


def unreadable(path: str | os.PathLike[str], error: Exception) -> DataError:
    """Return the error about a file that the operating system could not open.

    Examples
    --------
    >>> print(unreadable("week.json", FileNotFoundError()))
    There is no file 'week.json'.
    """
    named = repr(mask(str(path)))
    if isinstance(error, FileNotFoundError):
        return public_error(f"There is no file {named}.")
    reason = (error.strerror if isinstance(error, OSError) else None) or "the system does not accept this name"
    return DataError(f"The file {named} cannot be read: {reason}.")


def mask(source: str) -> str:
    """Return the name of a source for errors, logs and reports that others may read.

    An existing local file keeps its name. In anything else, whatever its scheme and spelling, possible secrets are
    masked: everything before the last ``@`` (except ``scheme://``), and everything after the first ``?``, ``#``, ``;``
    or ``&``, or after the ``=`` of the first ``key=value``; these signs may be percent-encoded, as ``%40`` or ``%3D``.
    If an ``@`` follows such a sign, the sign may be part of a password, and everything except the scheme is masked.

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

"""What is said of a ledger that no program left so."""

from __future__ import annotations

import re
from fractions import Fraction

from anonhist.errors import DataError

_FRACTION = re.compile(r"[0-9]+(?:/[0-9]+)?", re.ASCII)


def damaged(shown: str, what: str) -> DataError:
    """Return the error about a damaged ledger.

    Parameters
    ----------
    shown
        The address without secrets.
    what
        A clause that says what is wrong.

    Examples
    --------
    >>> print(damaged("budget.db", "it has no id"))
    The ledger 'budget.db' is damaged: it has no id; restore the last backup, and have 'anonhist budget verify' compare
    it with all releases.
    """
    return DataError(
        f"The ledger {shown!r} is damaged: {what}; restore the last backup, and have 'anonhist budget verify' compare "
        "it with all releases."
    )


def exact(text: object) -> Fraction:
    """Return a number of privacy, which ledgers write as a fraction: at least 0, and never in floating point.

    Raises
    ------
    DataError
        If it is none.

    Examples
    --------
    >>> exact("13/30")
    Fraction(13, 30)
    """
    try:
        if isinstance(text, str) and _FRACTION.fullmatch(text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):  # too many digits, or 1/0
        pass
    raise DataError("a number of a ledger is not a fraction of at least 0")

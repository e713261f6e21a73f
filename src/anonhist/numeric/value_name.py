"""The name of a single value: text that depends on this value alone."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from anonhist.errors import DataError

# Floats represent every whole number below this exactly, but not those above.
LARGEST_NAMED = 2**53
NOT_WHOLE = (
    "Names of nodes and labels of sketches that are numbers must be whole and, as floats, below 2^53: convert the "
    "column to whole numbers or text first."
)
TOO_LARGE = (
    "Floats of 2^53 and more cannot represent every whole number: convert the column to whole numbers or text first."
)


def value_name(value: object, *, only_whole: bool = False) -> str | None:
    """Return the name of a value, None if the value is missing.

    Parameters
    ----------
    value
        Any value. None, NaN and the missing values of pandas count as missing.
    only_whole
        Refuse fractions: nodes and labels of sketches are compared with those of other columns and files, which may
        store the same number differently.

    Returns
    -------
    str or None
        For a whole number, that number: 7.0 is named 7, because a column of whole numbers becomes one of floats when a
        single value is missing. For anything else, ``str(value)``.

    Raises
    ------
    DataError
        If the value is a float of magnitude 2⁵³ or more, or not whole although ``only_whole``.

    Examples
    --------
    >>> value_name(7.0), value_name(-0.0), value_name(7), value_name(1.5), value_name(float("nan"))
    ('7', '0', '7', '1.5', None)
    """
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return None
    if not isinstance(value, float | np.floating | Decimal):
        return str(value)
    if not isinstance(value, Decimal) and abs(float(value)) >= LARGEST_NAMED:
        raise DataError(NOT_WHOLE if only_whole else TOO_LARGE)
    if value == value // 1:
        return str(int(value))
    if only_whole:
        raise DataError(NOT_WHOLE)
    return str(value)


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN or a missing value of pandas.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(None), is_missing("")
    (True, True, False)
    """
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)  # noqa: PLR0124  # NaN
    return value is None or type(value).__name__ in ("NAType", "NaTType")

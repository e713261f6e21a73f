"""Exact privacy parameters."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from anonhist.errors import UsageError

type_names = "int, str, float, Decimal or Fraction"

# What may be passed as a privacy parameter; the result is always a Fraction.
EpsilonLike = int | float | str | Decimal | Fraction


def parse_epsilon(value: object, *, name: str = "epsilon") -> Fraction:
    """Read a privacy parameter exactly.

    Parameters
    ----------
    value
        An int, str, ``Decimal``, ``Fraction``, or float. A float means its shortest decimal: ``0.1`` is one tenth,
        not the binary number nearest to it. Strings are decimals (``"0.5"``, ``"1e-3"``) or fractions (``"1/3"``).
    name
        What to call the parameter in an error.

    Returns
    -------
    Fraction
        The exact value, > 0.

    Raises
    ------
    UsageError
        For booleans, NaN, infinities, zero, negative numbers, and anything that is not a number.

    Examples
    --------
    >>> parse_epsilon(0.1)
    Fraction(1, 10)
    """
    parsed = _exact(value)
    if parsed is None:
        message = f"{name} must be a finite number greater than zero, such as 0.5, not {value!r}."
        raise UsageError(message)
    return parsed


def _exact(value: object) -> Fraction | None:
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return None
    try:
        if isinstance(value, float):
            parsed = Fraction(float.__repr__(value)) if math.isfinite(value) else None
        elif isinstance(value, Decimal):
            parsed = Fraction(value) if value.is_finite() else None
        elif isinstance(value, str):
            parsed = _from_text(value)
        elif isinstance(value, numbers.Rational):
            parsed = Fraction(int(value.numerator), int(value.denominator))
        else:
            parsed = None
    except (ValueError, ZeroDivisionError, InvalidOperation, OverflowError):
        return None
    return parsed if parsed is not None and parsed > 0 else None


def _from_text(text: str) -> Fraction | None:
    # A huge exponent would build a number of as many digits: no privacy parameter needs one.
    mantissa, _, exponent = text.lower().partition("e")
    if len(text) > 64 or (exponent and abs(int(exponent)) > 64):
        return None
    del mantissa
    return Fraction(text)

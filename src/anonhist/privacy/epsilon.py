"""Exact privacy parameters."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from anonhist.errors import UsageError, parameter

# Types of a privacy parameter; the result is always a Fraction.
EpsilonLike = int | float | str | Decimal | Fraction

# Without a limit, "1e999999999" would fill the memory. Every accepted number can be written as a fraction and read
# back.
LARGEST_POWER = 64
LONGEST_NUMBER = 10**256

_DECIMAL = re.compile(r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_FRACTION = re.compile(r"\+?[0-9]+/[0-9]+")


def parse_epsilon(value: object, *, name: str = "epsilon") -> Fraction:
    """Read a privacy parameter exactly.

    Parameters
    ----------
    value
        An int, str, ``Decimal``, ``Fraction``, or float; NumPy's integers and 64-bit floats are ints and floats. A
        float means its shortest decimal: ``0.1`` is one tenth, not the binary number nearest to it. Strings are
        decimals (``"0.5"``, ``"1e-3"``) or fractions (``"1/3"``), spaces around them allowed.
    name
        What to call the parameter in an error.

    Returns
    -------
    Fraction
        The exact value, > 0.

    Raises
    ------
    UsageError
        For truth values, NaN, infinities, zero, negative numbers, anything that is not a number, numbers outside
        10⁻⁶⁴ to 10⁶⁴, and fractions whose numerator or denominator has more than 256 digits.

    Examples
    --------
    >>> parse_epsilon(0.1)
    Fraction(1, 10)
    >>> parse_epsilon("1/3")
    Fraction(1, 3)
    """
    parsed = _exact(value)
    if parsed is None or parsed <= 0:
        is_known = isinstance(value, str | float | Decimal | Rational) and not isinstance(value, bool)
        hint = "such as 0.5" if is_known else "as an int, str, float, Decimal or Fraction"
        raise UsageError(f"{parameter(name)} must be a finite number greater than zero, {hint}, not {_show(value)}.")
    too_long = max(parsed.numerator, parsed.denominator) > LONGEST_NUMBER
    if too_long or not Fraction(1, 10**LARGEST_POWER) <= parsed <= 10**LARGEST_POWER:
        raise UsageError(
            f"{parameter(name)} must lie between 1e-{LARGEST_POWER} and 1e{LARGEST_POWER} and have at most 256 digits."
        )
    return parsed


def _exact(value: object) -> Fraction | None:
    """Return the exact number, or None if it is not one; far out of range, any number that is also out of range."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return _from_decimal(value) if value.is_finite() else None
    if isinstance(value, str):
        return _from_text(value.strip())
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return None


def _from_decimal(value: Decimal) -> Fraction:
    power = value.adjusted() if value else 0
    if abs(power) <= 2 * LARGEST_POWER:
        return Fraction(value)
    # Far out of range: written out, it would have as many digits as its exponent says.
    size = Fraction(10) ** (2 * LARGEST_POWER if power > 0 else -2 * LARGEST_POWER)
    return -size if value.is_signed() else size


def _from_text(text: str) -> Fraction | None:
    if len(text) > 1024:
        return None
    if _FRACTION.fullmatch(text):
        above, below = map(int, text.split("/"))
        return Fraction(above, below) if below else None
    return _from_decimal(Decimal(text)) if _DECIMAL.fullmatch(text) else None


def _show(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of thousands of digits
        return "a number too long to show"
    return text if len(text) <= 80 else f"{text[:77]}..."

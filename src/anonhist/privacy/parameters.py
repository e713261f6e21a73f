"""Exact privacy parameters and whole numbers, parsed from user input; what an epsilon means in words."""

from __future__ import annotations

import math
import operator
import re
from decimal import ROUND_CEILING, Context, Decimal
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
    """Read a privacy parameter exactly: greater than 0, from 10⁻⁶⁴ to 10⁶⁴, with at most 256 digits above and below.

    A float means its shortest decimal: ``0.1`` is one tenth, not the binary number nearest to it. Strings are
    decimals (``"0.5"``, ``"1e-3"``) or fractions (``"1/3"``), optionally surrounded by spaces. Booleans are refused.
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
    """Return the exact number, or None if it is not one; for far out-of-range input, any out-of-range number."""
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


# Error estimates from 1,000 runs are correct to about 2%, so a file that asks for more is refused.
MOST_SIMULATIONS = 1000


def parse_whole_number(value: object, *, name: str, least: int = 1, most: int = 2**62) -> int:
    """Return a setting as an int; refuse everything except a whole number in its range: booleans, text and floats."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # refusing what has no __index__ is the purpose
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise UsageError(
            f"{parameter(name)} must be a whole number from {least} to {_show_number(most)}, not {value!r:.80}."
        )
    return number


def parse_simulations(value: object, *, name: str = "simulations") -> int:
    """Return the number of simulations behind error estimates; refuse everything except 0 or a number from 2 to 1,000.

    A single run does not show how uncertain its result is; 0 means no error estimates.
    """
    try:
        number = parse_whole_number(value, name=name, least=0, most=MOST_SIMULATIONS)
    except UsageError:
        number = 1
    if number == 1:
        message = f"{parameter(name)} must be 0 or a whole number from 2 to {MOST_SIMULATIONS:,}, not {value!r:.80}."
        raise UsageError(message)
    return number


def _show_number(number: int) -> str:
    power = number.bit_length() - 1
    return f"2^{power}" if number == 1 << power and power > 15 else f"{number:,}"


MODERATE_FROM, WEAK_ABOVE, NONE_ABOVE, WARNED_FROM = 1, 3, 10, 10
_MOST_PLACES = 6


def strength(epsilon: Fraction) -> str:
    """Return how strongly an epsilon protects: the word used wherever a budget is explained.

    Below 1 ``"strong"``, from 1 to 3 ``"moderate"``, above 3 ``"weak"`` and above 10 ``"practically none"``. These
    limits are conventions. An adversary with even odds between two neighbors becomes at most 73% sure at an epsilon of
    1, 95% at 3 and 99.995% at 10 (:func:`certainty`).
    """
    if epsilon < MODERATE_FROM:
        return "strong"
    if epsilon <= WEAK_ABOVE:
        return "moderate"
    return "weak" if epsilon <= NONE_ABOVE else "practically none"


def protection(epsilon: Fraction) -> str:
    """Return :func:`strength` as a noun phrase."""
    return f"{strength(epsilon)} protection" if epsilon <= NONE_ABOVE else "practically no protection"


def certainty(epsilon: Fraction) -> str:
    """Write how certain a release can make an adversary with even odds between two neighbors: ``e^ε/(1 + e^ε)``.

    The result is a percentage, rounded up, with two digits of the distance to 50% and to 100%. With δ > 0, it holds
    except for results of probability δ.
    """
    power = min(float(min(epsilon, Fraction(700))), 700.0)
    missing = 100 / (1 + math.exp(power))
    smaller = min(missing, 50 * math.tanh(power / 2))
    places = min(_MOST_PLACES, max(1, 1 - math.floor(math.log10(smaller))))
    rounded = math.ceil((100 - missing) * 10**places) / 10**places
    return f"{rounded:.{places}f}%"


def warning(epsilon: Fraction) -> str:
    """Return the warning for results at an epsilon of 10 or more; empty below."""
    if epsilon < WARNED_FROM:
        return ""
    return (
        "An epsilon of 10 or more gives practically no protection: show these results only to people who may see "
        "the data."
    )


def round_up(value: Fraction) -> str:
    """Write a small number with two digits, rounded up."""
    context = Context(prec=2, rounding=ROUND_CEILING)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):.1e}"


# Between 10^-3 and 10^9, numbers are written in full.
_IN_FULL = range(-3, 10)
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def with_power(value: Fraction) -> str:
    """Write a small number with two digits, rounded up, with a power of ten.

    Examples
    --------
    >>> with_power(Fraction(1, 10**9)), with_power(Fraction(11, 10**8))
    ('10⁻⁹', '1.1 × 10⁻⁷')
    """
    return for_people(round_up(value))


def for_people(number: str) -> str:
    """Write a number that may have an exponent as people do: in full, or with a power of ten.

    Examples
    --------
    >>> [for_people(number) for number in ("0.25", "1.0e-3", "1e-09", "9.999e+05", "2e+30")]
    ['0.25', '0.001', '10⁻⁹', '999,900', '2 × 10³⁰']
    """
    digits, _, power = number.partition("e")
    if not power:
        return number
    if int(power) in _IN_FULL:
        return f"{Decimal(number).normalize():,f}"
    raised = f"10{str(int(power)).translate(RAISED)}"
    return raised if digits in {"1", "1.0"} else f"{digits} × {raised}"

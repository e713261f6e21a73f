"""Whole numbers that people pass as settings: sizes, bounds, repeats. Public values, never data."""

from __future__ import annotations

import operator

from anonhist.errors import UsageError, parameter

# Error estimates from 1,000 runs are correct to about 2 %, so a file that asks for more is refused.
MOST_SIMULATIONS = 1000


def parse_whole_number(value: object, *, name: str, least: int = 1, most: int = 2**62) -> int:
    """Return a setting as an int; refuse anything but a whole number in its range.

    Parameters
    ----------
    value
        An int or a NumPy integer. Truth values, text and floats are refused.
    name
        The name of the setting in an error.
    least, most
        The range, both ends included.

    Raises
    ------
    UsageError
        If it is not a whole number from ``least`` to ``most``.

    Examples
    --------
    >>> parse_whole_number(32, name="simulations", least=2)
    32
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # refusing what has no __index__ is the purpose
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise UsageError(f"{parameter(name)} must be a whole number from {least} to {_show(most)}, not {value!r:.80}.")
    return number


def parse_simulations(value: object, *, name: str = "simulations") -> int:
    """Return the number of simulations behind error estimates; refuse anything but 0 or a number from 2 to 1,000.

    A single run does not show how uncertain its result is; 0 means no error estimates.

    Raises
    ------
    UsageError
        If it is not.

    Examples
    --------
    >>> parse_simulations(32), parse_simulations(0)
    (32, 0)
    """
    try:
        number = parse_whole_number(value, name=name, least=0, most=MOST_SIMULATIONS)
    except UsageError:
        number = 1
    if number == 1:
        message = f"{parameter(name)} must be 0 or a whole number from 2 to {MOST_SIMULATIONS:,}, not {value!r:.80}."
        raise UsageError(message)
    return number


def _show(number: int) -> str:
    power = number.bit_length() - 1
    return f"2^{power}" if number == 1 << power and power > 15 else f"{number:,}"

"""A number with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """One number, how far off it may be, and on what that rests.

    Attributes
    ----------
    value
        The estimate, in the unit of what is estimated (labels, items).
    standard_error
        Root of the expected squared error, ≥ 0, in the same unit.
    interval
        (low, high), low ≤ high, a 95 % interval unless ``method`` says otherwise.
    method
        Where value and uncertainty come from, in a few words.

    Examples
    --------
    >>> print(Estimate(12.0, 2.0, (8.0, 16.0), "re-simulated"))
    12 ± 2 (95 % interval 8 to 16)
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    method: str

    def __str__(self) -> str:
        low, high = self.interval
        value, error = _written(self.value, digits=6), _written(self.standard_error, digits=3)
        return f"{value} ± {error} (95 % interval {_written(low, digits=6)} to {_written(high, digits=6)})"


def _written(number: float, *, digits: int) -> str:
    # Whole digits are never cut: 14,344,391 labels are not 1.43444e+07.
    return f"{number:,.0f}" if abs(number) >= 10**digits else f"{number:,.{digits}g}"

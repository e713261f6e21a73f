"""What a terminal and a notebook say of an estimate; everything here is plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.estimate import format_number
from anonhist.properties.statement import Holds

if TYPE_CHECKING:
    from anonhist.properties.estimate import Estimate


def method_text(title: str, estimate: Estimate) -> str:
    """Return the method, after the number that was asked with."""
    number = title.partition(", ")[2]
    method = estimate.method.removesuffix(", from a release")
    return f"{number}, {method}" if number else method


def ends_text(estimate: Estimate, *, digits: int) -> str:
    """Write the ends that hold."""
    low, high = (format_number(end, digits=digits) for end in estimate.interval)
    holds = estimate.statement.holds
    if holds is Holds.BOTH:
        return f"{low} to {high}"
    return "none" if holds is Holds.NONE else f"{holds.value} {low if holds is Holds.AT_LEAST else high}"

"""What the page of released degrees says in words and numbers; everything here is plain text, not yet HTML."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.graphs.degree_data import DegreeData
from anonhist.properties.estimate import Holds
from anonhist.report.promise import exclusions
from anonhist.report.remarks import bound_of
from anonhist.report.wording import interval, percent, with_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.graphs.statistics import DegreeStatistics
    from anonhist.properties.estimate import Estimate
    from anonhist.releases import Release

NOT_PRIVATE = "NOT PRIVATE: shows the true degrees"
NOT_THIS_PAGE = (
    "This is promised for the release alone. This page also shows the true degrees, which nothing protects: keep it to "
    "yourself."
)
# From here on numbers are written as powers of ten.
_HUGE = 1e15


def degree_exclusions(release: Release, *, is_private: bool) -> list[str]:
    """Say what the promise does not cover."""
    listed = exclusions(release.guarantee.unit)
    return listed if is_private else ["This page, which shows the true degrees.", *listed]


def notes(release: Release, statistics: DegreeStatistics) -> list[str]:
    """Say what a reader must know before the numbers: what is missing, and what is mostly noise."""
    said = [sentence for _, sentence in bound_of(release)]
    named = [statistics.tail.exponent, statistics.edges]
    return said + list(dict.fromkeys(warning for each in named for warning in each.warnings))


def counted_nodes(data: DegreeData) -> str:
    """Say of which nodes shares are."""
    return "of the nodes with an edge" if data.zeros is None else "of all nodes, those without an edge among them"


def tail_text(statistics: DegreeStatistics) -> str:
    """Say what the exponent rests on."""
    tail = statistics.tail
    if not tail.nodes:
        return ""
    nodes = f"{tail.nodes:,} released node{'' if tail.nodes == 1 else 's'}"
    intervals = (
        ""
        if tail.exponent.statement.holds is Holds.NONE
        else " Its interval covers both the noise and how much the estimate varies when each node's degree is drawn "
        "again; the other intervals cover noise alone."
    )
    return (
        f"The exponent is that of a power law, fitted to the {nodes} of degree {tail.min_degree:,} or more. The "
        f"largest distance between fit and nodes is {percent(tail.distance)}: 2 % is a good fit, 10 % a poor "
        f"one.{intervals}"
    )


def number_text(estimate: Estimate) -> str:
    """Write a number without digits that its error leaves open, of what is counted without fractions.

    Of an error that nobody knows, three digits are shown, or all whole ones. Nodes are shown as in the tables.

    Examples
    --------
    >>> from anonhist.properties import Estimate
    >>> number_text(Estimate(9316612.0, 6988.0, (9302916.0, 9330308.0), ""))
    '9,316,600'
    >>> number_text(Estimate(0.541542, 0.00018, (0.541189, 0.541894), "")), number_text(Estimate(4.0, 0.0, (4, 4), ""))
    ('0.54154', '4')
    >>> number_text(Estimate(2929.0, 80.0, (2795.0, 3189.0), "", unit="nodes"))
    '2,929'
    """
    if abs(estimate.value) >= _HUGE:
        return _power(estimate.value)
    if not math.isfinite(estimate.standard_error):
        return f"{estimate.value:,.0f}" if estimate.unit else f"{estimate.value:,.3g}"
    if estimate.unit == "nodes" or (estimate.unit and estimate.standard_error < 10):
        return f"{estimate.value:,.0f}"
    return with_error(estimate.value, estimate.standard_error).partition(" ± ")[0]


def ends_text(estimate: Estimate) -> str:
    """Write an interval, its ends rounded outward where the error has two digits.

    Examples
    --------
    >>> from anonhist.properties import Estimate
    >>> ends_text(Estimate(0.541542, 0.00018, (0.541189, 0.541894), ""))
    '0.54118 to 0.54190'
    >>> ends_text(Estimate(1.0, 0.0, (1.0, math.inf), "")), ends_text(Estimate(4.0, 0.0, (4.0, 4.0), ""))
    ('1 to infinity', 'exact')
    >>> from anonhist.properties.estimate import Statement
    >>> ends_text(Estimate(0.5, math.nan, (0.0, 1.0), "", statement=Statement(Holds.NONE, "nothing was simulated")))
    'no interval'
    """
    low, high = estimate.interval
    if estimate.statement.holds is Holds.NONE:
        return "no interval"
    if low == high:
        return "exact"
    if math.isinf(high):
        return f"{low:,.4g} to infinity"
    if max(abs(low), abs(high)) >= _HUGE:
        return f"{_power(low, math.floor)} to {_power(high, math.ceil)}"
    if estimate.unit:
        return interval(low, high)
    error = estimate.standard_error or (high - low) / 4
    return interval(low, high, places=min(max(0, 1 - math.floor(math.log10(error))), 6))


def _power(number: float, rounded: Callable[[float], int] = round) -> str:
    """Write a large number with three digits."""
    if abs(number) < _HUGE:
        return f"{number:,.0f}"
    power = math.floor(math.log10(abs(number)))
    return f"{rounded(number / 10.0 ** (power - 2)) / 100:.2f} × 10^{power}"

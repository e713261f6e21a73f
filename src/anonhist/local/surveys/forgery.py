"""What one report of a device that does not follow the survey can do to the estimates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ForgedWeight:
    """By how many people one more report, chosen to do harm among those that are possible, changes raw estimates.

    Attributes
    ----------
    each
        The largest change of the estimate of one value, either way (ℓ∞).
    total
        The largest sum of all values' changes, each taken as positive (ℓ1); infinite where any text can be named as a
        candidate.
    condition
        Where it holds, in one clause; empty where it always does.

    Notes
    -----
    An estimate in people is a sum over reports, so the weight of a report does not depend on the others. An honest
    report has such a weight, too: it adds 1 to the value it was made from, and 0 to all others, on average alone.
    """

    each: float
    total: float
    condition: str = ""

    def __str__(self) -> str:
        has_bound = self.total < float("inf")
        together = f"all values together by up to {self.total:,.4g}" if has_bound else "any number of values"
        where = f", {self.condition}" if self.condition else ""
        value = f"the raw estimate of a value by up to {self.each:,.3g} people"
        return f"one forged report changes {value}, of {together}{where}"


def forged_weight(
    size: int, supported: tuple[int, int], *, inside: float, outside: float, beyond: float = 0.0, elsewhere: int = 0
) -> ForgedWeight:
    """Return the weight of the worst report.

    Parameters
    ----------
    size
        How many values a report may support.
    supported
        How many of those it supports, at least and at most.
    inside, outside
        What a report adds to a value that it supports, and to one that it could but does not.
    beyond, elsewhere
        What it adds to a value that it can say nothing of, and how many of those there are.

    Examples
    --------
    >>> forged_weight(3, (1, 1), inside=2, outside=-0.5)
    ForgedWeight(each=2, total=3.0, condition='')
    """
    # The sum is linear in how many are supported, so the worst is at an end.
    totals = [count * abs(inside) + (size - count) * abs(outside) for count in supported]
    changes = [abs(inside)] * (supported[1] > 0) + [abs(outside)] * (supported[0] < size)
    changes += [abs(beyond)] * (elsewhere > 0)
    return ForgedWeight(max(changes), max(totals) + elsewhere * abs(beyond))

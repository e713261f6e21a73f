"""The largest effect on the estimates of one report from a device that does not follow the survey."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ForgedWeight:
    """The largest change of raw estimates, in people, that one more possible report can cause.

    Attributes
    ----------
    each
        The largest change of the estimate of one value, either way (ℓ∞).
    total
        The largest sum of all values' changes, each taken as positive (ℓ1); infinite if any text can be a
        candidate.
    condition
        The condition under which it holds, in one clause; empty if it always does.

    Notes
    -----
    An estimate in people is a sum over reports, so the weight of a report does not depend on the others. An honest
    report has a weight, too: it adds 1 to its own value and 0 to all others, but only on average.
    """

    each: float
    total: float
    condition: str = ""

    def __str__(self) -> str:
        has_bound = self.total < float("inf")
        together = (
            f"all estimates together by up to {self.total:,.4g}" if has_bound else "those of any number of values"
        )
        where = f", {self.condition}" if self.condition else ""
        value = f"the raw estimate of a value by up to {self.each:,.3g} people"
        return f"one forged report changes {value}, and {together}{where}"


def forged_weight(
    size: int, supported: tuple[int, int], *, inside: float, outside: float, beyond: float = 0.0, elsewhere: int = 0
) -> ForgedWeight:
    """Return the weight of the worst report.

    Parameters
    ----------
    size
        How many values a report may support.
    supported
        The least and the largest number of those that it supports.
    inside, outside
        The contribution of a report to a value that it supports, and to one that it could support but does not.
    beyond, elsewhere
        Its contribution to a value about which it carries no information, and the number of those.

    Examples
    --------
    >>> forged_weight(3, (1, 1), inside=2, outside=-0.5)
    ForgedWeight(each=2, total=3.0, condition='')
    """
    # The sum is linear in the number supported, so the worst case is at an end.
    totals = [count * abs(inside) + (size - count) * abs(outside) for count in supported]
    changes = [abs(inside)] * (supported[1] > 0) + [abs(outside)] * (supported[0] < size)
    changes += [abs(beyond)] * (elsewhere > 0)
    return ForgedWeight(max(changes), max(totals) + elsewhere * abs(beyond))

"""How the partitions of a table on a cluster are counted into a sketch: the operator's choice of what leaves them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import SupportsIndex

from anonhist.frozen import Converted, converted, frozen
from anonhist.privacy import parse_whole_number

MOST_PARTITIONS = 10_000


@dataclass(frozen=True)
class ExactPartials:
    """Each partition adds up its counts exactly, in memory; the sketch takes all of them at once.

    The sketch keeps the noise that it has, so its error does not grow. Counts without noise exist in the memory of the
    processes that count, 8 bytes for each counter of the sketch, and are sent to the driver: this program writes them
    nowhere, but Spark sends results of more than ``spark.task.maxDirectResultSize`` through its block managers, which
    may put them on disks of executors. Use it where the cluster may hold the exact counts for a while, as it holds the
    table itself.

    Examples
    --------
    >>> ExactPartials()
    ExactPartials()
    """


@frozen
class NoisyPartials:
    """Each partition has a sketch with noise of its own, drawn where it is counted; all of them are merged.

    A process that counts returns nothing without noise, neither counts nor how many rows there were; Spark's own
    metrics of tasks do say how many rows they read. The noise of the sketch grows by that of k others: with one update,
    the variance of a counter is ``(k + 1)·2p/(1 − p)²``, p = e^(−γ). So take few partitions.

    A task that Spark repeats, or runs twice because it is slow (``spark.speculation``), draws new noise, and one of its
    results is merged. Whoever sees the others, too, between executors and driver, sees the partition's items as often
    with ε as it was run: leave speculation off.

    Attributes
    ----------
    partitions
        k, from 1 to 10,000, chosen before the data: the table is put into at most so many partitions, and those that
        are missing are empty ones, so that the noise does not depend on the table.

    Raises
    ------
    UsageError
        If the number is out of range.

    Examples
    --------
    >>> NoisyPartials(partitions=8)
    NoisyPartials(partitions=8)
    """

    partitions: Converted[SupportsIndex, int] = converted(
        partial(parse_whole_number, name="partitions", most=MOST_PARTITIONS)
    )


Partials = ExactPartials | NoisyPartials

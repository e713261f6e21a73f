"""When estimates are shown while reports arrive, and at which level, so that all intervals ever shown hold together.

A 95% interval that is watched while reports arrive misses the truth at some time far more often than in one run of
twenty. So estimates change only at the fixed sizes :data:`SIZES` and when the collection closes, and each is computed
at :data:`LEVEL`: by the union bound, all of them hold with probability 95%. The proof is in docs/proofs/collecting.md.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.local.collection import Batches

if TYPE_CHECKING:
    from anonhist.local.collection import Collection
    from anonhist.local.estimate import FrequencyEstimate
    from anonhist.local.reports import Tally

# The probability that an interval of a value misses its share at some look.
ERROR = 0.05
_FIRST, _MOST = 100, 10**7


def _sizes() -> tuple[int, ...]:
    """Return ``⌈100·(5/4)^j⌉`` up to 10⁷, for j from 0."""
    found, above, below = [], _FIRST, 1
    while (size := -(-above // below)) <= _MOST:
        found.append(size)
        above, below = 5 * above, 4 * below
    return tuple(found)


SIZES = _sizes()
LOOKS = len(SIZES) + 1
LEVEL = 1 - ERROR / LOOKS


def reached(number: int) -> int | None:
    """Return j of the largest size ``⌈100·(5/4)^j⌉`` that so many reports reach; None if there are fewer than 100.

    There is a look whenever j grows. Where many reports are counted at once, it may grow by more than one.

    Examples
    --------
    >>> reached(99), reached(100), reached(124), reached(125), reached(10**9)
    (None, 0, 0, 1, 51)
    """
    return bisect_right(SIZES, number) - 1 if number >= _FIRST else None


def may_be_shown(collection: Collection, number: int) -> int:
    """Return how many of so many reports may be shown: all of them, or those in whole batches.

    Examples
    --------
    >>> from anonhist.local import KRR, Batches, Collection
    >>> batches = Batches(users=500, honest=250, delta="1e-6")
    >>> survey = KRR(alphabet=["bus", "car"], epsilon=1)
    >>> collection = Collection(survey=survey, answers="once", last_day="2026-12-31", shown=batches)
    >>> may_be_shown(collection, 1_999)
    1500
    """
    shown = collection.shown
    return number - number % shown.users if isinstance(shown, Batches) else number


def next_look(collection: Collection, number: int) -> int | None:
    """Return the number of reports at which the next look is taken, after one at ``number``; None if only at the end.

    In batches, it is the first whole number of batches that reaches the next size.

    Examples
    --------
    >>> from anonhist.local import KRR, Collection
    >>> survey = KRR(alphabet=["bus", "car"], epsilon=1)
    >>> collection = Collection(survey=survey, answers="once", last_day="2026-12-31")
    >>> next_look(collection, 0), next_look(collection, 130), next_look(collection, 10**7)
    (100, 157, None)
    """
    last = reached(number)
    following = 0 if last is None else last + 1
    if following >= len(SIZES):
        return None
    size, shown = SIZES[following], collection.shown
    return -(-size // shown.users) * shown.users if isinstance(shown, Batches) else size


def estimate_at_look(collection: Collection, tally: Tally) -> FrequencyEstimate:
    """Return the estimates of a look, each with its interval at :data:`LEVEL`.

    Raises
    ------
    UsageError
        If a batch is not whole, because nobody may see a part of it.
    UsageError, DataError
        As for :meth:`~anonhist.local.Survey.estimate`.
    """
    if may_be_shown(collection, tally.users) != tally.users:
        raise UsageError("Only sums over whole batches may be shown; this tally has a part of one.")
    return collection.survey.estimate(tally, candidates=collection.candidates, level=LEVEL)

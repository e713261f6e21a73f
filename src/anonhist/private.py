"""Private estimators: single numbers from private data, each with its own budget, exact noise and an interval.

From a release, the same numbers cost no budget: ``ah.entropy(release)``. The number of labels for users with any number
of them (:func:`num_labels`) cannot be had from a release, which bounds users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.user_labels import read_user_labels
from anonhist.mechanisms.estimators.entropy import distance_to_uniformity, entropy, power_sum, renyi_entropy
from anonhist.mechanisms.estimators.num_labels import NumLabelsMechanism
from anonhist.mechanisms.estimators.support import sample_coverage, support_coverage, support_size
from anonhist.mechanisms.setting import without_sizes
from anonhist.privacy import EpsilonLike, NeighboringRelation
from anonhist.properties.estimate import Estimate
from anonhist.randomness import RandomSource
from anonhist.releases.content import estimates_digest

__all__ = [
    "distance_to_uniformity",
    "entropy",
    "num_labels",
    "power_sum",
    "renyi_entropy",
    "sample_coverage",
    "support_coverage",
    "support_size",
]


def num_labels(
    data: Any,
    /,
    *,
    label: str | None = None,
    user: str,
    epsilon: EpsilonLike,
    max_per_user: int = 1024,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    level: float = 0.95,
    count: str | None = None,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "prevalences", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Say how many distinct labels there are at least, protecting users with any number of labels.

    Labels are matched to users who have them, at most ℓ to each user. The largest such matching changes by at most ℓ
    with one user, and with the best ℓ it misses far fewer labels than keeping ℓ random ones of each user. Part of the
    budget chooses ℓ (:class:`~anonhist.mechanisms.estimators.num_labels.NumLabelsMechanism`).

    Parameters
    ----------
    data
        Where the rows are, one for each item, as for :func:`~anonhist.ingest.read.read_profile`.
    label, user
        The columns of labels and of users. Rows without a user are left out.
    epsilon
        The whole budget, > 0: int, str, Decimal, Fraction, or float (its shortest decimal).
    max_per_user
        The largest ℓ that may be chosen, from 1 to 2^20: public. Users may have more labels, and are protected all the
        same.
    relation
        Which data sets are neighbors: one user more or less, or one replaced. The noise is the same for both.
    level
        Probability with which there are at least as many labels as the lower end says.
    count, table, format, delimiter, header, keep_null, where, progress, limits
        As for :func:`~anonhist.ingest.read.read_profile`.
    source
        Privacy randomness; the operating system's by default.
    ledger, dataset, purpose, run_id
        As for :func:`anonhist.release`: the charge is made before the data are read.

    Returns
    -------
    Estimate
        Its interval has a lower end alone: one user may have any number of labels that nobody else has. The value is
        the matching with noise, or 0 if that is negative.

    Raises
    ------
    UsageError
        If a parameter is impossible. Nothing is spent then.
    DataError
        If the data cannot be used, or there is not enough memory: distinct pairs of a user and a label take some 300
        bytes each. The guarantee does not cover that this error shows the size of the data.

    Notes
    -----
    Pure ``epsilon``-differential privacy of one user with all their rows; floating point costs nothing. Proof note:
    docs/proofs/distinct-labels.md.

    Source: Knop and Steinke 2023.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows = pa.table({"person": [1, 1, 2, 3] * 200, "page": list(range(800))})
    >>> print(num_labels(rows, label="page", user="person", epsilon=1).guarantee.unit)
    one user with all their items
    """
    mechanism = NumLabelsMechanism(epsilon, relation, max_per_user=max_per_user, level=level)
    account = account_of(ledger, dataset, purpose, run_id)
    price = Price(mechanism.guarantee, "private estimate of the number of labels", mechanism.parameters)
    with recording(account, lambda: price) as recorded:
        with recorded.reading(), without_sizes():
            held = read_user_labels(
                data,
                label=label,
                user=user,
                count=count,
                table=table,
                format=format,
                delimiter=delimiter,
                header=header,
                keep_null=keep_null,
                where=where,
                progress=progress,
                limits=limits,
            )
        estimate = mechanism.estimate(held, source=source)
        recorded.complete(lambda: estimates_digest([("the number of labels", estimate)]))
    return estimate

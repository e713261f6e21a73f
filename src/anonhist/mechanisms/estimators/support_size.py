"""Private support size: observed labels, Chebyshev weights, or the coverage of many draws, under noise."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, Literal, SupportsIndex, get_args

import numpy as np

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.mechanisms.estimators.asking import Asked, public_size
from anonhist.mechanisms.estimators.bias import largest_bias, new_labels
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support_coverage import SupportCoverageMechanism
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.properties.chebyshev import Chebyshev
from anonhist.properties.estimate import Estimate
from anonhist.properties.estimator import LinearStatistic, check_method
from anonhist.properties.support_size_estimators import Observed
from anonhist.randomness import RandomSource

if TYPE_CHECKING:
    from anonhist.mechanisms.estimators.whole_weights import WholeWeights

PrivateSupportSizeMethod = Literal["chebyshev", "coverage", "observed"]
PRIVATE_SUPPORT_SIZE_METHODS: tuple[str, ...] = get_args(PrivateSupportSizeMethod)


@frozen
class SupportSizeMechanism(StatisticMechanism):
    """Private number of labels with a probability above zero, clipped to [1, k].

    Parameters
    ----------
    epsilon, unit, relation, known_items
        See :class:`~anonhist.mechanisms.estimators.statistic_mechanism.StatisticMechanism`, which has the guarantee.
    method
        ``"chebyshev"`` (Wu and Yang 2019) or ``"coverage"`` (the support coverage of ``m = k·ln 30`` draws, which
        misses at most k/30 labels); both assume that no label has a probability below 1/k. Or ``"observed"``, the
        number of observed labels.
    alphabet_size
        k, public; not needed for ``"observed"``.

    Raises
    ------
    UsageError
        If a number is impossible, or the alphabet size is missing.

    Examples
    --------
    >>> SupportSizeMechanism(1, method="observed", relation=NeighboringRelation.SUBSTITUTE).scale(1000)
    1.0
    """

    quantity: ClassVar[str] = "the support size"
    counted: ClassVar[str] = "labels"

    _: KW_ONLY
    method: str = "chebyshev"
    alphabet_size: Converted[SupportsIndex | None, int | None] = converted(public_size, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method(self.method, PRIVATE_SUPPORT_SIZE_METHODS, of="private support size")
        if self.alphabet_size is None and self.method != "observed":
            raise UsageError(
                f"The {self.method} method needs `alphabet_size`: 1/p, p the smallest probability a label may have."
            )

    @property
    def assumes(self) -> str:
        """What the interval assumes."""
        return Observed.assumes if self.method == "observed" else Chebyshev.assumes

    def method_for(self, items: int) -> str:
        """Return the method."""
        return self.method

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights for a public number of items."""
        if self.alphabet_size is None or self.method == "observed":
            return LinearStatistic(lambda counts: np.where(counts > 0, 1.0, 0.0), head=1)
        if self.method == "chebyshev":
            return Chebyshev(self.alphabet_size).statistic(items)
        draws = coverage_draws(self.alphabet_size)
        return SupportCoverageMechanism(self.epsilon, self.unit, self.relation, draws=draws).statistic(items)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 1 and k."""
        return 1.0, math.inf if self.alphabet_size is None else float(self.alphabet_size)

    def bias(self, items: int) -> tuple[float, float]:
        """Return the largest bias if no label has a probability below 1/k; no bound for the observed labels."""
        size = self.alphabet_size
        if size is None or self.method == "observed":
            return math.inf, 0.0
        truth = new_labels(math.inf)
        return largest_bias(self.statistic(items), truth, items, alphabet_size=size, least=items / size)

    def sampling_error(self, weights: WholeWeights, value: float, scale: float) -> float:
        """Return 0 for the observed labels: there are at least as many labels, whatever the sample."""
        if self.method == "observed":
            return 0.0
        return super().sampling_error(weights, value, scale)


def coverage_draws(alphabet_size: int, accuracy: float = 0.1) -> int:
    """Return ``m = ⌈k·ln(3/α)⌉``: the coverage of m draws misses at most αk/3 labels of probability 1/k or more.

    For each of them is missing with probability ``(1 − p)^m ≤ e^(−m/k) ≤ α/3``.

    Examples
    --------
    >>> coverage_draws(1000)
    3402
    """
    return math.ceil(alphabet_size * math.log(3 / accuracy))


def support_size(
    profile: Profile,
    *,
    epsilon: EpsilonLike,
    method: PrivateSupportSizeMethod | None = None,
    alphabet_size: int | None = None,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    known_items: int | None = None,
    level: float = 0.95,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Estimate:
    """Estimate with differential privacy how many labels have a probability above zero.

    Parameters
    ----------
    profile, epsilon, unit, relation, known_items, level, source, ledger, dataset, purpose, run_id
        As for :func:`~anonhist.mechanisms.estimators.entropy.entropy`.
    method
        ``"chebyshev"`` (default with an alphabet size), ``"observed"`` (default without) or ``"coverage"``. Ratios such
        as Chao1 have unbounded sensitivity: make a release, and estimate from it.
    alphabet_size
        k: no label has a probability below 1/k. Public.

    Raises
    ------
    UsageError
        If a parameter is impossible, or the unit protects less than the profile's. Nothing is spent then.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> support_size(Profile.from_labels("abracadabra" * 50), epsilon=1, alphabet_size=100).unit
    'labels'
    """
    asked = Asked(epsilon, unit, relation, known_items, level, source, account_of(ledger, dataset, purpose, run_id))
    return asked.of(
        profile,
        SupportSizeMechanism,
        method=method or ("observed" if alphabet_size is None else "chebyshev"),
        alphabet_size=alphabet_size,
    )

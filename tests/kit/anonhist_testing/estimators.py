"""Every private estimator, at sizes at which a test can try all data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.mechanisms.estimators.entropy import (
    EntropyMechanism,
    PolynomialParameters,
    PowerSumMechanism,
    RenyiEntropyMechanism,
    UniformityMechanism,
)
from anonhist.mechanisms.estimators.support import (
    SampleCoverageMechanism,
    SupportCoverageMechanism,
    SupportSizeMechanism,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism


def _with(made_by: Callable[..., StatisticMechanism], **own: Any) -> Callable[..., StatisticMechanism]:
    return lambda *settings, **others: made_by(*settings, **own, **others)


MECHANISMS: dict[str, Callable[..., StatisticMechanism]] = {
    "entropy-plug-in": _with(EntropyMechanism, method="plug-in"),
    "entropy-miller-madow": _with(EntropyMechanism, method="miller-madow"),
    "entropy-jackknife": _with(EntropyMechanism, method="jackknife"),
    "entropy-polynomial": _with(EntropyMechanism, alphabet_size=6),
    "entropy-polynomial-published": _with(
        EntropyMechanism, alphabet_size=20, polynomial=PolynomialParameters.of_inspectre(20)
    ),
    "support-size-observed": _with(SupportSizeMechanism, method="observed"),
    "support-size-chebyshev": _with(SupportSizeMechanism, alphabet_size=50),
    "support-size-coverage": _with(SupportSizeMechanism, alphabet_size=8, method="coverage"),
    "coverage-rarefaction": _with(SupportCoverageMechanism, draws=3),
    "coverage-good-toulmin": _with(SupportCoverageMechanism, draws=11, method="good-toulmin"),
    "coverage-smoothed-poisson": _with(SupportCoverageMechanism, draws=30, method="smoothed-poisson"),
    "coverage-smoothed-binomial-b": _with(SupportCoverageMechanism, draws=30, method="smoothed-binomial-b"),
    "sample-coverage": SampleCoverageMechanism,
    "power-sum-2": _with(PowerSumMechanism, order=2),
    "power-sum-3": _with(PowerSumMechanism, order=3),
    "renyi-entropy": _with(RenyiEntropyMechanism, order=2, alphabet_size=9),
    "uniformity": _with(UniformityMechanism, alphabet_size=4),
}

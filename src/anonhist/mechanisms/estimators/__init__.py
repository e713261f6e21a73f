"""Private estimators: a linear statistic of the profile, and exact noise on it."""

from anonhist.mechanisms.estimators.catalogue import PRIVATE_PROPERTIES
from anonhist.mechanisms.estimators.entropy import (
    PRIVATE_ENTROPY_METHODS,
    EntropyMechanism,
    PolynomialParameters,
    PowerSumMechanism,
    RenyiEntropyMechanism,
    UniformityMechanism,
    recommended_polynomial,
)
from anonhist.mechanisms.estimators.statistic_mechanism import Noised, StatisticMechanism
from anonhist.mechanisms.estimators.support import (
    PRIVATE_SUPPORT_SIZE_METHODS,
    SampleCoverageMechanism,
    Smoothing,
    SupportCoverageMechanism,
    SupportSizeMechanism,
    recommended_smoothing,
)

__all__ = [
    "PRIVATE_ENTROPY_METHODS",
    "PRIVATE_PROPERTIES",
    "PRIVATE_SUPPORT_SIZE_METHODS",
    "EntropyMechanism",
    "Noised",
    "PolynomialParameters",
    "PowerSumMechanism",
    "RenyiEntropyMechanism",
    "SampleCoverageMechanism",
    "Smoothing",
    "StatisticMechanism",
    "SupportCoverageMechanism",
    "SupportSizeMechanism",
    "UniformityMechanism",
    "recommended_polynomial",
    "recommended_smoothing",
]

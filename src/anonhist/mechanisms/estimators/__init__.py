"""Private estimators: a linear statistic of the profile, and exact noise on it."""

from anonhist.mechanisms.estimators.catalogue import PRIVATE_PROPERTIES
from anonhist.mechanisms.estimators.entropy import (
    PRIVATE_ENTROPY_METHODS,
    EntropyMechanism,
    PolynomialParameters,
    recommended_polynomial,
)
from anonhist.mechanisms.estimators.power_sum import PowerSumMechanism, RenyiEntropyMechanism
from anonhist.mechanisms.estimators.sample_coverage import SampleCoverageMechanism
from anonhist.mechanisms.estimators.statistic_mechanism import Noised, StatisticMechanism
from anonhist.mechanisms.estimators.support_coverage import Smoothing, SupportCoverageMechanism, recommended_smoothing
from anonhist.mechanisms.estimators.support_size import PRIVATE_SUPPORT_SIZE_METHODS, SupportSizeMechanism
from anonhist.mechanisms.estimators.uniformity import UniformityMechanism

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

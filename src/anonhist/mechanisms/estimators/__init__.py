"""Private estimators: a linear statistic of the profile, and exact noise on it."""

from anonhist.mechanisms.estimators.catalogue import PRIVATE_PROPERTIES
from anonhist.mechanisms.estimators.entropy import (
    PRIVATE_ENTROPY_METHODS,
    EntropyMechanism,
    PolynomialParameters,
    private_entropy,
    recommended_polynomial,
)
from anonhist.mechanisms.estimators.noised import Noised
from anonhist.mechanisms.estimators.power_sum import (
    PowerSumMechanism,
    RenyiEntropyMechanism,
    private_power_sum,
    private_renyi_entropy,
)
from anonhist.mechanisms.estimators.sample_coverage import SampleCoverageMechanism, private_sample_coverage
from anonhist.mechanisms.estimators.statistic_mechanism import StatisticMechanism
from anonhist.mechanisms.estimators.support_coverage import (
    Smoothing,
    SupportCoverageMechanism,
    private_support_coverage,
    recommended_smoothing,
)
from anonhist.mechanisms.estimators.support_size import (
    PRIVATE_SUPPORT_SIZE_METHODS,
    SupportSizeMechanism,
    private_support_size,
)
from anonhist.mechanisms.estimators.uniformity import UniformityMechanism, private_distance_to_uniformity

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
    "private_distance_to_uniformity",
    "private_entropy",
    "private_power_sum",
    "private_renyi_entropy",
    "private_sample_coverage",
    "private_support_coverage",
    "private_support_size",
    "recommended_polynomial",
    "recommended_smoothing",
]

"""Private estimators: a linear statistic of the profile, and exact noise on it."""

from anonhist.catalogue import PROPERTIES
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
from anonhist.properties.by_name import property_at

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

# Each takes epsilon, unit, relation, known_items and level as well.
PRIVATE_PROPERTIES = {
    name: property_at(entry.private, entry.private_methods, entry.required)
    for name, entry in PROPERTIES.items()
    if entry.private
}

"""All private estimators by name."""

from __future__ import annotations

from anonhist.mechanisms.estimators.entropy import (
    PRIVATE_ENTROPY_METHODS,
    distance_to_uniformity,
    entropy,
    power_sum,
    renyi_entropy,
)
from anonhist.mechanisms.estimators.support import (
    PRIVATE_SUPPORT_SIZE_METHODS,
    sample_coverage,
    support_coverage,
    support_size,
)
from anonhist.properties.catalogue import Property
from anonhist.properties.support_coverage import LINEAR_COVERAGE_METHODS

# Each takes epsilon, unit, relation, known_items and level as well.
PRIVATE_PROPERTIES: dict[str, Property] = {
    "entropy": Property(entropy, ("method", "alphabet_size", "base"), methods=PRIVATE_ENTROPY_METHODS),
    "support-size": Property(support_size, ("method", "alphabet_size"), methods=PRIVATE_SUPPORT_SIZE_METHODS),
    "support-coverage": Property(
        support_coverage,
        ("method", "draws", "alphabet_size"),
        required=("draws",),
        methods=LINEAR_COVERAGE_METHODS,
    ),
    "sample-coverage": Property(sample_coverage),
    "renyi-entropy": Property(renyi_entropy, ("order", "alphabet_size", "base"), required=("order",)),
    "power-sum": Property(power_sum, ("order", "alphabet_size"), required=("order",)),
    "distance-to-uniformity": Property(distance_to_uniformity, ("alphabet_size",), required=("alphabet_size",)),
}

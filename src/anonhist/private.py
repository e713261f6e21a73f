"""Private estimators: single numbers from private data, each with its own budget, exact noise and an interval.

From a release, the same numbers cost no budget: ``ah.entropy(release)``.
"""

from anonhist.mechanisms.estimators.entropy import distance_to_uniformity, entropy, power_sum, renyi_entropy
from anonhist.mechanisms.estimators.support import sample_coverage, support_coverage, support_size

__all__ = [
    "distance_to_uniformity",
    "entropy",
    "power_sum",
    "renyi_entropy",
    "sample_coverage",
    "support_coverage",
    "support_size",
]

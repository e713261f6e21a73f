"""Private estimators: one number of private data, with a budget of its own, exact noise and an interval.

From a release the same numbers are free: ``ah.entropy(release)``.
"""

from anonhist.mechanisms.estimators import private_distance_to_uniformity as distance_to_uniformity
from anonhist.mechanisms.estimators import private_entropy as entropy
from anonhist.mechanisms.estimators import private_power_sum as power_sum
from anonhist.mechanisms.estimators import private_renyi_entropy as renyi_entropy
from anonhist.mechanisms.estimators import private_sample_coverage as sample_coverage
from anonhist.mechanisms.estimators import private_support_coverage as support_coverage
from anonhist.mechanisms.estimators import private_support_size as support_size

__all__ = [
    "distance_to_uniformity",
    "entropy",
    "power_sum",
    "renyi_entropy",
    "sample_coverage",
    "support_coverage",
    "support_size",
]

"""Diversity: power sums and functions of them, and the distance to uniformity."""

from anonhist.properties.diversity.hill_number import hill_number
from anonhist.properties.diversity.methods import DIVERSITY_METHODS
from anonhist.properties.diversity.min_entropy import min_entropy
from anonhist.properties.diversity.power_sum import power_sum_statistic
from anonhist.properties.diversity.renyi import renyi_entropy
from anonhist.properties.diversity.simpson import gini_simpson, power_sum, simpson
from anonhist.properties.diversity.tsallis import tsallis_entropy
from anonhist.properties.diversity.uniformity import UNIFORMITY_METHODS, distance_to_uniformity, uniformity_statistic

__all__ = [
    "DIVERSITY_METHODS",
    "UNIFORMITY_METHODS",
    "distance_to_uniformity",
    "gini_simpson",
    "hill_number",
    "min_entropy",
    "power_sum",
    "power_sum_statistic",
    "renyi_entropy",
    "simpson",
    "tsallis_entropy",
    "uniformity_statistic",
]

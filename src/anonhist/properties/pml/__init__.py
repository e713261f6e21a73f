"""Approximate profile maximum likelihood, and estimates of symmetric properties from it."""

from anonhist.properties.pml.approximate import approximate_pml
from anonhist.properties.pml.distribution import PmlDistribution, property_of
from anonhist.properties.pml.plug_ins import (
    PmlDistanceToUniformity,
    PmlEntropy,
    PmlSupportSize,
    plug_in,
)

__all__ = [
    "PmlDistanceToUniformity",
    "PmlDistribution",
    "PmlEntropy",
    "PmlSupportSize",
    "approximate_pml",
    "plug_in",
    "property_of",
]

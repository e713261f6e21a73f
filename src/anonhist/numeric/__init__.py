"""Stable arithmetic that knows nothing of privacy."""

from anonhist.numeric.best_polynomial import BestPolynomial, best_polynomial
from anonhist.numeric.block_floating import BlockMatrix, BlockVector, aligned
from anonhist.numeric.exponential_quotient import ExponentialQuotient
from anonhist.numeric.isotonic import decreasing_fit

__all__ = [
    "BestPolynomial",
    "BlockMatrix",
    "BlockVector",
    "ExponentialQuotient",
    "aligned",
    "best_polynomial",
    "decreasing_fit",
]

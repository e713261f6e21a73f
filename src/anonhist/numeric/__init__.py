"""Stable arithmetic that knows nothing of privacy."""

from anonhist.numeric.block_floating import BlockMatrix, BlockVector, aligned
from anonhist.numeric.isotonic import decreasing_fit

__all__ = ["BlockMatrix", "BlockVector", "aligned", "decreasing_fit"]

"""Numerical methods that are independent of privacy."""

from anonhist.numeric.arrays import read_only
from anonhist.numeric.best_polynomial import BestPolynomial, best_polynomial
from anonhist.numeric.binomial_sums import SignedSums, TwoBinomials
from anonhist.numeric.block_floating import BlockMatrix, BlockVector, align
from anonhist.numeric.exponential import ExponentialQuotient
from anonhist.numeric.fits import decreasing_fit
from anonhist.numeric.hashing import (
    HashSupport,
    bucket_widths,
    buckets,
    hash_buffer,
    hash_words,
    index_words,
    keyed_hash,
    label_words,
    paired_buckets,
    seed_coefficients,
)

__all__ = [
    "BestPolynomial",
    "BlockMatrix",
    "BlockVector",
    "ExponentialQuotient",
    "HashSupport",
    "SignedSums",
    "TwoBinomials",
    "align",
    "best_polynomial",
    "bucket_widths",
    "buckets",
    "decreasing_fit",
    "hash_buffer",
    "hash_words",
    "index_words",
    "keyed_hash",
    "label_words",
    "paired_buckets",
    "read_only",
    "seed_coefficients",
]

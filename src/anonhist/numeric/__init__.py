"""Numerical methods that are independent of privacy."""

from anonhist.numeric.arrays import read_only
from anonhist.numeric.best_polynomial import BestPolynomial, best_polynomial
from anonhist.numeric.binomial_sums import SignedSums, TwoBinomials
from anonhist.numeric.block_floating import BlockMatrix, BlockVector, align
from anonhist.numeric.exponential_quotient import ExponentialQuotient
from anonhist.numeric.keyed_hash import hash_buffer, hash_words, keyed_hash
from anonhist.numeric.multiply_shift import (
    HashSupport,
    bucket_widths,
    buckets,
    index_words,
    label_words,
    paired_buckets,
    seed_coefficients,
)
from anonhist.numeric.projections import decreasing_fit

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

"""The only access to entropy: secure random words and exact samplers, with pmfs for those of single numbers.

Every sampler takes its random words from an explicit ``source``; for privacy, that is :class:`SystemSource`. The
distributions are exact, as docs/proofs/randomness.md proves. The time of a draw varies a little with the random words,
because some draws need more of them; it does not vary with any data.
"""

from anonhist.randomness.bernoulli import bernoulli, bernoulli_bits, bernoulli_exp, bernoulli_exp_pmf, bernoulli_pmf
from anonhist.randomness.categorical import (
    categorical,
    categorical_pmf,
    categorical_rows,
    random_subsets,
    uniform_integers,
    uniform_integers_pmf,
)
from anonhist.randomness.geometric import (
    discrete_laplace,
    discrete_laplace_pmf,
    discrete_laplace_variance,
    geometric,
    geometric_pmf,
    negative_binomial,
    negative_binomial_pmf,
)
from anonhist.randomness.source import RandomSource, SystemSource

__all__ = [
    "RandomSource",
    "SystemSource",
    "bernoulli",
    "bernoulli_bits",
    "bernoulli_exp",
    "bernoulli_exp_pmf",
    "bernoulli_pmf",
    "categorical",
    "categorical_pmf",
    "categorical_rows",
    "discrete_laplace",
    "discrete_laplace_pmf",
    "discrete_laplace_variance",
    "geometric",
    "geometric_pmf",
    "negative_binomial",
    "negative_binomial_pmf",
    "random_subsets",
    "uniform_integers",
    "uniform_integers_pmf",
]

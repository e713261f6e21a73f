"""A statistic with noise, before it becomes an estimate."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noised:
    """A statistic with noise, and how large that noise is.

    Attributes
    ----------
    value
        The noisy statistic.
    items
        The number of items that its weights were made for.
    scale
        b of the discrete Laplace noise on it, P(x) ∝ e^(−|x|/b).
    items_error
        Standard error that the noise on the number of items adds, at most; 0 where n is public.
    sampling_error
        Standard error of sampling, at most.
    """

    value: float
    items: int
    scale: float
    items_error: float
    sampling_error: float

"""What all experiments of Kairouz, Bonawitz and Ramage (2016) share: 256 symbols, distributions, mechanisms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.randomizers.blocks import ProjectiveGeometry
from anonhist.local.randomizers.closed import KRR, SubsetSelection
from anonhist.local.randomizers.unary import KRAPPOR, OptimizedUnary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.randomizers.closed import PureSurvey

SYMBOLS = 256
LOW_PRIVACY = math.log(SYMBOLS)
OPEN, CLOSED = "open", "closed"
MECHANISMS: dict[str, type[PureSurvey]] = {
    "k-RR": KRR,
    "k-RAPPOR": KRAPPOR,
    "OUE": OptimizedUnary,
    "projective geometry": ProjectiveGeometry,
    "subset selection": SubsetSelection,
}


def geometric(symbols: int = SYMBOLS) -> NDArray[np.float64]:
    """Return ``p_i ∝ (1 − 5/S)^i`` for i = 0 to S − 1: waiting times of mean S/5, given that they are at most S.

    Examples
    --------
    >>> geometric().sum().round(12), (geometric()[1] / geometric()[0]).round(6)
    (np.float64(1.0), np.float64(0.980469))
    """
    shape = (1 - 5 / symbols) ** np.arange(symbols)
    frequencies: NDArray[np.float64] = shape / shape.sum()
    return frequencies


def uniform(symbols: int = SYMBOLS) -> NDArray[np.float64]:
    """Return equal frequencies.

    Examples
    --------
    >>> uniform(4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return np.full(symbols, 1 / symbols)


def zipf(symbols: int = SYMBOLS) -> NDArray[np.float64]:
    """Return ``p_i ∝ i^(−1.5)``: a few symbols have most of the people.

    Examples
    --------
    >>> zipf()[:4].round(3)
    array([0.402, 0.142, 0.077, 0.05 ])
    """
    shape = np.arange(1.0, symbols + 1) ** -1.5
    frequencies: NDArray[np.float64] = shape / shape.sum()
    return frequencies

"""The noise that decoders of sketches assume, for tests that write its matrix out."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def truncated_noise(gamma: Fraction, reach: int) -> NDArray[np.float64]:
    """Return the discrete Laplace pmf of rate γ at −B..B, given that the noise lies there."""
    weights = np.exp(-float(gamma) * np.abs(np.arange(-reach, reach + 1)))
    return np.asarray(weights / weights.sum())

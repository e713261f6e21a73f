"""Units of guessing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from anonhist.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anonhist.properties.estimator import Weights

CostUnit = Literal["guesses", "bits"]
SuccessUnit = Literal["share", "bits"]


def check_unit(unit: object, units: tuple[str, ...]) -> str:
    """Return the unit, refusing what is none.

    Examples
    --------
    >>> check_unit("bits", ("guesses", "bits"))
    'bits'
    """
    if unit not in units:
        message = f"`unit` must be one of {', '.join(units)}, not {unit!r:.80}."
        raise UsageError(message)
    return str(unit)


def times(weights: Weights, factor: float) -> Weights:
    """Return the weights, each multiplied."""

    def multiply(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return factor * weights(counts)

    return multiply

"""How many labels there are in all, seen or not, by a method of your choice."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.properties.estimator import estimated
from anonhist.properties.intervals import LabelsInterval
from anonhist.properties.options import check_alphabet, check_method
from anonhist.properties.support_size.chao1 import Chao1
from anonhist.properties.support_size.observed import Observed

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Estimator, Resimulated

SUPPORT_SIZE_METHODS = ("observed", "chao1")


def support_size(
    data: Profile | Resimulated,
    *,
    method: str | None = None,
    alphabet_size: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """Estimate how many labels have a probability above zero: those seen and those not seen.

    Parameters
    ----------
    data
        A profile, or a release: then the interval holds the privacy noise as well.
    method
        One of ``SUPPORT_SIZE_METHODS``; ``"chao1"`` by default.
    alphabet_size
        k, how many labels there can be, known without looking.
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If there is no such method, or a number is impossible.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> print(support_size(Profile.from_counts([9, 4, 2, 2, 1, 1, 1])))
    8 ± 1.82 labels (95 % interval 7.09365 to 17.6777)
    """
    chosen = support_size_estimator(method, alphabet_size)
    size = check_alphabet(data, alphabet_size)
    most = math.inf if size is None else float(size)
    return estimated(data, chosen, LabelsInterval(most), level=level, unit="labels")


def support_size_estimator(method: str | None, alphabet_size: int | None) -> Estimator:
    """Return the estimator of this name."""
    del alphabet_size
    name = method or "chao1"
    check_method(name, SUPPORT_SIZE_METHODS, of="support size")
    return Observed() if name == "observed" else Chao1()

"""The best width of blocks, and the best share of ε for them, by predicted errors: from public numbers alone."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from anonhist.mechanisms.windows.two_levels import TwoLevelMechanism

if TYPE_CHECKING:
    from collections.abc import Callable

# Shares are tried in hundredths; more blocks than that take long to compute, and are never best.
_HUNDREDTHS = 100
_MOST_BLOCKS = 200
_WIDTHS = 24
Two = TypeVar("Two", bound=TwoLevelMechanism)


def with_best_levels(kind: type[Two], /, *given: Any, days: int, **others: Any) -> Two:
    """Return a mechanism of two levels with the smallest largest standard error among some widths and all shares.

    Parameters
    ----------
    kind
        The mechanism.
    given, days, others
        What it is made of but for ``width`` and ``share``.

    Examples
    --------
    >>> from anonhist.mechanisms.windows.anchors import AnchorsMechanism
    >>> from anonhist.privacy import PrivacyUnit
    >>> made = with_best_levels(AnchorsMechanism, 1, PrivacyUnit.label(max_count=10), thresholds=10, days=30)
    >>> made.width, str(made.share), round(made.worst, 1)
    (17, '6/25', 41.9)
    """

    def best_share(width: int) -> Two:
        @cache
        def made(hundredths: int) -> Two:
            return kind(*given, days=days, width=width, share=Fraction(hundredths, _HUNDREDTHS), **others)

        return made(_lowest(lambda share: made(share).worst, 1, _HUNDREDTHS - 1))

    narrow = max(min(2, days), -(-days // _MOST_BLOCKS))
    widths = sorted({round(each) for each in np.geomspace(narrow, days, _WIDTHS).tolist()})
    return min(map(best_share, widths), key=lambda each: each.worst)


def _lowest(value: Callable[[int], float], low: int, high: int) -> int:
    """Return where a function that falls, then rises, is lowest.

    Examples
    --------
    >>> _lowest(lambda x: abs(x - 37), 1, 99)
    37
    """
    while low < high:
        middle = (low + high) // 2
        if value(middle) <= value(middle + 1):
            high = middle
        else:
            low = middle + 1
    return low

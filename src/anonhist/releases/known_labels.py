"""Histograms that include zero counts: with a known number of labels, the labels that never occur follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.properties.estimate import Holds

if TYPE_CHECKING:
    from anonhist.properties.estimate import Estimate

_TURNED = {Holds.AT_LEAST: Holds.AT_MOST, Holds.AT_MOST: Holds.AT_LEAST}


def never_occurring(seen: Estimate, alphabet_size: int) -> Estimate:
    """Return ``φ_0 = k − φ_{1+}``, from 0 to k, of an estimate of φ_{1+}: post-processing, with the same error.

    A release may have more than k labels, by noise; then φ_0 is 0.

    Examples
    --------
    >>> from anonhist.properties.estimate import Estimate
    >>> print(never_occurring(Estimate(95.0, 2.0, (90.0, 102.0), "re-simulated"), 100))
    5 ± 2 (95 % interval 0 to 10)
    """
    low, high = (min(max(alphabet_size - end, 0.0), float(alphabet_size)) for end in reversed(seen.interval))
    statement = replace(seen.statement, holds=_TURNED.get(seen.statement.holds, seen.statement.holds))
    return replace(seen, value=max(alphabet_size - seen.value, 0.0), interval=(low, high), statement=statement)

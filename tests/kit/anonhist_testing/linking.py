"""How many people can be recognized by their devices' memory: an attack on repeated reports of RAPPOR."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.local.randomizers.rappor import RAPPOR, Memory
    from anonhist.randomness import RandomSource


def linked_share(survey: RAPPOR, memory: Memory, reports: int, *, source: RandomSource) -> float:
    """Return the share of devices whose reports of two periods are linked by the most likely match.

    Parameters
    ----------
    survey
        The survey of the reports.
    memory
        The memory of the devices.
    reports
        How many reports each device sends in a period.
    source
        The source of random words.

    Returns
    -------
    float
        The share, if the attacker knows the public survey and the reports of both periods without names, but no
        answer: a remembered bit is taken to be 1 with probability f/2.
    """
    first, second = (_ones(survey, memory, reports, source=source) for _ in range(2))
    one, zero, half = (float(each) for each in (survey.q, survey.p, Fraction(survey.f) / 2))
    counts = np.arange(reports + 1)
    choices = np.array([comb(reports, count) for count in counts.tolist()], dtype=np.float64)
    kept, unkept = (choices * each**counts * (1 - each) ** (reports - counts) for each in (one, zero))
    together = half * np.outer(kept, kept) + (1 - half) * np.outer(unkept, unkept)
    alone = together.sum(axis=1)
    evidence = np.log(together / np.outer(alone, alone))
    scores = np.where(memory.cohorts[:, np.newaxis] == memory.cohorts, 0.0, -np.inf)
    for count in counts.tolist():
        scores += (first == count).astype(np.float64) @ evidence[count][second].T
    return float((scores.argmax(axis=1) == np.arange(len(memory))).mean())


def _ones(survey: RAPPOR, memory: Memory, reports: int, *, source: RandomSource) -> NDArray[np.int64]:
    """Return in how many of its reports each device sets each bit, shape (devices, bits)."""
    total = np.zeros((len(memory), survey.places), dtype=np.int64)
    for _ in range(reports):
        rows = np.asarray(survey.randomize_again(memory, source=source).columns["report"], dtype=np.uint8)
        total += np.unpackbits(rows, axis=1, count=survey.places, bitorder="little")
    return total

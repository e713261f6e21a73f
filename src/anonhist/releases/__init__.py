"""Values that leave the house: releases, each with its uncertainty."""

from anonhist.releases.error import ReleaseError, simulate_error
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand, TellsMisfit
from anonhist.releases.excess import Excess
from anonhist.releases.mechanism import CountsZeros, Mechanism
from anonhist.releases.release import DEFAULT_SIMULATIONS, Release

__all__ = [
    "DEFAULT_SIMULATIONS",
    "CountsZeros",
    "Evidence",
    "Excess",
    "KPlusBand",
    "Mechanism",
    "PrevalenceBand",
    "Release",
    "ReleaseError",
    "TellsMisfit",
    "simulate_error",
]

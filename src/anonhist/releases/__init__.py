"""Values that leave the house: releases, each with its uncertainty."""

from anonhist.releases.error import ReleaseError, simulate_error
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand, TellsMisfit
from anonhist.releases.mechanism import CountsZeros, KnowsWork, Mechanism
from anonhist.releases.release import Release

__all__ = [
    "CountsZeros",
    "Evidence",
    "KPlusBand",
    "KnowsWork",
    "Mechanism",
    "PrevalenceBand",
    "Release",
    "ReleaseError",
    "TellsMisfit",
    "simulate_error",
]

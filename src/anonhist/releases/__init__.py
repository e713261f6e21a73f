"""Releases: values that may be published, with their uncertainty."""

from anonhist.releases.error import ReleaseError, simulate_error
from anonhist.releases.evidence import Evidence, KPlusBand, PrevalenceBand, TellsMisfit, runs_with_misfit
from anonhist.releases.excess import Excess
from anonhist.releases.made import CountsZeros, KnowsWork, Mechanism
from anonhist.releases.release import Release

__all__ = [
    "CountsZeros",
    "Evidence",
    "Excess",
    "KPlusBand",
    "KnowsWork",
    "Mechanism",
    "PrevalenceBand",
    "Release",
    "ReleaseError",
    "TellsMisfit",
    "runs_with_misfit",
    "simulate_error",
]

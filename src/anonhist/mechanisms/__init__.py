"""The central model: frozen mechanisms that turn a private profile into a release."""

from anonhist.mechanisms.automatic import MECHANISM_NAMES, CentralMechanism, choose, from_parameters, release
from anonhist.mechanisms.frobenius import FrobeniusMechanism
from anonhist.mechanisms.partition import PartitionMechanism
from anonhist.mechanisms.planning import PlanRow, plan, staircase_profile, zipf_profile
from anonhist.mechanisms.prevalence import PrevalenceMechanism

__all__ = [
    "MECHANISM_NAMES",
    "CentralMechanism",
    "FrobeniusMechanism",
    "PartitionMechanism",
    "PlanRow",
    "PrevalenceMechanism",
    "choose",
    "from_parameters",
    "plan",
    "release",
    "staircase_profile",
    "zipf_profile",
]

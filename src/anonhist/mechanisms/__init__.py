"""The central model: frozen mechanisms that turn a private profile into a release."""

from anonhist.mechanisms.additive import CumulativeMechanism, IsotonicMechanism, PrevalenceMechanism
from anonhist.mechanisms.bound_planning import BoundPlan, BoundPlanRow, plan_bounds
from anonhist.mechanisms.comparison import METRICS, Comparison, ComparisonRow, Metric, Skipped, compare
from anonhist.mechanisms.excess import ExcessMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters, calibrate, privacy_loss
from anonhist.mechanisms.exponential.partition import (
    BoundedPartitionMechanism,
    PartitionMechanism,
    RelaxedPartitionMechanism,
)
from anonhist.mechanisms.frobenius.mechanism import FrobeniusMechanism
from anonhist.mechanisms.group_planning import GroupPlan, GroupPlanRow, GroupSize, plan_groups
from anonhist.mechanisms.picking import MECHANISM_NAMES, choose
from anonhist.mechanisms.planning import PlanRow, plan, staircase_profile, zipf_profile
from anonhist.mechanisms.privhist import BudgetShares, PrivHistMechanism
from anonhist.mechanisms.releasing import release
from anonhist.mechanisms.skeletons import CentralMechanism
from anonhist.privacy import NeighboringRelation
from anonhist.profiles.chosen_bound import ChosenBound

__all__ = [
    "MECHANISM_NAMES",
    "METRICS",
    "BoundPlan",
    "BoundPlanRow",
    "BoundedPartitionMechanism",
    "BudgetShares",
    "CentralMechanism",
    "ChosenBound",
    "Comparison",
    "ComparisonRow",
    "CumulativeMechanism",
    "ExcessMechanism",
    "FamilyParameters",
    "FrobeniusMechanism",
    "GroupPlan",
    "GroupPlanRow",
    "GroupSize",
    "IsotonicMechanism",
    "Metric",
    "NeighboringRelation",
    "PartitionMechanism",
    "PlanRow",
    "PrevalenceMechanism",
    "PrivHistMechanism",
    "RelaxedPartitionMechanism",
    "Skipped",
    "calibrate",
    "choose",
    "compare",
    "plan",
    "plan_bounds",
    "plan_groups",
    "privacy_loss",
    "release",
    "staircase_profile",
    "zipf_profile",
]

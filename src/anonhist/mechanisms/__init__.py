"""The central model: frozen mechanisms that turn a private profile into a release."""

from anonhist.mechanisms.additive.cumulative import CumulativeMechanism
from anonhist.mechanisms.additive.isotonic import IsotonicMechanism
from anonhist.mechanisms.additive.prevalence import PrevalenceMechanism
from anonhist.mechanisms.basis.skeletons import CentralMechanism
from anonhist.mechanisms.comparison.compare import compare
from anonhist.mechanisms.comparison.metrics import METRICS, Metric
from anonhist.mechanisms.comparison.rows import Comparison, ComparisonRow, Skipped
from anonhist.mechanisms.excess import ExcessMechanism
from anonhist.mechanisms.exponential.bounded_partition import BoundedPartitionMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters, calibrate, privacy_loss
from anonhist.mechanisms.exponential.partition import PartitionMechanism
from anonhist.mechanisms.exponential.relaxed_partition import RelaxedPartitionMechanism
from anonhist.mechanisms.frobenius.frobenius import FrobeniusMechanism
from anonhist.mechanisms.group_planning import GroupPlan, GroupPlanRow, GroupSize, plan_groups
from anonhist.mechanisms.names import MECHANISM_NAMES
from anonhist.mechanisms.planning import PlanRow, plan, staircase_profile, zipf_profile
from anonhist.mechanisms.privhist.privhist import BudgetShares, PrivHistMechanism
from anonhist.mechanisms.releasing import choose, release
from anonhist.privacy import NeighboringRelation

__all__ = [
    "MECHANISM_NAMES",
    "METRICS",
    "BoundedPartitionMechanism",
    "BudgetShares",
    "CentralMechanism",
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
    "plan_groups",
    "privacy_loss",
    "release",
    "staircase_profile",
    "zipf_profile",
]

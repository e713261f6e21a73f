"""The central model: frozen mechanisms that turn a private profile into a release."""

from anonhist.mechanisms.additive.cumulative import CumulativeMechanism
from anonhist.mechanisms.additive.isotonic import IsotonicMechanism
from anonhist.mechanisms.additive.prevalence import PrevalenceMechanism
from anonhist.mechanisms.automatic import choose, release
from anonhist.mechanisms.basis.skeletons import CentralMechanism
from anonhist.mechanisms.comparison.compare import check_compared, compare
from anonhist.mechanisms.comparison.entrants import known_numbers
from anonhist.mechanisms.comparison.metrics import METRICS, Metric
from anonhist.mechanisms.comparison.rows import NOT_PRIVATE, Comparison, ComparisonRow, Skipped
from anonhist.mechanisms.excess import ExcessMechanism
from anonhist.mechanisms.exponential.bounded_partition import BoundedPartitionMechanism
from anonhist.mechanisms.exponential.calibration import FamilyParameters, calibrate, privacy_loss
from anonhist.mechanisms.exponential.partition import PartitionMechanism
from anonhist.mechanisms.exponential.relaxed_partition import RelaxedPartitionMechanism
from anonhist.mechanisms.frobenius.frobenius import FrobeniusMechanism
from anonhist.mechanisms.names import (
    MECHANISM_NAMES,
    check_name,
    check_options,
    from_parameters,
    named_mechanism,
)
from anonhist.mechanisms.planning import PlanRow, plan, staircase_profile, zipf_profile
from anonhist.mechanisms.privhist.privhist import BudgetShares, PrivHistMechanism
from anonhist.privacy import NeighboringRelation

__all__ = [
    "MECHANISM_NAMES",
    "METRICS",
    "NOT_PRIVATE",
    "BoundedPartitionMechanism",
    "BudgetShares",
    "CentralMechanism",
    "Comparison",
    "ComparisonRow",
    "CumulativeMechanism",
    "ExcessMechanism",
    "FamilyParameters",
    "FrobeniusMechanism",
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
    "check_compared",
    "check_name",
    "check_options",
    "choose",
    "compare",
    "from_parameters",
    "known_numbers",
    "named_mechanism",
    "plan",
    "privacy_loss",
    "release",
    "staircase_profile",
    "zipf_profile",
]

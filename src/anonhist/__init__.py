"""anonhist: how often things occur, released with differential privacy.

>>> import anonhist as ah
>>> profile = ah.Profile.from_labels("abracadabra")
>>> release = ah.release(profile, epsilon=1)
>>> print(release.guarantee.epsilon)
1

Names are loaded when first asked for, so that ``import anonhist`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist.errors import AnonhistError, DataError, MissingExtraError, OutputError, UsageError
    from anonhist.formats import csv_text, read_release, to_arrow, write
    from anonhist.ingest import read_profile
    from anonhist.mechanisms import (
        BoundedPartitionMechanism,
        BudgetShares,
        CumulativeMechanism,
        FamilyParameters,
        FrobeniusMechanism,
        IsotonicMechanism,
        PartitionMechanism,
        PrevalenceMechanism,
        PrivHistMechanism,
        RelaxedPartitionMechanism,
        calibrate,
        compare,
        plan,
        release,
    )
    from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile, sorted_l1, sorted_l2, sorted_linf
    from anonhist.properties import Estimate, entropy, support_size
    from anonhist.releases import Release
    from anonhist.report import plot, write_report

__version__ = "0.1.0"

__all__ = [
    "AnonhistError",
    "BoundedPartitionMechanism",
    "BudgetShares",
    "CumulativeMechanism",
    "DataError",
    "Estimate",
    "FamilyParameters",
    "FrobeniusMechanism",
    "Guarantee",
    "IsotonicMechanism",
    "MissingExtraError",
    "NeighboringRelation",
    "OutputError",
    "PartitionMechanism",
    "PrevalenceMechanism",
    "PrivHistMechanism",
    "PrivacyUnit",
    "Profile",
    "RelaxedPartitionMechanism",
    "Release",
    "UsageError",
    "calibrate",
    "compare",
    "csv_text",
    "entropy",
    "plan",
    "plot",
    "read_profile",
    "read_release",
    "release",
    "sorted_l1",
    "sorted_l2",
    "sorted_linf",
    "support_size",
    "to_arrow",
    "write",
    "write_report",
]

_ROOMS = {
    "errors": ("AnonhistError", "DataError", "MissingExtraError", "OutputError", "UsageError"),
    "formats": ("csv_text", "read_release", "to_arrow", "write"),
    "ingest": ("read_profile",),
    "mechanisms": (
        "BoundedPartitionMechanism",
        "BudgetShares",
        "CumulativeMechanism",
        "FamilyParameters",
        "FrobeniusMechanism",
        "IsotonicMechanism",
        "PartitionMechanism",
        "PrevalenceMechanism",
        "PrivHistMechanism",
        "RelaxedPartitionMechanism",
        "calibrate",
        "compare",
        "plan",
        "release",
    ),
    "privacy": ("Guarantee", "NeighboringRelation", "PrivacyUnit"),
    "profiles": ("Profile", "sorted_l1", "sorted_l2", "sorted_linf"),
    "properties": ("Estimate", "entropy", "support_size"),
    "releases": ("Release",),
    "report": ("plot", "write_report"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from its room when it is first asked for."""
    if name not in _ROOM_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"anonhist.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])

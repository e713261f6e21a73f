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
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonhist import graphs, local, sketches
    from anonhist.errors import AnonhistError, DataError, MissingExtraError, OutputError, UsageError
    from anonhist.formats import csv_text, read_release, to_arrow, write
    from anonhist.formats.rappor_files import read_rappor
    from anonhist.formats.sketch_in_place import sketch_in_place
    from anonhist.formats.sketches import read_sketch
    from anonhist.formats.surveys import read_survey
    from anonhist.formats.tallies import read_tally
    from anonhist.graphs import Direction, EdgePolicy, EdgePrivacy, NodePrivacy, as_graph, release_degrees
    from anonhist.ingest import read_profile
    from anonhist.ingest.edges import read_degrees, read_edges
    from anonhist.ingest.reports import tally_reports
    from anonhist.ingest.sketches import update_sketch
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
    from anonhist.mechanisms.estimators import (
        private_distance_to_uniformity,
        private_entropy,
        private_power_sum,
        private_renyi_entropy,
        private_sample_coverage,
        private_support_coverage,
        private_support_size,
    )
    from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
    from anonhist.profiles import Profile, sorted_l1, sorted_l2, sorted_linf
    from anonhist.properties import Estimate
    from anonhist.properties.catalogue import estimate_all
    from anonhist.properties.curve import Curve
    from anonhist.properties.diversity import (
        distance_to_uniformity,
        hill_number,
        min_entropy,
        renyi_entropy,
        simpson,
        tsallis_entropy,
    )
    from anonhist.properties.diversity.hill_curve import hill_curve
    from anonhist.properties.entropy import entropy
    from anonhist.properties.guessing.guessing_curve import guessing_curve
    from anonhist.properties.guessing.guesswork import guesswork
    from anonhist.properties.guessing.success import guessing_success
    from anonhist.properties.guessing.work_factor import work_factor
    from anonhist.properties.rarefaction import rarefaction_curve
    from anonhist.properties.sample_coverage import sample_coverage
    from anonhist.properties.support_coverage import support_coverage
    from anonhist.properties.support_size import support_size
    from anonhist.releases import Release
    from anonhist.report import plot, write_report

__version__ = "0.1.0"

__all__ = [
    "AnonhistError",
    "BoundedPartitionMechanism",
    "BudgetShares",
    "CumulativeMechanism",
    "Curve",
    "DataError",
    "Direction",
    "EdgePolicy",
    "EdgePrivacy",
    "Estimate",
    "FamilyParameters",
    "FrobeniusMechanism",
    "Guarantee",
    "IsotonicMechanism",
    "MissingExtraError",
    "NeighboringRelation",
    "NodePrivacy",
    "OutputError",
    "PartitionMechanism",
    "PrevalenceMechanism",
    "PrivHistMechanism",
    "PrivacyUnit",
    "Profile",
    "RelaxedPartitionMechanism",
    "Release",
    "UsageError",
    "as_graph",
    "calibrate",
    "compare",
    "csv_text",
    "distance_to_uniformity",
    "entropy",
    "estimate_all",
    "graphs",
    "guessing_curve",
    "guessing_success",
    "guesswork",
    "hill_curve",
    "hill_number",
    "local",
    "min_entropy",
    "plan",
    "plot",
    "private_distance_to_uniformity",
    "private_entropy",
    "private_power_sum",
    "private_renyi_entropy",
    "private_sample_coverage",
    "private_support_coverage",
    "private_support_size",
    "rarefaction_curve",
    "read_degrees",
    "read_edges",
    "read_profile",
    "read_rappor",
    "read_release",
    "read_sketch",
    "read_survey",
    "read_tally",
    "release",
    "release_degrees",
    "renyi_entropy",
    "sample_coverage",
    "simpson",
    "sketch_in_place",
    "sketches",
    "sorted_l1",
    "sorted_l2",
    "sorted_linf",
    "support_coverage",
    "support_size",
    "tally_reports",
    "to_arrow",
    "tsallis_entropy",
    "update_sketch",
    "work_factor",
    "write",
    "write_report",
]

_ROOMS = {
    "errors": ("AnonhistError", "DataError", "MissingExtraError", "OutputError", "UsageError"),
    "formats": ("csv_text", "read_release", "to_arrow", "write"),
    "formats.rappor_files": ("read_rappor",),
    "formats.sketch_in_place": ("sketch_in_place",),
    "formats.sketches": ("read_sketch",),
    "formats.surveys": ("read_survey",),
    "formats.tallies": ("read_tally",),
    "graphs": ("Direction", "EdgePolicy", "EdgePrivacy", "NodePrivacy", "as_graph", "release_degrees"),
    "ingest": ("read_profile",),
    "ingest.edges": ("read_degrees", "read_edges"),
    "ingest.reports": ("tally_reports",),
    "ingest.sketches": ("update_sketch",),
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
    "mechanisms.estimators": (
        "private_distance_to_uniformity",
        "private_entropy",
        "private_power_sum",
        "private_renyi_entropy",
        "private_sample_coverage",
        "private_support_coverage",
        "private_support_size",
    ),
    "privacy": ("Guarantee", "NeighboringRelation", "PrivacyUnit"),
    "profiles": ("Profile", "sorted_l1", "sorted_l2", "sorted_linf"),
    "properties": ("Estimate",),
    "properties.catalogue": ("estimate_all",),
    "properties.curve": ("Curve",),
    "properties.diversity": (
        "distance_to_uniformity",
        "hill_number",
        "min_entropy",
        "renyi_entropy",
        "simpson",
        "tsallis_entropy",
    ),
    "properties.diversity.hill_curve": ("hill_curve",),
    "properties.entropy": ("entropy",),
    "properties.guessing.guessing_curve": ("guessing_curve",),
    "properties.guessing.guesswork": ("guesswork",),
    "properties.guessing.success": ("guessing_success",),
    "properties.guessing.work_factor": ("work_factor",),
    "properties.rarefaction": ("rarefaction_curve",),
    "properties.sample_coverage": ("sample_coverage",),
    "properties.support_coverage": ("support_coverage",),
    "properties.support_size": ("support_size",),
    "releases": ("Release",),
    "report": ("plot", "write_report"),
}
# A room whose own front door is part of this one: ah.local.KRR.
_OPEN_ROOMS = ("graphs", "local", "sketches")
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}
# Python locks modules one by one: of two threads that load a package, one from its front and one from a module in it,
# each could hold what the other waits for, and one would fail.
_LOADING = RLock()


def __getattr__(name: str) -> object:
    """Load a public name from its room when it is first asked for."""
    if name not in _OPEN_ROOMS and name not in _ROOM_OF:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    with _LOADING:
        if name in _OPEN_ROOMS:
            return import_module(f"anonhist.{name}")
        value = getattr(import_module(f"anonhist.{_ROOM_OF[name]}"), name)
        globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])

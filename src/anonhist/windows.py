"""Cumulative windows: how many labels have reached each threshold by the end of each day, in one private release."""

from anonhist.ingest.windows import read_cumulative, read_cumulative_groups
from anonhist.mechanisms.window_release import release_cumulative, release_cumulative_groups
from anonhist.profiles.windows import CumulativeCounts, GroupedCumulativeCounts
from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

__all__ = [
    "CumulativeCounts",
    "CumulativeRelease",
    "GroupedCumulativeCounts",
    "GroupedCumulativeRelease",
    "read_cumulative",
    "read_cumulative_groups",
    "release_cumulative",
    "release_cumulative_groups",
]

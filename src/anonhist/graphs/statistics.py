"""Statistics of degrees, with intervals, computed from a release at no privacy cost; loaded only when asked for."""

from anonhist.graphs.degree_data import DegreeData, released_policy
from anonhist.graphs.degree_numbers import (
    DegreeStatistics,
    degree_ccdf,
    degree_statistics,
    gini,
    isolated_nodes,
    k_stars,
    mean_degree,
    nodes_with_edges,
    num_edges,
    num_nodes,
)
from anonhist.graphs.power_law_tail import PowerLawTail, power_law_tail

__all__ = [
    "DegreeData",
    "DegreeStatistics",
    "PowerLawTail",
    "degree_ccdf",
    "degree_statistics",
    "gini",
    "isolated_nodes",
    "k_stars",
    "mean_degree",
    "nodes_with_edges",
    "num_edges",
    "num_nodes",
    "power_law_tail",
    "released_policy",
]

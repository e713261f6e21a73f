"""Graphs: from edges to the number of nodes of each degree, with edge or node privacy."""

from anonhist.graphs.bounding import Bounding, DegreeChoice, Flow, Projection
from anonhist.graphs.conversion import as_graph
from anonhist.graphs.edge_privacy import EdgeMechanism, EdgePrivacy
from anonhist.graphs.flow import degree_flow, edge_count_flow
from anonhist.graphs.graph import Degrees, Direction, EdgePolicy, Graph
from anonhist.graphs.node_degrees import CumulativeDegrees, HistogramDegrees, PartitionDegrees, SurvivalDegrees
from anonhist.graphs.node_mechanism import NodeMechanism
from anonhist.graphs.node_privacy import BoundedDegrees, NodePrivacy, private_edge_count
from anonhist.graphs.projection import project
from anonhist.graphs.release import release_degrees
from anonhist.graphs.statistics import (
    DegreeStatistics,
    degree_ccdf,
    degree_statistics,
    gini,
    k_stars,
    mean_degree,
    num_edges,
    num_nodes,
    power_law_tail,
)

__all__ = [
    "BoundedDegrees",
    "Bounding",
    "CumulativeDegrees",
    "DegreeChoice",
    "DegreeStatistics",
    "Degrees",
    "Direction",
    "EdgeMechanism",
    "EdgePolicy",
    "EdgePrivacy",
    "Flow",
    "Graph",
    "HistogramDegrees",
    "NodeMechanism",
    "NodePrivacy",
    "PartitionDegrees",
    "Projection",
    "SurvivalDegrees",
    "as_graph",
    "degree_ccdf",
    "degree_flow",
    "degree_statistics",
    "edge_count_flow",
    "gini",
    "k_stars",
    "mean_degree",
    "num_edges",
    "num_nodes",
    "power_law_tail",
    "private_edge_count",
    "project",
    "release_degrees",
]

"""Graphs: from edges to the number of nodes of each degree, with edge or node privacy."""

from anonhist.graphs.conversion import as_graph
from anonhist.graphs.edge.privacy import EdgeMechanism, EdgePrivacy
from anonhist.graphs.flow.capped import degree_flow, edge_count_flow
from anonhist.graphs.graph import Degrees, Graph
from anonhist.graphs.node.bounding import Bounding, Flow, Projection
from anonhist.graphs.node.choice import DegreeChoice
from anonhist.graphs.node.cumulative_degrees import CumulativeDegrees
from anonhist.graphs.node.histogram_degrees import HistogramDegrees
from anonhist.graphs.node.node_mechanism import NodeMechanism
from anonhist.graphs.node.partition_degrees import PartitionDegrees
from anonhist.graphs.node.privacy import BoundedDegrees, NodePrivacy
from anonhist.graphs.node.private_edge_count import private_edge_count
from anonhist.graphs.node.projection import project
from anonhist.graphs.node.survival_degrees import SurvivalDegrees
from anonhist.graphs.policy import Direction, EdgePolicy
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

"""Graphs: from edges to how many nodes have which degree, with the promise for one edge or for one node."""

from anonhist.graphs.bounding import Bounding, Flow, Projection
from anonhist.graphs.choice import DegreeChoice
from anonhist.graphs.conversion import as_graph
from anonhist.graphs.cumulative_degrees import CumulativeDegrees
from anonhist.graphs.edge_mechanism import EdgeMechanism
from anonhist.graphs.edge_privacy import EdgePrivacy
from anonhist.graphs.flow.degree_flow import degree_flow
from anonhist.graphs.flow.edge_count_flow import edge_count_flow
from anonhist.graphs.graph import Degrees, Graph
from anonhist.graphs.histogram_degrees import HistogramDegrees
from anonhist.graphs.node_mechanism import NodeMechanism
from anonhist.graphs.node_privacy import NodePrivacy
from anonhist.graphs.partition_degrees import PartitionDegrees
from anonhist.graphs.policy import Direction, EdgePolicy
from anonhist.graphs.private_edge_count import private_edge_count
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
from anonhist.graphs.survival_degrees import SurvivalDegrees

__all__ = [
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

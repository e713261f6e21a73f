"""Graphs: from edges to how many nodes have which degree, with the promise for one edge or for one node."""

"""Graphs: from edges to the number of nodes of each degree, with edge or node privacy."""

from anonhist.lazy import load_lazily

load_lazily(__name__)

"""Exponential mechanisms over partitions: the diagram of the data, each corner moved at random."""

"""Exponential mechanisms over partitions: the Young diagram of the data with randomly moved corners."""

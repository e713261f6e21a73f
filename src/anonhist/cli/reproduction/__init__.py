"""Experiments of the papers, run again."""

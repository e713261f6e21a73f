"""Cumulative windows: how many labels have reached each threshold by the end of each day."""

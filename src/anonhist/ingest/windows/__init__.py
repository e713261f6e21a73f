"""Cumulative windows: days, weeks and months of dates, and labels that reach thresholds on each."""

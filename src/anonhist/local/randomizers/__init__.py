"""Randomizers of devices: one file per mechanism, and the common code of each family."""

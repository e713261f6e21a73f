"""Shared by all tests."""

import os

# Small matrices: threads of the linear algebra library would only wait for each other. Read when NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

"""Estimates of properties of the unknown distribution from a profile, with intervals. No privacy mechanism is here.

Loaded when asked for: a release needs none of the estimators. Modules in this package import each other, not from here.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

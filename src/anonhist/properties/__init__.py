"""Estimates of properties of the unknown distribution from a profile, with intervals; no privacy mechanism is here.

Names load on first use, because a release needs no estimator. Modules of this package import each other, not this one.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

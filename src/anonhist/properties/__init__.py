"""What a profile says of the distribution behind it: profile in, number with interval out. No privacy inside.

Loaded when asked for: a release needs none of the estimators. Modules in this package import each other, not from here.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

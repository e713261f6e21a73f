"""Private sketches: counters that are private from the start, can be updated and merged, and decode to profiles.

>>> from anonhist import sketches
>>> sketch = sketches.HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
>>> sketch.update(["pets", "cats", "pets"])
>>> sketch.counters.shape
(1000,)
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

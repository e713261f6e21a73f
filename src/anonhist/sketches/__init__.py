"""Private sketches: counters that are private from the start, updated, merged and decoded to profiles.

>>> from anonhist import sketches
>>> sketch = sketches.HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
>>> sketch.update(["pets", "cats", "pets"])
>>> sketch.counters.shape
(1000,)
"""

from anonhist.sketches.decoding.decompounding import Decompounding, FourierDecompounding
from anonhist.sketches.decoding.empirical_bayes import EmpiricalBayes, MaximumLikelihood
from anonhist.sketches.decoding.three_tap import Isotonic, ThreeTap
from anonhist.sketches.decoding.wu_pagh import WuPagh
from anonhist.sketches.kinds import DomainSketch, HashedSketch
from anonhist.sketches.noise import Adversary, NoiseShare
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.recommendation import recommend_buckets
from anonhist.sketches.sketch import Sketch

__all__ = [
    "Adversary",
    "Decompounding",
    "DomainSketch",
    "EmpiricalBayes",
    "FourierDecompounding",
    "HashedSketch",
    "Isotonic",
    "MaximumLikelihood",
    "NoiseShare",
    "Sketch",
    "ThreeTap",
    "UsersIn",
    "WuPagh",
    "recommend_buckets",
]

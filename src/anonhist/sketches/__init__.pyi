# The public names of the room, each listed here alone: see lazy.py.
from anonhist.sketches.inverses import FourierDecompounding as FourierDecompounding
from anonhist.sketches.inverses import Isotonic as Isotonic
from anonhist.sketches.inverses import ThreeTap as ThreeTap
from anonhist.sketches.inverses import WuPagh as WuPagh
from anonhist.sketches.kinds import DomainSketch as DomainSketch
from anonhist.sketches.kinds import HashedSketch as HashedSketch
from anonhist.sketches.kinds import recommend_buckets as recommend_buckets
from anonhist.sketches.likelihood import Decompounding as Decompounding
from anonhist.sketches.likelihood import EmpiricalBayes as EmpiricalBayes
from anonhist.sketches.likelihood import MaximumLikelihood as MaximumLikelihood
from anonhist.sketches.noise import Adversary as Adversary
from anonhist.sketches.noise import NoiseShare as NoiseShare
from anonhist.sketches.promise import UsersIn as UsersIn
from anonhist.sketches.sketch import Sketch as Sketch

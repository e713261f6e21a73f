"""Species tables: how many species there are at each site, and how diverse they are, at equal size or coverage.

>>> from anonhist import species
>>> ants = species.IncidenceFrequencies.from_frequencies([200, 80, 59, 34, 23, 19, 15, 13, 8, 8, 4, 3, 2, 2, 1])
>>> print(ants)
14 species in 271 detections in 200 sampling units
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

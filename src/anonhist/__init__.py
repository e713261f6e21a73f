"""anonhist: how often things occur, released with differential privacy.

>>> import anonhist as ah
>>> profile = ah.Profile.from_labels("abracadabra")
>>> release = ah.release(profile, epsilon=1)
>>> print(release.guarantee.epsilon)
1

This module exports the most used names; the rest is in subpackages:

* ``ah.properties``: estimates of the distribution behind a profile or a release
* ``ah.private``: some of these estimates, each with its own budget
* ``ah.mechanisms``: mechanisms of the central model, by name
* ``ah.local``: surveys whose reports are randomized on each device
* ``ah.sketches``: counters that are private from the start
* ``ah.graphs``: degrees of graphs
* ``ah.species``: diversity of sites from species tables
* ``ah.formats``: tables and files for other programs

Names are loaded on first use, so that ``import anonhist`` is fast.
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

r"""
What noise does
===============

The :doc:`Frobenius mechanism <../proofs/frobenius>` adds noise to the arms, the legs and the length of the
:doc:`diagonal <plot_1_young_diagram>`, and publishes the diagram that is nearest to the noisy numbers. The noise is
*discrete Laplace*: with :math:`\gamma = \varepsilon/\Delta`,

.. math::

   P(\text{noise} = j) = \frac{1 - e^{-\gamma}}{1 + e^{-\gamma}}\, e^{-\gamma |j|}, \qquad j = 0, \pm 1, \pm 2, \ldots

Adding one item moves one coordinate by one. So it changes the probability of any result by a factor of at most
:math:`e^\gamma`, which is what differential privacy promises.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import anonhist as ah
from anonhist.profiles import FrobeniusCoordinates
from anonhist.randomness import SystemSource, discrete_laplace

# %%
# The noise
# ---------
# The picture shows the probabilities for two neighboring data sets, where the true number is 10 or 11. At ε = 1 the
# bars differ by a factor of at most 2.7; at ε = 0.2 by 1.2, and the noise is spread over many more numbers.

numbers = np.arange(0, 22)
figure, row = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
for axes, epsilon in zip(row, (1, 0.2), strict=True):
    for truth, shift in ((10, -0.2), (11, 0.2)):
        probabilities = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(numbers - truth))
        axes.bar(numbers + shift, probabilities, width=0.4, label=f"the truth is {truth}")
    axes.set(title=f"ε = {epsilon}", xlabel="what is released")
row[0].set_ylabel("probability")
row[0].legend()
plt.show()

# %%
# Noise on the legs
# -----------------
# Here are the legs of the trees of Barro Colorado Island, with noise as in a release at ε = 0.2. Leg k is the number of
# species with at least k trees, minus k, so legs must decrease, and noisy ones do not. The mechanism knows that, and
# publishes the decreasing sequence that is nearest in expectation. This costs no budget, and removes most of the noise
# where neighboring legs are similar.

EPSILON = Fraction(1, 5)
trees = ah.read_profile("../../data/bci_trees.csv")
legs = FrobeniusCoordinates.of(trees).legs
noisy = legs + discrete_laplace(EPSILON, legs.size, source=SystemSource())
release = ah.release(trees, epsilon=EPSILON, mechanism="frobenius")
released = FrobeniusCoordinates.of(release.profile).legs

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.plot(1 + np.arange(legs.size), noisy, ".", color="0.6", label="true legs plus noise")
axes.plot(1 + np.arange(legs.size), legs, color="tab:orange", label="true legs")
axes.plot(1 + np.arange(released.size), released, color="tab:blue", label="legs of a release (with other noise)")
axes.set(xlabel="k", ylabel="leg k")
axes.legend()
plt.show()

# %%
# Noise on something else
# -----------------------
# Why not add noise to each count, or to the number of species with each count? Below are four mechanisms on the same
# data at the same ε. *Isotonic* adds noise to every count in descending order. It needs a public bound on the number of
# species, here 1,000, and noise adds species that do not exist. *Prevalence* adds noise to the number of
# species with exactly 1, 2, 3, … trees, up to a public cap, and *cumulative* to the number with at least that many.
# Nearly all exact numbers are 0 or 1, far below the noise at this ε, so *prevalence* shows nothing here.

DRAWN = {
    "frobenius": {},
    "isotonic": {"public_labels": 1000},
    "cumulative": {"public_cap": 2000},
    "prevalence": {"public_cap": 2000},
}
figure, grid = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for axes, (name, options) in zip(grid.flat, DRAWN.items(), strict=True):
    other = ah.release(trees, epsilon=EPSILON, mechanism=name, simulations=0, **options).profile
    distance = ah.properties.sorted_l1(trees, other)
    for profile, color, label in ((trees, "tab:orange", "truth"), (other, "tab:blue", "released")):
        places = np.arange(1, 2000)
        axes.plot(places, profile.cumulative_prevalence(places), color=color, label=label)
    axes.set(xscale="log", yscale="symlog", title=f"{name}: off by {distance:,.0f} trees")
grid[0, 0].legend()
figure.supxlabel("k")
figure.supylabel("species with k trees or more")
plt.show()

"""
Which mechanism
===============

``anonhist.compare`` makes real releases by several mechanisms and measures how far each is from the truth, in items
that would have to be moved (the *sorted ℓ1 distance*). The data must be public; these are the 41,545 passwords of the
MySpace leak. :doc:`Accuracy <../benchmarks/accuracy>` has the same for larger data and with more releases.
"""

import matplotlib.pyplot as plt

import anonhist as ah

passwords = ah.read_profile("../../data/pw_myspace.csv")
EPSILONS = ["0.1", "0.3", "1", "3"]
NAMES = ["frobenius", "partition", "privhist", "isotonic", "cumulative", "prevalence"]
comparison = ah.compare(passwords, epsilons=EPSILONS, mechanisms=NAMES, repeats=5)

# %%
# ``mechanism="auto"`` takes the Frobenius mechanism below ε = 1.1 and the partition mechanism from there on. It decides
# by ε alone, because a choice based on the data would cost budget. *Isotonic*, *cumulative* and *prevalence* are given
# the number of passwords or the largest count here. The others do not need it, and it is rarely public. At ε = 3 most
# mechanisms are within a few accounts of the truth.

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for name in NAMES:
    rows = [row for row in comparison.rows if row.mechanism == name and row.metric == "sorted_l1"]
    axes.errorbar(
        [float(row.epsilon) for row in rows],
        [row.mean for row in rows],
        [row.standard_error for row in rows],
        marker="o",
        label=name,
    )
axes.set(xscale="log", yscale="log", xlabel="ε", ylabel="mean sorted ℓ1 error, in accounts")
axes.legend()
plt.show()

"""
What ε buys
===========

The 255,421 passwords of the phpBB leak, released three times. The band is made of 95% intervals, one for each number,
and the line is the truth. A smaller ε means a stronger promise and a wider band.
"""

import matplotlib.pyplot as plt
import numpy as np

import anonhist as ah

passwords = ah.read_profile("../../data/pw_phpbb.csv")
places = np.unique(np.geomspace(1, passwords.counts[-1], 60).astype(int))

# %%
# How many passwords are used k times or more
# -------------------------------------------
# The noise does not depend on the data. So it is visible on the right, where few passwords are left, and not on the
# left, where there are thousands. A budget of 0.01 suits data with millions of items, or coarse questions.

figure, row = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for axes, epsilon in zip(row, ("1", "0.1", "0.01"), strict=True):
    release = ah.release(passwords, epsilon=epsilon, simulations=2)
    intervals = np.array([release.k_plus(int(place)).interval for place in places])
    axes.fill_between(
        places, np.maximum(intervals[:, 0], 0.5), np.maximum(intervals[:, 1], 0.5), alpha=0.35, label="95% intervals"
    )
    axes.plot(places, passwords.cumulative_prevalence(places), color="tab:orange", label="truth")
    axes.set(xscale="log", yscale="log", ylim=(0.5, None), title=f"ε = {epsilon}", xlabel="k")
row[0].set_ylabel("passwords used k times or more")
row[0].legend()
plt.show()

# %%
# What the number ε means
# -----------------------
# Someone gives even odds that your password is in the data. After seeing the release, how sure can they be?
# At most e^ε/(1 + e^ε), whatever else they know.

epsilons = np.linspace(0, 6, 200)
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
sure = 1 / (1 + np.exp(-epsilons))
axes.fill_between(epsilons, 1 - sure, sure, alpha=0.35)
axes.axhline(0.5, color="0.5", linewidth=1)
axes.set(xlabel="ε", ylabel="belief after seeing the release", ylim=(0, 1), xlim=(0, 6))
for epsilon in (0.1, 1, 3):
    axes.annotate(
        f"ε = {epsilon}: {100 / (1 + np.exp(-epsilon)):.1f} %",
        (epsilon, 1 / (1 + np.exp(-epsilon))),
        (epsilon + 0.6, 0.55 + epsilon / 12),
        arrowprops={"arrowstyle": "->"},
    )
plt.show()

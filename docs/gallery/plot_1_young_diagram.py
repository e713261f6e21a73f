"""
The Young diagram and its diagonal
==================================

Sort the counts in descending order and draw each as a row of boxes: this is the Young diagram of the data. It shows how
often things occur, but not which things. A released profile is such a diagram.
"""

import matplotlib.pyplot as plt
import numpy as np

import anonhist as ah
from anonhist.profiles import FrobeniusCoordinates

# %%
# Twelve votes
# ------------
# Four candidates have 5, 4, 2 and 1 votes, twelve in all. The rows are these counts; the columns say how many
# candidates have at least 1, 2, 3, … votes. The dark boxes on the main diagonal are as many as the side of the largest
# square that fits, the *Durfee square*: two here. Each has an *arm*, the boxes right of it, and a *leg*, those below.

profile = ah.Profile.from_partition([5, 4, 2, 1])
ARM, LEG, DIAGONAL = "tab:blue", "tab:orange", "0.25"


def draw_boxes(axes, rows):
    """Draw a small diagram, each box in the color of the coordinate that counts it."""
    for row, length in enumerate(rows):
        for column in range(length):
            color = DIAGONAL if row == column else ARM if column > row else LEG
            axes.add_patch(plt.Rectangle((column, row), 1, 1, facecolor=color, edgecolor="white", linewidth=2))
    axes.set(xlim=(0, max(rows) + 1), ylim=(len(rows) + 1, 0), aspect="equal", xticks=[], yticks=[])
    axes.set_frame_on(False)


figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
draw_boxes(axes, profile.partition())
coordinates = FrobeniusCoordinates.of(profile)
axes.set_title(
    f"arms {coordinates.arms.tolist()}, legs {coordinates.legs.tolist()}, diagonal {coordinates.durfee_size}"
)
plt.show()

# %%
# One vote more
# -------------
# One more vote adds one box at the end of some row. That box lies right of the diagonal, below it, or on it, so exactly
# one number changes, by one: an arm, a leg, or the length of the diagonal. The ℓ1 sensitivity is 1, however large the
# data. That is why noise on these coordinates costs so little.

figure, rows = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for axes, (partition, place, title) in zip(
    rows,
    [
        ([5, 5, 2, 1], (4, 1), "an arm grows"),
        ([5, 4, 2, 2], (1, 3), "a leg grows"),
        ([5, 4, 3, 1], (2, 2), "the diagonal grows"),
    ],
    strict=True,
):
    draw_boxes(axes, partition)
    axes.add_patch(plt.Rectangle(place, 1, 1, fill=False, edgecolor="tab:red", linewidth=3))
    axes.set_title(title)
plt.show()

# %%
# Real data
# ---------
# The trees of Barro Colorado Island: 225 species, of which the most frequent has 1,717 trees. Few species have many
# trees and many have few, so the diagram lies close to both axes. At most √n of its n boxes are on its diagonal: here
# 66 of 21,457. So 66 arms, 66 legs and the number 66 describe it completely.

trees = ah.read_profile("../../data/bci_trees.csv")
counts = trees.partition()
size = trees.durfee_size
ranks = np.arange(1, counts.size + 1)
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for start, stop, color, label in [(size, counts.size, LEG, "legs"), (0, size, ARM, "arms")]:
    axes.fill_between(
        np.append(ranks[start:stop], stop + 1) - 1,
        np.append(counts[start:stop], 0),
        step="post",
        color=color,
        label=label,
    )
axes.fill_between([0, size], [0, size], color=LEG)
axes.plot([0, size], [0, size], color=DIAGONAL, linewidth=3, label="diagonal")
axes.set(xlim=(0, counts.size), ylim=(0, 250), xlabel="species, the most frequent first", ylabel="trees")
axes.set_title("Each row is drawn upward, and cut at 250 trees")
axes.legend()
plt.show()

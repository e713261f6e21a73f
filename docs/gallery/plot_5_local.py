"""
Local privacy: trusting nobody
==============================

Here each person randomizes their own answer before sending it. At the same ε, the error is far larger than that of a
release of exact counts. The answers are the occupations of 32,561 people.
"""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import anonhist as ah

with Path("../../data/adult_occupations.csv").open(encoding="utf-8") as file:
    truth = {row["label"]: int(row["count"]) for row in csv.DictReader(file)}
answers = [occupation for occupation, count in truth.items() for _ in range(count)]

# %%
# One report reveals almost nothing about its sender, but many together show the frequencies. The bars are 95%
# intervals. At ε = 1, occupations of fewer than 3% of the people cannot be distinguished from zero; at ε = 4 most can.

figure, row = plt.subplots(1, 2, figsize=(10, 4.5), sharey=True, sharex=True, layout="constrained")
names = list(truth)
shares = np.array(list(truth.values())) / len(answers)
for axes, epsilon in zip(row, (1, 4), strict=True):
    survey = ah.local.SubsetSelection(alphabet=names, epsilon=epsilon)
    estimate = survey.estimate(survey.tally(survey.randomize(answers)))
    low, high = estimate.intervals.T
    axes.hlines(np.arange(len(names)), 100 * low, 100 * high, linewidth=6, alpha=0.35, label="95% intervals")
    axes.plot(100 * shares, np.arange(len(names)), "o", color="tab:orange", label="truth")
    axes.set(title=f"ε = {epsilon}", xlabel="% of the people")
row[0].set_yticks(np.arange(len(names)), names)
row[0].invert_yaxis()
row[1].legend()
plt.show()

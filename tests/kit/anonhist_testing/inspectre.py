"""Errors that private estimates may have in INSPECTRE's experiments, at ε = 1 on uniform distributions.

The paper has figures without numbers: these numbers are from 100 trials of an earlier program of this project.
"""

# From items to root mean squared errors in bits, for 1,000 labels and the polynomial with the published parameters.
EARLIER_ENTROPY = {100: 0.62, 300: 0.18, 500: 0.15, 1000: 0.085}
# From t to root mean squared errors as a share of n·t, for 10,000 items, 20,000 labels and Poisson smoothing.
EARLIER_COVERAGE = {1: 0.0106, 2: 0.0108, 3: 0.0119, 5: 0.0128, 10: 0.0178}

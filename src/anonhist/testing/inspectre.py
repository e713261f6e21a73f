"""Errors that private estimates may have in the experiments of INSPECTRE, at ε = 1 on uniform distributions."""

# Items to root mean squared errors in bits: 1,000 labels, the polynomial with the published parameters.
PUBLISHED_ENTROPY = {100: 0.62, 300: 0.18, 500: 0.15, 1000: 0.085}
# t to root mean squared errors as a share of n·t: 10,000 items, 20,000 labels, Poisson smoothing.
PUBLISHED_COVERAGE = {1: 0.0106, 2: 0.0108, 3: 0.0119, 5: 0.0128, 10: 0.0178}

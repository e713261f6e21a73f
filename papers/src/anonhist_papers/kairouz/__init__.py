"""Kairouz, Bonawitz and Ramage (2016)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.kairouz.experiments import CLOSED_ALPHABETS, OPEN_ALPHABETS, PARAMETERS

PAPER = Paper(
    citation="Peter Kairouz, Keith Bonawitz and Daniel Ramage. Discrete Distribution Estimation under Local Privacy. "
    "ICML 2016; from the slides.",
    experiments=(CLOSED_ALPHABETS, OPEN_ALPHABETS, PARAMETERS),
)

"""PrivHist: Suresh (2019)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.suresh.corollary import COROLLARY, EXPONENTS, ZERO_COUNTS
from anonhist_papers.suresh.theorems import EPSILON, ITEMS, LOWER_BOUND, RELEASED_ITEMS, SECONDS

PAPER = Paper(
    citation="Ananda Theertha Suresh. Differentially Private Anonymized Histograms. NeurIPS 2019.",
    experiments=(ITEMS, EPSILON, RELEASED_ITEMS, SECONDS, LOWER_BOUND, COROLLARY, EXPONENTS, ZERO_COUNTS),
    left_out=(
        "The paper has no figures, tables or data: every experiment here is one of its theorems or statements.",
        "Corollary 1 with maximum likelihood or linear programming estimators: the paper claims nothing of them.",
        "Rényi entropy is named beside the linear estimators, but the corollary's condition is not claimed for it.",
    ),
)

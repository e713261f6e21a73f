"""Blocki (2016), with the mechanism of Blocki, Datta and Bonneau (2016) on which it rests."""

from anonhist_papers.blocki.conjecture import CONJECTURE_1
from anonhist_papers.blocki.figure_1 import FIGURE_1
from anonhist_papers.blocki.items import ERROR_AND_ITEMS, SQUARED_ERROR
from anonhist_papers.blocki.pure import PURE
from anonhist_papers.blocki.running_time import RUNNING_TIME
from anonhist_papers.blocki.theorem_1 import THEOREM_1, THEOREM_1_NODES
from anonhist_papers.experiment import Paper

PAPER = Paper(
    citation="Jeremiah Blocki. Differentially Private Integer Partitions and their Applications. 2016.",
    experiments=(
        FIGURE_1,
        CONJECTURE_1,
        ERROR_AND_ITEMS,
        SQUARED_ERROR,
        PURE,
        RUNNING_TIME,
        THEOREM_1,
        THEOREM_1_NODES,
    ),
    left_out=(
        "The Yahoo! corpus (Section 1.1): only the list with noise is public, so nothing can be compared with it.",
        "The lower bound Ω(√N/log N) (Section 2) has no data to it: it is drawn beside the errors, not run.",
        "Footnote 3, that edge privacy for ε/n and δ/n is not node privacy: an argument on δ, without an experiment.",
    ),
)

"""INSPECTRE: Acharya, Kamath, Sun and Zhang (2018)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.inspectre.figures import FIGURE_1, FIGURE_1_TRADEOFF, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5
from anonhist_papers.inspectre.hardness import LOWER_BOUND, SUPPORTS
from anonhist_papers.inspectre.lemmas import BATCHES, LEMMAS
from anonhist_papers.inspectre.supplement import SUPPLEMENT_COVERAGE, SUPPLEMENT_ENTROPY
from anonhist_papers.inspectre.theorems import THEOREM_1, THEOREM_2, THEOREM_3

PAPER = Paper(
    citation="Jayadev Acharya, Gautam Kamath, Ziteng Sun and Huanyu Zhang. INSPECTRE: Privately Estimating the Unseen. "
    "ICML 2018.",
    experiments=(
        *(THEOREM_1, THEOREM_2, THEOREM_3, LEMMAS, BATCHES, LOWER_BOUND),
        *(FIGURE_1, FIGURE_1_TRADEOFF, FIGURE_2, SUPPLEMENT_ENTROPY),
        *(FIGURE_3, SUPPLEMENT_COVERAGE, SUPPORTS, FIGURE_4, FIGURE_5),
    ),
    left_out=(
        "The figures of the supplement: it is not at hand. What the paper says of them is run in settings of our own.",
        "Lemma 2, a lower bound by coupling, has no algorithm and no constant. Its use is shown with Lemmas 5 and 6.",
        "Theorem 1 for m ≤ 1/α and Theorem 2 for k ≤ 1/α, which the paper includes “mostly for completeness”.",
    ),
)

"""INSPECTRE: Acharya, Kamath, Sun and Zhang (2018)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.inspectre.figures import FIGURE_1, FIGURE_1_TRADEOFF, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_5
from anonhist_papers.inspectre.supplement import SUPPLEMENT_COVERAGE, SUPPLEMENT_ENTROPY

PAPER = Paper(
    citation="Jayadev Acharya, Gautam Kamath, Ziteng Sun and Huanyu Zhang. INSPECTRE: Privately Estimating the Unseen. "
    "ICML 2018.",
    experiments=(
        *(FIGURE_1, FIGURE_1_TRADEOFF, FIGURE_2, SUPPLEMENT_ENTROPY, FIGURE_3, SUPPLEMENT_COVERAGE),
        *(FIGURE_4, FIGURE_5),
    ),
)

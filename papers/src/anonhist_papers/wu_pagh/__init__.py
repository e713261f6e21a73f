"""Wu and Pagh (2024)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.wu_pagh.curves import SECTION_4_6, THEOREM_1_1_EPSILON, THEOREM_1_1_LABELS
from anonhist_papers.wu_pagh.lemmas import EXAMPLE, LEMMA_4_1, LEMMA_4_10, LEMMA_4_11
from anonhist_papers.wu_pagh.lower_bound import THEOREM_1_2
from anonhist_papers.wu_pagh.times import THEOREM_1_1_TIME

PAPER = Paper(
    citation="Hao Wu and Rasmus Pagh. Profile Reconstruction from Private Sketches. ICML 2024.",
    experiments=(
        THEOREM_1_1_LABELS,
        THEOREM_1_1_EPSILON,
        THEOREM_1_1_TIME,
        THEOREM_1_2,
        LEMMA_4_1,
        EXAMPLE,
        LEMMA_4_11,
        LEMMA_4_10,
        SECTION_4_6,
    ),
    left_out=(
        (
            "The paper has no experiments: all curves are ours, and what is judged is what its theorems and lemmas "
            "say. Their bounds are stated up to constants; where one is drawn, it follows from the proof."
        ),
        (
            "The pan-private algorithm of Dwork et al. (2010) as a whole: it protects all items of a label, its noise "
            "is nearly uniform modulo several primes, and the size of its sketch is stated “with unspecified "
            "exponents”. Its decoder, the linear program, is run."
        ),
        (
            "Sampling of the domain (Section 1.2): the sample's own error, which the paper cites and does not "
            "analyze, adds to that of the sketch."
        ),
    ),
)

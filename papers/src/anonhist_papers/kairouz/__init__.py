"""Kairouz, Bonawitz and Ramage (2016)."""

from anonhist_papers.experiment import Paper
from anonhist_papers.kairouz.closed import BINARY, CLOSED_ALPHABETS, SIMPLEX
from anonhist_papers.kairouz.comparison import COMPARISON_CLOSED, COMPARISON_OPEN
from anonhist_papers.kairouz.parameters import CLOSED_ORAPPOR, CLOSED_ORR, OPEN_ORAPPOR, OPEN_ORR
from anonhist_papers.kairouz.utility import EFFECTIVE_SAMPLES, LIMITS, UTILITY

PAPER = Paper(
    citation="Peter Kairouz, Keith Bonawitz and Daniel Ramage. Discrete Distribution Estimation under Local Privacy. "
    "ICML 2016; from the slides.",
    experiments=(
        BINARY,
        CLOSED_ALPHABETS,
        UTILITY,
        EFFECTIVE_SAMPLES,
        LIMITS,
        SIMPLEX,
        COMPARISON_OPEN,
        COMPARISON_CLOSED,
        OPEN_ORR,
        OPEN_ORAPPOR,
        CLOSED_ORR,
        CLOSED_ORAPPOR,
    ),
    left_out=(
        "Settings of O-RAPPOR with C·h above 1,024: they would take most of the time, and one hash is always best.",
        "Theorem 2 for all losses, distributions and mechanisms: it is proved; an experiment can compare only some.",
        "“Something else creative (e.g. a different decoder)” for estimates off the simplex: the slides show none.",
    ),
)

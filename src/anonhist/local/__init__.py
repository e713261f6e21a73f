"""Local privacy: every person's value is randomised on their own device, and only the distribution is learned.

>>> from anonhist import local
>>> survey = local.KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
>>> reports = survey.randomize(["yes", "yes", "no"])
>>> estimate = survey.estimate(survey.tally(reports))
>>> estimate.users, len(estimate.frequencies)
(3, 3)
"""

from anonhist.local.alphabet import Alphabet
from anonhist.local.decoding import (
    BenjaminiHochberg,
    Bonferroni,
    ConstrainedLeastSquares,
    EarlyStopped,
    Holm,
    MaximumLikelihood,
    Normalized,
    Projected,
    Unbiased,
)
from anonhist.local.estimate import FrequencyEstimate
from anonhist.local.hadamard_response import HadamardResponse
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.hybrid_projective_geometry import HybridProjectiveGeometry
from anonhist.local.krappor import KRAPPOR
from anonhist.local.krr import KRR
from anonhist.local.local_hashing import LocalHashing
from anonhist.local.optimized_unary import OptimizedUnary
from anonhist.local.orappor import ORAPPOR
from anonhist.local.orr import ORR
from anonhist.local.projective_geometry import ProjectiveGeometry
from anonhist.local.rappor import RAPPOR
from anonhist.local.recommendation import Recommendation, recommend
from anonhist.local.reports import Reports
from anonhist.local.shuffling import (
    CloneBound,
    shuffled_delta,
    shuffled_epsilon,
    shuffled_epsilon_closed_form_2021,
    shuffled_epsilon_closed_form_2023,
)
from anonhist.local.subset_selection import SubsetSelection
from anonhist.local.survey import Survey
from anonhist.local.tally import Tally
from anonhist.local.warner import WarnerRR

__all__ = [
    "KRAPPOR",
    "KRR",
    "ORAPPOR",
    "ORR",
    "RAPPOR",
    "Alphabet",
    "BenjaminiHochberg",
    "Bonferroni",
    "CloneBound",
    "ConstrainedLeastSquares",
    "EarlyStopped",
    "FrequencyEstimate",
    "HadamardResponse",
    "HeavyHitters",
    "Holm",
    "HybridProjectiveGeometry",
    "LocalHashing",
    "MaximumLikelihood",
    "Normalized",
    "OptimizedUnary",
    "Projected",
    "ProjectiveGeometry",
    "Recommendation",
    "Reports",
    "SubsetSelection",
    "Survey",
    "Tally",
    "Unbiased",
    "WarnerRR",
    "recommend",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_epsilon_closed_form_2021",
    "shuffled_epsilon_closed_form_2023",
]

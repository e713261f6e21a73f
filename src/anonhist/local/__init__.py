"""Local privacy: each person's value is randomized on their own device, and the server learns only the distribution.

>>> from anonhist import local
>>> survey = local.KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
>>> reports = survey.randomize(["yes", "yes", "no"])
>>> estimate = survey.estimate(survey.tally(reports))
>>> estimate.users, len(estimate.frequencies)
(3, 3)
"""

from anonhist.local.decoding.expectation_maximization import ExpectationMaximization
from anonhist.local.decoding.formulas import Normalized, Projected, Unbiased
from anonhist.local.decoding.least_squares import ConstrainedLeastSquares
from anonhist.local.decoding.likelihood import MaximumLikelihood
from anonhist.local.decoding.significance import BenjaminiHochberg, Bonferroni, Holm
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.randomizers.hadamard_response import HadamardResponse
from anonhist.local.randomizers.hybrid_projective_geometry import HybridProjectiveGeometry
from anonhist.local.randomizers.krappor import KRAPPOR
from anonhist.local.randomizers.krr import KRR
from anonhist.local.randomizers.local_hashing import LocalHashing
from anonhist.local.randomizers.optimized_unary import OptimizedUnary
from anonhist.local.randomizers.orappor import ORAPPOR
from anonhist.local.randomizers.orr import ORR
from anonhist.local.randomizers.projective_geometry import ProjectiveGeometry
from anonhist.local.randomizers.rappor import RAPPOR
from anonhist.local.randomizers.subset_selection import SubsetSelection
from anonhist.local.randomizers.warner import WarnerRR
from anonhist.local.recommendation import Recommendation, recommend
from anonhist.local.surveys.alphabet import Alphabet
from anonhist.local.surveys.declaration import declare
from anonhist.local.surveys.estimate import FrequencyEstimate
from anonhist.local.surveys.reports import Reports
from anonhist.local.surveys.shuffling import (
    CloneBound,
    shuffled_delta,
    shuffled_epsilon,
    shuffled_epsilon_closed_form_2021,
    shuffled_epsilon_closed_form_2023,
)
from anonhist.local.surveys.survey import Survey
from anonhist.local.surveys.tally import Tally

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
    "ExpectationMaximization",
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
    "declare",
    "recommend",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_epsilon_closed_form_2021",
    "shuffled_epsilon_closed_form_2023",
]

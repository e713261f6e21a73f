"""Local privacy: each person's value is randomized on their own device, and the server learns only the distribution.

>>> from anonhist import local
>>> survey = local.KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
>>> reports = survey.randomize(["yes", "yes", "no"])
>>> estimate = survey.estimate(survey.tally(reports))
>>> estimate.users, len(estimate.frequencies)
(3, 3)
"""

from anonhist.local.catalogue import Recommendation, recommend
from anonhist.local.decoding.decoder import Normalized, Projected, Unbiased
from anonhist.local.decoding.fits import ConstrainedLeastSquares, ExpectationMaximization, MaximumLikelihood
from anonhist.local.decoding.names import BenjaminiHochberg, Bonferroni, Holm
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.randomizers.blocks import HadamardResponse, HybridProjectiveGeometry, ProjectiveGeometry
from anonhist.local.randomizers.krr import KRR, SubsetSelection, WarnerRR
from anonhist.local.randomizers.local_hashing import LocalHashing
from anonhist.local.randomizers.open import ORR
from anonhist.local.randomizers.rappor import ORAPPOR, RAPPOR
from anonhist.local.randomizers.unary import KRAPPOR, OptimizedUnary
from anonhist.local.surveys.alphabet import Alphabet
from anonhist.local.surveys.declaration import declare
from anonhist.local.surveys.estimate import FrequencyEstimate
from anonhist.local.surveys.reports import Reports, Tally
from anonhist.local.surveys.shuffling import (
    CloneBound,
    shuffled_delta,
    shuffled_epsilon,
    shuffled_epsilon_closed_form_2021,
    shuffled_epsilon_closed_form_2023,
)
from anonhist.local.surveys.survey import Survey

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

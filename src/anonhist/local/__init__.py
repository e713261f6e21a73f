"""Local privacy: every person's value is randomised on their own device, and only the distribution is learned.

>>> from anonhist import local
>>> survey = local.KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
>>> reports = survey.randomize(["yes", "yes", "no"])
>>> estimate = survey.estimate(survey.tally(reports))
>>> estimate.users, len(estimate.frequencies)
(3, 3)
"""

from anonhist.local.alphabet import Alphabet
from anonhist.local.estimate import FrequencyEstimate
from anonhist.local.heavy_hitters import HeavyHitters
from anonhist.local.krappor import KRAPPOR
from anonhist.local.krr import KRR
from anonhist.local.local_hashing import LocalHashing
from anonhist.local.optimized_unary import OptimizedUnary
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
    "Alphabet",
    "CloneBound",
    "FrequencyEstimate",
    "HeavyHitters",
    "LocalHashing",
    "OptimizedUnary",
    "Reports",
    "SubsetSelection",
    "Survey",
    "Tally",
    "WarnerRR",
    "shuffled_delta",
    "shuffled_epsilon",
    "shuffled_epsilon_closed_form_2021",
    "shuffled_epsilon_closed_form_2023",
]

"""Local privacy: each person's value is randomized on their own device, and the server learns only the distribution.

>>> from anonhist import local
>>> survey = local.KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
>>> reports = survey.randomize(["yes", "yes", "no"])
>>> estimate = survey.estimate(survey.tally(reports))
>>> estimate.users, len(estimate.frequencies)
(3, 3)
"""

from anonhist.lazy import load_lazily

load_lazily(__name__)

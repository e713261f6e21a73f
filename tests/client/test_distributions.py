"""Reports drawn in Chromium, from its own entropy, follow the distribution of their mechanism: χ² on 20,000 each."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    Collection,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    SubsetSelection,
    WarnerRR,
    collected_reports,
)
from anonhist.local.collection_files import collection_text
from anonhist.numeric import keyed_hash, label_words, paired_buckets, seed_coefficients
from anonhist_testing.chromium import BROWSER

from .conftest import Browse, Site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed: the client is not tested in a browser"),
]
USERS = 20_000
LABELS = ["a", "b", "c", "d", "e"]
SURVEYS: list[Any] = [
    KRR(alphabet=LABELS, epsilon=1),
    WarnerRR(alphabet=["a", "b"], epsilon=1),
    SubsetSelection(alphabet=LABELS, epsilon=1, subset_size=2),
    KRAPPOR(alphabet=LABELS, epsilon=2),
    OptimizedUnary(alphabet=LABELS, epsilon=1),
    LocalHashing(epsilon=1, buckets=4),
    HeavyHitters(epsilon=1, max_bytes=1, buckets=4),
    HadamardResponse(alphabet=LABELS, epsilon=1),
    ProjectiveGeometry(alphabet=LABELS, epsilon=1),
    HybridProjectiveGeometry(alphabet=LABELS, epsilon=2),
    ORR(alphabet=LABELS, cohorts=3, buckets=3, epsilon=1),
    ORAPPOR(alphabet=LABELS, cohorts=2, epsilon=2),
    RAPPOR(alphabet=LABELS, cohorts=2, f="1/2", p="1/4", q="3/4"),
]


def expected_and_places(survey: Any, columns: dict[str, Any]) -> tuple[list[float], Any]:
    """Return the probability of each report of the answer "b", and the number of each report that was drawn."""
    if isinstance(survey, LocalHashing | HeavyHitters):
        # Given the seed, the bucket of the value or one of the others.
        key = survey.key.encode()
        words = label_words(keyed_hash(["b"], key=key), 3).repeat(USERS, axis=0)
        own = paired_buckets(words, seed_coefficients(columns["seed"], key=key, words=3), survey.buckets)
        kept = math.e / (math.e + survey.buckets - 1)
        apart = (columns["report"] - own) % survey.buckets
        return [kept, *[(1 - kept) / (survey.buckets - 1)] * (survey.buckets - 1)], apart
    row = [float(entry) for entry in survey.matrix()[1]]
    report = columns["report"]
    if isinstance(survey, SubsetSelection):
        sets = report.view("<u2").astype(int)
        pairs = {(i, j): place for place, (i, j) in enumerate((i, j) for i in range(5) for j in range(i + 1, 5))}
        return row, np.array([pairs[tuple(each)] for each in sets.tolist()])
    if report.ndim == 2:
        report = report[:, 0].astype(int)
    width = len(row) // getattr(survey, "cohorts", 1)
    return row, columns["cohort"] * width + report if "cohort" in columns else report


def test_reports_of_every_mechanism_follow_their_distribution(browse: Browse, site: Site) -> None:
    for place, survey in enumerate(SURVEYS):
        is_open = isinstance(survey, LocalHashing)
        made = Collection(survey=survey, answers="once", last_day="2026-12-31", candidates=["b"] if is_open else None)
        site.files[f"/{place}.json"] = ("application/json", collection_text(made).encode())
    drawn = browse(f"""
        const drawn = [];
        for (let place = 0; place < {len(SURVEYS)}; place++) {{
          const collection = await Collection.load(`/${{place}}.json`, {{ unpinned: true }});
          drawn.push(Array.from({{ length: {USERS} }}, () => collection.simulate("b")));
        }}
        return drawn;""")
    assert len(drawn) == len(SURVEYS) == 13
    for survey, lines in zip(SURVEYS, drawn, strict=True):
        reports, bad = collected_reports(survey, lines)
        assert (len(reports), bad) == (USERS, 0)
        probabilities, places = expected_and_places(survey, dict(reports.columns))
        assert math.fsum(probabilities) == pytest.approx(1)
        counts = np.bincount(places, minlength=len(probabilities))
        wanted = USERS * np.array(probabilities)
        # Wrong by chance once in 10^9.
        statistic = float(((counts - wanted) ** 2 / wanted).sum())
        assert statistic < chi2.isf(1e-9 / 13, len(probabilities) - 1), survey.name

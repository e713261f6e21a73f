import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import UsageError
from anonhist.formats.files import write
from anonhist.local import FrequencyEstimate
from anonhist.local.estimate import NormalLimits
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit

ESTIMATE = FrequencyEstimate(
    labels=("cat", 'a "dog", or\nso', "=1+1"),
    users=1000,
    frequencies=np.array([0.7, 0.3, 0.0]),
    raw=np.array([0.72, 0.31, -0.03]),
    standard_errors=np.array([0.02, 0.01, 0.02]),
    p_values=np.array([0.0, 1e-300, 0.9]),
    significant=np.array([True, True, False]),
    level=0.95,
    decoder="projected",
    correction="holm",
    other=0.0,
    other_standard_error=0.0,
    note="",
    guarantee=Guarantee(
        PrivacyUnit.user(max_items=1), NeighboringRelation.SUBSTITUTE, Fraction(1), arithmetic="it is exact"
    ),
    limits=NormalLimits(np.array([0.72, 0.31, -0.03]), np.array([0.02, 0.01, 0.02])),
)


def test_the_table_has_a_row_for_every_value(tmp_path: Path) -> None:
    write(ESTIMATE, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("label", "raw", "standard_error", "low", "high", "simultaneous_low", "simultaneous_high"),
        *("p_value", "significant", "frequency", "count"),
    ]
    assert [row["label"] for row in rows] == list(ESTIMATE.labels)
    assert [row["significant"] for row in rows] == ["true", "true", "false"]
    for name, expected in (
        ("raw", ESTIMATE.raw),
        ("frequency", ESTIMATE.frequencies),
        ("standard_error", ESTIMATE.standard_errors),
        ("low", ESTIMATE.intervals[:, 0]),
        ("high", ESTIMATE.intervals[:, 1]),
        ("simultaneous_low", ESTIMATE.simultaneous_intervals[:, 0]),
        ("simultaneous_high", ESTIMATE.simultaneous_intervals[:, 1]),
        ("p_value", ESTIMATE.p_values),
        ("count", ESTIMATE.counts),
    ):
        np.testing.assert_allclose([float(row[name]) for row in rows], expected, rtol=1e-9)


def test_the_document_says_everything(tmp_path: Path) -> None:
    shown = replace(ESTIMATE, other=0.1, other_standard_error=0.02, note="stopped early")
    write(shown, tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("anonhist/frequencies", 1)
    assert document["guarantee"] == str(shown.guarantee)
    for name in ("users", "level", "decoder", "correction", "note", "other", "raw_other", "other_standard_error"):
        assert document[name] == getattr(shown, name)
    for name in ("frequencies", "raw", "standard_errors", "p_values", "significant", "intervals"):
        assert document[name] == getattr(shown, name).tolist()
    assert document["simultaneous_intervals"] == shown.simultaneous_intervals.tolist()
    assert document["labels"] == list(shown.labels)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"An estimate of frequencies is written as \.csv, \.json"):
        write(ESTIMATE, tmp_path / "a.parquet")

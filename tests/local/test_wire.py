"""Reports as devices send them: one length, one form, and what is read is what was written."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.formats.files import read
from anonhist.local import (
    KRR,
    ORAPPOR,
    HeavyHitters,
    LocalHashing,
    Reports,
    collected_reports,
    reports_of_wire,
    wire_lines,
)
from anonhist.local.reading import tally_reports
from anonhist_testing.sources import SeededSource

SURVEYS: list[Any] = [
    KRR(alphabet=1000, epsilon=1),
    LocalHashing(epsilon=1, key="wire"),
    HeavyHitters(epsilon=2, max_bytes=12),
    ORAPPOR(buckets=20, cohorts=120, key="wire", epsilon=2),
]


def lines_of(survey: Any, users: int) -> tuple[Reports, list[str]]:
    values = [str(i % 7) for i in range(users)]
    reports = survey.randomize(values, source=SeededSource(3))
    return reports, wire_lines(survey, reports, [f"{i:032x}" for i in range(users)])


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_lines_have_one_length_and_are_read_back(survey: Any, tmp_path: Path) -> None:
    reports, lines = lines_of(survey, 500)
    assert len({len(line.encode()) for line in lines}) == 1
    read_back, ids = reports_of_wire(survey, lines)
    assert read_back == reports
    assert ids == [f"{i:032x}" for i in range(500)]
    # They are JSON lines as any collector appends them to a file.
    (tmp_path / "reports.ndjson").write_text("".join(lines), encoding="utf-8")
    assert tally_reports(survey, tmp_path / "reports.ndjson") == survey.tally(reports)


CHANGED = {
    "not JSON": lambda line: line[:-3],
    "another survey": lambda line: line.replace('"survey":"', '"survey":"0'),
    "an identifier that is too short": lambda line: line.replace('"id":"0', '"id":"'),
    "an identifier of other digits": lambda line: line.replace('"id":"0', '"id":"G'),
    "a number out of range": lambda line: json.dumps({**json.loads(line), "report": 1000}),
    "a number that is text": lambda line: json.dumps({**json.loads(line), "report": "7"}),
    "a fraction": lambda line: json.dumps({**json.loads(line), "report": 7.0}),
    "true": lambda line: json.dumps({**json.loads(line), "report": True}),
    "many digits": lambda line: line.replace('"report":', '"report":' + "9" * 5000),
    "nothing": lambda line: line[:0],
    "a list": lambda line: f"[{line}]",
    "without padding": lambda line: json.dumps(json.loads(line), separators=(",", ":")) + " \n",
    "a field twice": lambda line: line.replace("{", '{"report":1,'),
    "no end of line": lambda line: line.rstrip("\n"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_other_lines_are_refused_by_their_number(what: str) -> None:
    survey = SURVEYS[0]
    _, lines = lines_of(survey, 3)
    lines[1] = CHANGED[what](lines[1])
    with pytest.raises(DataError, match=r"Line 2 is not|identifier"):
        reports_of_wire(survey, lines)


def test_collected_reports_count_once() -> None:
    survey = SURVEYS[2]
    reports, lines = lines_of(survey, 50)
    forged = lines[7].replace('"seed":', '"seed": ')
    received = [*lines[:20], "\n", *lines[10:], *(change(lines[1]) for change in CHANGED.values()), forged]
    # What is longer than it should be is no report; a true line that says something else comes second.
    other = wire_lines(survey, reports.rows(np.array([3])), [f"{5:032x}"])
    found, bad = collected_reports(survey, [*received, *other])
    assert found == reports
    assert bad == len(CHANGED) + 2


def test_identifiers_are_required() -> None:
    survey = SURVEYS[0]
    reports, _ = lines_of(survey, 2)
    for ids in ([], ["0" * 32], ["0" * 32, "x" * 32], ["0" * 32, 7]):
        with pytest.raises(DataError, match="identifier"):
            wire_lines(survey, reports, ids)  # type: ignore[arg-type]


def test_possible_reports_are_tallied_and_the_others_marked() -> None:
    survey = KRR(alphabet=5, epsilon=1)
    reports = Reports(survey.digest, {"report": np.array([0, 5, 2, -1, 4])})
    tally, bad = survey.tally_possible(reports)
    assert bad.tolist() == [False, True, False, True, False]
    assert tally == survey.tally(reports.rows(~bad))
    assert tally.users == 3


def test_the_collection_of_the_client_reads_its_survey() -> None:
    collection = read(Path(__file__).parents[1] / "formats" / "golden" / "collection.json")
    _, lines = lines_of(KRR(alphabet=[str(i) for i in range(7)], epsilon=1), 2)
    with pytest.raises(DataError):
        reports_of_wire(collection.survey, lines)

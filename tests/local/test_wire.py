"""Reports as devices send them: one length, one form, and what is read is what was written."""

import json
from collections.abc import Iterable
from datetime import date
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.formats.files import read
from anonhist.local import (
    KRR,
    ORAPPOR,
    HadamardResponse,
    HeavyHitters,
    LocalHashing,
    Reports,
    SubsetSelection,
    collected_reports,
    new_identifier,
    read_wire_line,
    wire_line,
)
from anonhist_testing.sources import SeededSource

SURVEYS: list[Any] = [
    KRR(alphabet=1000, epsilon=1),
    SubsetSelection(alphabet=30, epsilon=1),
    LocalHashing(epsilon=1, key="wire"),
    HeavyHitters(epsilon=2, max_bytes=12),
    HadamardResponse(alphabet=1000, epsilon=1),
    ORAPPOR(buckets=20, cohorts=120, key="wire", epsilon=2),
]
IDS = [f"{i:032x}" for i in range(500)]


def one_by_one(survey: Any, reports: Reports, ids: Iterable[str] = IDS) -> list[str]:
    return [wire_line(survey, reports.rows(np.array([row])), each) for row, each in zip(range(len(reports)), ids)]  # noqa: B905


def lines_of(survey: Any, users: int) -> tuple[Reports, list[str]]:
    values = np.arange(users) % 7 if isinstance(survey, KRR | SubsetSelection) else [str(i % 7) for i in range(users)]
    reports = survey.randomize(values, source=SeededSource(3))
    return reports, one_by_one(survey, reports)


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_lines_have_one_length_and_are_read_back(survey: Any) -> None:
    reports, lines = lines_of(survey, 500)
    assert len({len(line.encode()) for line in lines}) == 1
    received = [read_wire_line(survey, line) for line in lines]
    assert [each.identifier for each in received] == IDS
    assert [each.reports for each in received] == [reports.rows(np.array([row])) for row in range(500)]
    assert not any(each.bad for each in received)
    # Of several reports, too: a gateway sends those of many people at once.
    together = wire_line(survey, reports, IDS[0])
    assert read_wire_line(survey, together.removesuffix("\n")).reports == reports
    for row in (0, 250):
        other = survey.randomize(["5"], source=SeededSource(row))
        changed = {name: np.concatenate([values[:-1], other.columns[name]]) for name, values in reports.columns.items()}
        assert len(wire_line(survey, Reports(survey.digest, changed), IDS[1])) == len(together)


def changed(line: str, value: Any) -> str:
    said = json.loads(line)
    said["reports"]["report"] = value
    return json.dumps(said, separators=(",", ":")) + "\n"


CHANGED = {
    "not JSON": lambda line: line[:-3],
    "another column": lambda line: line.replace('"report":', '"rapport":'),
    "one column more": lambda line: line.replace('"reports":{', '"reports":{"seed":["00000000"],'),
    "an identifier that is too short": lambda line: line.replace('"id":"0', '"id":"'),
    "an identifier of other digits": lambda line: line.replace('"id":"0', '"id":"G'),
    "an identifier that ends a line": lambda line: line.replace('","reports', '\\n","reports'),
    "no identifier": lambda line: line.replace('"id"', '"di"'),
    "a number": lambda line: changed(line, 7),
    "a text": lambda line: changed(line, "007"),
    "no report": lambda line: changed(line, []),
    "many digits": lambda line: line.replace('["', "[" + "9" * 5000 + ',"'),
    "many brackets": lambda line: "[" * 100_000 + line,
    "nothing": lambda line: line[:0],
    "a list": lambda line: f"[{line}]",
    "with spaces": lambda line: json.dumps(json.loads(line)) + "\n",
    "a field twice": lambda line: line.replace("{", '{"id":"' + "0" * 32 + '",', 1),
    "more fields": lambda line: line.replace("{", '{"true":"7",', 1),
    "NaN": lambda line: line.replace('"reports":{', '"reports":NaN,"more":{'),
    "half a surrogate pair": lambda line: line.replace('["', '["\\ud800'),
    "a digit in another way": lambda line: line.replace('["', '["\\u0030'),
}


@pytest.mark.parametrize("what", CHANGED)
def test_other_lines_are_refused(what: str) -> None:
    survey = SURVEYS[0]
    _, lines = lines_of(survey, 1)
    wrong = CHANGED[what](lines[0])
    assert wrong != lines[0]
    if what == "half a surrogate pair":
        # This has the form of a line, and a value that is none.
        assert list(read_wire_line(survey, wrong).bad) == [1]
        return
    with pytest.raises(DataError, match="not a line of reports of this survey"):
        read_wire_line(survey, wrong)
    assert collected_reports(survey, [*lines, wrong]) == (*collected_reports(survey, lines)[:1], 1)


def test_bad_reports_are_named_one_by_one_and_the_rest_counts() -> None:
    survey = SURVEYS[0]
    _, (line,) = lines_of(survey, 1)
    values = ["007", "3e8", "3e7", "7", "0007", "00G", "00A", "", 7, None, ["007"], True, "०७७", "fff"]
    received = read_wire_line(survey, changed(line, values))
    assert received.reports.columns["report"].tolist() == [7, 999]
    assert list(received.bad) == [2, *range(4, 15)]
    malformed = "The value of 'report' must have 3 hexadecimal digits in lowercase."
    impossible = "No device that follows the survey sends this report."
    assert list(received.bad.values()) == [impossible, *[malformed] * 10, impossible]
    cohorts = SURVEYS[-1]
    _, lines = lines_of(cohorts, 3)
    said = json.loads(wire_line(cohorts, read_wire_line(cohorts, lines[0]).reports, IDS[0]))
    said["reports"]["cohort"].append("00")
    with pytest.raises(DataError):
        read_wire_line(cohorts, json.dumps(said, separators=(",", ":")))
    # A bit beyond the last.
    said["reports"]["report"].append("0000f0")
    assert list(read_wire_line(cohorts, json.dumps(said, separators=(",", ":"))).bad) == [2]


@pytest.mark.parametrize("survey", SURVEYS, ids=lambda survey: survey.name)
def test_collected_reports_count_once(survey: Any) -> None:
    reports, lines = lines_of(survey, 50)
    received = [*lines[:20], "\n", *lines[10:], lines[3].removesuffix("\n")]
    assert collected_reports(survey, received) == (reports, 1)


def test_of_different_lines_with_one_identifier_none_counts_whatever_their_order() -> None:
    survey = SURVEYS[0]
    reports = Reports(survey.digest, {"report": np.array([3, 4, 5, 6])})
    lines = one_by_one(survey, reports, [IDS[0], IDS[1], IDS[1], IDS[2]])
    for order in permutations([*lines, lines[1], lines[3]]):
        found, bad = collected_reports(survey, order)
        assert sorted(found.columns["report"].tolist()) == [3, 6]
        assert bad == 2
    # One report more is another line.
    more = wire_line(survey, reports.rows(np.array([0, 1])), IDS[0])
    assert collected_reports(survey, [lines[0], more])[1] == 2


def test_identifiers_hold_the_day_that_a_collector_says() -> None:
    drawn = {new_identifier() for _ in range(1000)}
    assert len(drawn) == 1000
    assert {each[:4] for each in drawn} == {"0000"}
    for day, digits in ((date(1970, 1, 1), "0000"), (date(2026, 11, 28), "5131"), (date(2149, 6, 6), "ffff")):
        # The lowest two bytes of the words are left out.
        words = SeededSource(1).words(2).astype("<u8").tobytes().hex()
        assert new_identifier(day, source=SeededSource(1)) == digits + words[4:]
    for day in (date(1969, 12, 31), date(2149, 6, 7)):
        with pytest.raises(DataError, match="day of an identifier"):
            new_identifier(day)


def test_identifiers_are_required() -> None:
    survey = SURVEYS[0]
    reports, _ = lines_of(survey, 2)
    for wrong in ("", "0" * 31, "x" * 32, "A" * 32, "0" * 32 + "\n", 7):
        with pytest.raises(DataError, match="identifier"):
            wire_line(survey, reports, wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="at least one"):
        wire_line(survey, reports.rows(np.array([], dtype=np.int64)), IDS[0])


def test_possible_reports_are_tallied_and_the_others_marked() -> None:
    survey = KRR(alphabet=5, epsilon=1)
    reports = Reports(survey.digest, {"report": np.array([0, 5, 2, -1, 4])})
    tally, bad = survey.tally_possible(reports)
    assert bad.tolist() == [False, True, False, True, False]
    assert tally == survey.tally(reports.rows(~bad))
    assert tally.users == 3


def test_the_collection_of_the_client_reads_its_survey() -> None:
    collection = read(Path(__file__).parents[1] / "formats" / "golden" / "collection.json")
    _, (line,) = lines_of(KRR(alphabet=1000, epsilon=1), 1)
    assert list(read_wire_line(collection.survey, line).bad) == [1]

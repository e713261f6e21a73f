"""A device in Python: the first answer stands, answers are counted, and the memory holds no value."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, OutputError, UsageError
from anonhist.local import (
    KRR,
    RAPPOR,
    Collection,
    Invited,
    LocalHashing,
    collected_reports,
    new_identifier,
    read_wire_line,
)

DAY = "2026-12-31"
ONCE = Collection(survey=KRR(alphabet=1000, epsilon=1), answers="once", last_day=DAY)
OPEN = Collection(survey=LocalHashing(epsilon=1), answers=3, candidates=["bus"], last_day=DAY)


def test_the_first_answer_stands(tmp_path: Path) -> None:
    memory = tmp_path / "me.db"
    first = ONCE.answer(7, memory=memory)
    assert {ONCE.answer(value, memory=memory) for value in (7, 8, 9)} == {first}
    assert not read_wire_line(ONCE.survey, first).bad
    assert memory.stat().st_mode & 0o777 == 0o600
    # Another person, and another collection in the same memory, answer for themselves.
    assert ONCE.answer(7, memory=tmp_path / "other.db") != first
    later = Collection(survey=ONCE.survey, answers="once", last_day="2027-12-31")
    assert later.answer(7, memory=memory) != first


def test_after_the_last_day_nothing_is_drawn_if_the_collector_says_the_day(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has ended"):
        ONCE.answer(7, memory=tmp_path / "me.db", day="2027-01-01")
    line = ONCE.answer(7, memory=tmp_path / "me.db", day=DAY)
    assert line.startswith('{"id":"5152')
    # What was drawn in time stands.
    assert ONCE.answer(7, memory=tmp_path / "me.db", day="2027-01-01") == line
    assert ONCE.answer(7, memory=tmp_path / "other.db").startswith('{"id":"0000')
    with pytest.raises(UsageError, match="day must be a day"):
        ONCE.answer(7, memory=tmp_path / "me.db", day="31.12.2026")


def test_of_many_threads_the_first_wins(tmp_path: Path) -> None:
    lines: list[str] = []
    threads = [
        threading.Thread(target=lambda value=value: lines.append(ONCE.answer(value, memory=tmp_path / "me.db")))
        for value in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines) == 8
    assert len(set(lines)) == 1


def test_answers_on_several_occasions_are_counted_and_no_value_is_stored(tmp_path: Path) -> None:
    memory = tmp_path / "me.db"
    lines = [OPEN.answer("xyzzy", memory=memory, occasion=each) for each in ("a", "b", "a", "c")]
    assert lines[0] == lines[2]
    assert len(set(lines)) == 3
    with pytest.raises(UsageError, match="All answers"):
        OPEN.answer("xyzzy", memory=memory, occasion="d")
    assert OPEN.answer("xyzzy", memory=memory, occasion="b") == lines[1]
    assert b"xyzzy" not in memory.read_bytes()


@pytest.mark.parametrize(("collection", "occasion"), [(ONCE, "Monday"), (OPEN, ""), (OPEN, 7)])
def test_occasions_are_named_where_there_may_be_several(collection: Collection, occasion: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name the occasion"):
        collection.answer("bus", memory=tmp_path / "me.db", occasion=occasion)
    assert not (tmp_path / "me.db").exists()


def test_a_refused_value_leaves_no_report(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        ONCE.answer(1000, memory=tmp_path / "me.db")
    assert ONCE.answer(999, memory=tmp_path / "me.db")
    with pytest.raises(DataError):
        ONCE.answer(1000, memory=tmp_path / "me.db")


def test_a_memory_that_cannot_be_used_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("This is not a database, but a text of some length." * 9, encoding="utf-8")
    for memory in (tmp_path, tmp_path / "missing" / "me.db", tmp_path / "text.db"):
        with pytest.raises(OutputError, match="no answer was given"):
            ONCE.answer(7, memory=memory)


@pytest.mark.parametrize("name", ["", ":memory:", "file::memory:", "file:me?mode=memory"])
def test_a_name_of_no_file_gives_no_second_report(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # SQLite has databases of these names that are gone when they are closed, and a second answer would cost twice.
    monkeypatch.chdir(tmp_path)
    lines = set()
    for value in range(5):
        with suppress(OutputError):
            lines.add(ONCE.answer(value, memory=name))
    assert len(lines) <= 1


def test_an_occasion_that_no_memory_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="half a surrogate pair"):
        OPEN.answer("bus", memory=tmp_path / "me.db", occasion="\ud800")


DIES = """
import os, sys
import anonhist as ah

class Dying:
    def words(self, count):
        os._exit(9)

survey = ah.local.KRR(alphabet=1000, epsilon=1)
collection = ah.local.Collection(survey=survey, answers="once", last_day="2026-12-31")
collection.answer(7, memory=sys.argv[1], source=Dying())
"""


@pytest.mark.full
def test_a_process_that_dies_while_it_draws_leaves_nothing(tmp_path: Path) -> None:
    memory = tmp_path / "me.db"
    assert subprocess.run([sys.executable, "-c", DIES, str(memory)], check=False).returncode == 9
    assert ONCE.answer(7, memory=memory) == ONCE.answer(8, memory=memory)


def test_bits_of_a_single_report_by_rappor_are_forgotten(tmp_path: Path) -> None:
    # What it costs is the epsilon of one report, which is less than that of the bits.
    survey = RAPPOR(alphabet=8, cohorts=5, key="k", f="1/2", p="1/4", q="3/4")
    collection = Collection(survey=survey, answers="once", last_day=DAY)
    first = collection.answer("3", memory=tmp_path / "me.db")
    assert collection.answer("4", memory=tmp_path / "me.db") == first
    with closing(sqlite3.connect(tmp_path / "me.db")) as database:
        assert database.execute("SELECT count(*) FROM memories").fetchone() == (0,)
    assert collection.guarantee.epsilon == survey.single_guarantee.epsilon < survey.epsilon


def test_reports_of_rappor_come_from_the_bits_of_the_first_answer(tmp_path: Path) -> None:
    # A remembered 1 is always reported as 1, and f is tiny, so reports tell the remembered bits.
    survey = RAPPOR(alphabet=8, cohorts=5, key="k", f="1e-9", p="1/2", q="1")
    collection = Collection(survey=survey, answers=40, last_day=DAY)
    lines = [
        collection.answer(str(number % 8), memory=tmp_path / "me.db", occasion=str(number)) for number in range(40)
    ]
    reports, bad = collected_reports(survey, lines)
    assert (len(reports), bad) == (40, 0)
    assert len(np.unique(reports.columns["cohort"])) == 1
    always = np.bitwise_and.reduce(np.asarray(reports.columns["report"]).ravel())
    assert int(always).bit_count() == 1


def test_invited_devices_send_their_invitation_as_the_id(tmp_path: Path) -> None:
    invited = replace(ONCE, open_to=Invited())
    invitation = new_identifier(invited.last_day)
    line = invited.answer(7, memory=tmp_path / "me.db", day="2026-12-01", invitation=invitation)
    assert line.startswith(f'{{"id":"{invitation}"')
    # What was drawn stands, with or without an invitation.
    assert invited.answer(8, memory=tmp_path / "me.db") == line
    assert invited.answer(8, memory=tmp_path / "me.db", invitation=new_identifier(invited.last_day)) == line


@pytest.mark.parametrize("bad", [None, "", "5152", "0" * 32, f"5152{'0' * 28} ", 7])
def test_without_a_whole_invitation_nothing_is_drawn(tmp_path: Path, bad: Any) -> None:
    invited = replace(ONCE, open_to=Invited())
    with pytest.raises(UsageError, match="invit"):
        invited.answer(7, memory=tmp_path / "me.db", invitation=bad)
    with closing(sqlite3.connect(tmp_path / "me.db")) as memory:
        assert memory.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    with pytest.raises(UsageError, match="Anybody may answer"):
        ONCE.answer(7, memory=tmp_path / "me.db", invitation=new_identifier(ONCE.last_day))

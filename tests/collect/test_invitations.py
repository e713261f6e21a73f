"""Invitations: each counts once, nothing else does, and who reads the database cannot use those that are left."""

import json
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

import anonhist as ah
from anonhist.cli.entry import run
from anonhist.collect.databases import storage_at
from anonhist.collect.invitations import add_invitations, forget_invitations, new_invitations
from anonhist.collect.reading import read_collected
from anonhist.collect.served import Answer, Served, current_day
from anonhist.collect.writer import Writer
from anonhist.errors import UsageError
from anonhist.local import Batches, Collection, Invited, new_identifier, wire_line
from anonhist.local.wire import read_wire_line
from anonhist_testing.collector import Sender, all_at_once, serving, today

from .test_writer import Bench, tally_of

VALUES = ["bus", "car", "bicycle", "foot"]


@pytest.fixture
def invited(collection: Collection) -> Collection:
    return replace(collection, open_to=Invited())


@pytest.fixture
def invited_file(invited: Collection, tmp_path: Path) -> Path:
    invited.save(tmp_path / "invited.json")
    return tmp_path / "invited.json"


def invite(bench: Bench, many: int) -> list[str]:
    invitations = new_invitations(bench.served.collection, many)
    session = bench.storage.session()
    with session.writing() as ours:
        add_invitations(ours, bench.served, invitations)
    session.close()
    return invitations


def line_with(collection: Collection, identifier: str, value: str = "bus") -> bytes:
    return wire_line(collection.survey, collection.survey.randomize([value]), identifier).encode()


def command(file: Path, address: str, output: Path, *options: str, many: int = 5) -> int:
    return run(["collect", "invite", str(many), str(file), "--database", address, "-o", str(output), *options])


def test_an_invitation_counts_once_and_forged_ones_never(invited: Collection, address: str) -> None:
    bench = Bench(invited, storage_at(address))
    invitations = invite(bench, 600)
    lines = [line_with(invited, each) for each in invitations]
    forged = [line_with(invited, new_identifier(invited.last_day)) for _ in range(3)]
    answers = bench.send(forged[0], *lines, *forged)
    assert [answer.status for answer in answers] == [403] + [200] * 600 + [403] * 3
    assert bench.tally() == tally_of(invited, lines)
    # Used ones, with the same bytes or others, get the same answer, and the first report stands.
    others = [line_with(invited, each, "car") for each in invitations]
    assert set(bench.send(*lines, *others)) == set(answers[1:601])
    assert bench.send(*forged) == answers[601:]
    assert bench.tally() == tally_of(invited, lines)


def test_of_two_reports_at_once_with_one_invitation_the_first_stands(bench: Bench) -> None:
    invited = bench.served.collection
    (invitation,) = invite(bench, 1)
    first, second = (b'{"id":"%s","reports":{"report":["%d"]}}\n' % (invitation.encode(), value) for value in (1, 2))
    answers = bench.send(first, second)
    assert answers[0] == answers[1] == Answer(200, b'{"accepted":1}')
    assert bench.tally() == tally_of(invited, [first])


@pytest.fixture
def bench(invited: Collection, tmp_path: Path) -> Bench:
    return Bench(invited, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))


def test_bad_reports_do_not_use_an_invitation_up(bench: Bench, invited: Collection) -> None:
    (invitation,) = invite(bench, 1)
    bad = b'{"id":"%s","reports":{"report":["9"]}}' % invitation.encode()
    assert [answer.status for answer in bench.send(bad, line_with(invited, invitation))] == [422, 200]
    assert bench.tally().users == 1


def test_an_invitation_is_for_one_report(bench: Bench, invited: Collection) -> None:
    reports = invited.survey.randomize(["bus", "car"])
    refused = bench.served.line(wire_line(invited.survey, reports, invite(bench, 1)[0]).encode(), bench.day)
    assert isinstance(refused, Answer)
    assert refused.status == 422
    assert b"one report" in refused.body


@pytest.mark.parametrize("day", [None, today()])
def test_other_days_are_no_invitations(bench: Bench, invited: Collection, day: object) -> None:
    refused = bench.served.line(line_with(invited, new_identifier(day)), bench.day)  # type: ignore[arg-type]
    assert isinstance(refused, Answer)
    assert refused.status == 403


def test_invitations_are_valid_and_known_until_the_last_day(bench: Bench, invited: Collection) -> None:
    used, late = (line_with(invited, each) for each in invite(bench, 2))
    bench.send(used)
    # Long after those of other collections are forgotten.
    for passed in (invited.keep_ids + 2, 5_000, bench.served.last_day - bench.day):
        bench.day = current_day() + passed
        assert bench.send(used)[0].status == 200
    assert bench.tally().users == 1
    assert bench.send(late)[0].status == 200
    assert bench.tally().users == 2
    bench.day = bench.served.last_day + 1
    assert bench.served.line(late, bench.day).status == 410  # type: ignore[union-attr]

    async def nothing(_: Writer) -> None:
        """Let the writer start, which closes the collection."""

    bench.run(nothing)
    with bench.storage.seen() as ours:
        assert ours.run("SELECT count(*) FROM anonhist_invitations").fetchone() == (0,)


def test_invitations_are_forgotten_in_pieces(invited: Collection, address: str) -> None:
    bench = Bench(invited, storage_at(address))
    other = Bench(replace(invited, keep_ids=15), bench.storage)
    invite(bench, 1_200)
    (kept,) = invite(other, 1)
    session = bench.storage.session()
    with session.writing() as ours:
        assert [forget_invitations(ours, bench.served) for _ in range(2)] == [True, False]
    session.close()
    assert other.send(line_with(invited, kept))[0].status == 200


def test_batches_and_several_answers_take_an_invitation_each(invited: Collection, tmp_path: Path) -> None:
    batches = Batches(users=4, honest=2, delta="1e-6")
    survey = invited.survey
    collection = Collection(survey=survey, answers=3, last_day="2099-12-31", shown=batches, open_to=Invited())
    bench = Bench(collection, storage_at(f"sqlite:///{tmp_path / 'batches.db'}"))
    lines = [
        collection.answer("bus", memory=tmp_path / "me.db", occasion=f"week {place}", invitation=each).encode()
        for place, each in enumerate(invite(bench, 3))
    ]
    assert {answer.status for answer in bench.send(*lines, *lines)} == {200}
    assert bench.head.waiting == 3
    more = line_with(collection, invite(bench, 1)[0])
    bench.send(more, line_with(collection, new_identifier(collection.last_day)))
    assert bench.tally() == tally_of(collection, [*lines, more])


def test_the_database_holds_no_invitation(invited: Collection, tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    bench = Bench(invited, storage_at(f"sqlite:///{path}"))
    invitations = invite(bench, 50)
    bench.send(line_with(invited, invitations[0]))
    content = b"".join(each.read_bytes() for each in tmp_path.glob("c.db*"))
    assert bytes.fromhex(invitations[0][4:]) in content
    assert not any(bytes.fromhex(each[4:]) in content or each.encode() in content for each in invitations[1:])


def test_two_collections_do_not_share_invitations(invited: Collection, tmp_path: Path) -> None:
    storage = storage_at(f"sqlite:///{tmp_path / 'c.db'}")
    first, second = Bench(invited, storage), Bench(replace(invited, keep_ids=15), storage)
    (invitation,) = invite(first, 1)
    assert second.send(line_with(invited, invitation))[0].status == 403
    assert first.send(line_with(invited, invitation))[0].status == 200


def test_the_command_writes_a_secret_file_whose_invitations_count(
    invited: Collection, invited_file: Path, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "invitations.txt"
    assert command(invited_file, address, target) == 0
    told = capsys.readouterr().out
    invitations = target.read_text().splitlines()
    assert target.stat().st_mode & 0o777 == 0o600
    assert len(set(invitations)) == 5
    assert all(len(each) == 32 and each not in told for each in invitations)
    assert command(invited_file, address, target) == 2
    assert target.read_text().splitlines() == invitations
    links = tmp_path / "links.txt"
    assert command(invited_file, address, links, "--page", "https://example.org/ask") == 0
    heads, ends = zip(*(each.split("#invitation=") for each in links.read_text().splitlines()), strict=True)
    assert set(heads) == {"https://example.org/ask"}
    bench = Bench(invited, storage_at(address))
    lines = [line_with(invited, each) for each in (*invitations, *ends)]
    assert {answer.status for answer in bench.send(*lines)} == {200}
    assert bench.tally().users == 10


def test_without_a_file_nothing_is_accepted_and_without_a_database_nothing_is_written(
    invited_file: Path, collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"sqlite:///{tmp_path / 'c.db'}"
    collection.save(tmp_path / "anybody.json")
    target = tmp_path / "invitations.txt"
    assert command(tmp_path / "anybody.json", address, target) == 2
    assert command(invited_file, address, Path("-")) == 2
    assert command(invited_file, address, target, "--page", "https://example.org/#top") == 2
    assert command(invited_file, address, target, many=1 << 21) == 2
    assert command(invited_file, address, tmp_path / "none" / "file") == 3
    replace(collection, open_to=Invited(), last_day="2020-12-31").save(tmp_path / "ended.json")
    assert command(tmp_path / "ended.json", address, target) == 2
    assert not (tmp_path / "c.db").exists()
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as the header of one" * 20)
    before = sorted(tmp_path.iterdir())
    assert command(invited_file, f"sqlite:///{tmp_path / 'text.db'}", target) == 3

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError

    monkeypatch.setattr("anonhist.collect.invitations.add_invitations", fail)
    assert command(invited_file, address, target) == 3
    assert [path for path in sorted(tmp_path.iterdir()) if "c.db" not in path.name] == before


def test_a_collection_for_anybody_has_no_invitations(collection: Collection) -> None:
    with pytest.raises(UsageError, match="Anybody may answer"):
        new_invitations(collection, 1)


@pytest.mark.full
def test_devices_answer_with_invitations_at_a_real_server(
    invited: Collection, invited_file: Path, address: str, tmp_path: Path
) -> None:
    path, target = f"/c/{invited.digest}/reports", tmp_path / "invitations.txt"
    with serving(invited_file, address) as running:
        # The server runs already, and accepts them at once.
        assert command(invited_file, address, target, many=3) == 0
        invitations = target.read_text().splitlines()
        lines = [
            invited.answer("bus", memory=tmp_path / f"{place}.db", invitation=each).encode()
            for place, each in enumerate(invitations)
        ]
        assert [running.ask(path, line)[0] for line in lines] == [200] * 3
        # Another device with an invitation that was used: the same answer, and nothing is counted.
        again = invited.answer("car", memory=tmp_path / "other.db", invitation=invitations[0]).encode()
        assert running.ask(path, again) == running.ask(path, lines[0])
        status, _, body = running.ask(path, line_with(invited, new_identifier(invited.last_day)))
        assert status == 403
        assert "no invitation" in json.loads(body)["error"]
        page = running.ask(f"/c/{invited.digest}/")[2].decode()
        assert "Only invited people can report" in page
        assert "The collector can link a report to the person" in page
        assert "Anybody can" not in page
        assert "Only invitations of" in running.printed
    assert read_collected(invited.survey, address) == tally_of(invited, lines)
    assert ah.read(invited_file) == invited


@pytest.mark.full
def test_used_and_counted_are_one_though_the_server_is_killed(
    invited: Collection, invited_file: Path, address: str, tmp_path: Path
) -> None:
    target = tmp_path / "invitations.txt"
    assert command(invited_file, address, target, many=400) == 0
    lines = [line_with(invited, each, VALUES[at % 4]) for at, each in enumerate(target.read_text().splitlines())]
    senders = [Sender(f"/c/{invited.digest}/reports", lines[start::4]) for start in range(4)]
    for turn in range(3):
        with serving(invited_file, address) as running:
            threads = all_at_once(senders, running)
            while turn < 2 and sum(each.place for each in senders) < (turn + 1) * 130:
                assert any(each.is_alive() for each in threads)
                time.sleep(0.002)
            if turn < 2:
                running.kill()
            for thread in threads:
                thread.join()
    assert {status for sender in senders for status in sender.statuses} == {200}
    assert read_collected(invited.survey, address) == tally_of(invited, lines)
    used = {json.loads(line)["id"] for line in lines}
    storage = storage_at(address)
    with storage.seen() as ours:
        found = ours.run("SELECT id FROM anonhist_ids").fetchall()
    assert {bytes(each).hex() for (each,) in found} == {each[4:] for each in used}
    assert all(not read_wire_line(invited.survey, line.decode()).bad for line in lines)
    assert Served(invited, 1).oldest(current_day()) < Served(invited, 1).last_day

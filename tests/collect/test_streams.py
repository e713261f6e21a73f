"""Arrow streams of gateways: counted as lines are, once each, and whatever else comes is refused in a sentence."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from anonhist.collect.databases import storage_at
from anonhist.collect.lines import is_stream
from anonhist.collect.reading import read_collected
from anonhist.collect.served import Answer
from anonhist.collect.writer import Writer
from anonhist.local import (
    Collection,
    Invited,
    LocalHashing,
    Reports,
    new_identifier,
    wire_line,
    wire_stream,
)
from anonhist_testing.collector import lines_of, serving, today
from anonhist_testing.streams import changed, stream_of

from .test_writer import Bench, tally_of

VALUES = ["bus", "car", "bicycle", "foot"]
TYPE = "application/vnd.apache.arrow.stream"


def streams_of(collection: Collection, many: int, *, together: int) -> tuple[list[bytes], Reports]:
    """Return requests with randomized reports, and all of these."""
    reports = collection.survey.randomize([VALUES[place % 4] for place in range(many * together)])
    parts = [reports.rows(np.arange(place * together, (place + 1) * together)) for place in range(many)]
    return [wire_stream(collection.survey, part, new_identifier(today())) for part in parts], reports


@pytest.fixture
def bench(collection: Collection, tmp_path: Path) -> Bench:
    return Bench(collection, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))


def send(bench: Bench, *bodies: bytes) -> list[Answer]:
    """Send lines and streams at once."""

    async def work(writer: Writer) -> list[Answer]:
        lines = [(bench.served.line if body[:1] == b"{" else bench.served.stream)(body, bench.day) for body in bodies]
        waiting = [line if isinstance(line, Answer) else writer.submit(bench.served, line, 99) for line in lines]
        return [each if isinstance(each, Answer) else await each for each in waiting if each is not None]

    return bench.run(work)


def test_streams_and_lines_are_counted_together_and_once(bench: Bench, collection: Collection) -> None:
    streams, reports = streams_of(collection, 5, together=30)
    lines = lines_of(collection, VALUES * 10, together=4)
    mixed = [each for pair in zip(streams, lines, strict=False) for each in pair] + lines[5:]
    answers = send(bench, *mixed, *streams)
    assert {answer.status for answer in answers} == {200}
    assert answers == send(bench, *mixed, *streams)
    assert send(bench, *streams) == answers[-5:]
    assert bench.tally() == tally_of(collection, lines) + collection.survey.tally(reports)


def test_repeated_requests_are_left_out_wherever_they_are(bench: Bench, collection: Collection) -> None:
    streams, reports = streams_of(collection, 3, together=40)
    lines = lines_of(collection, VALUES * 30, together=40)
    send(bench, streams[0], lines[0])
    answers = send(bench, lines[1], streams[0], streams[1], lines[0], streams[1], lines[2], streams[2], lines[1])
    assert set(answers) == {Answer(200, b'{"accepted":40}')}
    assert bench.tally() == tally_of(collection, lines) + collection.survey.tally(reports)


def test_rows_are_judged_in_the_order_in_which_they_came(bench: Bench) -> None:
    def stream(values: list[int | None]) -> bytes:
        return stream_of({"report": pa.array(values, pa.int8())}, metadata={"id": new_identifier(today())})

    def line(*values: str) -> bytes:
        return json.dumps(
            {"id": new_identifier(today()), "reports": {"report": values}}, separators=(",", ":")
        ).encode()

    bodies = [stream([0, None, 1]), line("9", "1"), stream([-1]), line("3", "x", "2"), stream([3, 4]), stream([2])]
    answers = [(status, json.loads(body)) for status, body in send(bench, *bodies)]
    assert [(status, list(said.get("refused", ()))) for status, said in answers] == [
        (200, ["2"]),
        (200, ["1"]),
        (422, ["1"]),
        (200, ["2"]),
        (200, ["2"]),
        (200, []),
    ]
    assert answers[0][1]["refused"] == {"2": "A value is missing."}
    assert bench.tally().dense(4).tolist() == [1, 2, 2, 2]
    # Of streams alone, too.
    assert [answer.status for answer in send(bench, stream([0, 9]), stream([9]), stream([0]))] == [200, 422, 200]
    assert bench.tally().dense(4).tolist() == [3, 2, 2, 2]


def test_several_columns_stay_together(tmp_path: Path) -> None:
    survey = LocalHashing(epsilon=1)
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31", candidates=["bus"])
    bench = Bench(collection, storage_at(f"sqlite:///{tmp_path / 'c.db'}"))
    reports = survey.randomize(VALUES * 20)
    parts = [reports.rows(np.arange(start, start + 10)) for start in range(0, 80, 10)]
    bodies = [
        wire_stream(survey, part, new_identifier(today()))
        if place % 2
        else wire_line(survey, part, new_identifier(today())).encode()
        for place, part in enumerate(parts)
    ]
    assert {answer.status for answer in send(bench, *bodies)} == {200}
    assert bench.tally() == survey.tally(reports)


def test_days_numbers_of_rows_and_invitations_are_checked_as_those_of_lines(
    bench: Bench, collection: Collection, tmp_path: Path
) -> None:
    def status(many: int, identifier: str, served: Bench = bench) -> int:
        reports = Reports(collection.survey.digest, {"report": np.zeros(many, dtype=np.int64)})
        (answer,) = send(served, wire_stream(collection.survey, reports, identifier))
        return answer.status

    assert status(1_000, new_identifier(today())) == 200
    assert status(1_001, new_identifier(today())) == 422
    assert status(1, new_identifier()) == 410
    invited = Bench(replace(collection, open_to=Invited()), storage_at(f"sqlite:///{tmp_path / 'invited.db'}"))
    assert status(1, new_identifier(collection.last_day), invited) == 403
    assert status(2, new_identifier(collection.last_day), invited) == 422
    bench.day = bench.served.last_day + 1
    assert status(1, new_identifier(collection.last_day)) == 410


def test_the_media_type_says_that_it_is_a_stream() -> None:
    for value in (TYPE, TYPE.upper(), f"{TYPE}; charset=binary"):
        assert is_stream([(b"accept", b"*"), (b"content-type", value.encode())])
    for other in ("text/plain", "application/vnd.apache.arrow.file", f"x{TYPE}", f"{TYPE}x", ""):
        assert not is_stream([(b"content-type", other.encode()), (b"x", TYPE.encode())])


@pytest.mark.full
def test_a_real_server_counts_streams_and_survives_all_others(
    collection: Collection, collection_file: Path, address: str
) -> None:
    path = f"/c/{collection.digest}/reports"
    streams, reports = streams_of(collection, 20, together=100)
    numbers = np.random.default_rng(11)
    others = [b"", b"{}", lines_of(collection, ["bus"])[0], streams[0][:-8], bytes(1 << 20), b"\xff" * 5_000]
    others += [changed(each, numbers) for each in streams for _ in range(20)]
    expected = collection.survey.tally(reports)
    headers = {"Content-Type": TYPE}
    with serving(collection_file, address) as running:
        # The first with an identifier counts, so that nothing forged does later.
        for stream in streams * 2:
            status, _, body = running.ask(path, stream, **headers)
            assert (status, json.loads(body)) == (200, {"accepted": 100})
        for body in others:
            status, _, said = running.ask(path, body, **headers)
            assert status in {200, 410, 422}, body
            assert status == 200 or set(json.loads(said)) <= {"error", "accepted", "refused"}
        assert running.ask(path, bytes((1 << 20) + 1), **headers)[0] == 413
        # Without the type, it is no line.
        assert running.ask(path, streams[0])[0] == 422
        assert (
            TYPE
            in json.loads(running.ask("/openapi.json")[2])["paths"]["/c/{digest}/reports"]["post"]["requestBody"][
                "content"
            ]
        )
        assert running.ask("/readyz")[0] == 200
    counted = read_collected(collection.survey, address)
    # Some changed identifiers are new ones.
    assert expected.users <= counted.users <= expected.users + 100 * len(others)
    assert (counted.dense(4) >= expected.dense(4)).all()

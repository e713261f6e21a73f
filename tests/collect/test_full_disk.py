"""A disk that is really full: nothing is acknowledged, nothing lost, and reports are accepted when there is room."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from anonhist.collect.reading import read_collected
from anonhist.local import Collection
from anonhist.local.wire import read_wire_line
from anonhist_testing.collector import lines_of, serving
from anonhist_testing.disks import SmallDisk, small_disk, why_not
from anonhist_testing.postgresql import Server

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture
def disk(request: pytest.FixtureRequest) -> Iterator[SmallDisk]:
    with small_disk(request.param) as found:
        if found is None:
            pytest.skip("the system does not let root mount a small disk")
        yield found


def fill(collection: Collection, file: Path, address: str, disk: SmallDisk) -> None:
    """Send reports until the disk is full and a while longer, give it room, and send those that were refused again."""
    path, lines = f"/c/{collection.digest}/reports", lines_of(collection, ["bus"] * 60_000, together=500)
    with serving(file, address, "--keep-reports") as running:
        answers = []
        while len(answers) < len(lines) and answers[-10:] != [507] * 10:
            status, headers, _ = running.ask(path, lines[len(answers)])
            assert ("retry-after" in headers) == (status == 507)
            answers.append(status)
        assert set(answers) == {200, 507}
        assert running.ask("/readyz")[0] == 503
        assert running.ask(f"/c/{collection.digest}/estimate")[0] in {200, 503}
        counted = [line for line, status in zip(lines, answers, strict=False) if status == 200]
        assert read_collected(collection.survey, address).users == 500 * len(counted)
        disk.grow(64)
        for line in lines[: len(answers)]:
            # Also those that were counted.
            assert running.ask(path, line)[0] == 200
        assert running.ask("/readyz")[0] == 200
        assert running.stop() == 0
    total = collection.survey.empty_tally()
    for line in lines[: len(answers)]:
        total += collection.survey.tally(read_wire_line(collection.survey, line.decode()).reports)
    assert read_collected(collection.survey, address) == total


@pytest.mark.slow
@pytest.mark.parametrize("disk", [2], indirect=True)
def test_sqlite(collection: Collection, collection_file: Path, disk: SmallDisk) -> None:
    fill(collection, collection_file, f"sqlite:///{disk.folder / 'c.db'}", disk)


@pytest.mark.slow
@pytest.mark.parametrize("disk", [10], indirect=True)  # a new database takes 8
def test_postgresql(collection: Collection, collection_file: Path, disk: SmallDisk, postgresql: Server) -> None:
    import psycopg

    name = f"small{uuid4().hex}"
    if postgresql.owner is not None:
        shutil.chown(disk.folder, postgresql.owner)
    with psycopg.connect(postgresql.address(), autocommit=True) as sql:
        sql.execute(f"CREATE TABLESPACE {name} LOCATION '{disk.folder}'".encode())
        sql.execute(f"CREATE DATABASE {name} TABLESPACE {name}".encode())
        try:
            fill(collection, collection_file, postgresql.address(name), disk)
        finally:
            sql.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
            sql.execute(f"DROP TABLESPACE {name}".encode())

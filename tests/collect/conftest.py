"""A collection, its file, and the databases that a collector may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anonhist.local import KRR, Collection
from anonhist_testing.postgresql import Server, programs, server


@pytest.fixture
def collection() -> Collection:
    survey = KRR(alphabet=["bus", "car", "bicycle", "foot"], epsilon=1, title="How do you get to work?")
    return Collection(survey=survey, answers="once", last_day="2099-12-31")


@pytest.fixture
def collection_file(collection: Collection, tmp_path: Path) -> Path:
    path = tmp_path / "collection.json"
    collection.save(path)
    return path


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    if programs() is None:
        pytest.skip("the programs of PostgreSQL are not installed")
    with server() as running:
        yield running


@pytest.fixture
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a new database of the kind that the test asks for."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'collected.db'}"
    running: Server = request.getfixturevalue("postgresql")
    return running.database()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "address" in metafunc.fixturenames:
        metafunc.parametrize("address", ["sqlite", "postgresql"], indirect=True)

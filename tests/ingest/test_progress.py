"""Progress is asked of the engine while it works, and of nothing else."""

import threading
from pathlib import Path

import pytest

from anonhist.ingest import read_profile
from anonhist.ingest.engine import followed


class Engine:
    """Says how far it has come, as DuckDB does: −1 while it does not know."""

    def __init__(self, *percentages: float) -> None:
        self.said: list[str] = []
        self._left = list(percentages)

    def execute(self, statement: str) -> None:
        self.said.append(statement)

    def query_progress(self) -> float:
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


@pytest.mark.full
def test_shares_come_in_order_and_in_range() -> None:
    got: list[float] = []
    done = threading.Event()

    def receive(share: float) -> None:
        got.append(share)
        if share == 1:
            done.set()

    with followed(Engine(-1, 0, 25, 50, 130), receive):
        done.wait(60)
    assert got[:3] == [0.25, 0.5, 1.0]
    assert set(got[3:]) <= {1.0}


def test_nobody_is_asked_after_the_block() -> None:
    before = threading.active_count()
    with followed(Engine(50), lambda _: None):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_without_a_receiver_nothing_happens() -> None:
    engine, before = Engine(50), threading.active_count()
    with followed(engine, None):
        assert threading.active_count() == before
    assert engine.said == []


def test_reading_with_progress_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("label\na\n")
    assert read_profile(path, progress=lambda _: None).n == 1
    assert capfd.readouterr() == ("", "")

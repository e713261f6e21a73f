"""Objects that a caller shares between threads: a release says one thing to all, a sketch loses no item."""

import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from io import BytesIO
from threading import Barrier, BrokenBarrierError, Event, Thread
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile
from anonhist.releases import release as release_module
from anonhist.report.figures import inline_svg
from anonhist.sketches import HashedSketch, Sketch
from anonhist.sketches import sketch as sketch_module
from anonhist.sketches.files import write_sketch
from anonhist_testing.sources import SeededSource

THREADS = 8


@pytest.fixture(autouse=True)
def _switch_threads_often() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
def test_a_release_says_the_same_to_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    release = FrobeniusMechanism(1).release(Profile.from_counts([9, 5, 3, 1, 1]), source=SeededSource(1))
    both = Barrier(2)

    def together(function: Any) -> Any:
        def waiting(*args: Any, **kwargs: Any) -> Any:
            found = function(*args, **kwargs)
            # A program in which only one of them simulates is right, too.
            with suppress(BrokenBarrierError):
                both.wait(timeout=5)
            return found

        return waiting

    for name in ("simulate_error", "draw_runs"):
        monkeypatch.setattr(release_module, name, together(getattr(release_module, name)))
    with ThreadPoolExecutor(2) as threads:
        told = [each.recorded_error for each in threads.map(lambda _: release.with_error(), range(2))]
        runs = list(threads.map(lambda _: release.resimulate(), range(2)))
    assert told[0] is told[1] is release.error
    assert [one is other for one, other in zip(*runs, strict=True)] == [True] * release.simulations
    assert release.with_error().error is release.error


def test_pages_drawn_at_once_leave_the_settings_of_the_process_alone() -> None:
    before, begun, drawn = mpl.rcParams["svg.hashsalt"], [], Event()

    def last() -> Figure:
        drawn.wait(timeout=5)
        return Figure()

    def first() -> Figure:
        begun.append(in_another_thread(lambda: inline_svg(last, name="last", description="")))
        return Figure()

    inline_svg(first, name="first", description="")
    drawn.set()
    begun[0].join()
    assert mpl.rcParams["svg.hashsalt"] == before


def new_sketch(seed: int) -> HashedSketch:
    return HashedSketch(buckets=64, epsilon=1, key=b"week 47", source=SeededSource(seed))


def in_another_thread(change: Any, *args: Any) -> Thread:
    """Begin a change in another thread and give it time: it is done by then, or it waits for its turn."""
    thread = Thread(target=change, args=args)
    thread.start()
    thread.join(timeout=0.2)
    return thread


@pytest.mark.slow
def test_threads_that_count_at_once_lose_no_item() -> None:
    sketch = new_sketch(1)
    noise = sketch.counters.copy()
    # As if they lay in a file: the first to count makes the copy that all count into.
    sketch.counters.setflags(write=False)
    start = Barrier(THREADS)

    def count(_: int) -> None:
        start.wait()
        for _ in range(20):
            sketch.add(np.arange(64))
            sketch.update(["pets", "cats"], [2, 1])

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(count, range(THREADS)))
    assert int((sketch.counters - noise).sum()) == THREADS * 20 * (64 + 3)


def test_the_counters_of_a_file_are_copied_once() -> None:
    sketch, begun = new_sketch(1), []

    class Mapped(np.ndarray):  # type: ignore[type-arg]  # of int64
        def copy(self, order: Any = "C") -> Any:
            copied = np.array(self, order=order)
            if not begun:
                begun.append(in_another_thread(sketch.add, np.arange(64)))
            return copied

    noise = sketch.counters
    sketch.counters = noise.copy().view(Mapped)
    sketch.counters.setflags(write=False)
    sketch.add(np.arange(64))
    begun[0].join()
    assert (sketch.counters == noise + 2).all()


def test_nothing_is_counted_into_a_sketch_while_it_is_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    # An item in a counter that was clipped at 0 before would show: the noise that hid it is cut off.
    sketch, whole_counts, begun = new_sketch(2), sketch_module.whole_counts, []

    def clip_meanwhile(counts: Any) -> Any:
        begun.append(in_another_thread(sketch.clip, 255))
        return whole_counts(counts)

    monkeypatch.setattr(sketch_module, "whole_counts", clip_meanwhile)
    sketch.add(np.zeros(3, dtype=np.int64), np.full(3, 300))
    begun[0].join()
    assert sketch.clipped == 255
    assert int(sketch.counters.max()) <= 255


def test_what_is_counted_while_sketches_are_merged_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    sketch, other, begun = new_sketch(3), new_sketch(4), []
    before, check = int(sketch.counters.sum() + other.counters.sum()), sketch_module.check_mergeable

    def check_meanwhile(one: Sketch, two: Sketch) -> None:
        check(one, two)
        begun.append(in_another_thread(sketch.add, np.arange(64)))

    from_parts = Sketch.from_parts.__func__  # type: ignore[attr-defined]  # of a class method

    def late(kind: Any, *args: Any, **kwargs: Any) -> Sketch:
        total: Sketch = from_parts(kind, *args, **kwargs)
        begun.append(in_another_thread(sketch.add, np.arange(64)))
        return total

    monkeypatch.setattr(sketch_module, "check_mergeable", check_meanwhile)
    monkeypatch.setattr(Sketch, "from_parts", classmethod(late))
    sketch.merge(other)
    for thread in begun:
        thread.join()
    assert len(begun) == 2
    assert int(sketch.counters.sum()) == before + 2 * 64
    assert len(sketch.noise) == 2


def test_a_file_holds_one_state_of_a_sketch() -> None:
    sketch, begun = new_sketch(5), []
    before = sketch.counters.copy()

    class File(BytesIO):
        def write(self, data: Any) -> int:
            if not begun:
                begun.append(in_another_thread(sketch.add, np.arange(64)))
            return super().write(data)

    file = File()
    write_sketch(sketch, file)
    begun[0].join()
    assert before.tobytes() in file.getvalue()
    assert (sketch.counters == before + 1).all()


def test_a_sketch_that_was_sent_to_another_process_can_still_be_changed() -> None:
    sketch = new_sketch(6)
    sent = pickle.loads(pickle.dumps(sketch))  # noqa: S301  # our own
    assert sent == sketch
    sent.update(["pets"])
    assert sent.noise[0].gamma == Fraction(1)

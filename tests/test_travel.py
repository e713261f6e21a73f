"""Values travel: pickled, copied, sent to other processes, read again, they are what they were."""

import copy
import importlib
import inspect
import os
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anonhist
from anonhist.errors import UsageError
from anonhist.kinds import KINDS, Saved
from anonhist.releases import Release
from anonhist.sketches import Sketch
from anonhist_testing.public_values import public_values

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)
FRONTS = [anonhist, anonhist.formats, anonhist.properties]

# A program of its own: here, a test's name decides what is drawn, and a fork could meet the threads of an engine.
JOURNEYS = """
import pickle, sys
from anonhist_testing.journeys import away, here

values = pickle.loads(sys.stdin.buffer.read())
_, shown, *drawn = here(values)
for method in sys.argv[1:]:
    back, shown_there, draws = away(values, method)
    wrong = [each for each, there in zip(values, back, strict=True) if not is_same(each, there)]
    assert not wrong, wrong
    assert shown == shown_there
    drawn.append(draws)
names = list(drawn[0])
assert len(names) > 20, names
equal = [name for name in names if len({str(draws[name]) for draws in drawn}) < len(drawn)]
assert not equal, equal
"""


def unpickled(value: object, protocol: int | None = None) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))  # noqa: S301  # it was pickled here


def is_same(one: object, other: object) -> bool:
    if isinstance(one, BaseException) and isinstance(other, BaseException):  # which no two are equal
        return (type(one), one.args, vars(one), str(one)) == (type(other), other.args, vars(other), str(other))
    return one == other and type(one) is type(other)


def pieces(value: object, known: dict[int, object]) -> Iterator[object]:
    """Yield a value and all that it holds."""
    if id(value) in known:
        return
    known[id(value)] = value
    yield value
    within: list[object] = list(vars(value).values()) if hasattr(value, "__dict__") else []
    if isinstance(value, Mapping):
        within += [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list):
        within += value
    for each in within:
        if not isinstance(each, type):
            yield from pieces(each, known)


def arrays_that_can_change(value: object) -> int:
    return sum(isinstance(each, np.ndarray) and each.flags.writeable for each in pieces(value, {}))


def fill_caches(value: object) -> None:
    """Make a value and all that it holds compute what they compute once."""
    for each in list(pieces(value, {})):
        if not type(each).__module__.startswith("anonhist"):
            continue
        for name, member in inspect.getmembers(type(each)):
            if isinstance(member, cached_property):
                getattr(each, name)
        if isinstance(each, Release):
            _ = each.error


def rooms() -> Iterator[Any]:
    for found in pkgutil.iter_modules(anonhist.__path__):
        if not found.name.startswith("_"):
            yield importlib.import_module(f"anonhist.{found.name}")


@pytest.fixture(scope="module")
def values() -> list[object]:
    return public_values()


def test_every_public_class_has_a_value(values: list[object]) -> None:
    public = {
        getattr(room, name)
        for room in (anonhist, *rooms())
        for name in getattr(room, "__all__", ())
        if inspect.isclass(getattr(room, name))
    }
    made = {each for each in public if not (inspect.isabstract(each) or getattr(each, "_is_protocol", False))}
    assert len(made) > 100
    # A sketch is of one of two kinds; a ledger is a connection.
    assert made - {type(value) for value in values} == {Sketch, anonhist.Ledger}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_pickles_are_the_same_value(values: list[object], protocol: int) -> None:
    check(values, lambda value: unpickled(value, protocol))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_are_the_same_value(values: list[object], copied: Callable[[object], object]) -> None:
    check([value for value in values if not isinstance(value, Sketch)], copied)


def check(values: list[object], through: Callable[[object], object]) -> None:
    for value in values:
        found = through(value)
        name = type(value).__name__
        assert is_same(value, found), name
        assert repr(value) == repr(found), name
        # Those of a sketch change.
        assert found is value or arrays_that_can_change(found) == isinstance(value, Sketch), name
        if type(value).__hash__ is not None and not isinstance(value, BaseException):
            assert hash(value) == hash(found), name


def test_values_that_differ_are_not_equal(values: list[object]) -> None:
    unequal = [each for each in values if not isinstance(each, BaseException)]
    for at, each in enumerate(unequal):
        same = [other for other in unequal[at + 1 :] if is_same(each, other)]
        assert same == []


def test_values_with_floats_arrays_or_caches_are_frozen_ones(values: list[object]) -> None:
    # Others are not equal to a copy if a float of theirs is NaN, and take their caches along.
    known: dict[int, object] = {}
    for each in [each for value in values for each in pieces(value, known)]:
        kind = type(each)
        computes = any(isinstance(member, cached_property) for _, member in inspect.getmembers(kind))
        if is_dataclass(each) and (
            computes or any(isinstance(part, float | np.ndarray) for part in vars(each).values())
        ):
            assert getattr(kind.__getstate__, "__module__", "") == "anonhist.frozen", kind


def test_what_was_computed_stays_behind(values: list[object]) -> None:
    for value in [unpickled(value) for value in values if not isinstance(value, BaseException)]:
        before = pickle.dumps(value)
        fill_caches(value)
        assert len(pickle.dumps(value)) == len(before), type(value).__name__


def endings_read() -> Iterator[tuple[str, str]]:
    """Yield each kind of value with each ending of files from which it is read, as the table of kinds has them."""
    for name, kind in KINDS.items():
        if kind.format:
            files = kind.load("files")
            # Sketches are not decoded: they lie in their files.
            yield from ((name, ending) for ending in files.decoders or files.encoders)


@pytest.mark.parametrize(("kind", "ending"), [*endings_read()])
def test_what_is_read_is_what_was_written(values: list[object], tmp_path: Path, kind: str, ending: str) -> None:
    read = 0
    for at, value in enumerate(values):
        if not isinstance(value, Saved) or value.known_as != kind:
            continue
        path = tmp_path / f"{at}{ending}"
        try:
            anonhist.write(value, path)
        except UsageError as error:
            assert "A total of groups is a sum of them" in str(error)  # noqa: PT017  # this one alone has no file
            continue
        found = anonhist.read(path)
        assert is_same(found, value), repr(value)
        assert is_same(found, anonhist.read(path)), repr(value)
        if not isinstance(value, Sketch):
            assert hash(found) == hash(value), repr(value)
        read += 1
    assert read


def test_a_ledger_and_copies_of_a_sketch_are_refused(values: list[object], tmp_path: Path) -> None:
    with anonhist.Ledger(str(tmp_path / "budget.db")) as ledger:
        for through in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(UsageError, match="A ledger cannot be pickled or copied: open it by its address"):
                through(ledger)
    for sketch in [value for value in values if isinstance(value, Sketch)]:
        for through in (copy.copy, copy.deepcopy):
            with pytest.raises(UsageError, match="A sketch cannot be copied"):
                through(sketch)


def test_packages_and_public_names_travel_by_name() -> None:
    for front in FRONTS:
        for through in (
            copy.copy,
            copy.deepcopy,
            *(lambda each, p=p: unpickled(each, p) for p in PROTOCOLS),
        ):
            assert through(front) is front
    for room in (anonhist, *rooms()):
        named = [getattr(room, name) for name in getattr(room, "__all__", ())]
        for each in named:
            if inspect.isfunction(each) or inspect.isclass(each):
                assert unpickled(each) is each


def test_functions_that_use_the_package_can_be_sent_to_workers() -> None:
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    ah = anonhist
    function = pickle.loads(cloudpickle.dumps(lambda count: ah.Profile.from_counts([count]).n))  # noqa: S301
    assert function(3) == 3


@pytest.mark.slow
def test_other_processes_have_the_same_values_and_noise_of_their_own(values: list[object]) -> None:
    methods = ["spawn", *(["fork"] if hasattr(os, "fork") else [])]
    program = inspect.getsource(is_same) + JOURNEYS
    done = subprocess.run(
        [sys.executable, "-c", program, *methods], input=pickle.dumps(values), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()

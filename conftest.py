"""Shared by all tests and by the examples in docstrings."""

import os
import shutil

# Small matrices: threads of the linear algebra library would only wait for each other. Read when NumPy is imported, so
# by all processes started from here: those that share the tests, and those that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Processes that tests fork must not stop and start the threads of gRPC, which Spark Connect leaves: some are aborted.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from anonhist.randomness import SystemSource
from anonhist_testing.sources import SeededSource

if TYPE_CHECKING:
    from anonhist_testing.chromium import Chromium

# The same examples in every run and in every process, and none that must be quick: the machine may have much to do.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--quick``, for after each edit, and ``--soak``, for what takes long."""
    parser.addoption("--quick", action="store_true", help="run the first case of every test that is quick")
    parser.addoption("--soak", action="store_true", help="run what takes long or can draw anew, and nothing else")
    parser.addoption("--every-case", action="store_true", help="in a soak, draw no cases: run all of each test")
    parser.addoption("--soak-seed", type=int, metavar="SEED", help="draw again what a soak drew: it prints its seed")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed of a soak, or take that of the process which shares the tests."""
    if hasattr(config, "workerinput"):
        config.option.soak_seed = config.workerinput["soak_seed"]
    elif config.option.soak and config.option.soak_seed is None:
        (config.option.soak_seed,) = np.random.SeedSequence().generate_state(1).tolist()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process with which tests are shared the seed of the soak: it gets the words of the command alone."""
    node.workerinput["soak_seed"] = node.config.option.soak_seed


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say by which seed the draws of a soak can be had again, should it not live to its end."""
    _tell_seed(session.config)


def pytest_terminal_summary(config: pytest.Config) -> None:
    """Say it again, below all that is printed meanwhile."""
    _tell_seed(config)


def _tell_seed(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.option.soak and reporter is not None:
        reporter.write_line(f"What is drawn: --soak --soak-seed {config.option.soak_seed}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave what takes long to ``make soak``, and keep what is quick, if that was asked for."""
    takes_long = _that_take_long(items)
    if config.getoption("soak"):
        _keep(config, items, takes_long | {id(item) for item in items if item.get_closest_marker("fresh")})
        if not config.getoption("every_case"):
            _keep(config, items, _drawn(items, config.option.soak_seed))
    else:
        _keep(config, items, {id(item) for item in items} - takes_long)
    if config.getoption("quick"):
        _keep(config, items, {id(cases[0]) for cases in _cases(items) if not cases[0].get_closest_marker("full")})


def _that_take_long(items: list[pytest.Item]) -> set[int]:
    """Return the tests marked slow, and the cases beyond the first ones of those that are marked so."""
    found = set()
    for cases in _cases(items):
        few = cases[0].get_closest_marker("first")
        kept = len(cases) if few is None else few.args[0]
        found |= {id(item) for at, item in enumerate(cases) if at >= kept or item.get_closest_marker("slow")}
    return found


# So many of the cases beyond the first, where no other number is marked.
DRAWN = 5


def _drawn(items: list[pytest.Item], seed: int) -> set[int]:
    """Return all tests, but of each that is marked first or drawn so many cases, as its name and the seed decide."""
    found = set()
    for cases in _cases(items):
        asked, first = (cases[0].get_closest_marker(name) for name in ("drawn", "first"))
        most = asked.args[0] if asked else DRAWN if first else len(cases)
        rng = UNSEEDED([seed, crc32(cases[0].nodeid.partition("[")[0].encode())])
        found |= {id(cases[at]) for at in rng.permutation(len(cases))[:most]}
    return found


def _cases(items: list[pytest.Item]) -> Iterable[list[pytest.Item]]:
    """Return the cases of each test as they are written, whatever order they are collected or shuffled in."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in found.values():
        cases.sort(key=lambda item: tuple(item.callspec.indices.values()) if hasattr(item, "callspec") else ())
    return found.values()


def _keep(config: pytest.Config, items: list[pytest.Item], chosen: set[int]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = [item for item in items if id(item) in chosen]


UNSEEDED = np.random.default_rng
# They look at the entropy of the system itself.
OF_ENTROPY = Path(__file__).parent / "tests" / "randomness"


@pytest.fixture(scope="session")
def spark_server() -> Iterator[tuple[Any, str]]:
    """Start Spark once in this process: a session in a zone far from UTC, and the address where others connect to it.

    Both are of one virtual machine, which takes as long to start as all tests of Spark together.
    """
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    from anonhist_testing.way_in.servers import spark_sessions

    with spark_sessions() as sessions:
        yield sessions


@pytest.fixture(scope="session")
def spark(spark_server: tuple[Any, str]) -> Any:
    """Return the session of Spark in this process."""
    return spark_server[0]


@pytest.fixture(autouse=True)
def _repeatable(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every run of a test the same: what would be drawn from the system is drawn from the test's name.

    In a soak, tests that can draw anew mix its seed into their own.
    """
    name = np.frombuffer(request.node.nodeid.encode(), dtype=np.uint8).astype(np.uint32)
    seeds = np.random.SeedSequence(name)
    is_fresh = request.config.option.soak and request.node.get_closest_marker("fresh")
    mixed = (request.config.option.soak_seed,) if is_fresh else ()
    monkeypatch.setattr(SeededSource, "mixed_in", mixed)

    def repeatable(seed: Any = None) -> np.random.Generator:
        if seed is None:
            return UNSEEDED(seeds.spawn(1)[0])
        return UNSEEDED([*mixed, seed] if isinstance(seed, int) and mixed else seed)

    monkeypatch.setattr(np.random, "default_rng", repeatable)
    if not Path(request.node.path).is_relative_to(OF_ENTROPY):
        source = SeededSource(seeds.spawn(1)[0])
        monkeypatch.setattr(SystemSource, "words", lambda _, count: source.words(count))
        # Which of several threads asks first, nothing decides. The core is tested without local privacy, too.
        if find_spec("anonhist.local") is not None:
            monkeypatch.setattr("anonhist.local.survey.WORKERS", 1)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Chromium]":
    """Give one browser to all tests of a process, since it starts slowly."""
    from anonhist_testing.chromium import Chromium

    with Chromium(tmp_path_factory.mktemp("chromium") / "profile") as browser:
        yield browser

"""The front door and the rooms behind it: short lists of names, loaded when asked for; nothing heavy stands by."""

import inspect
import pydoc
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import click
import pytest

import anonhist
from anonhist.cli.entry import anonhist as command_line
from anonhist.errors import MissingExtraError, OutputError

_REPORT = "import json, sys; sys.stderr.write('\\n' + json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
_RUN = "from anonhist.cli.entry import run; code = run(sys.argv[1:]); assert code == 0, code"


def _loaded_modules(program: str, *arguments: str, folder: Path) -> set[str]:
    """Return the top-level modules that are loaded when a program ends, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {program}\n{_REPORT}", *arguments],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
    )
    names = done.stderr.rsplit("\n", 1)[1]
    return set(names.strip("[]").replace('"', "").split(", "))


@cache
def _bare() -> set[str]:
    """Return what is loaded before anything was asked for."""
    return _loaded_modules("", folder=Path())


@pytest.fixture
def events(tmp_path: Path) -> Path:
    (tmp_path / "events.csv").write_text("label\n" + "".join(f"l{number % 97}\n" for number in range(1000)))
    return tmp_path


ROOT = Path(__file__).parents[1]
ROOMS = ["formats", "graphs", "local", "mechanisms", "private", "properties", "sketches", "species", "windows"]
MOST_NAMES = 33


def rooms() -> list[ModuleType]:
    """Return the front and the rooms that open from it."""
    return [anonhist, *(getattr(anonhist, name) for name in ROOMS)]


def test_the_front_is_short_and_documented() -> None:
    names = [name for name in anonhist.__all__ if not inspect.ismodule(getattr(anonhist, name))]
    assert 20 < len(names) <= MOST_NAMES
    assert sorted([*names, *ROOMS]) == anonhist.__all__
    reference = ROOT / "docs" / "reference" / "index.md"
    paths = (ROOT / "README.md", reference, *(ROOT / "docs").glob("*.md"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    documented = {name for text in texts for name in re.findall(r"(?:\bah|`anonhist)\.(\w+)", text)}
    assert set(anonhist.__all__) - documented == set()


def test_names_are_public_sorted_and_unique() -> None:
    for room in rooms():
        assert room.__all__ == sorted(set(room.__all__), key=room.__all__.index)
        assert [name for name in room.__all__ if name.startswith("_")] == []
    for lazy in (anonhist, anonhist.properties, anonhist.formats):
        assert lazy.__all__ == sorted(lazy.__all__)
        assert set(dir(lazy)) - {"__version__"} == set(lazy.__all__)


def test_the_front_says_in_which_rooms_the_other_names_are() -> None:
    inner = {name for room in rooms() for name in room.__all__} - {*anonhist.__all__}
    assert len(inner) > 100
    for name in inner:
        homes = " and ".join(f"anonhist.{room}" for room in ROOMS if name in getattr(anonhist, room).__all__)
        with pytest.raises(AttributeError) as missed:
            getattr(anonhist, name)
        assert str(missed.value) == f"module 'anonhist' has no attribute {name!r}; it is in {homes}"
    assert not hasattr(anonhist, "nowhere")


def test_every_name_is_there_and_explained() -> None:
    for room in rooms():
        for name in room.__all__:
            value = getattr(room, name)
            assert getattr(room, name) is value
            if inspect.ismodule(value):
                assert value.__name__ == f"anonhist.{name}"
            elif callable(value) and isinstance(value, type | type(rooms)):
                assert value.__module__.startswith("anonhist."), name
                assert (value.__name__, value.__qualname__) == (name, name)
                assert inspect.getdoc(value), name


@pytest.mark.full
def test_help_names_what_there_is() -> None:
    for room in rooms():
        text = pydoc.plain(pydoc.render_doc(room))
        assert [name for name in room.__all__ if name not in text] == []


def test_nothing_within_imports_a_front() -> None:
    # What loads a name from a front holds the lock of all fronts; in the middle of an import it could wait for ever.
    fronts = [path.parent for path in (ROOT / "src").rglob("__init__.pyi")]
    assert len(fronts) == 7
    names = "|".join(".".join(path.relative_to(ROOT / "src").parts) for path in fronts)
    bad = re.compile(rf"^ *(?:from (?:{names}) import|import anonhist\b)".replace(".", r"\."), re.MULTILINE)
    assert bad.search("    from anonhist.properties import Estimate")
    found = [path for path in (ROOT / "src").rglob("*.py") if bad.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_a_star_import_brings_exactly_these() -> None:
    names: dict[str, object] = {}
    exec("from anonhist import *", names)  # noqa: S102  # there is no other way to see it
    assert sorted(set(names) - {"__builtins__"}) == anonhist.__all__


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        anonhist.nothing  # noqa: B018
    assert not hasattr(anonhist, "SeededSource")


def test_errors_form_the_tree_that_is_drawn() -> None:
    assert issubclass(anonhist.UsageError, anonhist.AnonhistError)
    assert issubclass(MissingExtraError, anonhist.UsageError)
    assert issubclass(anonhist.DataError, anonhist.AnonhistError)
    assert issubclass(OutputError, anonhist.AnonhistError)
    assert not issubclass(anonhist.DataError, anonhist.UsageError)


def test_importing_loads_nothing_but_the_standard_library(tmp_path: Path) -> None:
    loaded = _loaded_modules("import anonhist; dir(anonhist)", folder=tmp_path) - _bare()
    assert loaded - set(sys.stdlib_module_names) == {"anonhist"}


_HELP = [
    ["--help"],
    ["--version"],
    *(
        [name, "--help"]
        for name in ("check", "release", "compare", "estimate", "curve", "plan", "show", "local", "sketch")
    ),
    *(["local", name, "--help"] for name in ("estimate", "new", "randomize", "recommend", "tally")),
    *(["sketch", name, "--help"] for name in ("info", "merge", "new", "profile", "update")),
]


@pytest.mark.slow
def test_help_loads_the_parser_alone(tmp_path: Path) -> None:
    # All in one process: what any of them loads is loaded at the end.
    asked = f"from anonhist.cli.entry import run; assert not any([run(words) for words in {_HELP}])"
    loaded = _loaded_modules(asked, folder=tmp_path) - _bare()
    assert loaded - set(sys.stdlib_module_names) == {"anonhist", "anonhist_papers", "click"}


@pytest.mark.slow
def test_a_plain_release_starts_the_engine_and_numpy_alone(events: Path) -> None:
    # One mechanism below 1.1, another above. All in one process: what any of them loads is loaded at the end.
    given = [
        ["release", "events.csv", "--epsilon", epsilon, "--simulations", "2", "-o", output]
        for epsilon, output in (("1", "-"), ("1", "out.json"), ("2", "-"), ("2", "out.csv"))
    ]
    program = f"from anonhist.cli.entry import run; assert not any([run(words) for words in {given}])"
    loaded = {name for name in _loaded_modules(program, folder=events) - _bare() if not name.startswith("_")}
    heavy = {"scipy", "pandas", "pyarrow", "polars", "matplotlib", "jinja2", "numba", "ibis", "rich", "hypothesis"}
    assert not loaded & heavy
    # NumPy's compiled modules bring the run-time of what they were written in.
    allowed = {"anonhist", "click", "duckdb", "narwhals", "numpy", "cython_runtime"}
    assert loaded - set(sys.stdlib_module_names) <= allowed
    assert {"duckdb", "numpy"} <= loaded


@pytest.mark.slow
def test_what_is_heavy_is_loaded_where_it_is_used(events: Path) -> None:
    # The other side of the tests above: that they would see it.
    given = ("release", "events.csv", "--epsilon", "1", "--simulations", "2")
    assert "pyarrow" in _loaded_modules(_RUN, *given, "-o", "out.parquet", folder=events)
    assert {"matplotlib", "jinja2"} <= _loaded_modules(_RUN, *given, "-o", "-", "--report", "out.html", folder=events)


@pytest.mark.slow
def test_a_seedable_source_is_out_of_reach(events: Path) -> None:
    given = ("release", "events.csv", "--epsilon", "1", "--simulations", "2")
    every = "import anonhist; [getattr(anonhist, name) for name in anonhist.__all__]; " + _RUN
    asks = "\nassert not [name for name in sys.modules if name.startswith('anonhist_testing')]"
    assert "anonhist" in _loaded_modules(every + asks, *given, folder=events)
    params = [param for command in command_line.commands.values() for param in command.params]
    options = [option for param in params if isinstance(param, click.Option) for option in param.opts]
    assert len(options) > 30
    # A column of edges is called source.
    options = [option for option in options if option != "--source"]
    assert not [option for option in options if any(word in option for word in ("seed", "random", "source", "rng"))]
    # In Python the source of words is an object that a caller must bring; no number stands for one.
    assert inspect.signature(anonhist.release).parameters["source"].default is None
    assert "seed" not in inspect.signature(anonhist.release).parameters


def test_the_version_is_written_once() -> None:
    assert f'__version__ = "{anonhist.__version__}"' in (ROOT / "src/anonhist/version.py").read_text()
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()


def test_types_are_shipped() -> None:
    assert Path(anonhist.__file__).with_name("py.typed").exists()

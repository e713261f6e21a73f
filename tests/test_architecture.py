"""The house holds: rooms import downwards only, files stay short, names are words."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON_FILES = [
    *SOURCES,
    *sorted((ROOT / "tests").rglob("*.py")),
    *sorted((ROOT / "bench").rglob("*.py")),
    *sorted((ROOT / "tools").rglob("*.py")),
]
# One algorithm, one file.
LONGEST = 500


def test_rooms_import_downwards_only() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [command, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_files_are_short_and_say_what_they_are() -> None:
    assert len(PYTHON_FILES) > 100
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PYTHON_FILES}
    assert [name for name, text in texts.items() if text.count("\n") > LONGEST] == []
    shipped = {name: text for name, text in texts.items() if not Path(name).name.startswith("test_")}
    assert [name for name, text in shipped.items() if not ast.get_docstring(ast.parse(text))] == []
    assert [name for name in texts if Path(name).stem in {"utils", "helpers", "common", "misc"}] == []


def test_private_constants_are_used() -> None:
    # The tool that finds dead code leaves out what begins with an underscore.
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    listed = [
        (path, name) for path, text in texts.items() for name in re.findall(r"^(_[A-Z]\w*)\b", text, re.MULTILINE)
    ]
    assert len(listed) > 100
    assert [(path, name) for path, name in listed if len(re.findall(rf"\b{name}\b", texts[path])) == 1] == []


def test_the_map_of_the_house_is_current() -> None:
    program = runpy.run_path(str(ROOT / "tools" / "house_map.py"))
    drawn = program["drawing"]()
    assert drawn.count('class="room"') == len([room for row in program["rows"]() for room in row]) > 10
    assert program["PICTURE"].read_text(encoding="utf-8") == drawn, "draw it again: make map"


def test_every_room_is_under_contract() -> None:
    package = ROOT / "src" / "anonhist"
    rooms = {path.stem for path in package.iterdir() if path.name[0] not in "_." and path.suffix in {"", ".py"}}
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = contract[contract.index("layers = [") : contract.index("exhaustive = true")]
    named = {word for line in layers.splitlines() for word in line.replace('"', " ").replace("|", " ").split()}
    assert rooms <= {name.strip(",") for name in named}


def test_public_names_are_documented_with_an_example() -> None:
    import anonhist

    missing = []
    for name in anonhist.__all__:
        thing = getattr(anonhist, name)
        if callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception)):
            document = thing.__doc__ or ""
            if len(document) < 60 or (">>>" not in document and not _has_example_in_a_method(thing)):
                missing.append(name)
    assert missing == []


def _has_example_in_a_method(thing: object) -> bool:
    return any(">>>" in (getattr(member, "__doc__", None) or "") for member in vars(thing).values())


def test_entropy_enters_by_one_door() -> None:
    users = [path for path in SOURCES if "urandom" in path.read_text(encoding="utf-8")]
    assert {path.relative_to(ROOT / "src" / "anonhist").parts[0] for path in users} == {"randomness"}
    mentions = [path for path in SOURCES if "np.random.seed" in path.read_text(encoding="utf-8")]
    assert mentions == []

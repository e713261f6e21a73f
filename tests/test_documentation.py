"""The documents are true: their examples run, their links lead somewhere, their files and tests exist."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
            "data/README.md",
            "papers/README.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?:\]\(|<img[^>]* src=\")([^)#\s\"]+)(#[^)\s]+)?[)\"]")
# Where packages come from here, and where files lie here, are nobody else's concern.
INSTALLATION = re.compile(
    r"index[-_]url|find[-_]links|simple/|(?<![\w.~:/…*'-])/(?!dev/|path/to/|bin/sh\n)[a-z]+/[a-z]"
)
# At the beginning of a line, after a prompt, in a pipe, in the Makefile, and within a sentence.
COMMAND = re.compile(r"(?:^|^\$ |\| |`|\$\(BIN\)/)anonhist ([a-z][^\n|`]*)", re.MULTILINE)


# Runs each example in a namespace of its own, all in one process: to load what they need takes long. Errors take 32
# simulations of a release and 32 readings of a sketch, most of the time that examples need; two show as well that they
# run.
RUN = """
import json, sys
from anonhist.releases import made

made.USUAL_RUNS = made.LEAST_RUNS = 2
for document, examples in json.load(sys.stdin).items():
    for number, example in enumerate(examples, start=1):
        exec(compile(example, f"{document}, example {number}", "exec"), {"__name__": "__main__"})
"""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def examples_of(path: Path) -> list[str]:
    return BLOCK.findall(path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_python_examples_run(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", RUN]
    examples = {name_of(path): examples_of(path) for path in DOCUMENTS}
    assert sum(map(bool, examples.values())) >= 5
    given = json.dumps(examples)
    # Some write files.
    (tmp_path / "data").symlink_to(ROOT / "data")
    done = subprocess.run(command, input=given, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_examples_print_what_is_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```\n\n```\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    number = re.compile(r"\d[\d,.]*(?<![,.])")
    outputs = []
    for at, (example, shown) in enumerate(examples, 1):
        exec(compile(example, f"README.md, example {at}", "exec"), names)  # noqa: S102
        printed = capsys.readouterr().out
        assert number.sub("#", printed).split() == number.sub("#", shown).split()
        outputs.append((printed, shown))
    printed, shown = outputs[0]
    # Numbers differ by their noise, standard errors of it by more.
    for found, expected in zip(number.findall(printed), number.findall(shown), strict=True):
        exact = float(expected.replace(",", ""))
        assert float(found.replace(",", "")) == pytest.approx(exact, rel=1e-3 if exact > 5 else 0.75), (found, expected)


def leads_somewhere(linked: Path, anchor: str) -> bool:
    if not linked.exists() or not anchor:
        return linked.exists()
    titles = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor[1:] in {title.lower().replace(" ", "-") for title in titles}


def test_links_lead_somewhere() -> None:
    links = [(path, *link) for path in DOCUMENTS for link in LINK.findall(path.read_text(encoding="utf-8"))]
    own = [link for link in links if not link[1].startswith(("http://", "https://"))]
    assert len(own) > len(DOCUMENTS)
    assert [link for link in own if not leads_somewhere(link[0].parent / link[1], link[2])] == []


def test_tests_named_in_proofs_exist() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {
        name
        for path in (ROOT / "docs" / "proofs").glob("*.md")
        for name in re.findall(r"`(test_[a-z_]+)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_commands_have_options_that_exist() -> None:
    from anonhist.cli.entry import anonhist
    from anonhist.terminal.decorators import commands_of, options_of

    known = {path: {*options_of(command), "-", "--help", "--help-all"} for path, command in commands_of(anonhist)}
    named = set()
    for path in [*DOCUMENTS, ROOT / "Makefile"]:
        for line in COMMAND.findall(path.read_text(encoding="utf-8")):
            words = line.split("#")[0].split()
            command = " ".join(words[: 2 if words[0] in ("budget", "collect", "local", "sketch") else 1])
            options = {word.split("=")[0] for word in words if word.startswith("-")}
            assert options <= known.get(command, set()), (path, line)
            named.add(command)
    assert named >= set(known)


def test_what_there_is_by_name_is_in_the_tables() -> None:
    from anonhist.catalogue import MECHANISMS, PROPERTIES, RANDOMIZERS

    documents = (("privacy-guarantee", MECHANISMS), ("local-privacy", RANDOMIZERS), ("estimators", PROPERTIES))
    for document, names in documents:
        text = (ROOT / "docs" / f"{document}.md").read_text(encoding="utf-8").lower().replace("-", " ")
        assert [name for name in names if name.replace("-", " ") not in text] == [], document


def test_versions_agree() -> None:
    import anonhist

    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    # What is not released yet is headed so; a version carries its day.
    assert re.search(
        rf"^## \[{re.escape(anonhist.__version__)}\] - (unreleased|\d{{4}}-\d\d-\d\d)$", changes, re.MULTILINE
    )
    citation = dict(
        re.findall(r"^([a-z-]+): *(.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    )
    # What the format asks for, and what must agree with the package.
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert (citation["title"], citation["version"], citation["license"]) == (
        "anonhist",
        anonhist.__version__,
        "Apache-2.0",
    )
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert papers["version"] == anonhist.__version__
    assert f"anonhist=={anonhist.__version__}" in papers["dependencies"]


def test_the_conda_recipe_asks_for_what_the_package_does() -> None:
    import anonhist

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'version: "{anonhist.__version__}"' in recipe
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    # Two packages have other names there.
    names = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}
    wanted = [re.split("(>=)", each) for each in [f"python{project['requires-python']}", *project["dependencies"]]]
    assert run.split("\n") == [f"    - {names.get(name, name)} >={least}" for name, _, least in wanted]


def test_templates_of_issues_send_privacy_holes_elsewhere() -> None:
    templates = [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")]
    assert len(templates) == 3
    # A template is offered if it begins with these two.
    assert all(re.match(r"---\nname: .+\nabout: .+\n---\n", text) for text in templates)
    assert sum("SECURITY.md" in text for text in templates) == 2
    assert (ROOT / "SECURITY.md").exists()


def test_no_document_names_a_machine() -> None:
    for path in [*DOCUMENTS, ROOT / "Makefile", ROOT / "pyproject.toml"]:
        text = path.read_text(encoding="utf-8")
        assert not INSTALLATION.search(text), path

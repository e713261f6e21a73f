"""Sentences of errors name parameters in backticks, so that each reader sees them as they are written there."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import anonhist
from anonhist.cli.entry import anonhist as commands
from anonhist.errors import DataError, OutputError, UsageError, spell_out
from anonhist.terminal.decorators import as_typed, commands_of
from anonhist_testing.cases import each_of

ROOT = Path(anonhist.__file__).parent
MARK = re.compile(r"`([^`=]*)(=[^`]*)?`")
FILES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0] not in ("cli", "terminal") and not path.stem.endswith("commands")
]


def sentences(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield what errors say; what is put in by a format string is a box."""
    for node in nodes:
        said: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
            said = node.args[:1]
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in {"message", "sentence"}:
            said = [node.value]
        for each in said:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value
            elif isinstance(each, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "□" for part in each.values)


def parameters(nodes: list[ast.AST]) -> set[str]:
    """Return the names of all parameters of functions, and of fields."""
    names = {node.arg for node in nodes if isinstance(node, ast.arg)}
    fields = (node.target for node in nodes if isinstance(node, ast.AnnAssign))
    return names | {field.id for field in fields if isinstance(field, ast.Name)}


@pytest.mark.slow
def test_below_the_command_line_sentences_name_parameters_and_nothing_names_options() -> None:
    nodes = {path: list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in FILES}
    known = set().union(*map(parameters, nodes.values()))
    # What only the command line has words for, of two words and more: in a sentence, one word may be a word.
    typed = {param.name or "" for _, command in commands_of(commands) for param in command.params}
    own = {name for name in typed | {"max_items"} if "_" in name}
    marked = 0
    for path, found in nodes.items():
        for node in found:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "--" in node.value:
                text = node.value
                is_option = "\n" not in text and ">>>" not in text and re.search(r"(^|\s|[^r]\()--[a-z]", text)
                assert not is_option, f"{path.name}: {text}"
        for sentence in sentences(found):
            for mark in MARK.finditer(sentence):
                marked += 1
                assert mark[1] == "□" or mark[1] in known, f"{path.name}: {mark[1]} in {sentence!r}"
            if path.parent.name != "formats":  # there these are fields of files
                bare = set(re.findall(r"\w+(?![\w(=.])", MARK.sub("", sentence)))
                assert not own & bare, f"{path.name}: put {own & bare} in backticks in {sentence!r}"
    assert marked > 50


@each_of("kind", [UsageError, DataError, OutputError])
def test_errors_say_parameters_as_python_writes_them(kind: type[UsageError]) -> None:
    error = kind("`max_count` belongs to `unit='label'`; 'such a `word`' is one, and so is `no parameter`.")
    assert str(error) == "max_count belongs to unit='label'; 'such a word' is one, and so is `no parameter`."
    assert as_typed(error.sentence, commands).startswith("--max-count belongs to --unit label;")
    assert error.parameters == {"max_count", "unit", "word"}


def test_the_sentence_travels_with_the_error() -> None:
    error = pickle.loads(pickle.dumps(UsageError("`epsilon` is missing.")))  # noqa: S301  # made here
    assert (error.sentence, str(error)) == ("`epsilon` is missing.", "epsilon is missing.")


def test_parameters_without_an_option_stay_as_they_are() -> None:
    assert as_typed("`gamma` and `count_users=True`", commands) == "gamma and count_users=True"
    assert spell_out("`gamma`", lambda name, _: f"{name}!") == "gamma!"


def test_a_wrong_call_is_told_in_words_of_the_caller() -> None:
    with pytest.raises(UsageError, match=r"^public_cap does not apply to mechanism='frobenius'"):
        anonhist.release(anonhist.Profile.from_counts([3]), epsilon=1, mechanism="frobenius", public_cap=3)

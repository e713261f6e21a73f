"""Shells complete what is typed, once they were told how."""

import os
import subprocess
import sys

import pytest


def ask(**asked: str) -> str:
    environment = {**os.environ, **asked}
    command = [sys.executable, "-m", "anonhist"]
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    assert done.stderr == ""
    return done.stdout


def test_a_shell_is_told_how_to_complete() -> None:
    assert "compdef _anonhist_completion anonhist" in ask(_ANONHIST_COMPLETE="zsh_source")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("anonhist rel", ["release"]),
        ("anonhist local ra", ["randomize", "rappor"]),
        ("anonhist release --eps", ["--epsilon"]),
        ("anonhist degrees --unit n", ["node"]),
    ],
)
def test_commands_options_and_choices_are_completed(typed: str, offered: list[str]) -> None:
    last = str(len(typed.split()) - 1)
    answer = ask(_ANONHIST_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=last)
    assert answer.splitlines() == [f"plain,{word}" for word in offered]

"""From the shell to an exit code: 0 done, 2 wrong usage, 3 bad data or output, 70 internal error, 128 + n signal n."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from pathlib import Path
from typing import NoReturn

import click

from anonhist.cli.signals import exit_code, tidy_up, was_interrupted, watch_over_signals, what_stays_charged
from anonhist.errors import AnonhistError, UsageError
from anonhist.terminal.decorators import LazyGroup, as_typed, options_of, perhaps, sentence_to_publish
from anonhist.terminal.output import say_line
from anonhist.version import __version__

_CENTRAL = ("check", "count", "curve", "diff", "estimate", "plan", "release", "show")


@click.group(
    cls=LazyGroup,
    homes={
        **{name: f".cli.{name}:{name}" for name in _CENTRAL},
        "compare": ".cli.plan:compare",
        "budget": ".cli.budget:budget",
        "collect": ".local.collect_commands:collect",
        "degrees": ".graphs.commands:degrees",
        "incidence": ".species.release_commands:incidence",
        "local": ".local.commands:local",
        "serve": ".collect.commands:serve",
        "reproduce": ".cli.reproduce:reproduce",
        "sketch": ".sketches.commands:sketch",
        "species": ".species.commands:species",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="anonhist", message="%(prog)s %(version)s")
def anonhist() -> None:
    """Release how often things occur, with differential privacy.

    Results show how many things occur once, twice, and so on, but not which things. Run 'anonhist COMMAND --help' for a
    command with examples, and 'anonhist COMMAND --help-all' for all of its options.

    Exit codes: 0 done, 2 wrong usage, 3 bad data or output, 70 internal error, 130, 143 or 129 ended by Ctrl-C, SIGTERM
    or SIGHUP.
    """


DONE, USAGE, BAD_DATA, INTERNAL = 0, 2, 3, 70
# Shells that complete a command set this variable to their request.
_COMPLETION = "_ANONHIST_COMPLETE"
# Values to request if an option's name alone would not explain it.
_MISSING = {
    "epsilon": "Give the privacy budget, such as --epsilon 1; there is no default",
    "mechanism": (
        "Choose how values are randomized, such as --mechanism subset-selection; 'anonhist local recommend' finds the "
        "most accurate one"
    ),
    "unit": "Choose what to protect, with --unit {choices}; there is no default",
}
# Options of other commands and of other programs, and their possible meanings: the first that a command has counts.
MEANT = {
    "bootstraps": ("simulations", "repeats"),
    "budget": ("epsilon",),
    "chosen": ("subset-size",),
    "column": ("label",),
    "confidence": ("level",),
    "decoder": ("method",),
    "domain": ("alphabet",),
    "eps": ("epsilon",),
    "expected-items": ("items",),
    "expected-labels": ("labels",),
    "interval": ("level",),
    "items": ("expected-items",),
    "labels": ("alphabet",),
    "method": ("decoder", "mechanism"),
    "one": ("q",),
    "orders": ("order",),
    "overwrite": ("force",),
    "permanent": ("f",),
    "privacy": ("unit",),
    "repeats": ("simulations", "bootstraps"),
    "runs": ("repeats", "simulations", "bootstraps"),
    "sample-share": ("sampling-rate",),
    "sep": ("delimiter",),
    "separator": ("delimiter",),
    "simulations": ("repeats", "bootstraps"),
    "trials": ("repeats", "simulations", "bootstraps"),
    "users": ("shuffled-users",),
    "zero": ("p",),
}


def no_such_option(word: str, command: click.Command) -> str:
    """Return the error for an unknown option: the word for it here, or similar ones."""
    own = options_of(command)
    alone = word.removeprefix("--").replace("-", "_")
    if any(isinstance(each, click.Argument) and each.name == alone for each in command.params):
        return f"There is no {word} here: write {alone.upper()} alone, without an option"
    meant = [f"--{name}" for name in MEANT.get(word.removeprefix("--"), ()) if f"--{name}" in own]
    return f"There is no {word} here{f': use {meant[0]}' if meant else perhaps(word, own)}"


def main() -> NoReturn:
    """Run the command line and end the process.

    The process ends without the interpreter's clean-up, during which DuckDB's binding would report leaks that this
    program did not cause. Everything is written and renamed by then, and both streams are flushed.
    """
    try:
        code = _prepare_streams() or _run_or_complete()
    except KeyboardInterrupt as error:
        # It arrived while another error was being reported.
        code = _ended_by(error, sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _prepare_streams() -> int:
    """Prepare the standard streams, and return an exit code if that is impossible."""
    if sys.stdout is None:
        return _fail("standard output is closed: keep it open, or redirect it to /dev/null.", USAGE)
    if sys.stderr is None:
        # This also occupies the free descriptor, so that no file of ours gets it together with engine messages.
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # open to the end
    # A warning quotes source code, and may quote values.
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    # Matrices are small here: threads of the linear algebra library would only wait for each other, and for others.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        # Terminals without UTF-8 show a mark for a missing character, rather than end the program.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # text streams of a process have it
    return DONE


def _run_or_complete() -> int:
    watch_over_signals()
    if _COMPLETION in os.environ:
        return _complete()
    _remove_abandoned()
    return run(sys.argv[1:])


def _remove_abandoned() -> None:
    """Remove temporary files that killed processes left behind."""
    folder = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # names in it are not trusted
    with contextlib.suppress(OSError):
        if any(name.startswith("anonhist-") for name in os.listdir(folder)):  # noqa: PTH208
            from anonhist.temporary_folder import remove_abandoned

            remove_abandoned(folder)


def _complete() -> int:
    """Answer a shell's request for completion: its script, or the completions of a command line."""
    from click.shell_completion import shell_complete

    return DONE if shell_complete(anonhist, {}, "anonhist", _COMPLETION, os.environ[_COMPLETION]) == 0 else USAGE


def run(arguments: list[str]) -> int:
    """Run the command line in this process and return its exit code; every error is one sentence on stderr."""
    try:
        with anonhist.make_context("anonhist", list(arguments), obj=tuple(arguments)) as context:
            anonhist.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return int(exit_.exit_code)
    except BrokenPipeError:
        # The reader has seen enough. Unflushed output has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  # nobody is shown a traceback
        return _ended_by(error, arguments)
    return DONE


def _ended_by(error: BaseException, arguments: list[str]) -> int:  # noqa: PLR0911  # one line per kind of end
    """Print the error, and return its exit code."""
    if was_interrupted() or isinstance(error, KeyboardInterrupt | click.Abort):
        told, code = tidy_up(), exit_code()
        # The terminal itself may have been closed.
        with contextlib.suppress(OSError, ValueError):
            if sys.stderr is not None and sys.stderr.isatty():
                click.echo(err=True)  # ends the line with the terminal's ^C
            _fail(told, code)
        return code
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return USAGE
    if isinstance(error, click.ClickException):
        return _fail(sentence_to_publish(_as_sentence(error), arguments), USAGE)
    if isinstance(error, AnonhistError):
        # Masked first: a secret may contain backticks, and would not be recognized without them.
        sentence = as_typed(sentence_to_publish(_for_reader(error), arguments), anonhist)
        return _fail(sentence, USAGE if isinstance(error, UsageError) else BAD_DATA)
    if isinstance(error, MemoryError):
        return _fail("not enough memory: free some, or use a larger machine.", BAD_DATA)
    if os.environ.get("ANONHIST_DEBUG"):
        raise error
    if isinstance(error, ModuleNotFoundError):
        return _fail(f"the package {error.name} is missing: install anonhist again, with pip.", INTERNAL)
    if isinstance(error, OSError):
        reason = error.strerror or "no reason given"
        charged = what_stays_charged()
        way_out = (
            f"{charged}: see 'anonhist budget show' before you try again" if charged else "resolve that and try again"
        )
        return _fail(f"the system refused to read or write ({reason}); {way_out}.", BAD_DATA)
    return _fail(
        f"internal error ({type(error).__name__}). Set ANONHIST_DEBUG=1 to see where; its output may contain data.",
        INTERNAL,
    )


def _for_reader(error: AnonhistError) -> str:
    """Return the error's message; parts for the operator only are shown on a terminal, because others read logs."""
    private: str = getattr(error, "for_operator", "")
    is_seen = sys.stderr is not None and sys.stderr.isatty()
    told = private if private and is_seen else error.sentence
    if not error.stays_charged:
        return told
    return f"{told} The release stays charged, as {error.stays_charged}: see 'anonhist budget void --help'."


def _as_sentence(error: click.ClickException) -> str:
    told = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and context is not None:
        told = no_such_option(error.option_name, context.command)
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        # Choices are listed one per line, but an error is one line.
        *first, last = getattr(error.param.type, "choices", None) or ("",)
        told = _MISSING.get(error.param.name or "", " ".join(told.split())).replace(
            "{choices}", f"{', '.join(first)} or {last}" if first else last
        )
    elif isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "format_":
        told = (
            f"{told.rstrip('.')}: --format sets what a row holds. CSV files are recognized by their ending; for CSV in "
            "a pipe, give --label"
        )
    where = context.command_path if context else "anonhist"
    return f"{told.rstrip('.')}; see {where} --help."


def _fail(sentence: str, code: int) -> int:
    say_line(f"anonhist: {sentence}", sys.stderr)
    return code

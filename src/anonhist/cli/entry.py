"""From the shell to an exit code: 0 done, 2 wrong usage, 3 bad data or output, 130 interrupted."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

import click

from anonhist.cli.commands import anonhist
from anonhist.errors import AnonhistError, UsageError

DONE, INTERNAL, USAGE, BAD_DATA, INTERRUPTED = 0, 70, 2, 3, 130


def main() -> NoReturn:
    """Run the command line and end the process.

    The process ends without the interpreter's clean-up: DuckDB's binding would report leaks there that are no fault of
    this program. Everything is written and renamed by then, and both streams are flushed.
    """
    code = run(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:  # noqa: C901, PLR0911  # one line per kind of end
    """Run the command line in this process and return its exit code; every error is one sentence on stderr."""
    try:
        anonhist.main(args=arguments, prog_name="anonhist", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return int(exit_.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "anonhist"
        return _fail(f"{error.format_message().rstrip('.')}. See {where} --help.", USAGE)
    except click.ClickException as error:
        return _fail(error.format_message(), USAGE)
    except UsageError as error:
        return _fail(str(error), USAGE)
    except AnonhistError as error:
        return _fail(str(error), BAD_DATA)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted; nothing was written.", INTERRUPTED)
    except BrokenPipeError:
        # The reader has seen enough. What is left unflushed has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except MemoryError:
        return _fail("there is not enough memory for this.", BAD_DATA)
    except Exception as error:
        if os.environ.get("ANONHIST_DEBUG"):
            raise
        return _fail(
            f"an error inside the program ({type(error).__name__}); ANONHIST_DEBUG=1 shows where, and may show data.",
            INTERNAL,
        )
    return DONE


def _fail(sentence: str, code: int) -> int:
    click.echo(f"anonhist: {sentence}", err=True)
    return code

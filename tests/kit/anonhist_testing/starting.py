"""Commands that begin with a Python statement in the new process: limits, signals, another user."""

import sys


def after(statement: str, *command: str) -> list[str]:
    """Return a command that runs a statement, then becomes another command.

    The options of ``subprocess`` for this fork the calling process, and a fork runs the fork handlers of libraries with
    threads: gRPC, which Spark Connect loads, at times ends the child before it becomes the command.

    Parameters
    ----------
    statement
        The statement; ``os``, ``pwd``, ``resource`` and ``signal`` are imported.
    *command
        The path of a program, and its arguments.

    Examples
    --------
    >>> import subprocess
    >>> limited = after("resource.setrlimit(resource.RLIMIT_CORE, (0, 0))", "/bin/sh", "-c", "ulimit -c")
    >>> subprocess.run(limited, capture_output=True, check=True).stdout
    b'0\\n'
    """
    program = f"import os, pwd, resource, signal, sys\n{statement}\nos.execv(sys.argv[1], sys.argv[1:])"
    return [sys.executable, "-I", "-S", "-c", program, *command]

"""Commands that begin with a Python statement in the new process: limits, signals, another user."""

import sys


def after(statement: str, *command: str) -> list[str]:
    """Return a command that runs a statement, then becomes another command.

    What ``subprocess`` itself offers for this forks the process that asks, and a fork runs what libraries with threads
    do in one: gRPC, which Spark Connect loads, at times ends the child before it becomes the command.

    Parameters
    ----------
    statement
        What to run; ``os``, ``pwd``, ``resource`` and ``signal`` are imported.
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

"""Whole processes, timed: wall and processor time and peak memory of each child, from the operating system.

A child counts the memory of the process from which it was forked: measure from a small process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from time import perf_counter


@dataclass(frozen=True)
class Runs:
    """What the runs of one command took: wall and processor seconds, and peak resident MiB, run by run."""

    seconds: list[float]
    processor_seconds: list[float]
    mebibytes: list[float]

    @property
    def time(self) -> float:
        """Median wall time in seconds."""
        return median(self.seconds)

    @property
    def processor(self) -> float:
        """Median processor time in seconds, of all threads: it depends little on what else the machine does."""
        return median(self.processor_seconds)

    @property
    def memory(self) -> float:
        """Median peak memory in MiB."""
        return median(self.mebibytes)


def measure(commands: dict[str, list[str]], *, rounds: int, warm_up: bool = True) -> dict[str, Runs]:
    """Run the commands in turn, round after round, so that a slow moment of the machine falls on all alike."""
    runs: dict[str, Runs] = {name: Runs([], [], []) for name in commands}
    for number in range(-1 if warm_up else 0, rounds):
        for name, command in commands.items():
            seconds, processor, mebibytes = _run(command)
            if number >= 0:
                runs[name].seconds.append(seconds)
                runs[name].processor_seconds.append(processor)
                runs[name].mebibytes.append(mebibytes)
    return runs


def _run(command: list[str]) -> tuple[float, float, float]:
    # Installed programs have their bytecode: where none may be kept, ours alone would be compiled anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        message = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {message.decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)

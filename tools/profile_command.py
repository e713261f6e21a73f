"""Show where the time of one command goes, by room and package, and by function.

python tools/profile_command.py release data/pw_rockyou.csv --epsilon 1 -o - > profile.txt

The command runs as in a shell, without its standard output. Times are those of Python's own profiler, which makes
small Python functions look slower than they are; compiled code counts to the function that calls it.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import shlex
import sys
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    Function = tuple[str, int, str]

ROOT = Path(__file__).parent.parent
COMPILED = "~"
SHOWN = 20


def main(words: list[str]) -> int:
    """Run the command under the profiler, and print two tables."""
    profiler = cProfile.Profile()
    profiler.enable()
    with redirect_stdout(io.StringIO()):
        from anonhist.cli.entry import run

        code = run(words)
    profiler.disable()
    own: Counter[Function] = Counter()
    for function, seconds in own_times(pstats.Stats(profiler)):
        own[function] += seconds
    total = sum(own.values())
    print(f"anonhist {shlex.join(words)}: {total:.2f} s under the profiler\n")
    print(f"{'seconds':>8}  {'share':>6}  where")
    places: Counter[str] = Counter()
    for function, seconds in own.items():
        places[place_of(function[0])] += seconds
    for place, seconds in places.most_common(SHOWN):
        print(f"{seconds:8.3f}  {seconds / total:6.1%}  {place}")
    print(f"\n{'seconds':>8}  {'share':>6}  function, with the compiled code that it calls")
    for (file, line, name), seconds in own.most_common(SHOWN):
        print(f"{seconds:8.3f}  {seconds / total:6.1%}  {place_of(file)}: {name} ({Path(file).name}:{line})")
    return code


def own_times(stats: pstats.Stats) -> Iterator[tuple[Function, float]]:
    """Give each function its own time, and that of compiled code to who calls it."""
    for function, (_, _, seconds, _, callers) in stats.stats.items():  # type: ignore[attr-defined]
        if function[0] != COMPILED or not callers:
            yield function, seconds
            continue
        for caller, (_, _, spent, _) in callers.items():
            yield caller, spent


def place_of(file: str) -> str:
    """Return the room of ours, the package of others, or Python's standard library."""
    parts = Path(file).parts
    if "site-packages" in parts:
        return Path(parts[parts.index("site-packages") + 1]).stem
    package = ROOT / "src" / "anonhist"
    if Path(file).is_relative_to(package):
        return f"anonhist.{Path(file).relative_to(package).parts[0].removesuffix('.py')}"
    if file.startswith("<frozen importlib"):
        return "loading of modules"
    return "compiled code" if file == COMPILED else "Python's standard library"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

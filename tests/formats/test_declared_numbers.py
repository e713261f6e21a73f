"""Small files that speak of large things: the numbers in a file do not decide how much memory or time it takes."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import anonhist as ah
from anonhist.errors import DataError, UsageError
from anonhist.formats.document import to_document
from anonhist.formats.releases import read_release
from anonhist.mechanisms import (
    CentralMechanism,
    FrobeniusMechanism,
    PartitionMechanism,
    PrivHistMechanism,
)
from anonhist.profiles import Profile
from anonhist.releases import Release
from anonhist.sketches import HashedSketch
from anonhist.sketches.release import SketchMechanism

ROOM = 400 * 2**20
# The largest square that int64 has room for.
SIDE = 3_037_000_499
SQUARE = Profile([SIDE], [SIDE])

# Everything that is asked of a file, in one process that may not take much more memory than it began with.
ASK = """
import json, resource, sys
import scipy.special, anonhist as ah
from anonhist.formats.document import from_document  # loaded before memory is counted
from anonhist.sketches.release import SketchMechanism
room, *paths = sys.argv[1:]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(room),) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
told = {path: [] for path in paths}
for path in paths:
    for ask in (ah.entropy, ah.properties.rarefaction_curve, lambda release: ah.write_report(release, path + ".html")):
        try:
            ask(ah.read(path))
            told[path].append("done")
        except ah.AnonhistError as error:
            told[path].append(str(error))
        except BaseException as error:
            told[path].append(type(error).__name__)
print(json.dumps(told))
"""


@pytest.fixture
def written_files(
    tmp_path: Path, make_release: Callable[..., Release]
) -> Callable[[Profile, CentralMechanism, int | None], Path]:
    def write(profile: Profile, mechanism: CentralMechanism, items: int | None = None) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        ah.write(make_release(profile, mechanism, items=items), path)
        return path

    return write


@pytest.mark.slow
def test_profiles_that_fill_any_memory_are_refused_before_they_do(written_files: Callable[..., Path]) -> None:
    few = Profile([3], [2])
    refused = [
        written_files(SQUARE, FrobeniusMechanism(Fraction(1))),
        written_files(SQUARE, PartitionMechanism(Fraction(2))),
        written_files(SQUARE, PrivHistMechanism(4), SQUARE.n),
        written_files(SQUARE, PrivHistMechanism(Fraction(1, 2)), SQUARE.n),
        # A Durfee size of 2^22 and 2^40 labels beyond the threshold.
        written_files(Profile([2**22 + 1], [2**40]), PrivHistMechanism(4), 2**63 - 1),
        _of_sketch(written_files(few, FrobeniusMechanism(1)), few, counters=2**31),
        _of_sketch(written_files(few, FrobeniusMechanism(1)), Profile([3], [2**61]), counters=1000),
    ]
    # Large numbers alone are no reason to refuse: these have small diagrams, one of them wide and one tall.
    read = [
        written_files(Profile([1], [2**62]), FrobeniusMechanism(9)),
        written_files(Profile([2**62], [1]), FrobeniusMechanism(9)),
    ]
    assert max(path.stat().st_size for path in refused + read) < 3000
    told = _answers(refused + read)
    for path in refused:
        *estimates, page = told[path]
        assert all("not simulated for releases" in sentence for sentence in estimates), (path, told[path])
        # Where runs are not trusted with intervals, a page is drawn without any.
        assert page == "done" or "not simulated for releases" in page, (path, page)
    assert "not simulated for releases" in told[refused[1]][-1]
    assert {sentence for path in read for sentence in told[path]} == {"done"}


def _answers(paths: list[Path]) -> dict[Path, list[str]]:
    """Return what the questions were answered with, by file."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(ROOM), *map(str, paths)], check=True, capture_output=True, text=True
    )
    return {Path(path): told for path, told in json.loads(done.stdout).items()}


def _of_sketch(path: Path, profile: Profile, *, counters: int) -> Path:
    """Write a release of a sketch that has more counters than one could fill."""
    sketch = HashedSketch(buckets=1000, epsilon=1, key=b"a key of the test")
    made = sketch.reconstruct("wu-pagh", simulations=2).with_error()
    assert isinstance(made.mechanism, SketchMechanism)
    error = replace(made.error, levels=[1, 3], prevalence_errors=[1.0, 1.0], k_plus_errors=[1.0, 1.0])
    mechanism = replace(made.mechanism, counters=counters)
    ah.write(replace(made, profile=profile, mechanism=mechanism, recorded_error=error), path, overwrite=True)
    return path


def test_a_number_of_simulations_that_nobody_needs_is_refused(tmp_path: Path, releases: dict[str, Release]) -> None:
    document = to_document(releases["partition"])
    sketch = HashedSketch(buckets=10, epsilon=1, key=b"a key of the test")
    refusal = "simulations must be 0 or a whole number from 2 to 1,000"
    for number in (1001, 10**9, 10**4000, 1, -5):
        document["error"]["simulations"] = number
        path = tmp_path / "release.json"
        path.write_text(json.dumps(document))
        with pytest.raises(DataError, match=refusal) as caught:
            read_release(path)
        assert len(str(caught.value)) < 400
        with pytest.raises(UsageError, match=refusal):
            ah.release(Profile.from_counts([3, 1]), epsilon=1, simulations=number)
        with pytest.raises(UsageError, match=refusal):
            sketch.reconstruct(simulations=number)

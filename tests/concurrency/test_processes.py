"""A process that forks after first use, and one whose threads load the package together."""

import os
import subprocess
import sys

import pytest

# Everything is made and used before the fork, then asked again on both sides. What is compared are hundreds of random
# numbers at least: that two of the same are drawn by chance has a probability below 2^-64.
FORKS = """
import os, pickle
import anonhist as ah
from anonhist import local, sketches
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, PrevalenceMechanism
from anonhist.randomness import SystemSource

profile = ah.Profile.from_prevalences({1: 900, 2: 400, 3: 200, 7: 100, 400: 10})
labels = [str(number) for number in range(200)]
ring = ah.graphs.as_graph([(node, (node + 1) % 100) for node in range(100)])
source = SystemSource()
mechanisms = [FrobeniusMechanism("0.2"), PartitionMechanism("0.05"), PrevalenceMechanism(1, public_cap=400)]
surveys = [kind(alphabet=labels, epsilon=1) for kind in (local.KRR, local.OptimizedUnary, local.HadamardResponse)]
rappor = local.RAPPOR(buckets=32, cohorts=8, f="1/2", p="1/2", q="3/4")
memory = rappor.remember(labels)
sketch = sketches.HashedSketch(buckets=500, epsilon=1, key=b"week 47")
sketch.clip(3)
noise = sketch.counters.copy()


def columns(reports):
    return [column.tolist() for column in reports.columns.values()]


def unfolded():
    parts = {"unit": sketch.unit, "relation": sketch.relation, "noise": sketch.noise, "clipped": 3}
    again = sketches.Sketch.from_parts(sketch.addresses, counters=noise.copy(), **parts)
    again.unfold()
    return again.counters.tolist()


def drawn():
    found = {"words": source.words(4).tolist()}
    for mechanism in mechanisms:
        found[mechanism.name] = mechanism.release(profile).profile.partition().tolist()
    for survey in surveys:
        found[survey.name] = columns(survey.randomize(labels * 5))
    found["rappor"] = columns(rappor.randomize_again(memory))
    found["estimates"] = [ah.private.entropy(profile, epsilon=1, method="plug-in").value for _ in range(9)]
    bounded = ah.graphs.BoundedDegrees(max_degree=8, method="histogram")
    for privacy, how in ((ah.graphs.EdgePrivacy(), "auto"), (ah.graphs.NodePrivacy(), bounded)):
        found[repr(privacy)] = [
            ah.release_degrees(ring, privacy=privacy, mechanism=how, epsilon="0.2").profile.partition().tolist()
            for _ in range(4)
        ]
    found["sketch"] = sketches.HashedSketch(buckets=500, epsilon=1, key=b"week 47").counters.tolist()
    found["unfolded"] = unfolded()
    return found


before = drawn()
read, write = os.pipe()
child = os.fork()
ours = drawn()
if not child:
    with os.fdopen(write, "wb") as file:
        pickle.dump(ours, file)
    os._exit(0)
os.close(write)
with os.fdopen(read, "rb") as file:
    theirs = pickle.load(file)
assert os.waitpid(child, 0)[1] == 0
assert len(ours) == 13, len(ours)
print(*[name for name in ours if ours[name] in (theirs[name], before[name]) or theirs[name] == before[name]])
"""

LOADS = """
import sys
from threading import Barrier, Thread
import anonhist

start, wrong, found = Barrier(8), [], []


def load(first):
    names = anonhist.__all__[first:] + anonhist.__all__[:first]
    start.wait()
    try:
        found.append({name: getattr(anonhist, name) for name in names})
    except BaseException as error:
        wrong.append(repr(error))


sys.setswitchinterval(1e-6)
threads = [Thread(target=load, args=(17 * number % len(anonhist.__all__),)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
assert len(found) == 8
print(*[name for name in anonhist.__all__ if any(each[name] is not getattr(anonhist, name) for each in found)])
"""


def run_program(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_parent_and_child_draw_different_noise() -> None:
    assert run_program(FORKS) == ""


@pytest.mark.slow
def test_threads_that_load_the_package_together_get_the_same_names() -> None:
    assert run_program(LOADS) == ""

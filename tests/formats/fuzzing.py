"""Damage files of every format, at random but the same each time, and read them with little memory.

Each must be read, or refused by an error of ours, in one sentence. Longer than in the tests::

    python tests/formats/fuzzing.py --rounds 20000 --seed 7
"""

import argparse
import hashlib
import json
import os
import random  # noqa: TID251  # no noise is drawn here: damage is
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import anonhist as ah
from anonhist.errors import AnonhistError
from anonhist.graphs import BoundedDegrees, EdgePrivacy, NodePrivacy, as_graph, release_degrees
from anonhist.ingest.engine import CONFIG
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Bounded, BoundedUnits, Profile
from anonhist.profiles.grouped import GroupedProfile
from anonhist.sketches import DomainSketch, HashedSketch
from anonhist_testing.sources import SeededSource

ROOM = 256 * 2**20
SECONDS_PER_FILE = 5.0
WORST: tuple[Any, ...] = (
    *(0, -1, 1, 2, 32, 1000, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**400, 10**4000, 1.5, -0.0, 1e308),
    *(
        True,
        None,
        "",
        "0",
        "1/2",
        "-1",
        "1e999999",
        "9" * 5000,
        "1/" + "9" * 300,
        "x" * 5000,
        "\x00",
        "\ud800",
        "1e-64",
    ),
    *([], {}, [[]], [1], [2**62] * 50, [0] * 50, {"": {}}, ["1"] * 50, list(range(1, 2000))),
)
# In the place of a number in a text.
SPLICED = [
    b"1e999999",
    b"9" * 5000,
    b"NaN",
    b"-Infinity",
    b"-0",
    b"0x1",
    b"9223372036854775808",
    b"4294967295",
    b"1.5e308",
]
KEYS = ["epsilon", "delta", "unit", "bound", "counts", "simulations", "shares", "noise", "method", "items", "zeros"]

# What google/rappor collects: parameters, counts and the map of candidates.
RAPPOR = {
    "params.csv": b"k,h,m,p,q,f\n4,2,2,0.25,0.75,0.5\n",
    "counts.csv": b"100,40,20,60,50\n90,30,50,40,20\n",
    "map.csv": b"cat,1,2,5,8\ndog,2,4,6,7\n",
}

Reader = Callable[[Path], object]


def valid_files() -> Iterator[tuple[str, bytes, Reader]]:
    """Yield a name, the content and the reader of valid files of every format."""
    with TemporaryDirectory() as folder:
        for name, written, reader in _write_files():
            path = Path(folder) / name
            ah.write(written, path)
            yield name, path.read_bytes(), reader
    for name, content in RAPPOR.items():
        yield name, content, _read_rappor


def _read_rappor(path: Path) -> object:
    """Read one of three files with the other two as they should be."""
    files = {name: path if path.name == name else path.with_name(f"whole-{name}") for name in RAPPOR}
    for name, content in RAPPOR.items():
        if path.name != name:
            files[name].write_bytes(content)
    counts, candidates = ah.formats.read_rappor(*files.values())
    return counts.estimate(candidates).raw


def _write_files() -> Iterator[tuple[str, Any, Reader]]:
    profile, source = Profile([1, 3, 40], [20, 5, 1]), SeededSource(3)
    options: dict[str, dict[str, Any]] = {
        "frobenius": {},
        "privhist": {},
        "prevalence": {"public_cap": 50},
        "isotonic": {"public_labels": 40},
        "relaxed-partition": {"public_items": 200},
        "partition": {},
    }
    for name, option in options.items():
        given = {"mechanism": name, "epsilon": 2, "simulations": 2, "source": source, **option}
        yield f"{name}.json", ah.release(profile, **given), ah.read
    users = BoundedUnits(2, Profile.from_counts([1, 2, 9]))
    bounded = Profile([1, 3], [2, 1], unit=PrivacyUnit.user(max_items=2), users=users)
    given = {"epsilon": 2, "excess_share": "1/4", "simulations": 2, "source": source}
    yield "excess.json", ah.release(bounded, **given), ah.read
    labels = PrivacyUnit.label(max_count=2)
    yield "excess-of-labels.json", ah.release(profile, unit=labels, **given), ah.read
    in_groups = BoundedUnits(2, Profile.from_counts([1, 2, 3]), Bounded.GROUPS_OF_LABELS)
    unit = PrivacyUnit.label(max_count=2, groups=2)
    grouped = GroupedProfile(("g",), {(name,): profile for name in "abc"}, unit=unit, units=in_groups)
    yield "excess-of-groups.json", ah.release_groups(grouped, **given), ah.read
    yield "release.parquet", ah.release(profile, epsilon=2, simulations=2, source=source), ah.read
    graph = as_graph([(f"n{i}", f"n{i * i % 7}") for i in range(9)], nodes=[f"n{i}" for i in range(9)])
    asked: dict[str, dict[str, Any]] = {
        "edge": {"privacy": EdgePrivacy(9)},
        "chosen": {"privacy": NodePrivacy(), "mechanism": BoundedDegrees(candidates=(2, 4))},
        "histogram": {"privacy": NodePrivacy(), "mechanism": BoundedDegrees(3, "histogram")},
    }
    for name, how in asked.items():
        degrees = release_degrees(graph, **how, epsilon=5, simulations=2, source=source)
        yield f"degrees-{name}.json", degrees, ah.read
    hashed = HashedSketch(
        buckets=50, epsilon=1, key=b"week 47", unit=PrivacyUnit.user(max_items=2), sampling_rate="1/3"
    )
    domain = DomainSketch(alphabet=["a", "b", "cc"], epsilon=2)
    for name, sketch in (("hashed", hashed), ("domain", domain)):
        yield f"{name}.sketch", sketch, ah.read
        yield f"{name}.json", sketch.reconstruct("three-tap", simulations=2), ah.read
    for survey in _surveys():
        tally = survey.tally(survey.randomize([0, 1, 2, 0], source=source))
        yield f"survey-{survey.name}.json", survey, ah.read
        yield f"tally-{survey.name}.json", tally, ah.read
        yield f"tally-{survey.name}.parquet", tally, ah.read
        reports = survey.randomize([0, 1, 2, 0], source=source)
        for ending in ("csv", "jsonl", "parquet"):
            yield f"reports-{survey.name}.{ending}", reports, partial(ah.tally_reports, survey)


def _surveys() -> Iterator[Any]:
    from anonhist.local import KRR, HadamardResponse, SubsetSelection

    yield KRR(alphabet=3, epsilon=1)
    yield HadamardResponse(alphabet=3, epsilon=1)
    yield SubsetSelection(alphabet=3, epsilon=1)


def damage(content: bytes, name: str, draw: random.Random) -> bytes:
    """Return a file that differs in something: bytes, length, a number, or a field of its document."""
    ways = [_flip, _cut, _splice, _repeat]
    if name.endswith(".json"):
        ways += [_with_worse_values] * 6 + [_with_keys_twice, _nest]
    elif name.endswith(".parquet") and not name.startswith("reports"):
        ways += [_with_worse_metadata] * 4
    elif name.endswith(".sketch"):
        ways += [_with_worse_head] * 4
    found = draw.choice(ways)(content, draw)
    # Most damage to a sketch is seen by its digest: half the time it is made right again.
    return _seal(found) if name.endswith(".sketch") and draw.random() < 0.8 else found


def _flip(content: bytes, draw: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 4, 16])):
        place = draw.randrange(len(changed))
        # Footers and headers, where numbers decide, are at the ends.
        place = draw.choice([place, max(0, len(changed) - 1 - place % 400), place % 400 % len(changed)])
        changed[place] = draw.choice([changed[place] ^ 1 << draw.randrange(8), draw.randrange(256), 0xFF, 0x7F, 0x80])
    return bytes(changed)


def _cut(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in "ab")
    return draw.choice([content[:start], content[start:], content[:start] + content[end:]])


def _splice(content: bytes, draw: random.Random) -> bytes:
    numbers = list(re.finditer(rb"-?[0-9]+(?:\.[0-9]+)?", content))
    if not numbers:
        return content + b"\0"
    place = draw.choice(numbers)
    return content[: place.start()] + draw.choice(SPLICED) + content[place.end() :]


def _repeat(content: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(content) + 1) for _ in "ab")
    return content[:start] + content[start:end] * draw.choice([2, 3, 50]) + content[end:]


def _nest(content: bytes, draw: random.Random) -> bytes:
    place = draw.choice([each.start() for each in re.finditer(rb"[0-9\[{\"]", content)])
    return content[:place] + draw.choice([b"[", b'{"a":']) * draw.choice([10, 1000, 100_000]) + content[place:]


def _with_keys_twice(content: bytes, draw: random.Random) -> bytes:
    fields = re.findall(rb'"[a-z_0-9]+": (?:[0-9]+|"[^"]*")', content)
    return content.replace(b"{", b"{" + draw.choice(fields) + b",", draw.choice([1, 3])) if fields else content


def _with_worse_values(content: bytes, draw: random.Random) -> bytes:
    return json.dumps(_worse(json.loads(content), draw)).encode()


def _with_worse_metadata(content: bytes, draw: random.Random) -> bytes:
    table = pq.read_table(pa.BufferReader(content))
    ((key, document),) = ((key, value) for key, value in table.schema.metadata.items() if key.startswith(b"anonhist"))
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({key: json.dumps(_worse(json.loads(document), draw))}), sink)
    return bytes(sink.getvalue().to_pybytes())


def _with_worse_head(content: bytes, draw: random.Random) -> bytes:
    with pa.ipc.open_file(pa.BufferReader(content)) as reader:
        batch = reader.get_batch(0)
    head = json.loads(batch.schema.metadata[b"anonhist/sketch"])
    head = _worse({name: value for name, value in head.items() if name != "sha256"}, draw)
    first = {name: head.pop(name) for name in ("format", "version") if name in head}
    document = json.dumps({**first, "sha256": "0" * 64, **head})
    sink = pa.BufferOutputStream()
    schema = batch.schema.with_metadata({b"anonhist/sketch": document})
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch.replace_schema_metadata(schema.metadata))
    return bytes(sink.getvalue().to_pybytes())


def _worse(document: Any, draw: random.Random) -> Any:
    for _ in range(draw.choice([1, 1, 2, 3])):
        inside, place = document, None
        while isinstance(inside, dict | list) and inside:
            holder, place = (
                inside,
                draw.choice(list(inside)) if isinstance(inside, dict) else draw.randrange(len(inside)),
            )
            inside = holder[place]
            if draw.random() < 0.15:
                break
        if place is None:
            return deepcopy(draw.choice(WORST))
        kind = draw.random()
        if kind < 0.1:
            del holder[place]
        elif kind < 0.2 and isinstance(holder, dict):
            holder[draw.choice(KEYS)] = deepcopy(draw.choice(WORST))
        else:
            holder[place] = deepcopy(draw.choice(WORST))
    return document


def _seal(content: bytes) -> bytes:
    """Make the digest of a sketch right again, where it still has two places for it."""
    places = [found.start(1) for found in re.finditer(rb'"sha256": "([0-9a-f]{64})"', content)]
    if len(places) != 2:
        return content
    changed = bytearray(content)
    for place in places:
        changed[place : place + 64] = b"0" * 64
    digest = hashlib.sha256(changed).hexdigest().encode()
    for place in places:
        changed[place : place + 64] = digest
    return bytes(changed)


def complaint(path: Path, reader: Reader) -> str | None:
    """Return what is wrong with how a file is read or refused, if anything is."""
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_PER_FILE)
    try:
        str(reader(path))
    except AnonhistError as error:
        told = str(error)
        is_sentence = told.endswith(".") and "\n" not in told and told.isprintable() and len(told) < 1000
        return None if is_sentence else f"no sentence: {told[:300]!r}"
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is what is looked for
        return f"{type(error).__name__}: {error!s:.300}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def _too_long(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError(f"more than {SECONDS_PER_FILE} s")


@contextmanager
def _one_engine() -> Iterator[None]:
    """Lend all readings one DuckDB, with a connection each: to start it takes ten times as long as to read a file."""
    connect = duckdb.connect
    with duckdb.connect(config=CONFIG | {"temp_directory": ""}) as engine:
        duckdb.connect = lambda *_, **__: engine.cursor()
        try:
            yield
        finally:
            duckdb.connect = connect


def run(rounds: int, seed: int, folder: Path, kept: Path | None) -> list[str]:
    """Damage each file so many times, read it, and return what was wrong."""
    files = list(valid_files())
    complaints = []
    for name, content, reader in files:
        path = folder / name
        path.write_bytes(content)
        if found := complaint(path, reader):
            complaints.append(f"{name} as it was written: {found}")
    # From here on there is little more memory than all that was loaded takes.
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
    signal.signal(signal.SIGVTALRM, _too_long)
    for turn in range(rounds):
        # In the first round, and in every 25th after it, each reading starts an engine, as it does for users.
        with _one_engine() if turn % 25 else nullcontext():
            for name, content, reader in files:
                draw = random.Random(f"{seed} {turn} {name}")  # noqa: S311  # nothing secret, and the same each time
                path = folder / name
                path.write_bytes(damage(content, name, draw))
                if found := complaint(path, reader):
                    complaints.append(f"{name}, turn {turn}: {found}")
                    sys.stderr.write(complaints[-1] + "\n")  # should the next file end the process
                    if kept is not None:
                        (kept / f"{seed}-{turn}-{name}").write_bytes(path.read_bytes())
    return complaints


def main() -> None:
    """Say what was wrong, and how many files there were."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=100, help="how often each file is damaged")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--seconds", type=int, default=24 * 3600, help="how long it may compute")
    options.add_argument("--keep", type=Path, help="a folder for the files that were not read as they should be")
    asked = options.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    resource.setrlimit(resource.RLIMIT_CPU, (asked.seconds, asked.seconds))
    with TemporaryDirectory() as folder:
        complaints = run(asked.rounds, asked.seed, Path(folder), asked.keep)
    sys.stdout.write("\n".join(complaints or ["Every file was read or refused."]) + "\n")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()

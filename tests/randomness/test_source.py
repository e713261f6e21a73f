import subprocess
import sys

import numpy as np
import pytest

import anonhist.randomness
from anonhist.errors import UsageError
from anonhist.randomness import SystemSource
from anonhist_testing.sources import SeededSource, TapeSource


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not done.stderr
    return done.stdout


def test_system_words_are_fresh_uint64() -> None:
    source = SystemSource()
    for count in (0, 1, 300, 10**5):
        words = source.words(count)
        assert (words.dtype, words.shape) == (np.uint64, (count,))
    # Ten thousand words twice: two equal ones have probability below 10^-11.
    both = np.concatenate((source.words(10**4), source.words(10**4)))
    assert np.unique(both).size == both.size
    # Each bit is set about half the time; Hoeffding gives a false alarm of 64·2·e^(-2·2·10^4·0.035^2) < 10^-18.
    bits = np.unpackbits(both.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 0.035


def test_a_system_source_is_a_value_without_state() -> None:
    assert SystemSource() == SystemSource()
    assert hash(SystemSource()) == hash(SystemSource())
    with pytest.raises(AttributeError):
        SystemSource().buffer = b""  # type: ignore[attr-defined]  # refusing it is the point


@pytest.mark.slow
def test_forked_processes_share_no_words() -> None:
    if not hasattr(__import__("os"), "fork"):
        pytest.skip("This system has no fork.")
    printed = run(
        "import os, sys\n"
        "from anonhist.randomness import SystemSource\n"
        "source = SystemSource()\n"
        "words = source.words(3).tolist()\n"
        "for _ in range(3):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os.write(1, f'{source.words(1)[0]}\\n'.encode())\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
        "print(*words, source.words(1)[0], sep='\\n')\n"
    ).split()
    assert len(printed) == len(set(printed)) == 7


@pytest.mark.slow
def test_the_room_opens_no_door_to_the_test_kit_and_needs_only_numpy() -> None:
    loaded = run(
        "import sys, anonhist.randomness\n"
        "print(*(name for name in sys.modules if name.split('.')[0] in ('scipy', 'numba', 'random')"
        " or name.startswith('anonhist')))"
    ).split()
    assert {name for name in loaded if name.split(".")[0] in ("scipy", "numba")} == set()
    assert not [name for name in loaded if name.startswith("anonhist_testing")]


def test_what_is_exported() -> None:
    listed = anonhist.randomness.__all__
    assert listed == sorted(listed)
    assert all(hasattr(anonhist.randomness, name) for name in listed)


def test_a_seeded_source_repeats_itself() -> None:
    first, second = SeededSource(3), SeededSource(3)
    assert first.words(5).tolist() == [*second.words(2).tolist(), *second.words(3).tolist()]
    assert SeededSource(3).words(2).tolist() != SeededSource(4).words(2).tolist()
    assert SeededSource(0).words(1).dtype == np.uint64


def test_a_tape_is_read_once_and_ends() -> None:
    tape = TapeSource([7, 2**64 - 1])
    assert tape.words(1).tolist() == [7]
    assert tape.words(1).tolist() == [2**64 - 1]
    with pytest.raises(UsageError, match="The tape has 2 words; 3 were asked for"):
        tape.words(1)
    assert tape.position == 2

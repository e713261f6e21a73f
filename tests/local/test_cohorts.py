"""Functions of cohorts: to the bit as written, the same on device and server, uniform, or permutations."""

import hashlib
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from anonhist.errors import DataError, UsageError
from anonhist.local.alphabet import Alphabet
from anonhist.local.cohort_counts import Cohorts, HashedCohorts, PermutedCohorts
from anonhist.numeric.hashing import KEY_DOMAIN, keyed_hash
from anonhist_testing.cases import each_of

WORDS = [f"word {i}" for i in range(400)]


def slow_place(label: str, function: int, *, buckets: int, key: str) -> int:
    words = keyed_hash([label], key=key.encode()).astype("<u8").tobytes()[:8]
    total = 0
    for place in range(5):
        seed = function | (place // 4) << 32
        # The eight bytes of a seed are hashed as a text of eight bytes would be.
        block = sip(seed.to_bytes(8, "little"), key)
        coefficient = int.from_bytes(block[4 * (place % 4) : 4 * (place % 4) + 4], "little")
        factor = 1 if place == 0 else int.from_bytes(words[2 * place - 2 : 2 * place], "little")
        total += coefficient * factor
    return ((total % 2**32) >> 16) * buckets >> 16


def sip(message: bytes, key: str) -> bytes:
    """SipHash-2-4-128, word by word as its authors wrote it."""
    secret = hashlib.sha256(KEY_DOMAIN + key.encode()).digest()[:16]
    k0, k1 = (int.from_bytes(secret[i : i + 8], "little") for i in (0, 8))
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) % 2**64

    def mix(rounds: int) -> None:
        for _ in range(rounds):
            for a, b, by, halved in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
                v[a] = (v[a] + v[b]) % 2**64
                v[b] = rotate(v[b], by) ^ v[a]
                if halved:
                    v[a] = rotate(v[a], 32)

    padded = message + bytes((7 - len(message)) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        mix(2)
        v[0] ^= word
    v[2] ^= 0xEE
    mix(4)
    low = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    mix(4)
    return low.to_bytes(8, "little") + (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


def places_of(functions: Cohorts, labels: Any) -> np.ndarray:
    """Return the place of every label under every function of every cohort, shape (C, m, h)."""
    places = functions.all_places(functions.codes(labels))
    return places.reshape(-1, functions.hashes, places.shape[1]).swapaxes(1, 2)


def test_places_of_texts_are_those_of_the_definition() -> None:
    functions = HashedCohorts(buckets=37, cohorts=3, hashes=2, key="ключ")
    places = places_of(functions, ["", "apple", "Äpfel"])
    assert places.shape == (3, 3, 2)
    assert places.dtype == np.int32
    expected = [
        [[slow_place(label, 2 * c + i, buckets=37, key="ключ") for i in range(2)] for label in ("", "apple", "Äpfel")]
        for c in range(3)
    ]
    assert places.tolist() == expected


def test_permutations_are_those_of_the_definition() -> None:
    functions = PermutedCohorts(alphabet=Alphabet(9), cohorts=2, hashes=2, key="k")
    for c in range(2):
        for i in range(2):
            numbers = [
                int.from_bytes(sip((2 * c + i).to_bytes(4, "little") + s.to_bytes(4, "little"), "k")[:8], "little")
                for s in range(9)
            ]
            ranks = [sorted(numbers).index(number) for number in numbers]
            assert places_of(functions, range(9))[c, :, i].tolist() == ranks


@pytest.mark.parametrize("hashes", [1, 3])
def test_devices_and_servers_agree(hashes: int) -> None:
    cohorts = np.random.default_rng(1).integers(0, 5, len(WORDS))
    for functions in (
        HashedCohorts(buckets=50, cohorts=5, hashes=hashes, key="k"),
        PermutedCohorts(alphabet=Alphabet(WORDS), cohorts=5, hashes=hashes, key="k"),
    ):
        own = functions.own_places(functions.codes(WORDS), cohorts)
        assert (own == places_of(functions, WORDS)[cohorts, np.arange(len(WORDS))]).all()


def test_two_texts_meet_as_often_as_chance_has_it() -> None:
    functions = HashedCohorts(buckets=20, cohorts=2000, key="k")
    a, b = places_of(functions, ["apple", "apples"])[:, :, 0].T
    collision = float((functions.shares**2).sum())
    # 2,000 independent cohorts, 5 standard errors: a true claim fails once in two million keys.
    assert abs((a == b).mean() - collision) < 5 * np.sqrt(collision * (1 - collision) / 2000)
    counts = np.bincount(a, minlength=20)
    assert ((counts - 100) ** 2 / 100).sum() < 19 + 5 * np.sqrt(2 * 19)
    assert functions.shares.sum() == 1


def test_permutations_are_different_and_all_places_are_taken_once() -> None:
    places = places_of(PermutedCohorts(alphabet=Alphabet(50), cohorts=4, hashes=2, key="k"), range(50))
    assert (np.sort(places, axis=1) == np.arange(50)[:, np.newaxis]).all()
    flat = places.transpose(0, 2, 1).reshape(8, 50)
    assert len({tuple(row) for row in flat.tolist()}) == 8


@each_of("buckets", [3, 7, 9, 12])
def test_places_of_a_known_alphabet_are_ranks_modulo_the_buckets(buckets: int) -> None:
    whole, folded = (
        PermutedCohorts(alphabet=Alphabet(9), buckets=number, cohorts=3, hashes=2, key="k")
        for number in (None, buckets)
    )
    ranks, places = (each.all_places(np.arange(9)) for each in (whole, folded))
    assert (places == ranks % buckets).all()
    assert all((np.bincount(row, minlength=buckets) == folded.sizes).all() for row in places)
    assert folded.shares.sum() == pytest.approx(1)


@each_of("buckets", [2, 4, 5, 7])
@pytest.mark.parametrize("hashes", [1, 2])
def test_known_labels_collide_as_often_as_the_formula_says(buckets: int, hashes: int) -> None:
    functions = PermutedCohorts(alphabet=Alphabet(5), buckets=buckets, cohorts=1, hashes=hashes, key="k")
    # Of all pairs of permutations: of labels 0 and 1, whether the first place of one is among those of the other.
    ranks = np.array(list(permutations(range(5)))) % buckets
    meets = ranks[:, 0] == ranks[:, 1]
    either = meets[:, np.newaxis] | (ranks[:, :1] == ranks[:, 1])
    assert functions.collision == pytest.approx(meets.mean() if hashes == 1 else either.mean(), abs=1e-15)
    assert (functions.collision == 0) == (hashes == 1 and buckets >= 5)


def test_another_key_gives_other_functions() -> None:
    one, other = (places_of(HashedCohorts(buckets=1000, cohorts=1, key=key), WORDS) for key in ("a", "b"))
    assert (one == other).mean() < 0.05


@each_of(
    "wrong",
    [
        {"buckets": 1},
        {"buckets": 65537},
        {"cohorts": 0},
        {"cohorts": 65537},
        {"hashes": 0},
        {"hashes": 17},
        {"key": ""},
    ],
)
def test_numbers_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        HashedCohorts(**{"buckets": 16, "cohorts": 2, "hashes": 2, "key": "k"} | wrong)  # type: ignore[arg-type]


def test_tables_that_would_fill_the_memory_are_refused() -> None:
    with pytest.raises(UsageError, match="2\\^27"):
        HashedCohorts(buckets=65536, cohorts=65536, key="k")
    with pytest.raises(UsageError, match="2\\^27"):
        PermutedCohorts(alphabet=Alphabet(2**26), cohorts=4, key="k")


def test_values_that_are_no_texts_are_refused() -> None:
    functions = HashedCohorts(buckets=16, cohorts=2, key="k")
    for values in ("one text", [1, 2], ["fine", None], ["\ud800"]):
        with pytest.raises(DataError):
            functions.codes(values)

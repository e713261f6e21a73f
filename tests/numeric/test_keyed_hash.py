"""The keyed hash against the authors' vectors, against one label at a time, and on buffers of every shape."""

import hashlib
import importlib
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonhist.errors import DataError, UsageError
from anonhist.numeric import hash_buffer, hash_words, keyed_hash
from anonhist_testing.cases import each_of

VECTORS = json.loads((Path(__file__).parents[2] / "examples" / "hashing_vectors.json").read_text(encoding="utf-8"))
MODULE = importlib.import_module("anonhist.numeric.hashing")
MASK = 2**64 - 1
# vectors_sip128 of github.com/veorq/SipHash (vectors.h): secret 00 … 0f, message i is 00 … i - 1.
OFFICIAL = """
a3817f04ba25a8e66df67214c7550293 da87c1d86b99af44347659119b22fc45 8177228da4a45dc7fca38bdef60affe4
9c70b60c5267a94e5f33b6b02985ed51 f88164c12d9c8faf7d0f6e7c7bcd5579 1368875980776f8854527a07690e9627
14eeca338b208613485ea0308fd7a15e a1f1ebbed8dbc153c0b84aa61ff08239 3b62a9ba6258f5610f83e264f31497b4
264499060ad9baabc47f8b02bb6d71ed 00110dc378146956c95447d3f3d0fbba 0151c568386b6677a2b4dc6f81e5dc18
d626b266905ef35882634df68532c125 9869e247e9c08b10d029934fc4b952f7 31fcefac66d7de9c7ec7485fe4494902
5493e99933b0a8117e08ec0f97cfc3d9 6ee2a4ca67b054bbfd3315bf85230577 473d06e8738db89854c066c47ae47740
a426e5e423bf4885294da481feaef723 78017731cf65fab074d5208952512eb1 9e25fc833f2290733e9344a5e83839eb
568e495abe525a218a2214cd3e071d12 4a29b54552d16b9a469c10528eff0aae c9d184ddd5a9f5e0cf8ce29a9abf691c
2db479ae78bd50d8882a8a178a6132ad 8ece5f042d5e447b5051b9eacb8d8f6f 9c0b53b4b3c307e87eaee08678141f66
abf248af69a6eae4bfd3eb2f129eeb94 0664da1668574b88b935f3027358aef4 aa4b9dc4bf337de90cd4fd3c467c6ab7
ea5c7f471faf6bde2b1ad7d4686d2287 2939b0183223fafc1723de4f52c43d35 7c3956ca5eeafc3e363e9d556546eb68
77c6077146f01c32b6b69d5f4ea9ffcf 37a6986cb8847edf0925f0f1309b54de a705f0e69da9a8f907241a2e923c8cc8
3dc47d1f29c448461e9e76ed904f6711 0d62bf01e6fc0e1a0d3c4751c5d3692b 8c03468bca7c669ee4fd5e084bbee7b5
528a5bb93baf2c9c4473cce5d0d22bd9 df6a301e95c95dad97ae0cc8c6913bd8 801189902c857f39e73591285e70b6db
e617346ac9c231bb3650ae34ccca0c5b 27d93437efb721aa401821dcec5adf89 89237d9ded9c5e78d8b1c9b166cc7342
4a6d8091bf5e7d651189fa94a250b14c 0e33f96055e7ae893ffc0e3dcf492902 e61c432b720b19d18ec8d84bdc63151b
f7e5aef549f782cf379055a608269b16 438d030fd0b7a54fa837f2ad201a6403 a590d3ee4fbf04e3247e0d27f286423f
5fe2c1a172fe93c4b15cd37caef9f538 2c97325cbd06b36eb2133dd08b3a017c 92c814227a6bca949ff0659f002ad39e
dce850110bd8328cfbd50841d6911d87 67f14984c7da791248e32bb5922583da 1938f2cf72d54ee97e94166fa91d2a36
74481e9646ed49fe0f6224301604698e 57fca5de98a9d6d8006438d0583d8a1d 9fecde1cefdc1cbed4763674d9575359
e3040c00eb28f15366ca73cbd872e740 7697009a6a831dfecca91c5993670f7a 5853542321f567a005d547a4f04759bd
5150d1772f50834a503e069a973fbd7c
"""


def rotate(word: int, by: int) -> int:
    return (word << by | word >> (64 - by)) & MASK


def slow_siphash(message: bytes, secret: bytes) -> bytes:
    """SipHash-2-4-128 as the paper and the reference implementation have it, one message, big integers."""
    k0, k1 = (int.from_bytes(secret[at : at + 8], "little") for at in (0, 8))
    text = b"somepseudorandomlygeneratedbytes"
    v = [int.from_bytes(text[at : at + 8], "big") for at in (0, 8, 16, 24)]
    v = [v[0] ^ k0, v[1] ^ k1 ^ 0xEE, v[2] ^ k0, v[3] ^ k1]

    def rounds(count: int) -> bytes:
        for _ in range(count):
            for one, two, by in ((0, 1, 13), (2, 3, 16), (0, 3, 21), (2, 1, 17)):
                v[one] = (v[one] + v[two]) & MASK
                v[two] = rotate(v[two], by) ^ v[one]
                if two == 1:
                    v[one] = rotate(v[one], 32)
        return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    low = rounds(4)
    v[1] ^= 0xDD
    return low + rounds(4)


def slow_hash(message: bytes, key: bytes) -> str:
    return slow_siphash(message, hashlib.sha256(b"anonhist keyed hash 1\0" + key).digest()[:16]).hex()


def hexadecimal(hashes: np.ndarray) -> list[str]:
    assert hashes.dtype == np.uint64
    return [row.astype("<u8").tobytes().hex() for row in hashes]


def buffer_of(messages: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, messages)])
    return np.frombuffer(b"".join(messages), dtype=np.uint8), offsets


def messages_of(lengths: list[int], seed: int = 1) -> list[bytes]:
    rng = np.random.default_rng(seed)
    return [rng.bytes(length) for length in lengths]


def test_the_slow_hash_of_these_tests_gives_the_vectors_of_the_authors() -> None:
    assert [slow_siphash(bytes(range(size)), bytes(range(16))).hex() for size in range(64)] == OFFICIAL.split()


def test_gives_the_vectors_of_the_authors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_secret", lambda key: key)
    data, offsets = buffer_of([bytes(range(size)) for size in range(64)])
    assert hexadecimal(hash_buffer(data, offsets, key=bytes(range(16)))) == OFFICIAL.split()


def test_gives_the_test_vectors() -> None:
    assert len(VECTORS["hashes"]) >= 12
    for row in VECTORS["hashes"]:
        assert row["label"].encode().hex() == row["utf8"]
        assert hexadecimal(keyed_hash([row["label"]], key=bytes.fromhex(row["key"]))) == [row["hash"]]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 7, 64, 16384])
def test_labels_of_all_lengths_in_any_order_are_hashed_as_one_by_one(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MODULE, "_CHUNK", chunk)
    rng = np.random.default_rng(2)
    messages = messages_of(
        rng.permutation([*range(70), 255, 256, 257, 2039, 2048, 2055, *[14] * 30, *[0] * 5]).tolist()
    )
    data, offsets = buffer_of(messages)
    expected = [slow_hash(message, b"key") for message in messages]
    assert hexadecimal(hash_buffer(data, offsets, key=b"key")) == expected


@pytest.mark.slow
@given(st.lists(st.text(max_size=20), max_size=8), st.binary(min_size=1, max_size=40))
def test_strings_of_any_script_are_hashed_as_their_utf8(labels: list[str], key: bytes) -> None:
    expected = [slow_hash(label.encode(), key) for label in labels]
    assert hexadecimal(keyed_hash(labels, key=key)) == expected


def test_arrays_of_strings_are_hashed_as_lists() -> None:
    labels = ["apple", "", "Äpfel", "日本語", "🍎🍏"]
    expected = [slow_hash(label.encode(), b"k") for label in labels]
    for array in (np.array(labels), np.array(labels, dtype=object), np.array(labels, dtype=np.dtypes.StringDType())):
        assert hexadecimal(keyed_hash(array, key=b"k")) == expected


@each_of("dtype", [np.int32, np.int64, np.uint32])
@each_of("lengths", [[3, 0, 14, 8], [0, 1], [0], [7], [8], [9], [16, 1]])
def test_slices_of_a_buffer_need_neither_begin_nor_end_with_it(lengths: list[int], dtype: type) -> None:
    messages = messages_of(lengths)
    expected = [slow_hash(message, b"k") for message in messages]
    for before in (0, 1, 9):
        for after in (0, 1, 5, 30):
            data, offsets = buffer_of([b"\xff" * before, *messages, b"\xff" * after])
            part = offsets[1:-1].astype(dtype)
            assert hexadecimal(hash_buffer(data, part, key=b"k")) == expected


def test_strided_and_read_only_buffers_are_read_as_they_are() -> None:
    data = np.arange(60, dtype=np.uint8)[::2]
    expected = [slow_hash(data.tobytes()[:11], b"k"), slow_hash(data.tobytes()[11:], b"k")]
    assert hexadecimal(hash_buffer(data, [0, 11, 30], key=b"k")) == expected


def test_no_labels_have_no_hashes() -> None:
    nothing = np.empty(0, dtype=np.uint8)
    for hashes in (
        keyed_hash([], key=b"k"),
        keyed_hash(np.array([], dtype=str), key=b"k"),
        hash_buffer(nothing, [], key=b"k"),
        hash_buffer(nothing, [0], key=b"k"),
        hash_words(np.empty(0, dtype=np.uint64), key=b"k"),
    ):
        assert hashes.shape == (0, 2)
        assert hashes.dtype == np.uint64


def test_numbers_are_hashed_as_their_eight_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_CHUNK", 3)
    numbers = [0, 1, 255, 256, 2**32, 2**63, MASK]
    expected = [slow_hash(number.to_bytes(8, "little"), b"k") for number in numbers]
    assert hexadecimal(hash_words(np.array(numbers, dtype=np.uint64), key=b"k")) == expected


@pytest.mark.slow
def test_one_long_label_does_not_make_room_for_all_others() -> None:
    lengths = np.full(100_000, 14)
    lengths[500] = 6_000
    offsets = np.append(0, np.cumsum(lengths))
    data = np.zeros(offsets[-1], dtype=np.uint8)
    tracemalloc.start()
    hash_buffer(data, offsets, key=b"k")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # About 100 bytes a label, and what a chunk needs; as many bytes as the longest each would be 600 MB.
    assert peak < 20_000_000


def test_every_byte_of_the_key_matters_whatever_its_length() -> None:
    keys = [b"\0", b"\0\0", b"a", bytes(16), bytes(17), b"x" * 100, b"x" * 99 + b"y"]
    assert len({hexadecimal(keyed_hash(["label"], key=key))[0] for key in keys}) == len(keys)


@pytest.mark.parametrize("key", [b"", "key", None])
def test_an_empty_key_or_one_that_is_not_bytes_is_refused(key: object) -> None:
    with pytest.raises(UsageError, match="at least one byte"):
        keyed_hash(["a"], key=key)  # type: ignore[arg-type]  # refusing other types is tested


@pytest.mark.parametrize("labels", [["fine", "secret\ud800"], ["\udfff", ""]])
def test_lone_surrogates_are_refused_without_telling_the_label(labels: list[str]) -> None:
    with pytest.raises(DataError, match="lone surrogate") as caught:
        keyed_hash(labels, key=b"k")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@each_of("labels", [["a", None], ["a", 7], [b"a"], [float("nan")]])
def test_labels_that_are_no_strings_are_refused(labels: list[object]) -> None:
    with pytest.raises(DataError, match="must be strings"):
        keyed_hash(labels, key=b"k")  # type: ignore[arg-type]  # refusing other types is tested


@each_of(
    ("data", "offsets", "sentence"),
    [
        (np.zeros(4, np.uint8), [0, 5], "exceed the size"),
        (np.zeros(4, np.uint8), [-1, 2], "exceed the size"),
        (np.zeros(4, np.uint8), [0, 3, 2, 4], "must not decrease"),
        (np.zeros(4, np.uint8), np.array([0, 3, 2, 4], dtype=np.uint32), "must not decrease"),
        (np.zeros(4, np.uint8), [0.0, 2.0], "array of integers"),
        (np.zeros(4, np.uint8), [[0, 2]], "array of integers"),
        (np.zeros(4, np.int64), [0, 2], "bytes"),
        (np.zeros((2, 2), np.uint8), [0, 2], "bytes"),
    ],
)
def test_buffers_that_hold_no_labels_are_refused(data: np.ndarray, offsets: object, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        hash_buffer(data, offsets, key=b"k")  # type: ignore[arg-type]  # refusing other types is tested

"""A Zstandard file is whole when every frame and every block in it is."""

from io import BytesIO

import pyarrow as pa

from anonhist.ingest.locations import is_whole
from anonhist_testing.cases import each_of

SKIPPABLE = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
# A frame with a window, no stated size, one raw block and a checksum, which is not looked at.
CHECKED = bytes.fromhex("28b52ffd 04 58 190000 616263 00000000")
# One block that repeats a byte 300,000 times takes four bytes.
REPEATED = bytes.fromhex("28b52ffd 20 05 2b0000 61")


def pack(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


FRAMES = [
    pack(b""),
    pack(b"a"),
    pack(b"abc" * 100_000),
    pack(bytes(range(256)) * 2_000 + b"".join(number.to_bytes(4, "big") for number in range(50_000))),
    SKIPPABLE,
    CHECKED,
    REPEATED,
]


@each_of("frame", FRAMES)
def test_whole_frames_and_cut_ones(frame: bytes) -> None:
    assert is_whole(BytesIO(frame))
    assert is_whole(BytesIO(frame + frame))
    step = max(1, len(frame) // 500)
    for length in {*range(0, len(frame), step), *range(max(0, len(frame) - 9), len(frame))}:
        assert not is_whole(BytesIO(frame[:length]))
        assert length == 0 or not is_whole(BytesIO(CHECKED + frame[:length]))


@each_of("data", [b"x", b"label\na\n", b"\x1f\x8b" + b"\0" * 50, b"\x28\xb5\x2f\xfc" + b"\0" * 50])
def test_what_is_no_frame(data: bytes) -> None:
    assert not is_whole(BytesIO(data))
    assert not is_whole(BytesIO(CHECKED + data))

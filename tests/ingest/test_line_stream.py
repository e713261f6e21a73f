"""Lines, however a stream is cut into parts."""

import io
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from anonhist.errors import DataError
from anonhist.ingest import delimited
from anonhist.ingest.delimited import label_blocks
from anonhist_testing.cases import each_of


def _labels(content: bytes, block: int = 1 << 20) -> list[bytes]:
    found = []
    for data, offsets in label_blocks(io.BytesIO(content), block=block):
        assert data.dtype == np.uint8
        assert (offsets[0], offsets[-1]) == (0, data.size)
        found += [data[start:end].tobytes() for start, end in pairwise(offsets)]
    return found


@each_of(
    ("content", "labels"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"cat", [b"cat"]),
        (b"cat\n", [b"cat"]),
        (b"cat\n\ndog\n", [b"cat", b"", b"dog"]),
        (b"cat\r\ndog\nemu\r\n", [b"cat", b"dog", b"emu"]),
        (b"\r\n\r\nc\rat\r\r\n", [b"", b"", b"c\rat\r"]),
        (b" cat \n\tdog,\"\n'\\\n", [b" cat ", b'\tdog,"', b"'\\"]),
        (b"\xef\xbb\xbfcat\n\xef\xbb\xbfdog\n", [b"cat", b"dog"]),
        (b"a\xef\xbb\xbf\n\xef\xbb\xbf\xef\xbb\xbfb\r\n\xef\xbb\xbf\n", [b"a\xef\xbb\xbf", b"b", b""]),
        ("Käfer\n日本\n\U0001f43f".encode(), ["Käfer".encode(), "日本".encode(), "\U0001f43f".encode()]),
        (b"a\0b\n\x1b[2J\n", [b"a\0b", b"\x1b[2J"]),
    ],
)
def test_lines_are_labels_however_the_stream_is_cut(content: bytes, labels: list[bytes]) -> None:
    for block in range(1, len(content) + 2):
        assert _labels(content, block) == labels


class _Slow(io.BytesIO):
    """A stream of which never more than three bytes are there."""

    def read1(self, size: int | None = -1) -> bytes:
        del size
        return super().read1(3)


def test_a_stream_that_comes_bit_by_bit_is_read_whole() -> None:
    blocks = [bytes(data) for data, _ in label_blocks(_Slow(b"cat\nzebra\nemu\nzebra\n"), block=8)]
    assert blocks == [b"cat", b"zebraemu", b"zebra"]


def test_random_streams_are_split_as_one_would() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        content = bytes(rng.choice(np.frombuffer(b"ab\r\n", dtype=np.uint8), size=rng.integers(1, 60)))
        lines = content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
        if not content.endswith(b"\n"):  # as if the line feed were there
            lines[-1] = lines[-1].removesuffix(b"\r")
        assert _labels(content, int(rng.integers(1, 9))) == lines


@each_of("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_what_is_not_utf_8_is_refused(bad: bytes) -> None:
    for content in (bad + b"\n", b"zebra" + bad + b"\nnewt\n", b"zebra\n" * 30 + bad):
        with pytest.raises(DataError, match="not UTF-8") as caught:
            _labels(content, 16)
        assert "zebra" not in str(caught.value)


@pytest.mark.parametrize("block", [1, 2, 5])
def test_how_long_a_line_may_be_does_not_depend_on_how_the_stream_is_cut(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "LONGEST_LINE", 6)
    for end in (b"", b"\n", b"\nnewt"):
        assert _labels(b"a\nzebras" + end, block)[1] == b"zebras"
        with pytest.raises(DataError, match="A line is longer"):
            _labels(b"a\nzebras!" + end, block)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_LINE", 100)
    assert _labels(b"x" * 100, 10) == [b"x" * 100]
    assert _labels((b"x" * 99 + b"\n") * 3, 10) == [b"x" * 99] * 3
    for content in (b"x" * 111, b"cat\n" + b"x" * 120 + b"\n"):
        with pytest.raises(DataError, match="longer than"):
            _labels(content, 10)


class _Endless(io.RawIOBase):
    """A stream of so many parts, which are nowhere before they are read."""

    def __init__(self, parts: int) -> None:
        self._left = parts

    def read1(self, size: int = -1) -> bytes:
        self._left -= 1
        return b"zebra\n" * (size // 6) if self._left >= 0 else b""


def test_memory_does_not_grow_with_the_stream() -> None:
    peaks = []
    for parts in (8, 80):
        tracemalloc.start()
        rows = sum(offsets.size - 1 for _, offsets in label_blocks(_Endless(parts), block=1 << 16))  # type: ignore[arg-type]
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert rows == parts * ((1 << 16) // 6)
    assert peaks[1] < 1.1 * peaks[0]

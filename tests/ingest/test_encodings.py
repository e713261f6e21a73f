"""Text that is not UTF-8 is refused in a sentence that names the cause and the way, whoever reads it."""

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from anonhist.errors import DataError
from anonhist.graphs.reading import read_edges
from anonhist.ingest import read_profile
from anonhist.ingest.delimited import label_blocks
from anonhist_testing.cases import each_of

pytestmark = pytest.mark.usefixtures("lent_duckdb")

WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32")
ROWS = "label,other\nhunter2é,1\n"
NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "utf-32": "UTF-32"}


def pack(data: bytes, name: str) -> bytes:
    """Compress as the ending says."""
    if name.endswith(".zst"):
        import pyarrow as pa

        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


Reader = tuple[str, str, Callable[[Path], object], bool]
READERS: dict[str, Reader] = {
    "a table": ("a.csv", ROWS, lambda path: read_profile(path, label="label"), True),
    "tabs": ("a.tsv", ROWS.replace(",", "\t"), lambda path: read_profile(path, label="label"), True),
    "gzip": ("a.csv.gz", ROWS, lambda path: read_profile(path, label="label"), True),
    "Zstandard": ("a.csv.zst", ROWS, lambda path: read_profile(path, label="label"), True),
    "no header": ("a.csv", ROWS, lambda path: read_profile(path, label="column0", header=False), False),
    "labels": ("a.txt", "hunter2é\nb\n", lambda path: read_profile(path, format="labels"), False),
    "labels in gzip": ("a.txt.gz", "hunter2é\nb\n", lambda path: read_profile(path, format="labels"), False),
    "JSON lines": ("a.jsonl", '{"label":"hunter2é"}\n', lambda path: read_profile(path, label="label"), False),
    "edges": ("a.txt", "hunter2é b\nb c\n", read_edges, False),
    "nodes": ("a.txt", "hunter2é\nb\n", lambda path: read_edges([("b", "b")], nodes=path), False),
    "a stream": ("a.txt", "hunter2é\n", lambda path: list(label_blocks(io.BytesIO(path.read_bytes()))), False),
}


@each_of("reader", READERS.values())
def test_text_of_wide_characters_is_called_so(tmp_path: Path, reader: Reader) -> None:
    name, text, read, has_header = reader
    for encoding in WIDE:
        (tmp_path / name).write_bytes(pack(text.encode(encoding), name))
        with pytest.raises(
            DataError, match=f"is {NAMES[encoding]} text, .* iconv -f {NAMES[encoding]} -t UTF-8"
        ) as got:
            read(tmp_path / name)
        # A header is public, and rows are not.
        assert got.value.is_public is has_header, encoding
        assert "hunter2" not in str(got.value)


@each_of("reader", READERS.values())
def test_text_of_windows_is_told_how_to_be_written(tmp_path: Path, reader: Reader) -> None:
    name, text, read, _ = reader
    (tmp_path / name).write_bytes(pack(text.encode("cp1252"), name))
    with pytest.raises(DataError, match=r"is not UTF-8 text: .* iconv -f CP1252 -t UTF-8") as got:
        read(tmp_path / name)
    assert not got.value.is_public
    assert "hunter2" not in str(got.value)


def test_a_header_of_windows_is_public(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("label,größe\nhunter2,1\n".encode("cp1252"))
    with pytest.raises(DataError, match="CP1252") as got:
        read_profile(tmp_path / "a.csv", label="label")
    assert got.value.is_public


@each_of("label", ["\0", "\0\0", "a\0", "\0a", "a\0b", "ab\0\0", "\ufeffa\0b"])
def test_zero_bytes_are_characters_of_labels(tmp_path: Path, label: str) -> None:
    (tmp_path / "a.txt").write_bytes(f"abc\n{label}\n".encode())
    assert read_profile(tmp_path / "a.txt", format="labels").n == 2


@pytest.mark.slow
@each_of("encoding", WIDE)
def test_pipes_are_refused_alike(encoding: str) -> None:
    for text, options in ((ROWS, ("--label", "label")), ("hunter2\nsecret\n", ("--format", "labels"))):
        command = (sys.executable, "-m", "anonhist", "release", "-", "--epsilon", "1", "-o", "-", "--quiet", *options)
        ran = subprocess.run(command, input=text.encode(encoding), capture_output=True, check=False)
        assert ran.returncode == 3
        assert ran.stdout == b""
        assert b"UTF-16" in ran.stderr or b"UTF-32" in ran.stderr
        assert b"iconv -f" in ran.stderr
        assert b"hunter2" not in ran.stderr


@each_of(
    "text", ['[{"label":"hunter2"},{"label":"b"}]\n', '\ufeff [\n {"label":"hunter2"},\n {"label":"b"}\n]\n', "[]"]
)
def test_arrays_of_json_are_called_so(tmp_path: Path, text: str) -> None:
    for name in ("a.json", "a.jsonl.gz"):
        (tmp_path / name).write_bytes(pack(text.encode(), name))
        with pytest.raises(DataError, match=r"an array, .* must become one object on each line \(as jq") as got:
            read_profile(tmp_path / name, label="label")
        assert "hunter2" not in str(got.value)


def test_a_long_array_is_called_so(tmp_path: Path) -> None:
    """One line of 17 MB, which the engine would call too long."""
    (tmp_path / "a.json").write_text("[" + ",".join(['{"label":"hunter2"}'] * 900_000) + "]")
    with pytest.raises(DataError, match="an array, "):
        read_profile(tmp_path / "a.json", label="label")


def test_the_line_of_a_ragged_row_is_for_the_operator_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label,other\n" + "a,1\n" * 70_000 + "hunter2,1,2\n" + "a,1\n" * 70_000)
    with pytest.raises(DataError, match="more or fewer columns") as got:
        read_profile(tmp_path / "a.csv", label="label")
    assert "line" not in str(got.value)
    assert "in line 70,002" in getattr(got.value, "for_operator", "")
    assert "hunter2" not in getattr(got.value, "for_operator", "")


@pytest.mark.slow
def test_the_line_is_shown_on_a_terminal_alone(tmp_path: Path) -> None:
    """Also of a pipe, whose header line was read before."""
    text = "label,other\na,1\na,1\nhunter2,1,2\n"
    (tmp_path / "a.csv").write_text(text)
    for source, given in ((tmp_path / "a.csv", None), ("-", text)):
        command = (
            sys.executable,
            "-m",
            "anonhist",
            "release",
            str(source),
            "--label",
            "label",
            "--epsilon",
            "1",
            "-o",
            "-",
        )
        ran = subprocess.run((*command, "--quiet"), input=given, capture_output=True, text=True, check=False)
        assert ran.returncode == 3
        assert "more or fewer columns" in ran.stderr
        assert " line " not in ran.stderr
        outer, inner = os.openpty()
        subprocess.run(
            (*command, "--quiet"), input=given, stdout=subprocess.DEVNULL, stderr=inner, text=True, check=False
        )
        told = os.read(outer, 4096).decode()
        os.close(outer)
        os.close(inner)
        assert "That is in line 4," in " ".join(told.split())
        assert "hunter2" not in told

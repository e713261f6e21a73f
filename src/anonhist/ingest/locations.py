"""Locations of files: paths and patterns on this machine, and URLs, from which DuckDB reads the parts it needs.

Files behind URLs are opened by fsspec and PyArrow: DuckDB's own extension would be downloaded at its first use. Each
part must have the requested length, so that an error, such as a truncated transfer, is never mistaken for the end.

Keys in the names of folders (``day=2026-11-01/part-0.parquet`` has the key ``day``) are public, as every path is. The
value of a key is text as spelled, except for escapes such as ``%2F``. It never becomes a number or a date because all
folders look like one: one more file would change the names of the others' values. A key is read only if it is named, so
that no folder decides which column holds the labels.
"""

from __future__ import annotations

import glob
import os
import re
from datetime import UTC, datetime, timedelta
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote

from anonhist.errors import DataError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.engine import CUT_OFF, NOT_LINES, NOT_TEXT, TRY_AGAIN, WIDE_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    import duckdb

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_REPEATED = 1


def is_whole(file: IO[bytes]) -> bool:
    """Return whether a file consists of complete frames, by walking from block header to block header (RFC 8878, §3.1).

    ``file`` is seekable and at its beginning. Nothing is decompressed: a block holds up to 128 KiB, and only its three
    bytes of header are read.
    """
    size = file.seek(0, 2)
    file.seek(0)
    while (at := file.tell()) < size:
        magic = file.read(4)
        if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
            file.seek(int.from_bytes(file.read(4), "little"), 1)
        elif magic != _MAGIC or not _past_frame(file):
            return False
        if file.tell() > size or file.tell() - at < 8:
            return False
    return size > 0


def _past_frame(file: IO[bytes]) -> bool:
    descriptor = file.read(1)
    if not descriptor:
        return False
    flags = descriptor[0]
    single_segment, checksum = bool(flags & 0x20), bool(flags & 0x04)
    content_size = _CONTENT_SIZE_BYTES[flags >> 6] or int(single_segment)
    file.seek((not single_segment) + _DICTIONARY_BYTES[flags & 3] + content_size, 1)
    last = False
    while not last:
        header = file.read(3)
        if len(header) < 3:
            return False
        number = int.from_bytes(header, "little")
        last, kind, length = bool(number & 1), (number >> 1) & 3, number >> 3
        file.seek(1 if kind == _REPEATED else length, 1)
    file.seek(4 * checksum, 1)
    return True


_PATIENCE = timedelta(seconds=15)
_BLOCK = 2**22
_SIGN = re.compile(r"[*\[]")


def attach(connection: duckdb.DuckDBPyConnection, url: str) -> None:
    """Let DuckDB read a file, or the files of a pattern; refuse missing files and those that cannot be read in parts.

    ``url`` is https://, http://, s3:// or gs://, the last two also with the signs of a pattern.
    """
    scheme = url.partition("://")[0]
    if scheme not in _OPENERS:
        raise UsageError(
            f"Files of {mask(scheme)}:// cannot be read: name them as https://…, http://…, s3://… or gs://…, or "
            "download them first; for a database, name a table (`table`)."
        )
    try:
        system = _OPENERS[scheme](url)
    except ImportError:
        raise MissingExtraError(
            "Files behind URLs are read through fsspec; install it with: pip install 'anonhist[remote]'."
        ) from None
    except OSError as error:
        raise _unreadable(url, error) from None
    sign = None if scheme in _WEB else _SIGN.search(url)
    if sign is None:
        _check(system, url)
    else:
        _check_folder(system, url, url[: sign.start()].rpartition("/")[0])
    # DuckDB accepts each kind once, and handles https:// files with the http:// system.
    if system.protocol[0] not in connection.list_filesystems():
        connection.register_filesystem(system)


def _check(system: Any, url: str) -> None:
    shown = mask(url)
    try:
        found = system.info(url)
        is_cut = url.partition("?")[0].lower().endswith(".zst") and not _is_whole(system, url)
    except Exception as error:  # noqa: BLE001  # clients raise what they like, with the URL in it
        raise _unreadable(url, error) from None
    if found.get("type") == "directory":
        raise public_error(f"{shown!r} is a folder; name its files, such as '{shown.rstrip('/')}/*.parquet'.")
    if found.get("size") is None or not found.get("partial", True):
        raise DataError(f"The server of {shown!r} does not send files in parts: download the file first.")
    if not found["size"]:
        raise DataError(f"The file {shown!r} is empty.")
    if is_cut:
        raise DataError(f"The file {shown!r} cannot be decompressed: it is cut off, or not of the type of its ending.")


def _check_folder(system: Any, url: str, folder: str) -> None:
    """Refuse a pattern in a folder that cannot be listed, because fsspec would report no matches."""
    try:
        system.ls(folder)
    except FileNotFoundError:
        # Missing files are reported later.
        return
    except Exception as error:  # noqa: BLE001  # clients raise what they like
        raise _unreadable(url, error) from None


def _is_whole(system: Any, url: str) -> bool:
    with BufferedReader(system.open(url), _BLOCK) as file:
        return is_whole(file)


def _unreadable(url: str, error: Exception) -> DataError:
    """Return the error about a file that a server does not deliver, without its words, which quote signatures."""
    # For any response of a web server, fsspec reports a missing file, with the response as the cause.
    error = error.__cause__ if isinstance(error.__cause__, Exception) else error
    shown, said = repr(mask(url)), str(error).lower()
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status in (404, 410):
        return public_error(f"There is no file {shown}.")
    if status in (401, 403) or "access_denied" in said or "permission" in said or "credentials" in said:
        return DataError(
            f"The file {shown} may not be read with your credentials: check them, and the permissions of the file."
        )
    if status is not None:
        return DataError(f"The file {shown} cannot be read: the server answered with the status {status}.")
    if CUT_OFF in said:
        return DataError(f"The file {shown} {TRY_AGAIN}")
    return DataError(f"The server of {shown} cannot be reached: check the address and the network.")


class _Whole(RawIOBase):
    """A file in which each part has the requested length, or raises an error.

    ``part`` returns a number of bytes from a position on; ``file`` is closed at the end.
    """

    def __init__(self, part: Callable[[int, int], bytes], size: int, file: Any) -> None:
        self._part = part
        self._size = size
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        left = max(self._size - self._at, 0)
        wanted = left if size is None or size < 0 else min(size, left)
        try:
            data = self._part(self._at, wanted) if wanted else b""
        except Exception:  # noqa: BLE001  # clients raise what they like, with the URL in it
            raise OSError(CUT_OFF) from None
        if len(data) != wanted:
            raise OSError(CUT_OFF)
        self._at += wanted
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _web(_: str) -> Any:
    from fsspec.implementations.http import HTTPFileSystem

    class Web(HTTPFileSystem):  # type: ignore[misc]  # it has no types
        """Files of web servers, one by one: no address is a pattern."""

        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            file = super()._open(path, mode, **options | {"cache_type": "none"})

            def part(place: int, size: int) -> bytes:
                file.seek(place)
                return bytes(file.read(size))

            return _Whole(part, int(self.size(path)), file)

        def glob(self, path: str, **_: Any) -> list[str]:
            return [path]

        def modified(self, path: str) -> datetime:
            # DuckDB asks for the time of the last change, for its cache; it caches nothing longer than we do.
            return datetime(1970, 1, 1, tzinfo=UTC)

    # Proxies, and passwords in .netrc, are found as by other programs.
    return Web(skip_instance_cache=True, client_kwargs={"trust_env": True})


def _s3(url: str) -> Any:
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not (region or endpoint):
        region = fs.resolve_s3_region(url.partition("://")[2].partition("/")[0])
    # Keys and tokens are found where AWS programs look for them.
    return _of_arrow(fs.S3FileSystem(region=region, endpoint_override=endpoint), "s3")


def _gs(_: str) -> Any:
    from pyarrow import fs

    return _of_arrow(fs.GcsFileSystem(retry_time_limit=_PATIENCE), "gs")


def _of_arrow(system: Any, name: str) -> Any:
    from fsspec.implementations.arrow import ArrowFSWrapper

    class Bucket(ArrowFSWrapper):  # type: ignore[misc]  # it has no types
        """Files of an object store."""

        protocol = (name,)

        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            file = system.open_input_file(self._strip_protocol(path))
            return _Whole(lambda place, size: bytes(file.read_at(size, place)), int(self.size(path)), file)

    return Bucket(system, skip_instance_cache=True)


_WEB = ("http", "https")
_OPENERS: dict[str, Callable[[str], Any]] = {"http": _web, "https": _web, "s3": _s3, "gs": _gs}


def as_path(source: Any) -> Any:
    """Return the text of a path object, and everything else unchanged."""
    return os.fspath(source) if isinstance(source, os.PathLike) else source


_FILE_URLS = ("file://localhost", "file://")


def is_remote(source: str) -> bool:
    """Return whether a source is a URL that only the engine can reach."""
    return "://" in local_path(source)


def local_path(source: str) -> str:
    """Return the path or pattern of a ``file://`` URL, and everything else unchanged."""
    return next((source.removeprefix(url) for url in _FILE_URLS if source.startswith(url)), source)


def match_files(source: str) -> list[str]:
    """Return the files that a path or pattern names, in the order of their paths; nothing if there are none.

    A file occurs once, however many of its paths match (links, ``**``). A copy is another file.
    """
    local = local_path(source)
    if os.path.exists(local):  # noqa: PTH110  # patterns need not be paths
        return [local]
    found: dict[Hashable, str] = {}
    for path in sorted(glob.glob(local, recursive=True)):  # noqa: PTH207  # absolute patterns too
        found.setdefault(identity(path), path)
    return list(found.values())


def identity(path: str) -> Hashable:
    """Return an identity shared by all paths of a file, through symbolic links and hard links."""
    try:
        info = os.stat(path)  # noqa: PTH116  # the path may be anything
    except OSError:
        return os.path.realpath(path)
    # Not all file systems have their own file numbers, so these are used only for hard links.
    return (info.st_dev, info.st_ino) if info.st_nlink > 1 else os.path.realpath(path)


def readable(source: str) -> list[str]:
    """Return the readable, complete, non-empty files that a path or pattern names, each once, or refuse it."""
    found = match_files(source)
    if not found:
        sentence = f"There is no file {mask(source)!r}."
        # The files that a pattern matches may reveal who is in the data.
        raise (
            public_error(sentence) if local_path(source) == escape_pattern(local_path(source)) else DataError(sentence)
        )
    for name in found:
        _check_readable(name)
    return found


def escape_pattern(path: str) -> str:
    """Return a pattern that matches only this path, for engines that read every path as a pattern."""
    return re.sub(r"([*?[])", r"[\1]", path)


def _check_readable(name: str) -> None:
    path = Path(name)
    if path.is_dir():
        raise public_error(f"{name!r} is a folder; name its files, such as '{name}/*.parquet'.")
    if not path.is_file():
        # A pipe can be read only once, and finding the columns would use that up.
        raise DataError(f"{name!r} is not a regular file; pipe its contents into standard input and read '-'.")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
            whole = empty or path.suffix.lower() != ".zst" or is_whole(file)
    except OSError as error:
        raise DataError(f"The file {name!r} cannot be read: {error.strerror}.") from None
    if empty:
        raise DataError(f"The file {name!r} is empty.")
    if not whole:
        raise DataError(f"The file {name!r} cannot be decompressed: it is cut off, or not of the type of its ending.")


# This many bytes are inspected.
BEGINNING = 64
_UTF_8_MARK = b"\xef\xbb\xbf"
# The longer ones come first.
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_FEWEST = 4


def other_encoding(beginning: bytes) -> str | None:
    """Return the encoding of a text with several bytes per character; None for any other text.

    Without a byte order mark, it is recognized by zeros in every second byte, as in UTF-16 of a Latin script; such
    bytes are valid UTF-8, too.
    """
    for mark, name in _MARKS.items():
        if beginning.startswith(mark):
            return name
    even, odd = beginning[:BEGINNING:2], beginning[1:BEGINNING:2]
    if len(beginning) < _FEWEST or any(even) == any(odd):
        return None
    return "UTF-16LE" if any(even) else "UTF-16BE"


def not_utf_8(beginning: bytes) -> str:
    """Return what a text that is not UTF-8 is, as the end of a sentence."""
    encoding = other_encoding(beginning)
    return NOT_TEXT if encoding is None else WIDE_TEXT.format(encoding=encoding)


def check_beginning(beginning: bytes, what: str) -> None:
    """Refuse a text of rows that is not UTF-8, judged by its first bytes; the message contains nothing of it."""
    if other_encoding(beginning):
        raise DataError(f"{what} {not_utf_8(beginning)}")


def check_beginnings(beginnings: Sequence[bytes], what: str, *, is_json: bool) -> None:
    """Refuse texts of rows, labels or JSON lines that are of another kind, judged by their first bytes.

    The message contains nothing of them.
    """
    for beginning in beginnings:
        check_beginning(beginning, what)
        if is_json and beginning.removeprefix(_UTF_8_MARK).lstrip().startswith(b"["):
            raise DataError(f"{what} {NOT_LINES}")


_FOLDER = re.compile(r"([^=/\\]+)=[^/\\]*[/\\]")
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def folder_keys(paths: Iterable[str]) -> Mapping[str, str]:
    """Return the keys that all paths have, and their spelling if all agree; a key twice in one path does not count."""
    found = [keys_of_path(path) for path in paths]
    return found[0] if found and all(keys == found[0] for keys in found) else {}


def keys_of_path(path: str) -> dict[str, str]:
    """Return the keys of the folders of a path, and how they are spelled."""
    # The text after a question mark in a URL is not a folder.
    spelled = _FOLDER.findall(path.split("?", 1)[0] if "://" in path else path)
    names = [unquote(each) for each in spelled]
    return {name: each for name, each in zip(names, spelled, strict=True) if names.count(name) == 1}


def value_in_folder(file: str, key: str) -> str:
    """Return SQL for the value of a key, as spelled there, in the file name from the SQL ``file``, or null."""
    pattern = rf"(?:^|[/\\]){re.escape(key)}=([^/\\]*)[/\\]".replace("'", "''")
    spelled = f"regexp_extract({file}, '{pattern}', 1)"
    return f"url_decode(nullif(nullif({spelled}, ''), '{_MISSING}'))"

"""Files behind URLs: opened by fsspec and PyArrow, of which DuckDB reads the parts it needs, and nothing is downloaded.

DuckDB's own extension for this would be downloaded when it is first used. A file may be kept from it, or be cut off on
its way; each part must therefore have the length that was asked for, so that an error is never taken for the end.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from io import BufferedReader, RawIOBase
from typing import IO, TYPE_CHECKING, Any

from anonhist.errors import DataError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.engine import CUT_OFF, TRY_AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_REPEATED = 1


def is_whole(file: IO[bytes]) -> bool:
    """Return whether a file consists of complete frames, by walking from block header to block header (RFC 8878, §3.1).

    Nothing is decompressed: a block holds up to 128 KiB and only its three bytes of header are read.

    Parameters
    ----------
    file
        Open for reading in binary, at its beginning, and able to seek.

    Examples
    --------
    >>> from io import BytesIO
    >>> frame = bytes.fromhex("28b52ffd 20 01 090000 61")  # the letter a
    >>> is_whole(BytesIO(frame)), is_whole(BytesIO(frame[:-1]))
    (True, False)
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
    """Let DuckDB read a file, or the files of a pattern; refuse what is not there or cannot be read in parts.

    Parameters
    ----------
    connection
        The engine.
    url
        https://, http://, s3:// or gs://, the last two also with the signs of a pattern.

    Raises
    ------
    DataError
        If it is not there, empty, cut off, or not to be read by us.
    MissingExtraError
        If fsspec is not installed.
    UsageError
        If nobody here reads URLs of that kind.
    """
    scheme = url.partition("://")[0]
    if scheme not in _OPENERS:
        raise UsageError(
            f"Files of {mask(scheme)}:// cannot be read: name them as https://…, http://…, s3://… or gs://…, or "
            "download them first; of a database, name a table (`table`)."
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
    # DuckDB takes each kind once, and has the files of https:// by the system of http://.
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
        raise DataError(f"The file {shown!r} cannot be decompressed: it is cut off or not what its ending says.")


def _check_folder(system: Any, url: str, folder: str) -> None:
    """Refuse a pattern in a folder that cannot be listed, where fsspec would find that nothing matches."""
    try:
        system.ls(folder)
    except FileNotFoundError:
        # The files are missed later.
        return
    except Exception as error:  # noqa: BLE001  # clients raise what they like
        raise _unreadable(url, error) from None


def _is_whole(system: Any, url: str) -> bool:
    with BufferedReader(system.open(url), _BLOCK) as file:
        return is_whole(file)


def _unreadable(url: str, error: Exception) -> DataError:
    """Return the error about a file that a server does not hand out, without its words, which quote signatures."""
    # fsspec says of whatever a web server answers that there is no file, and has the answer behind it.
    error = error.__cause__ if isinstance(error.__cause__, Exception) else error
    shown, said = repr(mask(url)), str(error).lower()
    status = getattr(error, "status", None)
    if isinstance(error, FileNotFoundError) or status in (404, 410):
        return public_error(f"There is no file {shown}.")
    if status in (401, 403) or "access_denied" in said or "permission" in said or "credentials" in said:
        return DataError(
            f"The file {shown} is not open to you: check your credentials and the permissions of the file."
        )
    if status is not None:
        return DataError(f"The file {shown} cannot be read: the server answers with the status {status}.")
    if CUT_OFF in said:
        return DataError(f"The file {shown} {TRY_AGAIN}")
    return DataError(f"The server of {shown} cannot be reached: check the address and the network.")


class _Whole(RawIOBase):
    """A file, each part of which has the length that was asked for, or is an error.

    Parameters
    ----------
    part
        Returns so many bytes from a place on.
    size
        How many bytes there are.
    file
        What is closed in the end.
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
            # DuckDB asks when a file was changed, for what it remembers of it; it remembers nothing longer than we.
            return datetime(1970, 1, 1, tzinfo=UTC)

    # Proxies, and passwords in .netrc, are found as by other programs.
    return Web(skip_instance_cache=True, client_kwargs={"trust_env": True})


def _s3(url: str) -> Any:
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not (region or endpoint):
        region = fs.resolve_s3_region(url.partition("://")[2].partition("/")[0])
    # Keys and tokens are found where programs of AWS look for them.
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

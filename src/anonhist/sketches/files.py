"""Files of sketches: an Arrow IPC file of counters, with everything else as JSON in the schema's metadata.

The columns are ``counter`` (int64) and, for a known domain, ``label`` (large_string), in one uncompressed batch. The
JSON, under the key ``anonhist/sketch``, begins with the format, the version and ``sha256``: the SHA-256 of the whole
file, where the digits of the digest itself, in the schema and in its copy in the footer, count as zeros. No byte of a
file can change unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from anonhist.errors import DataError, OutputError, UsageError, mask, unreadable
from anonhist.formats.atomic import check_free, open_whole
from anonhist.formats.files import FileKind, check_not_older, naming_file
from anonhist.formats.untrusted import check_version, mapping, member, only_batch, parse_json, text
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.replacing import PrivateKind
from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.sketch import Sketch

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FORMAT, ENDING = "anonhist/sketch", ".sketch"
METADATA_KEY = FORMAT.encode()
_OLDER = b'{"format": "anonhist.sketch"'
_FIELDS = {
    *("format", "version", "sha256", "library_version", "kind", "key", "sample_share", "domain_size"),
    *("unit", "bound", "relation", "noise", "clipped", "users_in"),
}
_NAME = "unit_name"
_PART_FIELDS = ("identity", "gamma", "shape", "session", "participants")
_UNKNOWN_DIGEST = "0" * 64
_BEGINNING = re.compile(rb'\{"format": "anonhist/sketch", "version": (\d+), "sha256": "([0-9a-f]{64})"')
# The schema comes first in a file, and its metadata comes first in the schema.
_WHERE_IT_BEGINS = 4096
_ARROW = b"ARROW1"
_HEXADECIMAL = re.compile(r"(?:[0-9a-f]{2})+")


def check_sole_name(found: os.stat_result, path: str | Path) -> None:
    """Refuse a file that has other names, because they would keep its old state when it is replaced."""
    if found.st_nlink > 1:
        raise OutputError(
            f"{str(path)!r} has other names (hard links), which would keep its old state after an update; remove them "
            "first."
        )


def write_sketch(sketch: Sketch, file: BinaryIO) -> None:
    """Write the file of a sketch: once to find its digest, and once more with it.

    A sketch that has no guarantee yet, because it has only a share of the noise, may be seen only by its owner.
    """
    found = hashlib.sha256()
    with sketch.turn:
        try:
            _ = sketch.guarantee
        except UsageError:
            os.fchmod(file.fileno(), stat.S_IRUSR | stat.S_IWUSR)
        _encode(sketch, _UNKNOWN_DIGEST, found.update)
        _encode(sketch, found.hexdigest(), file.write)


FILES: FileKind[Sketch] = FileKind("sketch", {ENDING: write_sketch})


def read_sketch(path: str | Path) -> Sketch:
    """Read a sketch from a ``.sketch`` file, and check every byte of it.

    Its counters stay in the file, mapped into memory, until they first have to change; then they are copied, and the
    file stays unchanged. Programs that replace files by renaming, as this one does, do not disturb it; a program that
    writes into a file that is being read does.
    """
    with open_sketch(check_sketch_path(path), path) as file:
        return read_open_sketch(file, path)


def check_sketch_path(path: str | Path) -> Path:
    """Refuse a path that cannot be a sketch's."""
    if Path(path).suffix.lower() != ENDING:
        raise UsageError(f"{mask(str(path))!r} is not a sketch file: name one that ends in {ENDING}.")
    return Path(path)


@contextmanager
def open_sketch(source: Path, path: str | Path) -> Iterator[BinaryIO]:
    """Open the file of a sketch; the path is for error messages."""
    # Opening a pipe would wait for a writer.
    if os.path.exists(source) and not os.path.isfile(source):  # noqa: PTH110, PTH113  # pathlib may raise
        raise DataError(f"{str(path)!r} is not a regular file; name one that holds a sketch.")
    try:
        file = source.open("rb")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    with file:
        yield file


def read_open_sketch(file: BinaryIO, path: str | Path) -> Sketch:
    """Read a sketch from an open file; the path is for error messages."""
    with naming_file("sketch", path):
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise DataError("it is empty") from None
        except OSError:
            raise DataError("it is not a regular file") from None
        _check_whole(content)
        return _decode(content)


class _Sink:
    """A file that passes on what is written to it, and that its writer never closes."""

    closed = False

    def __init__(self, receive: Callable[[Any], Any]) -> None:
        self._receive, self._place = receive, 0

    def write(self, data: Any) -> int:
        self._receive(data)
        self._place += len(data)
        return len(data)

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        """Do nothing: the owner of the file flushes it."""


def _encode(sketch: Sketch, digest: str, receive: Callable[[Any], Any]) -> None:
    import pyarrow as pa

    columns: dict[str, Any] = {"counter": pa.array(sketch.counters)}
    if isinstance(sketch.addresses, DomainAddresses):
        columns["label"] = pa.array(sketch.addresses.labels, type=pa.large_string())
    # As ASCII text, in the order of construction.
    schema = _schema(*columns).with_metadata({METADATA_KEY: json.dumps(_head(sketch, digest))})
    with pa.ipc.new_file(pa.PythonFile(_Sink(receive), mode="w"), schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(list(columns.values()), schema=schema))


def _schema(*names: str) -> pa.Schema:
    import pyarrow as pa

    kinds = {"counter": pa.int64(), "label": pa.large_string()}
    return pa.schema([pa.field(name, kinds[name], nullable=False) for name in names])


def _head(sketch: Sketch, digest: str) -> dict[str, Any]:
    from anonhist.version import __version__

    addresses = sketch.addresses
    return {
        "format": FORMAT,
        "version": 1,
        "sha256": digest,
        "library_version": __version__,
        "kind": "hashed" if addresses.domain_size is None else "domain",
        "key": addresses.key.hex(),
        "sample_share": str(addresses.sampling_rate),
        "domain_size": addresses.domain_size,
        "unit": sketch.unit.kind,
        "bound": sketch.unit.bound,
        "relation": sketch.relation.value,
        "users_in": sketch.users_in.value,
        "noise": [{name: _as_json(getattr(part, name)) for name in _PART_FIELDS} for part in sketch.noise],
        "clipped": sketch.clipped,
        **({_NAME: sketch.unit.name} if sketch.unit.name else {}),
    }


def _as_json(value: Fraction | str | int) -> str | int:
    return str(value) if isinstance(value, Fraction) else value


def _check_whole(content: mmap.mmap) -> None:
    """Refuse a file in which any byte was changed, before anything in it is trusted."""
    if content[: len(_ARROW)] != _ARROW:
        raise DataError("it is not an Arrow file")
    begins = _BEGINNING.search(content, 0, _WHERE_IT_BEGINS)
    if begins is None:
        if content.find(_OLDER, 0, _WHERE_IT_BEGINS) >= 0:
            check_not_older("anonhist.sketch")
        raise DataError("it is not one of a sketch, or a damaged one")
    check_version({"format": FORMAT, "version": int(begins[1])}, FORMAT)
    again = content.rfind(begins[0])
    length = len(_UNKNOWN_DIGEST)
    first, second = begins.start(2), again + begins.start(2) - begins.start()
    found = hashlib.sha256()
    if second > first:
        with memoryview(content) as view:
            for start, end in ((0, first), (first + length, second), (second + length, len(view))):
                with view[start:end] as part:
                    found.update(part)
                if end < len(view):
                    found.update(_UNKNOWN_DIGEST.encode())
    if found.hexdigest().encode() != begins[2]:
        raise DataError("it is damaged or cut off: its digest does not match")


def _decode(content: mmap.mmap) -> Sketch:
    import pyarrow as pa

    try:
        batch = only_batch(pa.py_buffer(content))
    except (pa.ArrowException, OSError):
        raise DataError("it is not an Arrow file, or a damaged one") from None
    document = (batch.schema.metadata or {}).get(METADATA_KEY)
    if document is None:
        raise DataError("it is an Arrow file, but not one of a sketch")
    head = parse_json(document)
    check_version(head, FORMAT)
    # Only units that have a name of their own have this field.
    is_named = isinstance(head, dict) and _NAME in head
    fields = mapping(head, _FIELDS | {_NAME} if is_named else _FIELDS, "a sketch")
    names = {"hashed": ("counter",), "domain": ("counter", "label")}.get(text(fields["kind"], "the kind"))
    if names is None or not batch.schema.equals(_schema(*names)) or any(each.null_count for each in batch):
        raise DataError("its kind is not hashed or domain, or its columns are not those of that kind")
    # They stay in the file and must not be written to: a sketch copies them when they first have to change.
    return _sketch(fields, batch.column("counter").to_numpy(), batch)


def _sketch(fields: Mapping[str, Any], counters: NDArray[np.int64], batch: pa.RecordBatch) -> Sketch:
    text(fields["library_version"], "the library version")
    relation = member(NeighboringRelation, fields["relation"], "the relation")
    noise = fields["noise"]
    if not isinstance(noise, list):
        raise DataError("the parts of the noise must be a list")
    parts = [_component(part) for part in noise]
    users_in = member(UsersIn, fields["users_in"], "users_in")
    called = text(fields[_NAME], "the name of the unit") if _NAME in fields else ""
    if _NAME in fields and not called:
        raise DataError("the name of the unit must not be empty")
    if parts != sorted(parts):
        raise DataError("the parts of the noise must be in order")
    return Sketch.from_parts(
        _addresses(fields, counters.size, batch),
        unit=PrivacyUnit(text(fields["unit"], "the unit"), fields["bound"], name=called),
        relation=relation,
        noise=parts,
        counters=counters,
        clipped=fields["clipped"],
        users_in=users_in,
    )


def _addresses(fields: Mapping[str, Any], size: int, batch: pa.RecordBatch) -> HashedAddresses | DomainAddresses:
    if not isinstance(fields["key"], str) or not _HEXADECIMAL.fullmatch(fields["key"]):
        raise DataError("the key must be pairs of hexadecimal digits")
    key, share = bytes.fromhex(fields["key"]), _fraction(fields["sample_share"], "the share that is sampled")
    labels = fields["domain_size"]
    if fields["kind"] == "hashed":
        if labels is not None:
            raise DataError("only a known domain has a size")
        return HashedAddresses(size, key, share)
    if type(labels) is not int:
        raise DataError("the size of the domain must be a whole number")
    return DomainAddresses(tuple(batch.column("label").to_pylist()), labels, key, share)


def _component(value: object) -> NoiseComponent:
    fields = mapping(value, {*_PART_FIELDS}, "each part of the noise")
    gamma, shape = (_fraction(fields[name], f"the {name} of noise") for name in ("gamma", "shape"))
    return NoiseComponent(
        text(fields["identity"], "the identity of noise"),
        gamma,
        shape,
        text(fields["session"], "the session"),
        fields["participants"],
    )


def _fraction(value: object, what: str) -> Fraction:
    """Return an exact number > 0, written in this program's only notation."""
    exact = parse_epsilon(text(value, what), name=what)
    if str(exact) != value:
        raise DataError(f"{what} must be in lowest terms")
    return exact


@contextmanager
def sketch_in_place(path: str | Path, *, waiting: Callable[[], None] | None = None) -> Iterator[Sketch]:
    """Give the sketch in a file for changes, and write it back at the end; on any failure the file stays unchanged.

    The file is locked throughout: others who change it this way wait, and start from the new state. Readers meanwhile
    see the complete old sketch. The file keeps its permissions; if the path is a symbolic link, its target is changed.
    A file with several names (hard links) is refused: the old state would stay under the other names, and anyone with
    two states can see without noise what was counted between them.

    Parameters
    ----------
    path
        A file that :func:`write` made.
    waiting
        Called once if another process has locked the file, before waiting for it.

    Yields
    ------
    Sketch
        The sketch, to be changed in place, not replaced.

    Raises
    ------
    DataError, UsageError
        As for :func:`read_sketch`.
    OutputError
        If the file has several hard links, cannot be locked or written, or was replaced meanwhile by a program that
        ignores locks; nothing is left behind.

    Notes
    -----
    The lock is ``flock`` on the file itself, which each change replaces by a new one. So a process that gets the lock
    checks whether the path still names the locked file, and otherwise starts again.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.files import write
    >>> from anonhist.sketches import HashedSketch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(HashedSketch(buckets=1000, epsilon=1, key=b"week 47"), f"{folder}/a.sketch")
    ...     with sketch_in_place(f"{folder}/a.sketch") as sketch:
    ...         sketch.update(["pets", "cats", "pets"])
    """
    target = _follow_link(check_sketch_path(path))
    with _hold_lock(target, path, waiting) as file:
        check_sole_name(os.fstat(file.fileno()), path)
        sketch = read_open_sketch(file, path)
        check_free(target, overwrite=True, kind=PrivateKind.SKETCH)
        yield sketch
        with open_whole(target, overwrite=True, kind=PrivateKind.SKETCH) as replacement:
            _take_permissions(replacement, os.fstat(file.fileno()))
            write_sketch(sketch, replacement)
            check_sole_name(os.fstat(file.fileno()), path)
            if not _names(target, file):
                message = f"Another program replaced {str(path)!r} during the update; the new file was left unchanged."
                raise OutputError(message)


def _follow_link(path: Path) -> Path:
    """Return the target of a symbolic link; invalid names are refused when they are opened."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        return path


@contextmanager
def _hold_lock(target: Path, path: str | Path, waiting: Callable[[], None] | None) -> Iterator[BinaryIO]:
    """Open a file and wait for its lock, repeatedly until the locked file is the one that the path names.

    The end of the process also releases the lock.
    """
    # Imported only if there are sketches to change, because not every system has it.
    import fcntl

    while True:
        with open_sketch(target, path) as file:
            try:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if waiting is not None:
                        waiting()
                    fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:
                message = f"{str(path)!r} could not be locked ({error.strerror}): copy it to a disk of this machine."
                raise OutputError(message) from None
            waiting = None
            if _names(target, file):
                try:
                    yield file
                finally:
                    # Closing the file is not enough while, for example, the sketch of an error still has it mapped.
                    fcntl.flock(file, fcntl.LOCK_UN)
                return


def _names(target: Path, file: BinaryIO) -> bool:
    """Return whether the path names the open file."""
    try:
        return os.path.samestat(target.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _take_permissions(replacement: BinaryIO, old: os.stat_result) -> None:
    """Give a file the permissions of the one it replaces and, as far as the system permits, its owner."""
    with suppress(PermissionError):
        os.fchown(replacement.fileno(), old.st_uid, old.st_gid)
    os.fchmod(replacement.fileno(), stat.S_IMODE(old.st_mode))

"""Events into a part: exact counts in a private file, for releases of many days without reading any day again."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from anonhist.errors import AnonhistError, OutputError, UsageError
from anonhist.frozen import optional
from anonhist.ingest.engine import EngineLimits
from anonhist.ingest.locations import as_path
from anonhist.ingest.parts.counting import counted
from anonhist.ingest.parts.files import PartFile, PartWriter, all_rows, is_parts, open_parts, reading_rows
from anonhist.ingest.parts.rows import ENDING, PartDocument, bounded, parse_part, together
from anonhist.ingest.protection import check_users
from anonhist.ingest.random_order import key_where
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.profiles.where import where_text
from anonhist.replacing import PrivateKind, check_replaceable, check_target, name_unless_taken

if TYPE_CHECKING:
    from collections.abc import Iterator

# Folders of files that do not have their final names yet.
_folders: set[str] = set()


def check_part_path(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Refuse a path to which no part can be written, before any data are read.

    A ledger, or a private file that is not a part, is never replaced.
    """
    name = os.fspath(path)
    if not name.lower().endswith(ENDING):
        raise UsageError(f"Parts end in {ENDING}: {name!r:.200} does not.")
    return check_target(name, overwrite=overwrite, kind=PrivateKind.PART)


@contextmanager
def private_file(
    path: str | os.PathLike[str], *, overwrite: bool, before_naming: Callable[[], None] | None = None
) -> Iterator[BinaryIO]:
    """Give a file for writing that only its owner can read, and move it to ``path`` in one step.

    It is created in a folder beside ``path`` that nobody else can enter. On any failure nothing is left behind, and an
    existing file stays. A killed process may leave the folder, named ``.anonhist-…``. ``before_naming`` is called when
    the whole file is on the disk, before it gets its name.
    """
    target = check_part_path(path, overwrite=overwrite)
    beside = target.absolute().parent
    try:
        with TemporaryDirectory(prefix=".anonhist-", dir=beside) as folder, _listed(folder):
            made = Path(folder) / "part"
            with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                # This restores what the process's umask removes.
                os.fchmod(file.fileno(), 0o600)
                yield file
                file.flush()
                os.fsync(file.fileno())
            if before_naming is not None:
                before_naming()
            if overwrite:
                check_replaceable(target, PrivateKind.PART)
                made.replace(target)
            else:
                name_unless_taken(made, target)
        _sync(beside)
    except AnonhistError:
        raise
    except FileExistsError:
        raise UsageError(f"{str(target)!r} already exists; choose another name, or overwrite it.") from None
    except OSError as error:
        reason = error.strerror or "the system does not accept this name"
        raise OutputError(f"{str(target)!r} could not be written: {reason}; nothing was left behind.") from None


def remove_unfinished() -> None:
    """Remove unfinished files, for a process that is ending without leaving its ``with`` blocks."""
    for folder in list(_folders):
        rmtree(folder, ignore_errors=True)


@contextmanager
def _listed(folder: str) -> Iterator[None]:
    _folders.add(folder)
    try:
        yield
    finally:
        _folders.discard(folder)


def _sync(folder: Path) -> None:
    """Make the new name survive a loss of power, if the system offers that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_part(
    source: Any,
    path: str | os.PathLike[str],
    /,
    *,
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    order_key: str | None = None,
    hash_labels: bool = False,
    part: str | None = None,
    like: str | os.PathLike[str] | None = None,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "prevalences", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    overwrite: bool = False,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> None:
    """Count how often each label occurs, exactly, and keep the counts in a private file.

    Parts of different days are released together by ``read_profile(PATTERN)``, without their events. The file is **as
    private as the data**, readable by its owner alone: nothing in it is noisy, and hashes are only pseudonyms: the file
    contains the key, so its reader can check whether it contains a known label or user.

    Parameters
    ----------
    source
        As for :func:`read_profile`.
    path
        The path of the part, which ends in .counts.
    label, count, table, format, delimiter, header, keep_null, where, notify, progress, limits
        As for :func:`read_profile`. Prevalences cannot be kept. Parts with different conditions cannot be added up.
    user, max_per_user
        The column of users, and the number of items of each to keep. From all parts together, a release counts at most
        ``max_per_user`` items of each user, those with the smallest keyed hashes. Users are distinguished by their
        names.
    order_key
        With users or hashed labels: the key of the hashes, 32 hexadecimal digits, the same for all parts that are
        released together. By default, a new key is drawn and kept in the part. It must be chosen independently of the
        data.
    hash_labels
        Keep hashes of 128 bits instead of the labels.
    part
        The public name of the part, such as a date: a release refuses the same name twice. The default is the name of
        the written file, without its ending.
    like
        An earlier part whose settings to use: the key, whether labels are hashed, which rows count (``where``,
        ``keep_null``), and the bound on users.
    overwrite
        Replace an existing file, unless it is a ledger or a private file other than a part.

    Raises
    ------
    DataError, UsageError
        As for :func:`read_profile`, and if the settings contradict ``like``.
    OutputError
        If the file cannot be written; nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.ingest import read_profile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_part(["a", "b", "a"], f"{folder}/monday.counts")
    ...     write_part(["b", "c"], f"{folder}/tuesday.counts")
    ...     read_profile(f"{folder}/*.counts")
    Profile(n=5, num_labels=3, {1: 1, 2: 2})
    """
    target = check_part_path(path, overwrite=overwrite)
    model = None if like is None else PartFile.open(os.fspath(like)).document
    if model is not None and user is not None:
        check_users_like(model, user, None)
        max_per_user = model.max_per_user if max_per_user is None else max_per_user
    bound = check_users(user, max_per_user, None, count_users=False)
    refused = "`order_key` is the key of hashes, so it requires `user` or `hash_labels`."
    key = key_where(order_key, needed=user is not None or hash_labels, refused=refused)
    document = PartDocument(
        (parse_part(target.name[: -len(target.suffix)] if part is None else part),),
        "labels" if user is None else "users",
        "hashes" if hash_labels else "text",
        key,
        bound,
        keep_null,
        optional(where_text)(where),
    )
    if model is not None:
        document = _alike(document, model, user, order_key)
    said = SaidOfRows(format, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits)
    with (
        private_file(target, overwrite=overwrite) as file,
        counted(named, document, user, notify=notify, progress=progress) as (missing, rows),
        PartWriter(file, document) as writer,
    ):
        writer.missing(missing)
        writer.write(rows)


def _alike(asked: PartDocument, model: PartDocument, user: str | None, order_key: str | None) -> PartDocument:
    """Return the request with the settings of another part, or refuse a contradictory one."""
    if order_key is not None:
        raise UsageError("`like` already sets the key: leave `order_key` out.")
    check_users_like(model, user, asked.max_per_user)
    if asked.labels == "hashes" and model.labels == "text":
        raise UsageError("`like` names a part with labels as text: leave `hash_labels` out.")
    if asked.keep_null and not model.keep_null:
        raise UsageError("`like` names a part that leaves out rows without a label: leave `keep_null` out.")
    if asked.where not in (None, model.where):
        raise UsageError("`like` names a part that counts other rows: leave `where` out.")
    return replace(model, parts=asked.parts)


def check_users_like(model: PartDocument, user: str | None, bound: int | None) -> None:
    """Refuse users if another part has none, missing users if it has some, and a different bound."""
    if (user is not None) != (model.holds == "users"):
        raise UsageError(
            "That part holds items of users: name the column of users (`user`)."
            if user is None
            else "That part holds only counts of labels: leave `user` and `max_per_user` out."
        )
    if bound is not None and bound != model.max_per_user:
        raise UsageError(
            f"That part has {model.max_per_user} as its bound on items of each user: leave `max_per_user` out, or give "
            "that number."
        )


def name_of(source: Any) -> str | None:
    """Return the name of a source that is one file, without its endings; None for standard input and patterns."""
    source = as_path(source)
    if not isinstance(source, str) or source == "-" or "://" in source or set("*?[") & set(source):
        return None
    name = Path(source).name
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return Path(name).stem or None


def count_into(
    source: Any,
    total: str | os.PathLike[str],
    /,
    *,
    output: str | os.PathLike[str] | None = None,
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | None = None,
    part: str | None = None,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "prevalences", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    overwrite: bool = False,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
) -> None:
    """Add events, or parts, to a part: a running total that records which parts are in it.

    The total is read and written once, in the order of its keys, in memory that does not grow with it. It is replaced
    in one step: readers see the old total or the new one, and a total stays unchanged if its update is interrupted.
    Others who add to it meanwhile wait.

    Parameters
    ----------
    source
        Events, as for :func:`write_part`, or parts: a path or a pattern that ends in .counts, or a list of such paths.
    total
        The part to add to. Its settings apply: the key, whether labels are hashed, which rows count (``where``,
        ``keep_null``), and the bound on users.
    output
        Write the new total to this path and leave the old one unchanged.
    label, count, table, format, delimiter, header, notify, progress, limits
        As for :func:`write_part`, for events.
    user, max_per_user
        The column of users, if the total holds users; the bound may be left out.
    part
        The public name of the events; by default, the name of their file without its ending.
    overwrite
        Replace ``output``, if it exists.

    Raises
    ------
    UsageError
        If the total already has a part with that name, or the settings contradict those of the total.
    DataError
        As for :func:`write_part`, and if the total is damaged, or a sum would pass 2⁶³ − 1.
    OutputError
        If the new total cannot be written; the old one stays.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.ingest import read_profile
    >>> from anonhist.ingest.parts import write_part
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_part(["a", "b", "a"], f"{folder}/total.counts", part="monday")
    ...     count_into(["b", "c"], f"{folder}/total.counts", part="tuesday")
    ...     read_profile(f"{folder}/total.counts")
    Profile(n=5, num_labels=3, {1: 1, 2: 2})
    """
    if output is None:
        # A link stays a link: its target is replaced.
        total = os.path.realpath(os.fspath(total)) if os.path.islink(total) else total  # noqa: PTH114
    replaces = output is None
    target = check_part_path(total if output is None else output, overwrite=replaces or overwrite)
    said = SaidOfRows(format, label, count, header)
    with _held(total) as check_there:
        base = PartFile.open(os.fspath(total))
        parts, day = [base], None
        if is_parts(source):
            given = (label, count, user, max_per_user, part, table, format, delimiter)
            if any(each is not None for each in given) or not header:
                raise UsageError("Parts are already counted: leave out all options for reading events.")
            parts += open_parts(source)
        else:
            day = _day(base.document, source, user, max_per_user, part)
        document = together([*(each.document for each in parts), *([] if day is None else [day])])
        if document.max_per_user != base.document.max_per_user:
            raise UsageError(
                f"The total keeps {base.document.max_per_user} items of each user, and one of the others fewer: count "
                "that part like the total (`like`)."
            )
        before = check_there if replaces else None
        with (
            private_file(target, overwrite=replaces or overwrite, before_naming=before) as file,
            ExitStack() as stack,
        ):
            runs = [stack.enter_context(reading_rows(each)) for each in parts]
            if day is not None:
                named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits)
                events = counted(named, day, user, notify=notify, progress=progress)
                runs.append(stack.enter_context(events))
            with PartWriter(file, document) as writer:
                writer.missing(sum(missing for missing, _ in runs))
                rows = all_rows(document, [rows for _, rows in runs])
                writer.write(rows if document.max_per_user is None else bounded(rows, document.max_per_user))
            # Whether the total still exists is checked when the new one gets its name.
            for each in parts[1:]:
                each.check_unchanged()


def _day(
    total: PartDocument, source: Any, user: str | None, max_per_user: int | None, part: str | None
) -> PartDocument:
    """Return the description of the new part, with the settings of the total."""
    check_users_like(total, user, None)
    if user is not None:
        max_per_user = total.max_per_user if max_per_user is None else max_per_user
    bound = check_users(user, max_per_user, None, count_users=False)
    check_users_like(total, user, bound)
    name = name_of(source) if part is None else part
    if name is None:
        raise UsageError("These events have no name: give the public name of the part (`part`).")
    return replace(total, parts=(parse_part(name),))


@contextmanager
def _held(total: str | os.PathLike[str]) -> Iterator[Callable[[], None]]:
    """Lock a total, so that others who add to it wait, and give a check that nobody replaced it."""
    path = os.fspath(total)
    check_part_path(path, overwrite=True)
    while True:
        # If it does not exist, its reader refuses it with a better message.
        if not os.path.isfile(path):  # noqa: PTH113
            PartFile.open(path)
        with open(path, "rb") as file:  # noqa: PTH123
            _lock(file, path)
            if not _is_at(path, file):
                continue

            def check() -> None:
                if not _is_at(path, file):
                    raise OutputError(f"Another program replaced {path!r} during the update; it was left unchanged.")

            yield check
            return


def _is_at(path: str, file: Any) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))  # noqa: PTH116
    except OSError:
        return False


def _lock(file: Any, path: str) -> None:
    # Not every system has it.
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        message = f"{path!r} could not be locked ({error.strerror}): copy it to a local disk."
        raise OutputError(message) from None

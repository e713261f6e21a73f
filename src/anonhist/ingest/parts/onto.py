"""A day onto a running total: a sorted merge, after which the total is released without its days."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from anonhist.errors import OutputError, UsageError
from anonhist.ingest.limits import EngineLimits
from anonhist.ingest.parts.counting import Reading, counted
from anonhist.ingest.parts.document import PartDocument, parse_part, together
from anonhist.ingest.parts.files import PartFile, PartWriter, is_parts, open_parts, reading_rows
from anonhist.ingest.parts.merge import all_rows
from anonhist.ingest.parts.private_file import check_part_path, private_file
from anonhist.ingest.parts.rows import bounded
from anonhist.ingest.parts.write import check_users_like, name_of
from anonhist.ingest.query import check_users

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    """Add events, or parts, to a part: a running total that knows which parts are in it.

    The total is read and written once, in the order of its keys, in memory that does not grow with it. It is replaced
    in one step: whoever reads it has the old total or the new one, and a total whose update is interrupted stays as it
    was. Whoever adds to it meanwhile waits.

    Parameters
    ----------
    source
        Events, as for :func:`write_part`, or parts: a path or a pattern that ends in .counts, or a list of such paths.
    total
        The part to add to. Its settings apply: the key, whether labels are hashed, whether rows without a label count,
        and the bound on users.
    output
        Write the new total there and leave the old one as it is.
    label, count, table, format, delimiter, header, notify, progress, limits
        As for :func:`write_part`, for events.
    user, max_per_user
        Column of users, if the total holds users; the bound may be left out.
    part
        Public name of the events; by default the name of their file without its ending.
    overwrite
        Replace ``output``, if it is there.

    Raises
    ------
    UsageError
        If the total has a part of that name, or the settings contradict those of the total.
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
        # A link stays one: what it points to is replaced.
        total = os.path.realpath(os.fspath(total)) if os.path.islink(total) else total  # noqa: PTH114
    replaces = output is None
    target = check_part_path(total if output is None else output, overwrite=replaces or overwrite)
    reading = Reading(label, count, user, table, format, delimiter, header, notify, progress, limits)
    with _held(total) as check_there:
        base = PartFile.open(os.fspath(total))
        parts, day = [base], None
        if is_parts(source):
            given = (label, count, user, max_per_user, part, table, format, delimiter)
            if any(each is not None for each in given) or not header:
                raise UsageError("Parts are counted already: leave out all that says how to read events.")
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
                runs.append(stack.enter_context(counted(source, day, reading)))
            with PartWriter(file, document) as writer:
                writer.missing(sum(missing for missing, _ in runs))
                rows = all_rows(document, [rows for _, rows in runs])
                writer.write(rows if document.max_per_user is None else bounded(rows, document.max_per_user))
            # Whether the total is still there is seen when the new one gets its name.
            for each in parts[1:]:
                each.check_unchanged()


def _day(
    total: PartDocument, source: Any, user: str | None, max_per_user: int | None, part: str | None
) -> PartDocument:
    """Return what the new part is, with the settings of the total."""
    check_users_like(total, user, None)
    if user is not None:
        max_per_user = total.max_per_user if max_per_user is None else max_per_user
    bound = check_users(user, max_per_user, None, count_users=False)
    check_users_like(total, user, bound)
    name = name_of(source) if part is None else part
    if name is None:
        raise UsageError("These events have no name of their own: give the public name of the part (`part`).")
    return replace(total, parts=(parse_part(name),))


@contextmanager
def _held(total: str | os.PathLike[str]) -> Iterator[Callable[[], None]]:
    """Lock a total, so that others who add to it wait, and give a check that nobody replaced it."""
    path = os.fspath(total)
    check_part_path(path, overwrite=True)
    while True:
        # Refused in better words by who reads it, if it is not there.
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
        message = f"{path!r} could not be locked ({error.strerror}): copy it to a disk of this machine."
        raise OutputError(message) from None

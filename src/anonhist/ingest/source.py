"""What is read, and how: parsed once at the door, and passed on whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anonhist.ingest.engine import Spilling
from anonhist.ingest.files import check_stated, check_there, is_json, is_stdin
from anonhist.ingest.row_kinds import check_no_structures, counted_table
from anonhist.ingest.sources import as_path, open_source, plain_labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from anonhist.ingest.columns import Header
    from anonhist.ingest.engine import EngineLimits
    from anonhist.ingest.row_kinds import RowKind, SaidOfRows
    from anonhist.ingest.sources import Opened


@dataclass(frozen=True)
class Source:
    """A source as a call names it: a path or an address as text, or a table, and what was said of its rows."""

    # It may be an address with a password, or a table: neither is shown.
    of: Any = field(repr=False)
    rows: SaidOfRows
    table: str | None = None
    delimiter: str | None = None
    limits: EngineLimits | None = None

    @classmethod
    def named(
        cls,
        source: Any,
        rows: SaidOfRows,
        *,
        user: str | None,
        table: str | None,
        delimiter: str | None,
        limits: EngineLimits | None,
    ) -> Source:
        """Return the source that a call names, or refuse a call that contradicts itself or says too little."""
        rows.check(user)
        source = as_path(source)
        check_stated(source, rows.format, rows.label, header=rows.header)
        return cls(source, rows, table, delimiter, limits)

    def as_counted(self) -> Source:
        """Return it with what is counted in memory as a table."""
        of = counted_table(self.of, self.rows.format)
        check_no_structures(of)
        return replace(self, of=of)

    def labels(self) -> list[Any] | None:
        """Return the labels of a source that is nothing but labels in memory; None for all others."""
        return plain_labels(self.of)

    @cached_property
    def has_keys(self) -> bool:
        """Whether rows have keys, which are data: they decide neither what rows are nor where their labels are."""
        return is_json(self.of, format=self.rows.format)

    @property
    def may_recognize(self) -> bool:
        """Whether names of columns are public, so that they may say what rows are."""
        return not self.has_keys and not is_stdin(self.of)

    def kind(self, header: Header, *used: str | None, user: str | None) -> RowKind:
        """Return what a row stands for: see :meth:`~anonhist.ingest.row_kinds.SaidOfRows.kind`."""
        return self.rows.kind(header, (user, *used), user=user, may_recognize=self.may_recognize)

    def open(
        self,
        *columns: str | None,
        twice: bool = False,
        progress: Callable[[float], None] | None = None,
        spilling: Spilling = Spilling.TO_FOLDER,
    ) -> AbstractContextManager[Opened]:
        """Open it to read the columns of its rows and these: see :func:`~anonhist.ingest.sources.open_source`."""
        keys: tuple[str | None, ...] = ()
        if self.has_keys:
            # Whoever mistyped the name of a release is not told of keys.
            check_there(self.of)
            keys = (*self.rows.keys(), *columns)
        return open_source(
            self.of,
            table=self.table,
            format=self.rows.format,
            delimiter=self.delimiter,
            header=self.rows.header,
            keys=keys,
            twice=twice,
            progress=progress,
            spilling=spilling,
            limits=self.limits,
        )

"""Help whose options stand under headings, in the order in which a person decides them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


_COLUMN = 22


class SectionedCommand(click.Command):
    """A command that lists its options under headings.

    Parameters
    ----------
    sections
        Heading to parameter names. Options that are nowhere named come last, under "Other options"; where there are no
        sections, under "Options".
    """

    def __init__(self, *args: Any, sections: Mapping[str, tuple[str, ...]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = {option.name: option.get_help_record(ctx) for option in options}
        named = {name for names in self._sections.values() for name in names}
        others = tuple(name for name in records if name not in named)
        last = "Other options" if self._sections else "Options"
        for heading, names in (*self._sections.items(), (last, others)):
            # Padded, so that the texts of all sections begin in one column.
            rows = [(f"{record[0]:<{_COLUMN}}", record[1]) for name in names if (record := records.get(name))]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_COLUMN)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they are: a command must not be broken into lines."""
        del ctx
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.strip().splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line.strip()}\n")

"""``anonhist show``: the guarantee and the results of a released file."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from anonhist.errors import UsageError
from anonhist.kinds import kind_of_value
from anonhist.terminal.decorators import OneOf, SectionedCommand, WholeNumber, as_one, option_word
from anonhist.terminal.destinations import STDOUT, check_target
from anonhist.terminal.output import print_whole
from anonhist.terminal.reading import group_option

if TYPE_CHECKING:
    from anonhist.formats.deployment import Deployment
    from anonhist.releases.content import AnyRelease

# The help shows them, and must not load their owner: tests/cli/test_choices.py compares them.
_CURATOR_TYPES = ("government", "industry", "nonprofit")
_REQUIRED = ("curator", "curator_type", "published")


class AskedRecord(NamedTuple):
    """A requested record: its destination, and its facts beyond the release."""

    path: str
    deployment: Deployment
    force: bool

    @classmethod
    def of(cls, *, registry: str | None, force: bool, **facts: str | None) -> AskedRecord | None:
        """Return the requested record, or None; refuse facts without a registry, and missing required facts."""
        if registry is None:
            given = [option_word(name) for name, fact in facts.items() if fact is not None]
            if given or force:
                raise UsageError(f"{(given or ['--force'])[0]} requires --registry FILE.yaml, the record it is for.")
            return None
        missing = [option_word(name) for name in _REQUIRED if not facts[name]]
        if missing:
            raise UsageError(
                f"--registry also needs {', '.join(missing)}: the registry requires it, and releases do not contain it."
            )
        if registry != STDOUT and not registry.lower().endswith(".yaml"):
            raise UsageError(f"A record is JSON in YAML: end the path in .yaml, not {registry!r}.")
        from anonhist.formats.deployment import Deployment

        return cls(registry, Deployment(**{name: fact for name, fact in facts.items() if fact is not None}), force)

    @property
    def is_piped(self) -> bool:
        """Whether it goes to standard output."""
        return self.path == STDOUT

    def check(self, source: str) -> None:
        """Refuse a path that could not be written to, or that is the input."""
        if not self.is_piped:
            check_target(self.path, source, force=self.force)

    def write(self, release: AnyRelease) -> list[str]:
        """Write the record of a release atomically, and return the names of its empty fields."""
        from anonhist.formats.atomic import write_whole
        from anonhist.formats.deployment import empty_fields, registry_record

        record = registry_record(release, self.deployment)
        # A lone surrogate, which no file can hold, stays as JSON escapes it.
        text = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace")
        if self.is_piped:
            print_whole(text.decode())
        else:
            write_whole(self.path, text, overwrite=self.force)
        return list(empty_fields(record))

    def say(self, left: list[str]) -> None:
        """Print where the record was written, and which fields are still empty."""
        if not self.is_piped:
            click.echo(f"Wrote {self.path}; left for you to fill in: {', '.join(left)}.", file=sys.stdout)


registry_options = as_one(
    "record",
    click.option(
        "--registry",
        metavar="FILE.yaml",
        help="Also write a record for the public Differential Privacy Deployments Registry, or print only that with -. "
        "Facts that neither the release nor the options below contain are left for you to fill in. The record is JSON, "
        "which is also valid YAML.",
    ),
    click.option("--curator", metavar="NAME", help="Publisher of the release; required by the registry."),
    click.option(
        "--curator-type",
        type=OneOf(_CURATOR_TYPES),
        help="Kind of publisher, such as nonprofit; required by the registry.",
    ),
    click.option("--published", metavar="DATE", help="Day of publication, YYYY-MM-DD; required by the registry."),
    click.option("--title", metavar="TEXT", help="Name of what is published."),
    click.option("--purpose", metavar="TEXT", help="Intended use of what is published."),
    click.option("--region", metavar="TEXT", help="Region that the data describe, or whose laws apply."),
    click.option("--author", metavar="NAME", help="Author of the record."),
    click.option("--force", is_flag=True, help="Overwrite an existing record."),
    made=AskedRecord.of,
)


_SECTIONS = {
    "Input": ("group", "times"),
    "Record": registry_options.names,
}
_EXAMPLES = """
anonhist show release.json
anonhist show release.json --times 7
anonhist show release.json --registry record.yaml --curator Library --curator-type nonprofit --published 2026-01-31
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
@click.argument("path", metavar="RELEASE")
@group_option
@click.option(
    "--times",
    type=WholeNumber(),
    metavar="K",
    help="Show instead how many labels have exactly K items, and K or more, with 95% intervals.",
)
@registry_options
def show(path: str, group: str | None, times: int | None, record: AskedRecord | None) -> None:
    """Show a released file: its guarantee and its results.

    RELEASE is a .json or .parquet file from 'anonhist release', 'degrees' or 'sketch profile'.
    """
    from anonhist.formats.files import read
    from anonhist.formats.releases import read_release

    if record is not None:
        if group is not None:
            raise UsageError("--registry writes the record of the whole file: leave --group out.")
        record.check(path)
    if record is not None and times is not None:
        raise UsageError("--registry writes the record of the whole file: leave --times out.")
    found: Any = read(path) if path.lower().endswith((".json", ".parquet")) else None
    # For a file of another kind, this says which kind it is.
    release: AnyRelease = found if kind_of_value(found).terminal else read_release(path)
    left = [] if record is None else record.write(release)
    if record is None or not record.is_piped:
        _show(release, group, times)
    if record is not None:
        record.say(left)


def _show(release: AnyRelease, group: str | None, times: int | None) -> None:
    from anonhist.report.wording import describe_excess
    from anonhist.terminal.output import say_line
    from anonhist.terminal.reading import group_of

    shown = release if group is None else group_of(release, group)
    if times is not None:
        _show_times(shown, times)
        return
    kind_of_value(shown).load("terminal")(shown, sys.stdout)
    excess = getattr(release, "excess", None)
    if shown is not release and excess is not None:
        say_line(f"All groups: {describe_excess(excess)}", sys.stdout)


def _show_times(shown: object, times: int) -> None:
    """Print how many labels occur exactly so many times, and at least so many."""
    from anonhist.releases import Release
    from anonhist.terminal.output import say_line

    if not isinstance(shown, Release):
        raise UsageError("--times takes a number from one profile; of a release of groups, name one (--group).")
    exactly = shown.words.exactly.format(f"{times:,}").replace(" 1 items", " 1 item")
    at_least = shown.words.at_least.format(f"{times:,}").replace(" 1 items", " 1 item")
    say_line(f"{exactly}: {shown.prevalence(times)}", sys.stdout)
    say_line(f"{at_least}: {shown.k_plus(times)}", sys.stdout)

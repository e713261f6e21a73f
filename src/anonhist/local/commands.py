"""``anonhist local …``: the commands for local privacy."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click

from anonhist.catalogue import RANDOMIZER_OPTIONS, RANDOMIZERS
from anonhist.errors import UsageError
from anonhist.terminal.charging import AskedAccount, charging_options, say_account
from anonhist.terminal.decorators import (
    Brief,
    LazyGroup,
    OneOf,
    SectionedCommand,
    WholeNumber,
    catalogue_options,
    one_character,
    option_word,
)
from anonhist.terminal.destinations import STDOUT, Outputs, check_target, print_table
from anonhist.terminal.options import (
    delimiter_option,
    label_option,
    no_header_option,
    output_options,
    printed_output_option,
)
from anonhist.terminal.output import print_whole, say_line
from anonhist.terminal.reading import labels_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from anonhist.accounting.recording import Recorded, Unrecorded
    from anonhist.local.mechanisms import Recommendation
    from anonhist.local.survey import Survey


@click.group(
    cls=LazyGroup,
    homes={
        **{name: f".local.commands:{name}" for name in ("new", "randomize", "recommend")},
        **{name: f".local.estimate_commands:{name}" for name in ("estimate", "rappor", "tally")},
    },
)
def local() -> None:
    """Estimate frequencies from randomized reports.

    Each device randomizes its own value before sending it, so every report is deniable to a degree set by ε. Many
    reports together still reveal how frequent each value is.
    """


SURVEY_OUTPUT = "survey.json"
# Parameters that either of two options gives.
_EITHER = {"alphabet": "--alphabet FILE or --alphabet-size K"}
_NEW_SECTIONS = {
    "Privacy": ("epsilon",),
    "Values": ("alphabet", "alphabet_size", "other"),
    "Randomization": ("mechanism", *RANDOMIZER_OPTIONS),
    "Ledger": charging_options.names,
    "Output": ("title", "output", "force", "quiet"),
}
_NEW_EXAMPLES = """
anonhist local new --mechanism subset-selection --alphabet words.txt --epsilon 1 -o survey.json
anonhist local new --mechanism k-rr --alphabet-size 10 --epsilon 2 -o survey.json
anonhist local new --mechanism o-rr --buckets 256 --cohorts 8 --key pets --epsilon 4 -o survey.json
"""
_NEW_BRIEF = Brief(
    (
        *("mechanism", "epsilon", "alphabet", "alphabet_size", "other", "buckets", "cohorts", "key", "title"),
        *("ledger", "dataset", "output", "force"),
    ),
    "All devices and servers share this file, which holds nothing secret: how values are randomized, and the privacy "
    "guarantee.",
)


@click.command(cls=SectionedCommand, sections=_NEW_SECTIONS, brief=_NEW_BRIEF, epilog=_NEW_EXAMPLES)
@click.option(
    "--mechanism",
    required=True,
    metavar="NAME",
    type=OneOf(tuple(RANDOMIZERS)),
    help="How values are randomized; 'anonhist local recommend' finds the most accurate mechanism. An unknown name "
    "lists all.",
)
@click.option("--epsilon", metavar="E", help="Privacy budget of one report, such as 1; no default.")
@click.option("--alphabet", metavar="FILE", help="File of all possible values, one per line.")
@click.option(
    "--alphabet-size",
    type=WholeNumber(),
    metavar="K",
    help="Instead of --alphabet: the values are the whole numbers from 0 to K - 1.",
)
@click.option(
    "--other",
    metavar="LABEL",
    help="Value to report for anything outside --alphabet; by default, such values are an error.",
)
@catalogue_options(RANDOMIZER_OPTIONS)
@click.option(
    "--title",
    default="",
    metavar="TEXT",
    help="Name of the survey; reports of surveys with different names cannot be combined.",
)
@charging_options
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE.json",
        help="File to write; by default survey.json, or standard output in a pipe.",
    )
)
def new(
    *,
    mechanism: str,
    own: dict[str, Any],
    epsilon: str | None,
    alphabet: str | None,
    alphabet_size: int | None,
    other: str | None,
    title: str,
    account: AskedAccount,
    outputs: Outputs,
) -> None:
    """Make a survey: the public settings of all devices.

    All devices and servers share this file. It describes how values are randomized and the privacy guarantee. It holds
    nothing secret.

    With --ledger, the guarantee is charged to a budget of the people who report (--unit user --relation substitute).
    Estimates cost no more budget. Make a new survey whenever the same people report again.
    """
    account.check()
    target = outputs.target(SURVEY_OUTPUT)
    from anonhist.formats.files import check_ending, write_recorded
    from anonhist.local.files import survey_text
    from anonhist.local.mechanisms import parameter_names, price_of, survey_class, survey_digest, takes_epsilon

    if target != STDOUT:
        check_ending(target, endings=(".json",), what="A survey is")
    known = parameter_names(mechanism)
    if takes_epsilon(mechanism):
        if epsilon is None:
            raise UsageError("Give the privacy budget of a report, such as --epsilon 1; there is no default.")
        own["epsilon"] = epsilon
    elif epsilon is not None:
        raise UsageError(f"The epsilon of {mechanism} follows from its parameters; leave --epsilon out.")
    listed = _alphabet(mechanism, known, alphabet, alphabet_size, other)
    if listed is not None:
        own["alphabet"] = listed
    _check_taken(mechanism, known, own)
    try:
        survey = survey_class(mechanism)(title=title, **own)
        survey.check_report_size()
    except UsageError as error:
        # Two options give one parameter.
        named = "`alphabet`" if alphabet_size is None else "`alphabet_size`"
        raise UsageError(error.sentence.replace("`alphabet`", named)) from None
    price = partial(price_of, survey)
    inputs = [] if alphabet is None else [alphabet]
    account.destined(lambda: None if target == STDOUT else check_target(target, *inputs, force=outputs.force), price)
    with account.charged(price) as recorded:
        declared = survey if recorded.receipt is None else replace(survey, receipt=recorded.receipt)
        complete = partial(recorded.complete, partial(survey_digest, declared))
        if target == STDOUT:
            written = survey_text(declared)
            complete()
            print_whole(written)
            return
        write_recorded(declared, target, overwrite=outputs.force, before_naming=complete)
    if not outputs.quiet:
        _say(declared, target, recorded)


def _say(survey: Survey, target: str, recorded: Recorded | Unrecorded) -> None:
    """Print the guarantee of the survey, cautions, and the size of a report."""
    from anonhist.local.page import DOUBT
    from anonhist.report.wording import promise_lines

    for name, sentence in promise_lines(survey.guarantee, doubt=DOUBT):
        say_line(f"{name}: {sentence}", sys.stdout)
    weight = survey.forged_weight
    for caution in (*survey.cautions, *([] if weight is None else [f"{weight}."])):
        say_line(f"Caution: {caution}", sys.stdout)
    click.echo(f"Report: {survey.report_bytes:,} byte{'' if survey.report_bytes == 1 else 's'} per person.")
    say_account(recorded, sys.stdout)
    click.echo(f"Wrote {target}.")


def _check_taken(mechanism: str, known: Mapping[str, bool], own: Mapping[str, Any]) -> None:
    """Refuse parameters that the mechanism does not take, and require those that it needs."""
    if wrong := sorted(own.keys() - {"epsilon", *known}):
        takes = ", ".join(map(option_word, known)) or "nothing"
        raise UsageError(f"{mechanism} does not take {option_word(wrong[0])}; it takes {takes}.")
    if missing := [name for name, is_required in known.items() if is_required and name not in own]:
        needed = " and ".join(_EITHER.get(name, option_word(name)) for name in missing)
        raise UsageError(f"{mechanism} also requires {needed}.")


def _alphabet(mechanism: str, known: Collection[str], file: str | None, size: int | None, other: str | None) -> Any:
    """Return the alphabet that the options describe, or None."""
    from anonhist.local.alphabet import Alphabet

    if file is not None and size is not None:
        raise UsageError("Give the possible values as --alphabet FILE or as --alphabet-size K, not both.")
    if other is not None and file is None:
        raise UsageError("--other requires --alphabet FILE.")
    if file is None and size is None:
        return None
    if "alphabet" not in known:
        raise UsageError(f"{mechanism} accepts any text: leave --alphabet and --alphabet-size out.")
    if file is None:
        return size
    return Alphabet(labels_in(file, what="the possible values"), other=other)


_RECOMMEND_EXAMPLES = """
anonhist local recommend --alphabet-size 1000 --epsilon 1 --users 1e6
anonhist local recommend --alphabet-size 22000 --epsilon 5 --users 1e4 --max-bytes 4
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_RECOMMEND_EXAMPLES)
@click.option("--alphabet-size", type=WholeNumber(), required=True, metavar="K", help="Number of possible values.")
@click.option("--epsilon", required=True, metavar="E", help="Privacy budget of one report, such as 1.")
@click.option(
    "--users", type=WholeNumber(), required=True, metavar="N", help="Number of people who will report, such as 1e6."
)
@click.option("--max-bytes", type=WholeNumber(), metavar="B", help="Largest size of a report in bytes.")
@output_options(printed_output_option)
def recommend(*, alphabet_size: int, epsilon: str, users: int, max_bytes: int | None, outputs: Outputs) -> None:
    """Recommend a mechanism by its error and the size of its reports."""
    destination = outputs.for_printed_table(STDOUT, what="A recommendation is")
    from anonhist.local.mechanisms import recommend

    found = recommend(alphabet_size=alphabet_size, epsilon=epsilon, users=users, max_bytes=max_bytes)
    destination.write(found, lambda stream: None if destination.is_piped else _say_recommended(found, stream))


def _say_recommended(found: Recommendation, stream: TextIO) -> None:
    from anonhist.local.page import recommended_heads, recommended_rows

    say_line(f"Use {found.best}. {found.reason}", stream)
    click.echo(file=stream)
    heads = recommended_heads(found)
    print_table(heads, recommended_rows(found), stream, texts=[0, 3, 4][: len(heads) - 2], widest=110)


REPORTS_OUTPUT = "reports.parquet"
_RANDOMIZE_SECTIONS = {
    "Input": ("label", "format_", "delimiter", "no_header"),
    "Output": ("output", "force", "quiet"),
}
_RANDOMIZE_EXAMPLES = """
anonhist local randomize survey.json values.csv --label word -o reports.parquet
cat values.txt | anonhist local randomize survey.json - --format labels -o - | gzip > reports.ndjson.gz
"""


@click.command(cls=SectionedCommand, sections=_RANDOMIZE_SECTIONS, epilog=_RANDOMIZE_EXAMPLES)
@click.argument("survey")
@click.argument("source")
@label_option
@click.option(
    "--format",
    "format_",
    type=OneOf(("events", "labels")),
    help="What each row holds: an event (the default), or only a label. For standard input, give this (labels: one per "
    "line), or --label for CSV.",
)
@delimiter_option
@no_header_option
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="File to write: FILE.parquet, FILE.csv, FILE.ndjson, or - for JSON lines on standard output.  [default: "
        "reports.parquet, or - in a pipe]",
    )
)
def randomize(
    *,
    survey: str,
    source: str,
    label: str | None,
    format_: str | None,
    delimiter: str | None,
    no_header: bool,
    outputs: Outputs,
) -> None:
    """Simulate the reports of devices with given values.

    Use this only for simulations and tests, since whoever has the file of values already knows them.

    SURVEY is a file from 'anonhist local new'. SOURCE has one row per person, whose label is randomized. It is a file
    (.csv, .tsv, .jsonl or .parquet; .gz and .zst too), a pattern, or - for standard input. For standard input, also
    give its format: --format labels for one label per line, or --label COLUMN for CSV.
    """
    target = outputs.target(REPORTS_OUTPUT)
    from anonhist.formats.files import check_ending
    from anonhist.local.files import ENDINGS, read_survey, reports_writer
    from anonhist.local.reading import opened_values
    from anonhist.terminal.output import progress_bar

    ending = ".ndjson" if target == STDOUT else check_ending(target, endings=ENDINGS, what="Reports are")
    if target != STDOUT:
        check_target(target, source, survey, force=outputs.force)
    made_by = read_survey(survey)
    users = 0
    with (
        progress_bar("Randomizing", shown=not outputs.quiet and target != STDOUT) as bar,
        opened_values(
            source,
            label,
            format=format_,
            delimiter=one_character(delimiter),
            header=not no_header,
            progress=bar,
        ) as batches,
        _file(target, force=outputs.force) as file,
        reports_writer(ending, file) as writer,
    ):
        # So that there is a header even without reports.
        writer.write(made_by.randomize([]))
        for batch in batches:
            users += len(batch)
            writer.write(made_by.randomize(batch))
    if target != STDOUT and not outputs.quiet:
        size = made_by.report_bytes
        click.echo(f"Reports: {users:,}, {size:,} byte{'' if size == 1 else 's'} each.")
        click.echo(f"Wrote {target}.")


@contextmanager
def _file(target: str, *, force: bool) -> Iterator[BinaryIO]:
    """Open the output: a file that appears only once it is complete, or standard output."""
    if target == STDOUT:
        # If a value is refused at the end, nothing may be left that looks complete.
        with TemporaryFile() as file:
            yield file
            file.seek(0)
            copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    from anonhist.formats.atomic import open_whole

    with open_whole(target, overwrite=force) as file:
        yield file

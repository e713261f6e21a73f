"""``anonhist local new``: from options to a survey."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from anonhist.catalogue.randomizers import OPTIONS, RANDOMIZERS
from anonhist.cli.arguments import whole_number
from anonhist.cli.charging import CHARGING, charging_options, say_account
from anonhist.cli.decorators import OneOf, catalogue_options, option_word
from anonhist.cli.options import force_option, quiet_option
from anonhist.cli.output import print_whole, say_line
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.targets import STDOUT, check_target
from anonhist.cli.text_lines import labels_in
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.accounting.recording import Recorded, Unrecorded
    from anonhist.cli.charging import AskedAccount
    from anonhist.local.surveys.survey import Survey

DEFAULT_OUTPUT = "survey.json"
# Parameters that either of two options gives.
_EITHER = {"alphabet": "--alphabet FILE or --alphabet-size K"}
_SECTIONS = {
    "Privacy": ("epsilon",),
    "Values": ("alphabet", "alphabet_size", "other"),
    "Randomization": ("mechanism", *OPTIONS),
    "Ledger": CHARGING,
    "Output": ("title", "output", "force", "quiet"),
}
_EXAMPLES = """
anonhist local new --mechanism subset-selection --alphabet words.txt --epsilon 1 -o survey.json
anonhist local new --mechanism k-rr --alphabet-size 10 --epsilon 2 -o survey.json
anonhist local new --mechanism o-rr --buckets 256 --cohorts 8 --key pets --epsilon 4 -o survey.json
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
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
    "--alphabet-size", metavar="K", help="Instead of --alphabet: values are the whole numbers from 0 to K - 1."
)
@click.option(
    "--other",
    metavar="LABEL",
    help="Value to report for anything outside --alphabet; without it, such values are an error.",
)
@catalogue_options(OPTIONS)
@click.option(
    "--title",
    default="",
    metavar="TEXT",
    help="Name of the survey; reports of surveys with different names cannot be combined.",
)
@charging_options
@click.option(
    "-o",
    "--output",
    metavar="FILE.json",
    help="File to write; by default survey.json, or standard output in a pipe.",
)
@force_option
@quiet_option
def new(
    *,
    mechanism: str,
    own: dict[str, str | None],
    epsilon: str | None,
    alphabet: str | None,
    alphabet_size: str | None,
    other: str | None,
    title: str,
    account: AskedAccount,
    output: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Make a survey: the public settings of all devices.

    All devices and servers share this file. It says how values are randomized and what privacy that guarantees. It
    holds nothing secret.

    With --ledger, the guarantee is charged to the people who are asked: to a budget for users replaced. Estimates cost
    no more. Make a new survey whenever the same people are asked again.
    """
    account.check()
    target = output if output is not None else (DEFAULT_OUTPUT if sys.stdout.isatty() else STDOUT)
    from anonhist.formats.surveys import survey_text
    from anonhist.formats.writing import check_ending, write_recorded
    from anonhist.local.catalogue import needed_names, parameter_names, survey_class, takes_epsilon
    from anonhist.local.surveys.declaration import price_of, survey_digest

    if target != STDOUT:
        check_ending(target, endings=(".json",), what="A survey is")
    known = parameter_names(mechanism)
    given = _parameters(mechanism, known, own)
    if takes_epsilon(mechanism):
        if epsilon is None:
            raise UsageError("Give the privacy budget of a report, such as --epsilon 1; there is no default.")
        given["epsilon"] = epsilon
    elif epsilon is not None:
        raise UsageError(f"The epsilon of {mechanism} follows from its parameters; leave --epsilon out.")
    listed = _alphabet(mechanism, known, alphabet, alphabet_size, other)
    if listed is not None:
        given["alphabet"] = listed
    try:
        survey = survey_class(mechanism)(title=title, **given)
        survey.check_report_size()
    except TypeError:
        needed = [_EITHER.get(name, option_word(name)) for name in needed_names(mechanism) if name not in given]
        raise UsageError(f"{mechanism} also requires {' and '.join(needed)}.") from None
    except UsageError as error:
        # Two options give one parameter.
        named = "`alphabet`" if alphabet_size is None else "`alphabet_size`"
        raise UsageError(error.sentence.replace("`alphabet`", named)) from None
    price = partial(price_of, survey)
    inputs = [] if alphabet is None else [alphabet]
    account.destined(lambda: None if target == STDOUT else check_target(target, *inputs, force=force), price)
    with account.charged(price) as recorded:
        declared = survey if recorded.receipt is None else replace(survey, receipt=recorded.receipt)
        complete = partial(recorded.complete, partial(survey_digest, declared))
        if target == STDOUT:
            written = survey_text(declared)
            complete()
            print_whole(written)
            return
        write_recorded(declared, target, overwrite=force, before_naming=complete)
    if not quiet:
        _say(declared, target, recorded)


def _say(survey: Survey, target: str, recorded: Recorded | Unrecorded) -> None:
    """Print the guarantee of the survey, cautions, and the size of a report."""
    from anonhist.report.wording import promise_lines

    for name, sentence in promise_lines(survey.guarantee):
        say_line(f"{name}: {sentence}", sys.stdout)
    weight = survey.forged_weight
    for caution in (*survey.cautions, *([] if weight is None else [f"{weight}."])):
        say_line(f"Caution: {caution}", sys.stdout)
    click.echo(f"Report: {survey.report_bytes:,} byte{'' if survey.report_bytes == 1 else 's'} per person.")
    say_account(recorded, sys.stdout)
    click.echo(f"Wrote {target}.")


def _parameters(mechanism: str, known: tuple[str, ...], texts: dict[str, str | None]) -> dict[str, Any]:
    """Return the parameters that were given, refusing those that the mechanism does not take."""
    given = {
        name: whole_number(text, name=option_word(name)) if OPTIONS[name].kind == "whole" else text
        for name, text in texts.items()
        if text is not None
    }
    wrong = sorted(set(given) - set(known))
    if wrong:
        takes = ", ".join(map(option_word, known)) or "nothing"
        raise UsageError(f"{mechanism} does not take {option_word(wrong[0])}; it takes {takes}.")
    return given


def _alphabet(mechanism: str, known: tuple[str, ...], file: str | None, size: str | None, other: str | None) -> Any:
    """Return the alphabet that the options describe, None if they describe none."""
    from anonhist.local.surveys.alphabet import Alphabet

    if file is not None and size is not None:
        raise UsageError("Give the possible values as --alphabet FILE or as --alphabet-size K, not both.")
    if other is not None and file is None:
        raise UsageError("--other requires --alphabet FILE.")
    if file is None and size is None:
        return None
    if "alphabet" not in known:
        raise UsageError(f"{mechanism} accepts any text: leave --alphabet and --alphabet-size out.")
    if file is None:
        return whole_number(size, name="--alphabet-size")
    return Alphabet(labels_in(file, what="the values there can be"), other=other)

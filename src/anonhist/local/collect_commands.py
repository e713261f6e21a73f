"""``anonhist collect …``: what devices agree to, and the client that randomizes answers on them."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonhist.errors import OutputError, UsageError
from anonhist.terminal.decorators import LazyGroup, SectionedCommand, WholeNumber
from anonhist.terminal.destinations import STDOUT, Outputs, check_target
from anonhist.terminal.options import force_option, output_options, quiet_option
from anonhist.terminal.output import print_whole, say_line
from anonhist.terminal.reading import labels_in

if TYPE_CHECKING:
    from anonhist.local.collection import AnswersLike, Batches, Collection, Looks


@click.group(
    cls=LazyGroup,
    homes={
        "client": ".local.collect_commands:client",
        "invite": ".collect.invite_commands:invite",
        "new": ".local.collect_commands:new",
    },
)
def collect() -> None:
    """Collect answers that are randomized in people's browsers.

    A collection says what all devices agree to: a survey, how often a person may answer it, and what is shown. The
    client randomizes an answer on the device, and reports go wherever you like. A report may arrive twice:
    'anonhist local tally --unique id' counts each once.
    """


COLLECTION_OUTPUT = "collection.json"
_NEW_SECTIONS = {
    "Answers": ("answers", "candidates", "last_day", "keep_ids", "invited"),
    "Batches": ("batch", "honest", "delta"),
    "Output": ("output", "force", "quiet"),
}
_NEW_EXAMPLES = """
anonhist collect new survey.json --answers once --last-day 2026-12-31 -o collection.json
anonhist collect new survey.json --answers 7 --last-day 2026-12-31 --batch 10000 --honest 5000 --delta 1e-6
"""


@click.command(cls=SectionedCommand, sections=_NEW_SECTIONS, epilog=_NEW_EXAMPLES)
@click.argument("survey")
@click.option(
    "--answers",
    required=True,
    metavar="once|T",
    help="How often a person may answer: once, so that the first answer stands, or T times, each at the full epsilon.",
)
@click.option(
    "--last-day",
    required=True,
    metavar="DATE",
    help="Last day of the collection in UTC, as 2026-12-31. Devices trust no clock of theirs: stop collecting then.",
)
@click.option(
    "--candidates",
    metavar="FILE",
    help="For surveys of any text: the values to be estimated, one per line, fixed before anybody answers.",
)
@click.option(
    "--keep-ids",
    type=WholeNumber(),
    default=14,
    show_default=True,
    metavar="DAYS",
    help="For how many days a report that is sent again is recognized.",
)
@click.option(
    "--invited",
    is_flag=True,
    help="Accept only invitations of 'anonhist collect invite', one for each report. They tell who sent which report.",
)
@click.option(
    "--batch",
    type=WholeNumber(),
    metavar="N",
    help="Show only sums over batches of N reports. By default, the operator looks at all reports.",
)
@click.option(
    "--honest",
    type=WholeNumber(),
    metavar="M",
    help="How many people of a batch, at least, follow the survey; required with --batch.",
)
@click.option("--delta", metavar="D", help="Delta of the guarantee of batches, such as 1e-6; required with --batch.")
@output_options(
    click.option(
        "-o",
        "--output",
        metavar="FILE.json",
        help="File to write; by default collection.json, or standard output in a pipe.",
    )
)
def new(
    *,
    survey: str,
    answers: str,
    last_day: str,
    candidates: str | None,
    keep_ids: int,
    invited: bool,
    batch: int | None,
    honest: int | None,
    delta: str | None,
    outputs: Outputs,
) -> None:
    """Describe a collection: what all of its devices agree to.

    SURVEY is a file from 'anonhist local new'. The collection has a digest of everything in it; pages name that digest,
    so that nobody can be given other settings. It holds nothing secret.
    """
    target = outputs.target(COLLECTION_OUTPUT)
    from anonhist.formats.files import check_ending, write
    from anonhist.local.collection import Anybody, Collection, Invited
    from anonhist.local.collection_files import collection_text
    from anonhist.local.files import read_survey
    from anonhist.terminal.decorators import whole_number

    if target != STDOUT:
        check_ending(target, endings=(".json",), what="A collection is")
        check_target(target, survey, *([] if candidates is None else [candidates]), force=outputs.force)
    given: AnswersLike | None = "once" if answers == "once" else whole_number(answers, name="--answers")
    if given is None:
        raise UsageError("Give --answers once, or the number of answers that a person may give, such as --answers 7.")
    collection = Collection(
        survey=read_survey(survey),
        answers=given,
        last_day=last_day,
        candidates=None if candidates is None else labels_in(candidates, what="the candidates"),
        shown=_shown(batch, honest, delta),
        keep_ids=keep_ids,
        open_to=Invited() if invited else Anybody(),
    )
    if target == STDOUT:
        print_whole(collection_text(collection))
        return
    write(collection, target, overwrite=outputs.force)
    if not outputs.quiet:
        _say(collection, target)


def _shown(batch: int | None, honest: int | None, delta: str | None) -> Batches | Looks:
    from anonhist.local.collection import Batches, Looks

    if batch is None and honest is None and delta is None:
        return Looks()
    if batch is None or honest is None or delta is None:
        raise UsageError("Batches need all of --batch, --honest and --delta.")
    return Batches(users=batch, honest=honest, delta=delta)


def _say(collection: Collection, target: str) -> None:
    from anonhist.local.collection import Looks

    say_line(f"All answers of a person together: {collection.guarantee}", sys.stdout)
    if not isinstance(collection.shown, Looks):
        say_line(f"Toward those who see only batches: {collection.shown_guarantee}", sys.stdout)
    for caution in collection.cautions:
        say_line(f"Caution: {caution}", sys.stdout)
    click.echo(f"Digest, to be named by pages: {collection.digest}")
    click.echo(f"Wrote {target}.")


_CLIENT_FILES = ("client.js", "client.d.ts", "package.json", "index.html", "try.js")
_CLIENT_EXAMPLES = """
anonhist collect client -o static/
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_CLIENT_EXAMPLES)
@click.option(
    "-o", "--output", required=True, metavar="FOLDER", help="Folder to write the files to; it is made if it is missing."
)
@force_option
@quiet_option
def client(*, output: str, force: bool, quiet: bool) -> None:
    """Write the JavaScript client for browsers.

    It randomizes answers on the device. It is one module without dependencies, client.js, with its types and a
    package.json. It fetches nothing but the description of a collection, and sends nothing unless a page asks it to.
    index.html is a page to try it: serve the folder, such as by 'python3 -m http.server'.
    """
    from anonhist.formats.atomic import check_free, write_whole
    from anonhist.local.collection_files import collection_text

    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder {output!r} cannot be made; choose another.") from None
    shipped = files("anonhist.local").joinpath("client")
    contents = {name: shipped.joinpath(name).read_bytes() for name in _CLIENT_FILES}
    contents["try.json"] = collection_text(_sample()).encode()
    for name in contents:
        check_free(folder / name, overwrite=force)
    for name, content in contents.items():
        write_whole(folder / name, content, overwrite=force)
        if not quiet:
            click.echo(f"Wrote {folder / name}.")


def _sample() -> Collection:
    """Return the collection of the page to try."""
    from anonhist.local.collection import Collection
    from anonhist.local.randomizers.closed import KRR

    survey = KRR(alphabet=["by bus", "by car", "by bicycle", "on foot"], epsilon=1, title="How do you get to work?")
    return Collection(survey=survey, answers="once", last_day="2099-12-31")

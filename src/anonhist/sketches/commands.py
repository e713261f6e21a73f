"""``anonhist sketch …``: the commands for private sketches."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from anonhist.errors import UsageError
from anonhist.replacing import PrivateKind
from anonhist.terminal.decorators import Brief, LazyGroup, OneOf, SectionedCommand, WholeNumber, refuse_given
from anonhist.terminal.destinations import STDOUT, Outputs, check_target, print_table
from anonhist.terminal.options import (
    epsilon_option,
    new_sketch_protection_options,
    output_options,
    printed_output_option,
    sketch_output_options,
    sketch_protection_options,
)
from anonhist.terminal.output import say_line
from anonhist.terminal.protection import Protection
from anonhist.terminal.reading import labels_in

if TYPE_CHECKING:
    from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
    from anonhist.sketches.kinds import BucketRecommendation
    from anonhist.sketches.noise import NoiseShare
    from anonhist.sketches.sketch import Sketch


@click.group(
    cls=LazyGroup,
    homes={
        **{name: f".sketches.commands:{name}" for name in ("info", "merge", "new", "recommend")},
        **{name: f".sketches.data_commands:{name}" for name in ("profile", "update")},
    },
)
def sketch() -> None:
    """Count labels in private sketches, noisy from the start.

    A sketch takes updates from streams, can be merged across machines, uses a fixed amount of memory, and still yields
    the profile: how many labels occur once, twice, and so on.
    """


_PROTECTED = ("unit", "unit_name", "max_per_user", "users_in", "relation", "honest_parties", "session", "adversary")
_SET_BY_LIKE = ("sampling_rate", "key", *_PROTECTED)
_NEW_SECTIONS = {
    "Counters": ("buckets", "alphabet", "sampling_rate", "key", "like"),
    "Privacy": ("epsilon", *_PROTECTED),
    "Output": ("output", "force", "quiet"),
}
_NEW_EXAMPLES = """
anonhist sketch new --buckets 1e6 --epsilon 1 -o day1.sketch
anonhist sketch new --like day1.sketch -o day2.sketch
anonhist sketch new --alphabet words.txt --epsilon 0.5 --max-per-user 5 -o users.sketch
"""
_NEW_BRIEF = Brief(
    ("buckets", "alphabet", "key", "like", "epsilon", "unit", "max_per_user", "relation", "output", "force"),
    "Give exactly one of --buckets, --alphabet or --like.",
)


@click.command(cls=SectionedCommand, sections=_NEW_SECTIONS, brief=_NEW_BRIEF, epilog=_NEW_EXAMPLES)
@click.option(
    "--buckets",
    type=WholeNumber(),
    metavar="B",
    help="For unknown labels: number of counters that labels are hashed into, such as 1e6.",
)
@click.option("--alphabet", metavar="FILE", help="For known labels: file of all possible labels, one per line.")
@click.option(
    "--like",
    metavar="SKETCH",
    help="Copy the settings of this sketch, so that both can be merged; the noise is new.",
)
@click.option(
    "--sampling-rate",
    metavar="S",
    help="Share of labels to count, such as 1/10, chosen by their hash. Sampling alone gives no privacy.",
)
@click.option(
    "--key",
    metavar="TEXT",
    help="Public text that determines the hashes, chosen before the data.  [default with --buckets: random]",
)
@epsilon_option("Total privacy budget of the sketch, such as 1; no default.")
@new_sketch_protection_options
@click.option(
    "--users-in",
    type=OneOf(("every-sketch", "one-sketch")),
    help="With --max-per-user: whether a user may have items in every sketch that is merged (budgets add up), or is "
    "known to be in only one of them.  [default: every-sketch]",
)
@click.option(
    "--honest-parties",
    type=WholeNumber(),
    metavar="H",
    help="Draw only one of H shares of the noise. The sum of the sketches is private if H parties besides the "
    "adversary do the same. A single sketch is not private: nobody may see it before the sketches are added under "
    "encryption.",
)
@click.option(
    "--session", metavar="NAME", help="With --honest-parties: name of the encrypted sum, the same for all parties."
)
@click.option(
    "--adversary",
    type=OneOf(("party", "outsider")),
    help="With --honest-parties: whether to protect against the parties, too, each of which knows its own share, or "
    "only against outsiders.  [default: party]",
)
@sketch_output_options
def new(
    *,
    buckets: int | None,
    alphabet: str | None,
    like: str | None,
    sampling_rate: str | None,
    key: str | None,
    epsilon: str | None,
    protection: Protection,
    users_in: str | None,
    honest_parties: int | None,
    session: str | None,
    adversary: str | None,
    outputs: Outputs,
) -> None:
    """Make a sketch that contains noise and no data.

    Give exactly one of --buckets, --alphabet or --like.
    """
    if sum(each is not None for each in (buckets, alphabet, like)) != 1:
        raise UsageError("Give exactly one of --buckets B, --alphabet FILE or --like SKETCH.")
    from anonhist.sketches.promise import UsersIn
    from anonhist.sketches.sketch import Sketch

    check_sketch(outputs, *filter(None, (alphabet, like)))
    if like is not None:
        refuse_given(_SET_BY_LIKE, "--like already sets {}; leave it out.")
        made = _alike(like, epsilon)
    else:
        if epsilon is None:
            raise UsageError("Give the privacy budget of the sketch, such as --epsilon 1; there is no default.")
        if users_in is not None and protection.max_per_user is None:
            raise UsageError("--users-in requires --max-per-user M: it applies only to sketches that protect users.")
        share = _noise_share(honest_parties, session, adversary)
        made = Sketch(
            _addresses(buckets, alphabet, key, sampling_rate),
            epsilon=epsilon,
            unit=protection.unit,
            relation=protection.relation,
            users_in=UsersIn(users_in or "every-sketch"),
            noise_share=share,
            source=None,
        )
    write_sketch(made, outputs)


def _noise_share(honest: int | None, session: str | None, adversary: str | None) -> NoiseShare | None:
    """Return the share of the noise that the options describe, or None for all of it."""
    if (honest is None) != (session is None):
        raise UsageError("--honest-parties H and --session NAME must be given together.")
    if honest is None or session is None:
        if adversary is not None:
            raise UsageError("--adversary requires --honest-parties.")
        return None
    from anonhist.sketches.noise import Adversary, NoiseShare

    return NoiseShare(honest=honest, session=session, adversary=Adversary(adversary or "party"))


def _addresses(
    buckets: int | None, alphabet: str | None, key: str | None, sampling_rate: str | None
) -> HashedAddresses | DomainAddresses:
    """Return the map from labels to counters that the options describe."""
    from anonhist.randomness import SystemSource
    from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses, HashedAddresses

    share = 1 if sampling_rate is None else sampling_rate
    given = None if key is None else key.encode()
    if alphabet is not None:
        listed = labels_in(alphabet, what="the possible labels")
        return DomainAddresses.of(listed, key=LISTED_KEY if given is None else given, sampling_rate=share)
    assert buckets is not None  # noqa: S101  # one of both was given
    # Nobody knows the key before it is drawn, so no data can have been made for it.
    return HashedAddresses(buckets, SystemSource().words(2).tobytes() if given is None else given, share)


def _alike(path: str, epsilon: str | None) -> Sketch:
    """Return a sketch with new noise that can be merged with another one."""
    from anonhist.sketches.files import read_sketch
    from anonhist.sketches.noise import Adversary, NoiseShare
    from anonhist.sketches.sketch import Sketch

    model = read_sketch(path)
    kinds = {(part.gamma, part.shape, part.session, part.adversary.value) for part in model.noise}
    if epsilon is None and len({gamma for gamma, *_ in kinds}) > 1:
        raise UsageError(f"The parts of {path!r} differ in epsilon; choose one with --epsilon.")
    if len({tuple(share) for _, *share in kinds}) > 1:
        raise UsageError(f"The parts of {path!r} have different shares of noise; make the sketch like one of them.")
    gamma, shape, session, adversary = min(kinds)
    share = NoiseShare(honest=shape.denominator, session=session, adversary=Adversary(adversary)) if shape < 1 else None
    return Sketch(
        model.addresses,
        epsilon=gamma * model.unit.max_distance * model.relation.distance if epsilon is None else epsilon,
        unit=model.unit,
        relation=model.relation,
        users_in=model.users_in,
        noise_share=share,
        source=None,
    )


_RECOMMEND_EXAMPLES = """
anonhist sketch recommend --labels 1e6 --epsilon 1
anonhist sketch recommend --labels 1e7 --epsilon 0.5 --max-bytes 1e7
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_RECOMMEND_EXAMPLES)
@click.option(
    "--labels",
    type=WholeNumber(),
    required=True,
    metavar="M",
    help="Expected number of distinct labels, such as 1e6, guessed without looking at the data.",
)
@epsilon_option("Total privacy budget of the sketch, such as 1.", required=True)
@sketch_protection_options
@click.option(
    "--max-bytes", type=WholeNumber(), metavar="B", help="Largest size of the counters in bytes, such as 8e6."
)
@output_options(printed_output_option)
def recommend(*, labels: int, epsilon: str, protection: Protection, max_bytes: int | None, outputs: Outputs) -> None:
    """Recommend how many buckets a sketch of unknown labels needs.

    The recommendation is based on simulated errors, for prevalences that fall as 1/count².
    """
    destination = outputs.for_printed_table(STDOUT, what="A recommendation is")
    from anonhist.sketches.kinds import recommend_buckets
    from anonhist.terminal.output import progress_bars

    with progress_bars("Simulating", shown=not outputs.quiet, is_public=True) as bars:
        found = recommend_buckets(
            labels=labels,
            epsilon=epsilon,
            unit=protection.unit,
            relation=protection.relation,
            max_bytes=max_bytes,
            progress=bars.working,
        )
    destination.write(found, lambda stream: None if destination.target == STDOUT else _say(found, stream))


def _say(found: BucketRecommendation, stream: TextIO) -> None:
    from anonhist.sketches.page import BUCKET_HEADS, bucket_rows

    say_line(f"Use {found.best:,} buckets. {found.reason}", stream)
    click.echo(file=stream)
    print_table(BUCKET_HEADS, bucket_rows(found), stream, texts=[], widest=110)


_MERGE_EXAMPLES = """
anonhist sketch merge day1.sketch day2.sketch -o week.sketch
"""


@click.command(cls=SectionedCommand, sections={}, epilog=_MERGE_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SKETCH…")
@sketch_output_options
def merge(*, sources: tuple[str, ...], outputs: Outputs) -> None:
    """Merge sketches of different data.

    Counts and noise add up. The sketches must have the same labels, or the same key and buckets, and protect the same
    unit; 'anonhist sketch new --like' makes such sketches. Copies of one sketch are refused. If users are protected,
    budgets add up, unless every sketch was made with --users-in one-sketch.
    """
    if len(sources) < 2:
        raise UsageError("Name at least two sketches to merge.")
    from anonhist.sketches.files import read_sketch

    check_sketch(outputs, *sources)
    merged = read_sketch(sources[0])
    for source in sources[1:]:
        other = read_sketch(source)
        if other.addresses != merged.addresses:
            raise UsageError(
                "Only sketches with the same domain, or with the same key and number of buckets, can be merged: make "
                "one like the other with 'anonhist sketch new --like SKETCH'."
            )
        merged.merge(other)
    write_sketch(merged, outputs)


@click.command(cls=SectionedCommand, sections={})
@click.argument("path", metavar="SKETCH")
def info(path: str) -> None:
    """Show the settings and the guarantee of a sketch."""
    from anonhist.sketches.files import read_sketch

    sketch = read_sketch(path)
    from anonhist.sketches.page import say, say_noise

    say(sketch)
    say_noise(sketch)


def check_sketch(outputs: Outputs, *sources: str) -> None:
    """Refuse an output that cannot hold a sketch, before anything is read."""
    from anonhist.formats.files import check_ending

    path = str(outputs.output)
    check_ending(path, endings=(".sketch",), what="A sketch is")
    check_target(path, *sources, force=outputs.force, kind=PrivateKind.SKETCH)


def write_sketch(sketch: Sketch, outputs: Outputs) -> None:
    """Write a sketch to a file, and print its settings."""
    from anonhist.formats.files import write

    path = str(outputs.output)
    write(sketch, path, overwrite=outputs.force)
    if not outputs.quiet:
        from anonhist.sketches.page import say

        say(sketch)
        click.echo(f"Wrote {path}.")

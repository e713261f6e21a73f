"""``anonhist sketch new``: options in, a sketch of no data out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonhist.cli.decorators import OneOf, WholeNumber, given_options
from anonhist.cli.options import epsilon_option, sketch_output_options, sketch_protection_options
from anonhist.cli.sections import SectionedCommand
from anonhist.cli.text_lines import labels_in
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.cli.arguments import Protection
    from anonhist.cli.destinations import Outputs
    from anonhist.sketches import Sketch
    from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
    from anonhist.sketches.noise import NoiseShare

_PROTECTED = ("unit", "max_per_user", "users_in", "relation", "honest_parties", "session", "adversary")
_SET_BY_LIKE = ("sampling_rate", "key", *_PROTECTED)
_SECTIONS = {
    "Counters": ("buckets", "alphabet", "sampling_rate", "key", "like"),
    "Privacy": ("epsilon", *_PROTECTED),
    "Output": ("output", "force", "quiet"),
}
_EXAMPLES = """
anonhist sketch new --buckets 1e6 --epsilon 1 -o day1.sketch
anonhist sketch new --like day1.sketch -o day2.sketch
anonhist sketch new --alphabet words.txt --epsilon 0.5 --max-per-user 5 -o users.sketch
"""


@click.command(cls=SectionedCommand, sections=_SECTIONS, epilog=_EXAMPLES)
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
    help="Copy the settings of this sketch, so that both can be merged; the noise is drawn anew.",
)
@click.option(
    "--sampling-rate",
    metavar="S",
    help="Share of labels to count, such as 1/10, chosen by their hash. Sampling alone gives no privacy.",
)
@click.option(
    "--key",
    metavar="TEXT",
    help="Public text from which the hashes are made, chosen before the data.  [default with --buckets: random]",
)
@epsilon_option("Total privacy budget of the sketch, such as 1; no default.")
@sketch_protection_options
@click.option(
    "--users-in",
    type=OneOf(("every-sketch", "one-sketch")),
    help="With --max-per-user: whether a user may have items in every sketch that is merged (budgets add up) or "
    "publicly is in only one of them.  [default: every-sketch]",
)
@click.option(
    "--honest-parties",
    type=WholeNumber(),
    metavar="H",
    help="Draw only one of H shares of the noise. The sum of the sketches is private if H parties besides the "
    "adversary do so; a single sketch is not private, and nobody may see it before the sketches are added under "
    "encryption.",
)
@click.option(
    "--session", metavar="NAME", help="With --honest-parties: name of the encrypted sum, the same for all parties."
)
@click.option(
    "--adversary",
    type=OneOf(("party", "outsider")),
    help="With --honest-parties: whether to protect against the parties too, each of which knows its own share, or "
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
    """Make an empty sketch, with its noise already in it.

    Give exactly one of --buckets, --alphabet or --like.
    """
    if sum(each is not None for each in (buckets, alphabet, like)) != 1:
        raise UsageError("Give exactly one of --buckets B, --alphabet FILE or --like SKETCH.")
    from anonhist.cli.sketch.display import check_sketch, write_sketch
    from anonhist.sketches import Sketch, UsersIn

    check_sketch(outputs, *filter(None, (alphabet, like)))
    if like is not None:
        for option in given_options(click.get_current_context(), _SET_BY_LIKE):
            raise UsageError(f"--like already sets {option}; leave it out.")
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
    """Return the share that the options describe, None for the whole noise."""
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
    """Return which counter a label has, as the options say."""
    from anonhist.randomness import SystemSource
    from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses, HashedAddresses

    share = 1 if sampling_rate is None else sampling_rate
    given = None if key is None else key.encode()
    if alphabet is not None:
        listed = labels_in(alphabet, what="the labels there can be")
        return DomainAddresses.of(listed, key=LISTED_KEY if given is None else given, sampling_rate=share)
    assert buckets is not None  # noqa: S101  # one of both was given
    # Nobody knows it before it is drawn, so no data can have been made for it.
    return HashedAddresses(buckets, SystemSource().words(2).tobytes() if given is None else given, share)


def _alike(path: str, epsilon: str | None) -> Sketch:
    """Return a sketch that can be merged with another one, its noise drawn anew."""
    from anonhist.formats.sketches import read_sketch
    from anonhist.sketches import Sketch
    from anonhist.sketches.noise import Adversary, NoiseShare

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

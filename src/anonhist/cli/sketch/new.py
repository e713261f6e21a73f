"""``anonhist sketch new``: options in, a sketch of no data out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from anonhist.cli.arguments import privacy_unit, whole_number
from anonhist.cli.text_lines import labels_in
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.sketches import Sketch
    from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
    from anonhist.sketches.shares import NoiseShare

# What --like takes from another sketch.
_TAKEN = (
    *("--sampling-rate", "--key", "--unit", "--max-per-user", "--users-in", "--relation"),
    *("--honest-parties", "--session", "--adversary"),
)


def run_new(
    *,
    buckets: str | None,
    alphabet: str | None,
    like: str | None,
    sampling_rate: str | None,
    key: str | None,
    epsilon: str | None,
    unit: str | None,
    max_per_user: int | None,
    users_in: str | None,
    relation: str | None,
    honest_parties: str | None,
    session: str | None,
    adversary: str | None,
    output: str,
    force: bool,
    quiet: bool,
) -> None:
    """Check everything that can be checked, then draw the noise and write."""
    if sum(each is not None for each in (buckets, alphabet, like)) != 1:
        raise UsageError("Say what to count: one of --buckets B, --alphabet FILE and --like SKETCH.")
    from anonhist.cli.targets import check_target
    from anonhist.formats.writing import check_ending, write
    from anonhist.privacy import NeighboringRelation
    from anonhist.sketches import Sketch, UsersIn

    check_ending(output, endings=(".sketch",), what="A sketch is")
    for source in (alphabet, like):
        if source is not None:
            check_target(source, output, force=force)
    if like is not None:
        own = (sampling_rate, key, unit, max_per_user, users_in, relation, honest_parties, session, adversary)
        made = _alike(like, epsilon, [name for name, given in zip(_TAKEN, own, strict=True) if given is not None])
    else:
        if epsilon is None:
            raise UsageError("Say what the sketch may cost, such as --epsilon 1; there is no default.")
        protected = privacy_unit(unit, max_per_user=max_per_user, max_count=None)
        if users_in is not None and max_per_user is None:
            raise UsageError("--users-in is for sketches that protect users: give --max-per-user M as well.")
        share = _noise_share(honest_parties, session, adversary)
        made = Sketch(
            _addresses(buckets, alphabet, key, sampling_rate),
            epsilon=epsilon,
            unit=protected,
            relation=NeighboringRelation(relation or "add-or-remove"),
            users_in=UsersIn(users_in or "every-sketch"),
            noise_share=share,
            source=None,
        )
    write(made, output, overwrite=force)
    if not quiet:
        from anonhist.cli.sketch.display import say

        say(made)
        click.echo(f"Wrote {output}.")


def _noise_share(honest_parties: str | None, session: str | None, adversary: str | None) -> NoiseShare | None:
    """Return the share that the options describe, None for the whole noise."""
    honest = whole_number(honest_parties, name="--honest-parties")
    if (honest is None) != (session is None):
        raise UsageError("--honest-parties H and --session NAME belong together: give both, or none of them.")
    if honest is None or session is None:
        if adversary is not None:
            raise UsageError("--adversary belongs to --honest-parties.")
        return None
    from anonhist.sketches.shares import Adversary, NoiseShare

    return NoiseShare(honest=honest, session=session, adversary=Adversary(adversary or "party"))


def _addresses(
    buckets: str | None, alphabet: str | None, key: str | None, sampling_rate: str | None
) -> HashedAddresses | DomainAddresses:
    """Return which counter a label has, as the options say."""
    from anonhist.randomness import SystemSource
    from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses, HashedAddresses

    share = 1 if sampling_rate is None else sampling_rate
    size = whole_number(buckets, name="--buckets")
    given = None if key is None else key.encode()
    if alphabet is not None:
        listed = labels_in(alphabet, what="the labels there can be")
        return DomainAddresses.of(listed, key=LISTED_KEY if given is None else given, sampling_rate=share)
    assert size is not None  # noqa: S101  # one of both was given
    # Nobody knows it before it is drawn, so no data can have been made for it.
    return HashedAddresses(size, SystemSource().words(2).tobytes() if given is None else given, share)


def _alike(path: str, epsilon: str | None, given: list[str]) -> Sketch:
    """Return a sketch that can be merged with another one, its noise drawn anew."""
    if given:
        message = f"{given[0]} is taken from the sketch that --like names; leave it out."
        raise UsageError(message)
    from anonhist.formats.sketches import read_sketch
    from anonhist.sketches import Sketch
    from anonhist.sketches.shares import Adversary, NoiseShare

    model = read_sketch(path)
    kinds = {(part.gamma, part.shape, part.session, part.adversary.value) for part in model.noise}
    if epsilon is None and len({gamma for gamma, *_ in kinds}) > 1:
        message = f"The parts of {path!r} differ in epsilon; say which to take (--epsilon)."
        raise UsageError(message)
    if len({tuple(share) for _, *share in kinds}) > 1:
        message = f"The parts of {path!r} have different shares of noise; make the sketch like one of them."
        raise UsageError(message)
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

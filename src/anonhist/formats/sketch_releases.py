"""What a release that was read from a sketch remembers of it: made again from a document, and checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.privacy import parse_epsilon, parse_whole_number
from anonhist.sketches.addresses import MOST_COUNTERS, MOST_LISTED
from anonhist.sketches.decoding.decoder import Setting
from anonhist.sketches.decoding.names import decoder_from
from anonhist.sketches.mechanism import SketchMechanism
from anonhist.sketches.noise import NoiseLaw
from anonhist.sketches.promise import ARITHMETIC

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from anonhist.privacy import Guarantee

# γ, or γ^s for a part of another shape than one.
_PART = re.compile(r"(?P<gamma>[0-9]+(?:/[0-9]+)?)(?:\^(?P<shape>[0-9]+(?:/[0-9]+)?))?")


def sketch_mechanism(name: str, parameters: Mapping[str, object], guarantee: Guarantee) -> SketchMechanism:
    """Make the mechanism of a release from a sketch again.

    Parameters
    ----------
    name
        ``hashed-sketch`` or ``domain-sketch``.
    parameters
        Its :attr:`~anonhist.sketches.mechanism.SketchMechanism.parameters`.
    guarantee
        What the release promises.

    Raises
    ------
    DataError
        If they are not those of such a sketch, or such a sketch does not promise that.
    """
    is_hashed = name == "hashed-sketch"
    own = {"counters", "sample_share", "noise", "method"} | (set() if is_hashed else {"domain_size"})
    if not own <= parameters.keys() or any(type(each) not in (str, int) for each in parameters.values()):
        message = f"the parameters of a {name} must be {', '.join(sorted(own))} and those of its method"
        raise DataError(message)
    given: dict[str, Any] = dict(parameters)
    counters, share, noise, method = (given.pop(each) for each in ("counters", "sample_share", "noise", "method"))
    labels = None if is_hashed else given.pop("domain_size")
    if type(counters) is not int or not isinstance(share, str) or not isinstance(method, str):
        raise DataError("the parameters of a sketch must be whole numbers and text")
    try:
        mechanism = SketchMechanism(
            counters=parse_whole_number(counters, name="counters", most=MOST_COUNTERS),
            domain_size=None if is_hashed else _domain_size(labels, counters),
            sample_share=parse_epsilon(share, name="sample_share"),
            setting=Setting(_law(noise), is_hashed=is_hashed),
            decoder=decoder_from(method, given),
            guarantee=guarantee,
        )
    except UsageError as error:
        message = f"the parameters of the {name} in the file are invalid: {error}"
        raise DataError(message) from None
    if mechanism.sample_share > 1 or (mechanism.sample_share == 1 and labels not in (None, counters)):
        raise DataError("the share that is sampled does not belong to such a domain")
    if dict(mechanism.parameters) != dict(parameters):
        raise DataError("the parameters of a sketch must be written as this program writes them")
    _check_promise(guarantee, mechanism.setting.law)
    return mechanism


def _domain_size(labels: object, counters: int) -> int:
    if type(labels) is not int:
        raise DataError("the size of the domain must be a whole number")
    return parse_whole_number(labels, name="domain_size", least=counters, most=MOST_LISTED)


def _law(noise: object) -> NoiseLaw:
    """Read the parts of a noise law."""
    found = [_PART.fullmatch(part) for part in noise.split(",")] if isinstance(noise, str) else [None]
    parts = [
        (parse_epsilon(part["gamma"], name="gamma"), parse_epsilon(part["shape"] or "1", name="shape"))
        for part in found
        if part is not None
    ]
    if len(parts) < len(found):
        raise DataError("the noise must be rates of its parts, such as 1/2 or 1/2^3/2, with commas between them")
    law = NoiseLaw.of(parts)
    if law.parts != tuple(parts):
        raise DataError("the parts of the noise must be in ascending order")
    return law


def _check_promise(guarantee: Guarantee, law: NoiseLaw) -> None:
    """Refuse a guarantee that a sketch with this noise does not give.

    A law says of shares of noise how much they are together, not in how many sessions: at least one, and no more than
    they are enough for.
    """
    if guarantee.delta or guarantee.arithmetic != ARITHMETIC or guarantee.unit.kind == "label":
        raise DataError("the guarantee's unit, delta or arithmetic is not that of a sketch")
    steps = guarantee.unit.max_distance * guarantee.relation.steps
    least: dict[Fraction, int] = {}
    most: dict[Fraction, int] = {}
    for gamma, shape in law.parts:
        if shape < 1:
            raise DataError("a part of the noise is missing, so that nothing is promised")
        least[gamma] = least.get(gamma, 0) + 1
        most[gamma] = most.get(gamma, 0) + int(shape)
    if guarantee.unit.kind == "item" or not guarantee.spending:
        is_alone = guarantee.unit.kind == "item" or sum(least.values()) == 1
        if guarantee.spending or not is_alone or guarantee.epsilon != max(least) * steps:
            raise DataError("the guarantee's epsilon is not that of such noise")
        return
    if len(guarantee.spending) != len(least):
        raise DataError("the guarantee's steps are not the parts of the noise")
    for gamma, (purpose, spent) in zip(sorted(least), guarantee.spending, strict=True):
        often = spent / (gamma * steps)
        told = "one sketch" if often == 1 else f"{often} sketches"
        if often.denominator > 1 or not least[gamma] <= often <= most[gamma] or purpose != told:
            raise DataError("the guarantee's steps are not the parts of the noise")

"""The mechanism of a release from a sketch: made again from a document, and checked."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.formats.central_releases import Recorded, Remade, check_no_excess, check_no_zeros
from anonhist.mechanisms.setting import NO_ITEMS, NOISE_IS_EXACT
from anonhist.privacy import Guarantee, PrivacyUnit, parse_epsilon, parse_whole_number
from anonhist.sketches.addresses import MOST_COUNTERS, MOST_LISTED
from anonhist.sketches.decoding.decoder import CounterSetting
from anonhist.sketches.decoding.names import decoder_from
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.promise import SharedNoise, UsersIn, promise_of
from anonhist.sketches.release import SKETCH, SketchMechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.profiles import Profile

# γ, or γ^s for a part of another shape than one.
_PART = re.compile(r"(?P<gamma>[0-9]+(?:/[0-9]+)?)(?:\^(?P<shape>[0-9]+(?:/[0-9]+)?))?")

# γ^(1/h) of a session, how many such shares there are, and how many parties must take part.
_SHARES = re.compile(
    r"(?P<gamma>[0-9]+(?:/[0-9]+)?)\^1/(?P<honest>[0-9]{1,10})\*(?P<merged>[0-9]{1,18})@(?P<participants>[0-9]{1,10})"
)
# Shares that add up to exactly one noise cannot be told from a noise of one sketch there.
_UNKNOWN_SHARES = (
    "each sketch had noise of its own, or the adversary is an outsider and the parties that shared noise were honest "
    "and took part (version 1 of the file does not say which)"
)
_UNKNOWN_USERS = "no user had items in two sketches that shared noise"


def remake(recorded: Recorded) -> Remade:
    """Make the mechanism of a release from a sketch again.

    It promises what is recorded; of version 1, which told nothing of shares of noise, what can be said of such a sketch
    today.
    """
    check_no_excess(recorded.excess)
    name, parameters, guarantee, version = recorded.name, recorded.parameters, recorded.guarantee, recorded.version
    is_hashed = name == "hashed-sketch"
    own = {"counters", "sample_share", "noise", "method"} | (set() if is_hashed else {"domain_size"})
    if not own <= parameters.keys() or any(type(each) not in (str, int) for each in parameters.values()):
        raise DataError(f"the parameters of a {name} must be {', '.join(sorted(own))} and those of its method")
    given: dict[str, Any] = dict(parameters)
    counters, share, noise, method = (given.pop(each) for each in ("counters", "sample_share", "noise", "method"))
    shares = "unknown" if version == 1 else given.pop("shares", "")
    labels = None if is_hashed else given.pop("domain_size")
    if type(counters) is not int or not isinstance(share, str) or not isinstance(method, str):
        raise DataError("the parameters of a sketch must be whole numbers and text")
    try:
        mechanism = SketchMechanism(
            counters=parse_whole_number(counters, name="counters", most=MOST_COUNTERS),
            domain_size=None if is_hashed else _domain_size(labels, counters),
            sampling_rate=parse_epsilon(share, name="sample_share"),
            setting=CounterSetting(_distribution(noise), is_hashed=is_hashed),
            decoder=decoder_from(method, given),
            guarantee=guarantee,
            shared=_read_shares(shares),
        )
    except UsageError as error:
        raise DataError(f"the parameters of the {name} in the file are invalid: {error}") from None
    if mechanism.sampling_rate > 1 or (mechanism.sampling_rate == 1 and labels not in (None, counters)):
        raise DataError("the share that is sampled does not belong to such a domain")
    written = dict(mechanism.parameters)
    if version == 1:
        del written["shares"]
    if written != dict(parameters):
        raise DataError("the parameters of a sketch must be written as this program writes them")
    if version > 1:
        _check_promise(mechanism)
    else:
        check_promise_of_version_1(guarantee, mechanism.setting.noise)
        mechanism = replace(mechanism, guarantee=promise_of_version_1(guarantee))
    return Remade(mechanism, mechanism.guarantee, _check)


def _check(profile: Profile, items: int | None, zeros: int | None) -> None:
    del profile
    if items is not None:
        raise DataError(NO_ITEMS)
    check_no_zeros(zeros)


def _domain_size(labels: object, counters: int) -> int:
    if type(labels) is not int:
        raise DataError("the size of the domain must be a whole number")
    return parse_whole_number(labels, name="domain_size", least=counters, most=MOST_LISTED)


def _distribution(noise: object) -> NoiseDistribution:
    """Read the parts of a noise distribution."""
    found = [_PART.fullmatch(part) for part in noise.split(",")] if isinstance(noise, str) else [None]
    parts = [
        (parse_epsilon(part["gamma"], name="gamma"), parse_epsilon(part["shape"] or "1", name="shape"))
        for part in found
        if part is not None
    ]
    if len(parts) < len(found):
        raise DataError("the noise must be rates of its parts, such as 1/2 or 1/2^3/2, with commas between them")
    distribution = NoiseDistribution.of(parts)
    if distribution.parts != tuple(parts):
        raise DataError("the parts of the noise must be in ascending order")
    return distribution


def _read_shares(shares: object) -> tuple[SharedNoise, ...] | None:
    """Read the shares of noise, session by session."""
    if shares == "unknown":
        return None
    if shares == "":
        return ()
    sessions = []
    for text in shares.split(",") if isinstance(shares, str) else [""]:
        part = _SHARES.fullmatch(text)
        if part is None:
            raise DataError("the shares must be as 1/2^1/3*4@4, with commas between sessions, or unknown")
        gamma = parse_epsilon(part["gamma"], name="gamma")
        honest, participants, merged = (int(part[name]) for name in ("honest", "participants", "merged"))
        if honest < 2 or participants not in (honest, honest + 1):
            raise DataError("shares need two parties at least, and one more where a party may be the adversary")
        sessions.append(SharedNoise(gamma, honest, participants, merged))
    return tuple(sessions)


def _check_promise(mechanism: SketchMechanism) -> None:
    """Refuse a guarantee that a sketch with this noise does not give."""
    guarantee, distribution, shared = mechanism.guarantee, mechanism.setting.noise, mechanism.shared
    if not SKETCH.protects(guarantee.unit):
        raise DataError("a sketch protects items or users, or single edges")
    unit = PrivacyUnit(guarantee.unit.kind, guarantee.unit.bound)
    if shared is None:
        older = replace(guarantee, unit=unit, conditions=(), party_epsilon=None)
        check_promise_of_version_1(older, distribution)
        possible = [promise_of_version_1(older)]
    else:
        rates = _own_rates(distribution, shared)
        possible = [promise_of(unit, guarantee.relation, rates, shared, users_in) for users_in in UsersIn]
    if guarantee not in possible:
        raise DataError("the guarantee is not the one that a sketch with such noise gives")


def _own_rates(distribution: NoiseDistribution, shared: Sequence[SharedNoise]) -> list[Fraction]:
    """Return the rates of the noises that are not shared."""
    rest = list(distribution.parts)
    for gamma in {each.gamma for each in shared}:
        part = (gamma, sum(Fraction(each.merged, each.honest) for each in shared if each.gamma == gamma))
        if part not in rest:
            raise DataError("the shares are not those of the noise")
        rest.remove(part)
    if any(shape != 1 for _, shape in rest):
        raise DataError("the shares are not those of the noise")
    return [gamma for gamma, _ in rest]


def promise_of_version_1(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee of version 1 with the conditions that it left out.

    A user of merged sketches may be in each of them, and so many it names in its steps.
    """
    if guarantee.unit.max_items is None:
        return replace(guarantee, conditions=(_UNKNOWN_SHARES,))
    sketches = sum(1 if purpose == "one sketch" else int(purpose.split()[0]) for purpose, _ in guarantee.spending)
    unit = PrivacyUnit.user(max_items=guarantee.unit.max_items, sketches=max(1, sketches))
    return replace(guarantee, unit=unit, conditions=(_UNKNOWN_SHARES, _UNKNOWN_USERS))


def check_promise_of_version_1(guarantee: Guarantee, distribution: NoiseDistribution) -> None:
    """Refuse a guarantee of version 1 that a sketch with this noise does not give.

    A distribution says of shares of noise how much they are together, not in how many sessions: at least one, and no
    more than they are enough for.

    Raises
    ------
    DataError
        With what is wrong in one clause.
    """
    if guarantee.delta or guarantee.arithmetic != NOISE_IS_EXACT or guarantee.unit.max_count is not None:
        raise DataError("the guarantee's unit, delta or arithmetic is not that of a sketch")
    steps = guarantee.unit.max_distance * guarantee.relation.distance
    least: dict[Fraction, int] = {}
    most: dict[Fraction, int] = {}
    for gamma, shape in distribution.parts:
        if shape < 1:
            raise DataError("a part of the noise is missing, so that nothing is promised")
        least[gamma] = least.get(gamma, 0) + 1
        most[gamma] = most.get(gamma, 0) + int(shape)
    if guarantee.unit.max_items is None or not guarantee.spending:
        is_alone = guarantee.unit.max_items is None or sum(least.values()) == 1
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

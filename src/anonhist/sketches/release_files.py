"""The mechanism of a release from a sketch: made again from a document, and checked."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import Recorded, Remade, check_no_excess, check_no_zeros, unknown_mechanism
from anonhist.formats.tables import table_of_rows
from anonhist.mechanisms.setting import NO_ITEMS
from anonhist.privacy import PrivacyUnit, parse_epsilon, parse_whole_number
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


def remake(recorded: Recorded) -> Remade:
    """Make the mechanism of a release from a sketch again, which promises what is recorded."""
    check_no_excess(recorded.excess)
    name, parameters, guarantee = recorded.name, recorded.parameters, recorded.guarantee
    if name not in ("hashed-sketch", "domain-sketch"):
        raise DataError(unknown_mechanism(name))
    is_hashed = name == "hashed-sketch"
    own = {"counters", "sample_share", "noise", "method"} | (set() if is_hashed else {"domain_size"})
    if not own <= parameters.keys() or any(type(each) not in (str, int) for each in parameters.values()):
        raise DataError(f"the parameters of a {name} must be {', '.join(sorted(own))} and those of its method")
    given: dict[str, Any] = dict(parameters)
    counters, share, noise, method = (given.pop(each) for each in ("counters", "sample_share", "noise", "method"))
    shares = given.pop("shares", "")
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
    if dict(mechanism.parameters) != dict(parameters):
        raise DataError("the parameters of a sketch must be written as this program writes them")
    _check_promise(mechanism)
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


def _read_shares(shares: object) -> tuple[SharedNoise, ...]:
    """Read the shares of noise, session by session."""
    if shares == "":
        return ()
    sessions = []
    for text in shares.split(",") if isinstance(shares, str) else [""]:
        part = _SHARES.fullmatch(text)
        if part is None:
            raise DataError("the shares must be as 1/2^1/3*4@4, with commas between sessions")
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


BUCKETS_TABLE = table_of_rows(
    buckets="buckets",
    load="load",
    bytes="size",
    labels_error="labels_error",
    prevalences_error="prevalences_error",
    prevalences_error_uncertainty="uncertainty",
)

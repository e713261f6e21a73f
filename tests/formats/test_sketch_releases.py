"""Releases that were read from sketches: written, read back, and refused where no sketch makes such."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.document import Recorded
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.kinds import RELEASED_BY
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.releases import Release
from anonhist.sketches import DomainSketch, HashedSketch, Sketch
from anonhist.sketches.noise import Adversary, NoiseShare
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.release import DECODERS, OF_SHARED_COUNTERS, SketchMechanism, remake
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

GOLDEN = Path(__file__).parent / "golden"
LABELS = [f"label {number}" for number in range(60)]
USER = PrivacyUnit.user(max_items=3)
ONE = UsersIn.ONE_SKETCH
SUBSTITUTE = NeighboringRelation.SUBSTITUTE


def _hashed_sketch(epsilon: str = "1/2", **given: Any) -> Sketch:
    return HashedSketch(buckets=50, epsilon=epsilon, key=b"week 47", **given)


def _share(honest: int, session: str = "week 47") -> Sketch:
    return _hashed_sketch(noise_share=NoiseShare(honest=honest, session=session), unit=USER)


def _outsider() -> Sketch:
    return _hashed_sketch(noise_share=NoiseShare(honest=2, session="s", adversary=Adversary.OUTSIDER))


SKETCHES: dict[str, Callable[[], Sketch]] = {
    "hashed": _hashed_sketch,
    "merged": lambda: _hashed_sketch("1/2") + _hashed_sketch("1/3") + _hashed_sketch("1/2"),
    "users": lambda: _hashed_sketch(unit=USER, relation=SUBSTITUTE),
    "merged users": lambda: (
        _hashed_sketch("1/2", unit=USER) + _hashed_sketch("1/3", unit=USER) + _hashed_sketch("1/2", unit=USER)
    ),
    "shares": lambda: _share(2) + _share(2) + _share(2),
    "sessions": lambda: sum(
        (_share(2, "48") for _ in range(4)), start=SKETCHES["shares"]() + _hashed_sketch(unit=USER)
    ),
    "outsiders": lambda: _outsider() + _outsider(),
    "users of one": lambda: _hashed_sketch(unit=USER, users_in=ONE) + _hashed_sketch("1/3", unit=USER, users_in=ONE),
    "sampled": lambda: _hashed_sketch(sampling_rate="1/3"),
    "domain": lambda: DomainSketch(alphabet=LABELS, epsilon=2),
    "sampled domain": lambda: DomainSketch(alphabet=LABELS, epsilon=2, sampling_rate="0.4"),
}


@cache
def _release(name: str, method: str = "three-tap") -> Release:
    sketch = SKETCHES[name]()
    sketch.update([label for number, label in enumerate(LABELS) for _ in range(number % 4)])
    return sketch.reconstruct(method, simulations=2).with_error()


@each_of("ending", ["json", "parquet"])
@each_of("name", SKETCHES)
def test_a_release_is_read_as_it_was_written(tmp_path: Path, name: str, ending: str) -> None:
    made = _release(name)
    write(made, tmp_path / f"a.{ending}")
    read = read_release(tmp_path / f"a.{ending}")
    assert read.mechanism == made.mechanism
    assert isinstance(read.mechanism, SketchMechanism)
    assert (read.profile, read.guarantee, read.reason) == (made.profile, made.guarantee, made.reason)
    assert len(read.resimulate()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("method", DECODERS)
def test_what_it_was_read_with_is_made_again(tmp_path: Path, method: str) -> None:
    made = _release("hashed" if method in OF_SHARED_COUNTERS else "domain", method)
    write(made, tmp_path / "a.json")
    read = read_release(tmp_path / "a.json").mechanism
    assert isinstance(read, SketchMechanism)
    assert read.decoder == DECODERS[method]()


def test_names_are_those_of_sketches_alone() -> None:
    assert {_release(name).mechanism.name for name in ("hashed", "domain")} == set(RELEASED_BY["sketch"].names)


def test_a_sketch_without_a_promise_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not private"):
        _share(3).reconstruct("three-tap", simulations=2)
    document = _document("shares", tmp_path)
    document["mechanism"]["parameters"]["noise"] = "1/6^1/3"
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match="the shares are not those of the noise"):
        read_release(tmp_path / "bad.json")
    document["mechanism"]["parameters"]["shares"] = "1/6^1/2*2@3"
    (tmp_path / "bad.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match="not private: it holds 2 of at least 3 shares"):
        read_release(tmp_path / "bad.json")


def test_golden_files_stay_readable() -> None:
    read = read_release(GOLDEN / "release-hashed-sketch.json")
    assert read.guarantee.unit == PrivacyUnit.user(max_items=3, sketches=3)
    assert (read.guarantee.epsilon, read.guarantee.conditions) == (Fraction(4, 3), ())
    assert read.guarantee.spending == (("one sketch", Fraction(1, 3)), ("2 sketches", Fraction(1)))
    assert isinstance(read.mechanism, SketchMechanism)
    assert read.mechanism.setting.noise.parts == ((Fraction(1, 9), 1), (Fraction(1, 6), 1), (Fraction(1, 6), 1))
    assert read.mechanism.shared == ()
    assert read.profile.unit == PrivacyUnit.user(max_items=9)


def _document(name: str, folder: Path) -> dict[str, Any]:
    write(_release(name), folder / "good.json")
    document: dict[str, Any] = json.loads((folder / "good.json").read_text())
    return document


# Of which sketch, where, what is put there, and what the refusal says.
BAD: list[tuple[str, str, Any, str]] = [
    ("hashed", "mechanism.name", "domain-sketch", "must be counters, domain_size"),
    ("hashed", "mechanism.name", "sketch", "unknown to this version"),
    ("domain", "mechanism.name", "hashed-sketch", "not the parameters of the decoder|those of its method"),
    ("hashed", "mechanism.parameters", {}, "must be counters"),
    ("hashed", "mechanism.parameters.counters", 0, "counters"),
    ("hashed", "mechanism.parameters.counters", 2**31 + 1, "counters"),
    ("hashed", "mechanism.parameters.counters", "50", "whole numbers and text"),
    ("hashed", "mechanism.parameters.counters", True, "must be counters"),
    ("hashed", "mechanism.parameters.counters", 50.0, "must be counters"),
    ("hashed", "mechanism.parameters.extra", 1, "parameters of the decoder"),
    ("hashed", "mechanism.parameters.domain_size", 50, "parameters of the decoder"),
    ("domain", "mechanism.parameters.domain_size", 61, "does not belong to such a domain"),
    ("domain", "mechanism.parameters.domain_size", 59, "domain_size"),
    ("domain", "mechanism.parameters.domain_size", "60", "whole number"),
    ("domain", "mechanism.parameters.sample_share", "1/2", ""),
    ("sampled domain", "mechanism.parameters.sample_share", "1", "does not belong to such a domain"),
    ("sampled", "mechanism.parameters.sample_share", "3/2", "share"),
    ("sampled", "mechanism.parameters.sample_share", "0", "greater than zero"),
    ("sampled", "mechanism.parameters.sample_share", "2/6", "as this program writes"),
    ("sampled", "mechanism.parameters.sample_share", 1, "whole numbers and text"),
    ("hashed", "mechanism.parameters.method", "guessing", "guessing"),
    ("hashed", "mechanism.parameters.method", 1, "whole numbers and text"),
    ("domain", "mechanism.parameters.method", "decompounding", "for hashed sketches"),
    ("sampled domain", "mechanism.parameters.method", "fourier", "for hashed sketches"),
    ("hashed", "mechanism.parameters.noise", "", "rates of its parts"),
    ("hashed", "mechanism.parameters.noise", 5, "rates of its parts"),
    ("hashed", "mechanism.parameters.noise", "1/2,", "rates of its parts"),
    ("hashed", "mechanism.parameters.noise", "0.5", "rates of its parts"),
    ("hashed", "mechanism.parameters.noise", "1/0", "gamma"),
    ("hashed", "mechanism.parameters.noise", "0", "greater than zero"),
    ("hashed", "mechanism.parameters.noise", "2/4", "as this program writes"),
    ("hashed", "mechanism.parameters.noise", "1/2^1", "as this program writes"),
    ("hashed", "mechanism.parameters.noise", "1/2^1/2", "shares are not those of the noise"),
    ("hashed", "mechanism.parameters.noise", "1/3", "one that a sketch with such noise gives"),
    ("hashed", "mechanism.parameters.noise", "1/2,1/3", "ascending order"),
    ("hashed", "mechanism.parameters.noise", "1/3,1/2", ""),
    ("merged", "mechanism.parameters.noise", "1/2,1/2,2/3", "one that a sketch with such noise gives"),
    ("merged users", "mechanism.parameters.noise", "1/9,1/6", "one that a sketch with such noise gives"),
    ("merged users", "mechanism.parameters.noise", "1/6,1/6", "one that a sketch with such noise gives"),
    ("merged users", "mechanism.parameters.noise", "1/9,1/6^2", "shares are not those of the noise"),
    ("merged users", "mechanism.parameters.noise", "1/9,1/6^3/2", "shares are not those of the noise"),
    (
        "merged users",
        "guarantee.spending",
        [["the sketch", "1/3"], ["2 sketches", "1"]],
        "one that a sketch with such noise gives",
    ),
    (
        "merged users",
        "guarantee.spending",
        [["2 sketches", "1"], ["one sketch", "1/3"]],
        "one that a sketch with such noise gives",
    ),
    ("merged users", "guarantee.spending", [["both", "4/3"]], "one that a sketch with such noise gives"),
    ("merged users", "guarantee.spending", [], "one that a sketch with such noise gives"),
    ("hashed", "guarantee.spending", [["one sketch", "1/2"]], "one that a sketch with such noise gives"),
    ("hashed", "guarantee.delta", "1/1000", "one that a sketch with such noise gives"),
    ("hashed", "guarantee.arithmetic", "perfectly private", "one that a sketch with such noise gives"),
    ("hashed", "guarantee.unit", "label", "protects items or users"),
    ("hashed", "guarantee.relation", "substitute", "one that a sketch with such noise gives"),
    ("hashed", "guarantee.epsilon", "1/4", "one that a sketch with such noise gives"),
    ("hashed", "guarantee.epsilon", "1", "one that a sketch with such noise gives"),
    ("hashed", "guarantee.sentence", "Nothing can be learnt from this.", "sentence"),
    ("users", "guarantee.bound", 2, "one that a sketch with such noise gives"),
    ("shares", "mechanism.parameters.noise", "1/6^2,1/6^2", "ascending order"),
    ("hashed", "items", 5, "items belong to"),
    ("hashed", "error.levels", [2], "row per level|every released count"),
    ("merged users", "guarantee.sketches", 2, "one that a sketch with such noise gives"),
    ("merged users", "guarantee.sketches", 1, "one that a sketch with such noise gives"),
    ("merged users", "guarantee.sketches", True, "must be whole numbers"),
    ("hashed", "guarantee.sketches", 2, "several sketches"),
    ("hashed", "guarantee.conditions", "none", "a list"),
    ("hashed", "guarantee.conditions", [1], "condition"),
    ("hashed", "guarantee.conditions", ["it rains"], "one that a sketch with such noise gives"),
    ("users of one", "guarantee.conditions", [], "one that a sketch with such noise gives"),
    ("shares", "guarantee.conditions", [], "one that a sketch with such noise gives"),
    ("outsiders", "guarantee.conditions", [], "an exact Fraction greater than epsilon"),
    ("outsiders", "guarantee.party_epsilon", None, "one that a sketch with such noise gives"),
    ("outsiders", "guarantee.party_epsilon", "3/5", "one that a sketch with such noise gives"),
    ("outsiders", "guarantee.party_epsilon", "1/2", "an exact Fraction greater than epsilon"),
    ("outsiders", "mechanism.parameters.shares", "1/2^1/2*2@3", "holds 2 of at least 3 shares"),
    ("outsiders", "mechanism.parameters.shares", "1/2^1/2*3@3", "shares are not those of the noise"),
    ("outsiders", "mechanism.parameters.shares", "1/2^1/2*2@1", "two parties at least"),
    ("outsiders", "mechanism.parameters.shares", "1/2^1/0*2@1", "two parties at least"),
    ("outsiders", "mechanism.parameters.shares", "1/2^1/2*02@2", "as this program writes"),
    ("outsiders", "mechanism.parameters.shares", "", "as this program writes"),
    ("outsiders", "mechanism.parameters.shares", "two", "the shares must be as"),
    ("outsiders", "mechanism.parameters.shares", 2, "the shares must be as"),
    ("outsiders", "mechanism.parameters.shares", "unknown", "the shares must be as"),
]


@pytest.mark.full
@each_of(("name", "where", "value", "reason"), BAD)
def test_what_no_sketch_releases_is_refused(tmp_path: Path, name: str, where: str, value: object, reason: str) -> None:
    document = _document(name, tmp_path)
    whole = deepcopy(document)
    *folders, last = where.split(".")
    inside = whole
    for each in folders:
        inside = inside[each]
    inside[last] = value
    (tmp_path / "bad.json").write_text(json.dumps(whole))
    if not reason:  # another sketch that promises the same
        assert read_release(tmp_path / "bad.json").mechanism != read_release(tmp_path / "good.json").mechanism
        return
    with pytest.raises(DataError, match=reason) as caught:
        read_release(tmp_path / "bad.json")
    assert str(caught.value).startswith(f"'{tmp_path}/bad.json' is not a release that can be read: ")
    assert "\n" not in str(caught.value)


def test_what_a_sketch_of_edges_releases_is_read_back(tmp_path: Path) -> None:
    edges = HashedSketch(buckets=50, epsilon=1, key=b"week 47", unit=PrivacyUnit.edge())
    made = edges.reconstruct("three-tap", simulations=2).with_error()
    write(made, tmp_path / "a.json")
    assert read_release(tmp_path / "a.json").guarantee == made.guarantee
    assert made.words.labels == "nodes"


def test_users_who_may_be_in_several_sketches_need_the_sum_of_their_epsilons() -> None:
    made = (_hashed_sketch("1/2", unit=USER) + _hashed_sketch("1/3", unit=USER)).reconstruct("three-tap", simulations=2)
    parameters = made.mechanism.parameters
    recorded = Recorded("hashed-sketch", parameters, made.guarantee, None)
    assert remake(recorded).mechanism == made.mechanism
    for epsilon in ("1/2", "1/3", "5/6"):
        cheaper = Guarantee(USER, made.guarantee.relation, Fraction(epsilon), arithmetic=made.guarantee.arithmetic)
        with pytest.raises(DataError, match="one that a sketch with such noise gives"):
            remake(replace(recorded, guarantee=cheaper))


def _golden() -> Release:
    """Make what the golden file holds."""
    source = SeededSource(7)
    days = [_hashed_sketch(epsilon, unit=USER, source=source) for epsilon in ("1/2", "1/3", "1/2")]
    for day in days:
        day.update(LABELS)
    return (days[0] + days[1] + days[2]).reconstruct("three-tap", simulations=2).with_error()


def test_the_golden_file_is_what_is_written(tmp_path: Path) -> None:
    write(_golden(), tmp_path / "a.json")
    here, there = (
        json.loads(path.read_text()) for path in (tmp_path / "a.json", GOLDEN / "release-hashed-sketch.json")
    )
    assert here.keys() == there.keys()
    assert here["error"].keys() == there["error"].keys()
    for name in ("format", "version", "guarantee", "mechanism"):
        assert here[name] == there[name]

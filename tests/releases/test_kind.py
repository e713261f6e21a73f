"""Each kind of release has a row that says how it is read and shown."""

import io
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from anonhist.catalogue import load
from anonhist.errors import DataError
from anonhist.formats.document import Recorded, Remade, remade
from anonhist.formats.files import write
from anonhist.formats.releases import read_release
from anonhist.graphs import EdgeMechanism
from anonhist.graphs.graph import DEGREES
from anonhist.graphs.node_mechanism import NodeMechanism
from anonhist.kinds import KINDS as VALUES
from anonhist.kinds import RELEASED_BY, Kind, ReleasedBy
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.mechanisms.setting import Setting
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases.made import CENTRAL, ReleaseKind, Words
from anonhist.report.page import VIEW, ReleaseView
from anonhist.sketches.release import SKETCH, SketchMechanism
from anonhist.terminal.display import show_summary
from anonhist_testing.cases import each_of
from anonhist_testing.sources import SeededSource

KINDS = (CENTRAL, DEGREES, SKETCH)
PLACES = ("files", "table", "cell", "figure", "page", "terminal", "released")
UNITS = {
    unit.kind: unit
    for unit in (
        *(PrivacyUnit.item(), PrivacyUnit.user(max_items=2), PrivacyUnit.label(max_count=3)),
        *(PrivacyUnit.edge(), PrivacyUnit.node(max_distance=8)),
    )
}


def test_every_kind_has_a_row() -> None:
    assert [kind.name for kind in KINDS] == list(RELEASED_BY)
    assert {Setting.kind, EdgeMechanism.kind, NodeMechanism.kind, SketchMechanism.kind} == set(KINDS)


@each_of("kind", KINDS)
def test_what_a_row_names_is_there(kind: ReleaseKind) -> None:
    row = RELEASED_BY[kind.name]
    assert callable(load(row.remake))
    assert isinstance(load(row.view), ReleaseView)


@each_of("kind", VALUES.values())
def test_what_a_kind_of_value_names_is_there(kind: Kind) -> None:
    assert all(kind.load(what) is not None for what in PLACES if getattr(kind, what))


@each_of("name", ["edge-nothing", "nothing", "node-", "hashed-sketches"])
def test_a_mechanism_that_there_is_not_is_refused(name: str) -> None:
    told = f"^The file names a mechanism unknown to this version: '{name}'\\.$"
    with pytest.raises(DataError, match=told):
        remade(Recorded(name, {}, FrobeniusMechanism(1).guarantee, None))


@each_of(
    ("kind", "units"),
    [
        (CENTRAL, {"item", "user", "label", "edge", "node"}),
        (DEGREES, {"edge", "node"}),
        (SKETCH, {"item", "user", "edge"}),
    ],
)
def test_things_are_called_by_whom_a_kind_protects(kind: ReleaseKind, units: set[str]) -> None:
    assert kind.words.keys() == {name for name, unit in UNITS.items() if kind.protects(unit)} == units
    for unit, words in kind.words.items():
        of_nodes, of_labels = ("2 nodes", "degree sum 1", "degree sum 0"), ("2 labels", "1 item", "0 items")
        written = of_nodes if unit in {"edge", "node"} else of_labels
        assert (words.many_labels(2), words.many_items(1), words.many_items(0)) == written
        assert words.many_labels(1) == f"1 {words.label}"


WORDS = Words(
    "word", "words", "{} week", "{} weeks", "weeks", "{} weeks", "age", "words of age {}", "words of age {} or more"
)


@dataclass(frozen=True)
class Weekly(FrobeniusMechanism):
    """A mechanism of a kind that nobody knew of."""

    kind: ClassVar[ReleaseKind] = ReleaseKind("weeks", {"item": WORDS})
    name: ClassVar[str] = "weekly"  # type: ignore[assignment]


def test_a_kind_with_a_row_is_written_read_and_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def remake(recorded: Recorded) -> Remade:
        mechanism = Weekly.from_parameters(recorded.parameters)
        return Remade(mechanism, mechanism.guarantee, lambda *_: None)

    room = ModuleType("room_of_weeks")
    vars(room).update(remake=remake, VIEW=replace(VIEW, facts=lambda _: [("Weeks", "All of them.")]))
    monkeypatch.setitem(sys.modules, room.__name__, room)
    places = ReleasedBy(f"{room.__name__}:remake", f"{room.__name__}:VIEW", ("weekly",))
    monkeypatch.setitem(RELEASED_BY, "weeks", places)
    made = replace(Weekly(9).release(Profile.from_counts([8, 8, 3]), source=SeededSource(7)), simulations=0)
    write(made, tmp_path / "release.json")
    read = read_release(tmp_path / "release.json")
    assert (read.mechanism, read.profile, read.words) == (made.mechanism, made.profile, WORDS)
    said = io.StringIO()
    show_summary(read, said)
    assert re.search(r"Released: \d+ weeks \(.*\) of \d words", said.getvalue())
    assert "Weeks: All of them." in said.getvalue()

"""What the command line lets choose from is what there is: help must not load the owners, so tests ask them."""

import inspect
import re
from typing import get_args

import click
import pytest

import anonhist as ah
from anonhist.catalogue import MECHANISM_OPTIONS, PROPERTIES, load
from anonhist.cli.entry import anonhist
from anonhist.cli.estimate import _UNBOUNDED
from anonhist.cli.plan import COMPARED
from anonhist.formats.deployment import CURATOR_TYPES
from anonhist.graphs.edge_formats import EDGE_FORMATS
from anonhist.graphs.graph import Direction
from anonhist.graphs.node_privacy import BoundingName
from anonhist.ingest.files import ENGINES
from anonhist.ingest.read import FORMATS
from anonhist.local.estimate import CORRECTIONS, DECODERS
from anonhist.mechanisms.estimators import PRIVATE_PROPERTIES
from anonhist.mechanisms.planning import Shape
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.sketches import Adversary, UsersIn
from anonhist.sketches.reading import FORMATS as SKETCH_FORMATS
from anonhist.sketches.release import DECODERS as SKETCH_DECODERS
from anonhist.terminal.decorators import commands_of, options_of

COMMANDS = dict(commands_of(anonhist))
UNITS = {name for name, each in vars(PrivacyUnit).items() if isinstance(each, classmethod) and name[0] != "_"}
RELATIONS = {each.value for each in NeighboringRelation}
OWNERS = {
    ("release", "--format"): set(FORMATS),
    ("sketch update", "--format"): set(SKETCH_FORMATS),
    ("release", "--unit"): UNITS - {"edge", "node"},
    ("sketch new", "--unit"): UNITS - {"edge", "node", "label"},
    ("degrees", "--format"): set(EDGE_FORMATS),
    ("degrees", "--unit"): UNITS & {"edge", "node"},
    ("release", "--relation"): RELATIONS,
    ("sketch new", "--relation"): RELATIONS,
    ("plan", "--shape"): set(get_args(Shape)),
    ("sketch new", "--users-in"): {each.value for each in UsersIn},
    ("sketch new", "--adversary"): {each.value for each in Adversary},
    ("degrees", "--directed"): {each.value for each in Direction if each.is_directed},
    ("degrees", "--bounding"): set(get_args(BoundingName)),
    ("show", "--curator-type"): set(CURATOR_TYPES),
    ("release", "--engine"): set(ENGINES),
}
NAMES = {
    ("local estimate", "--decoder"): DECODERS,
    ("local estimate", "--correction"): CORRECTIONS,
    ("sketch profile", "--decoder"): SKETCH_DECODERS,
}


@pytest.mark.parametrize("place", OWNERS, ids=" ".join)
def test_choices_are_those_of_the_owner(place: tuple[str, str]) -> None:
    path, option = place
    kind = options_of(COMMANDS[path])[option].type
    assert isinstance(kind, click.Choice)
    assert len(kind.choices) == len(OWNERS[place]) > 1
    assert set(kind.choices) == OWNERS[place]


@pytest.mark.parametrize("place", NAMES, ids=" ".join)
def test_names_are_taken_completed_and_told_as_the_catalogue_has_them(place: tuple[str, str]) -> None:
    path, word = place
    option, context = options_of(COMMANDS[path])[word], click.Context(COMMANDS[path])
    assert [option.type.convert(name, option, context) for name in NAMES[place]] == list(NAMES[place])
    assert {item.value for item in option.type.shell_complete(context, option, "")} == set(NAMES[place])
    listed = re.findall(r"[a-z]+(?:-[a-z]+)*", (option.help or "").partition(": ")[2].partition(".  [")[0])
    assert not listed or set(listed) - {"or"} == set(NAMES[place])


def test_a_comparison_takes_the_options_that_its_function_takes() -> None:
    assert set(COMPARED) == MECHANISM_OPTIONS.keys() & inspect.signature(ah.compare).parameters


def test_methods_without_bounded_sensitivity_are_methods_and_none_is_private() -> None:
    known = {method for entry in PROPERTIES.values() if entry.methods for method in load(entry.methods)}
    private = {method for each in PRIVATE_PROPERTIES.values() for method in each.methods}
    assert set(_UNBOUNDED) <= known - private


def test_every_kind_of_curve_is_in_the_help() -> None:
    kind = next(param.type for param in COMMANDS["curve"].params if param.name == "kind")
    assert isinstance(kind, click.Choice)
    listed = re.search(r"(?s)KIND is one of\n(.*?)\n\n", COMMANDS["curve"].help or "")
    assert listed is not None
    assert re.findall(r"(?m)^ +([a-z]+) {2,}", listed[1]) == list(kind.choices)

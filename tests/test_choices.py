"""Whoever may choose among words finds all of them in the docstring, and a type checker knows them."""

import inspect
import re
from collections.abc import Callable
from typing import Any, get_args

import pytest

import anonhist as ah
from anonhist.catalogue import MechanismName
from anonhist.graphs.node_privacy import METHODS
from anonhist.ingest.read import FORMATS
from anonhist.local import estimate
from anonhist.mechanisms import MECHANISM_NAMES
from anonhist.mechanisms.estimators.entropy import PRIVATE_ENTROPY_METHODS
from anonhist.mechanisms.estimators.support import PRIVATE_SUPPORT_SIZE_METHODS
from anonhist.properties.entropy import ENTROPY_METHODS
from anonhist.properties.guessing_curve import SuccessUnit
from anonhist.properties.orders import DIVERSITY_METHODS
from anonhist.properties.sample_coverage import SAMPLE_COVERAGE_METHODS
from anonhist.properties.share_cost import CostUnit
from anonhist.properties.support_coverage import LINEAR_COVERAGE_METHODS, RAREFACTION_METHODS, SUPPORT_COVERAGE_METHODS
from anonhist.properties.support_size import SUPPORT_SIZE_METHODS
from anonhist.properties.uniformity import UNIFORMITY_METHODS
from anonhist.sketches import Sketch
from anonhist.sketches.decoder import DecoderName
from anonhist.sketches.reading import FORMATS as SKETCH_FORMATS
from anonhist.sketches.release import DECODERS

CHOICES = [
    (ah.read_profile, FORMATS),
    (ah.update_sketch, SKETCH_FORMATS),
    (ah.plan, ("zipf", "worst")),
    (ah.release, MECHANISM_NAMES),
    (ah.release_degrees, (*MECHANISM_NAMES, *METHODS)),
    (ah.graphs.EdgePolicy, ("drop", "merge", "count")),
    (ah.entropy, ENTROPY_METHODS),
    (ah.support_size, SUPPORT_SIZE_METHODS),
    (ah.hill_number, DIVERSITY_METHODS),
    (ah.properties.hill_curve, DIVERSITY_METHODS),
    (ah.properties.rarefaction_curve, RAREFACTION_METHODS),
    (ah.properties.renyi_entropy, DIVERSITY_METHODS),
    (ah.properties.tsallis_entropy, DIVERSITY_METHODS),
    (ah.properties.distance_to_uniformity, UNIFORMITY_METHODS),
    (ah.properties.sample_coverage, SAMPLE_COVERAGE_METHODS),
    (ah.properties.support_coverage, SUPPORT_COVERAGE_METHODS),
    (ah.private.entropy, PRIVATE_ENTROPY_METHODS),
    (ah.private.support_size, PRIVATE_SUPPORT_SIZE_METHODS),
    (ah.private.support_coverage, LINEAR_COVERAGE_METHODS),
    (ah.properties.guesswork, get_args(CostUnit)),
    (ah.properties.work_factor, get_args(CostUnit)),
    (ah.properties.guessing_success, get_args(SuccessUnit)),
    (ah.local.KRR.estimate, (*estimate.DECODERS, *estimate.CORRECTIONS)),
    (Sketch.reconstruct, tuple(DECODERS)),
]


@pytest.mark.parametrize(("function", "words"), CHOICES, ids=[function.__qualname__ for function, _ in CHOICES])
def test_words_to_choose_from_are_in_the_docstring(function: Callable[..., object], words: tuple[str, ...]) -> None:
    assert len(words) > 1
    text = inspect.getdoc(function) or ""
    assert [word for word in words if f'``"{word}"``' not in text] == []


def test_types_know_the_names_that_are_registered() -> None:
    assert set(get_args(MechanismName)) == set(MECHANISM_NAMES)
    assert set(get_args(DecoderName)) == set(DECODERS)
    assert set(get_args(estimate.DecoderName)) == set(estimate.DECODERS)
    assert set(get_args(estimate.CorrectionName)) == set(estimate.CORRECTIONS)


def public_things() -> set[Any]:
    rooms = [ah, *(getattr(ah, name) for name in ah.__all__ if inspect.ismodule(getattr(ah, name)))]
    return {getattr(room, name) for room in rooms for name in room.__all__ if callable(getattr(room, name))}


def test_source_names_randomness_and_nothing_else() -> None:
    functions = [thing for thing in public_things() if inspect.isfunction(thing)]
    named = [
        each
        for function in functions
        for each in inspect.signature(function).parameters.values()
        if each.name == "source" and each.kind is not inspect.Parameter.POSITIONAL_ONLY
    ]
    assert len(named) > 5
    assert {each.annotation for each in named} == {"RandomSource | None"}


def test_no_docstring_sends_its_reader_to_a_constant() -> None:
    things = public_things()
    assert len(things) > 100
    sent = re.compile(r"[Oo]ne of (``|:data:`)[A-Z_]+`|[Nn]ames? of ``[A-Z_]+``")
    assert sent.search("One of ``ENTROPY_METHODS``.")
    assert [thing for thing in things if sent.search(inspect.getdoc(thing) or "")] == []

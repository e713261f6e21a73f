"""Files of collections: what is written is read, and everything else is refused."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import DataError, UsageError
from anonhist.formats.files import read, write
from anonhist.local import KRR, RAPPOR, Batches, Collection, HeavyHitters, Invited, LocalHashing
from anonhist.local.collection_files import COLLECTION_FILES, collection_document, collection_from_document

GOLDEN = Path(__file__).parent / "golden"
DAY = "2026-12-31"
COLLECTIONS = {
    "collection": Collection(
        survey=KRR(alphabet=["bus", "car", "Fähre", "🚲"], epsilon=1, title="Modes"), answers="once", last_day=DAY
    ),
    "collection-open": Collection(
        survey=LocalHashing(epsilon="4/3", key="Modes"),
        answers=5,
        candidates=["bus", "car"],
        last_day=DAY,
        shown=Batches(users=1000, honest=500, delta="1e-6"),
        keep_ids=30,
    ),
    "collection-invited": Collection(
        survey=KRR(alphabet=["no", "yes"], epsilon="1/2"), answers=2, last_day=DAY, open_to=Invited()
    ),
}
# Where, what is put there, and what the refusal says; the good document is that of "collection-open".
BAD = [
    ("format", "anonhist/survey", "format"),
    ("version", 2, "a newer program may read it"),
    ("survey", None, "the survey of a collection"),
    ("survey.epsilon", "8", "changed later"),
    ("survey.digest", "0" * 32, "changed later"),
    ("survey.parameters", {}, "incomplete"),
    ("survey.title", "\ud800", "title"),
    ("answers", "twice", "answers"),
    ("answers", 1, "answers"),
    ("answers", True, "answers"),
    ("answers", 5.0, "answers"),
    ("answers", 6, "changed later"),
    ("answers", 10**400, "times"),
    ("candidates", None, "fix the candidates"),
    ("candidates", "bus", "candidates"),
    ("candidates", ["bus", "bus"], "twice"),
    ("candidates", [7], "strings"),
    ("shown", "everything", "batches"),
    ("shown.honest", 2000, "can be honest"),
    ("shown.honest", 500.0, "whole numbers"),
    ("shown.delta", "1", "delta"),
    ("shown.delta", "0.000001", "changed later"),
    ("shown.delta", 1e-6, "delta must be plain text"),
    ("last_day", "2026-12-32", "last_day"),
    ("last_day", "20261231", "last_day"),
    ("last_day", None, "the last day"),
    ("keep_ids", 0, "keep_ids"),
    ("keep_ids", 30.0, "keep_ids"),
    ("open_to", "everybody", "anybody or invited"),
    ("open_to", [], "anybody or invited"),
    ("open_to", "invited", "changed later"),
    ("guarantee", "It is private.", "changed later"),
    ("cautions", [], "changed later"),
    ("digest", "0" * 64, "changed later"),
    ("digest", None, "changed later"),
    ("more", 1, "exactly the fields"),
]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_golden_files_are_read_and_written(name: str, tmp_path: Path) -> None:
    golden = GOLDEN / f"{name}.json"
    assert read(golden) == COLLECTION_FILES.read(golden) == COLLECTIONS[name]
    write(COLLECTIONS[name], tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == golden.read_bytes()


@pytest.mark.parametrize(("place", "value", "sentence"), BAD)
def test_bad_values_are_refused(place: str, value: Any, sentence: str, tmp_path: Path) -> None:
    document = deepcopy(collection_document(COLLECTIONS["collection-open"]))
    *path, last = place.split(".")
    inner: Any = document
    for step in path:
        inner = inner[step]
    inner[last] = value
    with pytest.raises((DataError, UsageError), match=sentence):
        collection_from_document(document)
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        COLLECTION_FILES.read(file)


def test_the_digest_covers_every_field() -> None:
    collection = COLLECTIONS["collection-open"]
    changes: dict[str, Any] = {
        "survey": replace(collection.survey, title="Modes 2"),
        "answers": 6,
        "last_day": "2027-01-01",
        "candidates": ["bus"],
        "shown": Batches(users=1000, honest=501, delta="1e-6"),
        "keep_ids": 31,
        "open_to": Invited(),
    }
    assert set(changes) == set(vars(collection)) & set(Collection.__dataclass_fields__)
    digests = {replace(collection, **{name: value}).digest for name, value in changes.items()}
    assert len({*digests, collection.digest}) == 8


def test_guarantees_are_longitudinal() -> None:
    survey = KRR(alphabet=4, epsilon="1/2")
    assert Collection(survey=survey, answers="once", last_day=DAY).guarantee.epsilon == survey.epsilon
    assert Collection(survey=survey, answers=7, last_day=DAY).guarantee.epsilon == 7 * survey.epsilon
    rappor = RAPPOR(alphabet=8, cohorts=1, key="k", f="1/2", p="1/4", q="3/4")
    repeated = Collection(survey=rappor, answers=7, last_day=DAY)
    assert repeated.guarantee.epsilon == rappor.epsilon
    assert "provided that the answer never changes" in repeated.guarantee.sentence
    assert repeated.cautions[:2] == rappor.cautions
    once = Collection(survey=rappor, answers="once", last_day=DAY)
    assert once.guarantee.epsilon == rappor.single_guarantee.epsilon < rappor.epsilon


def test_batches_hide_behind_the_honest_only() -> None:
    survey = KRR(alphabet=4, epsilon=2)

    def epsilon(honest: int, answers: int = 1) -> float:
        shown = Batches(users=10_000, honest=honest, delta="1e-6")
        collection = Collection(survey=survey, answers=answers, last_day=DAY, shown=shown)
        assert collection.guarantee == survey.repeated_guarantee(answers)
        return float(collection.shown_guarantee.epsilon)

    assert (
        survey.shuffled_guarantee(5_000, "1e-6").epsilon
        == survey.shuffled_guarantee(10_000, "1e-6", honest=5_000).epsilon
    )
    assert epsilon(10_000) < epsilon(5_000) < epsilon(100) <= 2
    assert epsilon(5_000, answers=3) == pytest.approx(3 * epsilon(5_000))
    # All reports of a person may be in one batch.
    collection = Collection(
        survey=survey, answers=3, last_day=DAY, shown=Batches(users=10_000, honest=5_000, delta="1e-6")
    )
    assert float(collection.shown_guarantee.delta) > 3e-6


def test_what_cannot_be_collected_is_refused() -> None:
    rappor = RAPPOR(alphabet=8, cohorts=1, key="k", f="1/2", p="1/4", q="3/4")
    batches = Batches(users=100, honest=50, delta="1e-6")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"survey": rappor, "shown": batches}, "can be linked"),
        ({"survey": LocalHashing(epsilon=1)}, "fix the candidates"),
        ({"survey": KRR(alphabet=3, epsilon=1), "candidates": ["0"]}, "leave .*candidates.* out"),
        ({"survey": HeavyHitters(epsilon=1, max_bytes=4), "candidates": ["a"]}, "leave .*candidates.* out"),
        ({"survey": "survey.json"}, "needs a survey"),
        ({"survey": KRR(alphabet=3, epsilon=1), "answers": "twice"}, "must be once"),
        ({"survey": KRR(alphabet=3, epsilon=1), "answers": 0}, "times"),
        ({"survey": KRR(alphabet=3, epsilon=1), "shown": "looks"}, "Looks"),
        ({"survey": KRR(alphabet=3, epsilon=1), "last_day": "tomorrow"}, "last_day"),
        ({"survey": KRR(alphabet=3, epsilon=1), "keep_ids": 4000}, "keep_ids"),
        ({"survey": KRR(alphabet=3, epsilon=1), "open_to": "invited"}, "Invited"),
        ({"survey": KRR(alphabet=3, epsilon=1), "open_to": Invited(), "last_day": "2149-06-07"}, "2149-06-06"),
    ]
    for given, sentence in refused:
        with pytest.raises(UsageError, match=sentence):
            Collection(**{"answers": "once", "last_day": DAY, **given})


def test_batches_have_sizes_that_javascript_reads_exactly() -> None:
    most = Batches(users=2**53, honest=5_000, delta="1e-6")
    assert most.users == 2**53
    with pytest.raises(UsageError, match="must be a whole number from 2 to"):
        Batches(users=2**53 + 1, honest=5_000, delta="1e-6")

import json
import tempfile
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonhist import version
from anonhist.accounting import Receipt
from anonhist.errors import DataError, UsageError
from anonhist.formats.files import write
from anonhist.local import KRAPPOR, KRR, Alphabet, OptimizedUnary, SubsetSelection, Survey, WarnerRR
from anonhist.local.files import read_survey, survey_document, survey_text
from anonhist_testing.cases import each_of

GOLDEN = Path(__file__).parent / "golden"
SURVEYS: dict[str, Survey] = {
    "warner": WarnerRR(epsilon="0.25"),
    "k-rr": KRR(alphabet=Alphabet(["Katze", "🐈", 'a,b"c\n'], other="none"), epsilon="1/3", title="Pets 2024"),
    "k-rappor": KRAPPOR(alphabet=12, epsilon=2),
    "optimized-unary": OptimizedUnary(alphabet=["x", "y"], epsilon=1),
    "subset-selection": SubsetSelection(alphabet=2**20, epsilon=8, subset_size=3),
}
RECEIPT = Receipt("0" * 32, 3, "f" * 64)
ABSENT = object()
# Where, what is put there, and what the refusal says. The good document is SURVEYS["k-rr"].
BAD = [
    ("format", "anonhist/release", "its format says that it is a release"),
    ("format", "anonhist.survey", "written by a version before 1.0"),
    ("format", ABSENT, "format"),
    ("version", 2, "its version is not 1, .* a newer program may read it"),
    ("version", 0, "its version is not 1"),
    ("version", True, "version"),
    ("version", 1.0, "version"),
    ("version", ABSENT, "version"),
    ("receipt", ABSENT, "a survey by exactly the fields"),
    ("receipt", {}, "the receipt by exactly the fields"),
    ("receipt", "0" * 32, "the receipt by exactly the fields"),
    ("receipt", {"ledger": "0" * 32, "entry": -1, "head": "f" * 64}, "entry must be a whole number from 1"),
    ("receipt", {"ledger": "0" * 32, "entry": 3, "head": "f"}, "64 hexadecimal digits, not 'f'"),
    ("library_version", None, "library version"),
    ("extra", 1, "exactly the fields"),
    ("digest", ABSENT, "exactly the fields"),
    ("digest", "0" * 32, "changed later"),
    ("digest", None, "changed later"),
    ("title", "Pets 2025", "changed later"),
    ("title", "Pets\n2025", "title"),
    ("title", None, "title"),
    ("epsilon", "1/2", "changed later"),
    ("epsilon", "2/6", "not written as"),
    ("epsilon", 1, "epsilon must be plain text"),
    ("epsilon", "0", "epsilon"),
    ("epsilon", "1e99999", "epsilon"),
    ("mechanism", "laplace", "no local mechanism"),
    ("mechanism", None, "the mechanism"),
    ("mechanism", "k-rappor", "changed later"),
    ("mechanism", "subset-selection", "parameters are incomplete"),
    ("parameters", None, "must be among"),
    ("parameters", {}, "do not have the types"),
    ("parameters.chosen", 1, "must be among alphabet"),
    ("parameters.alphabet", {"size": 4}, "changed later"),
    ("parameters.alphabet", {"size": 10**40}, "alphabet must be"),
    ("parameters.alphabet.labels", ["Katze"], "parameters are incomplete"),
    ("parameters.alphabet.labels", [], "at least two"),
    ("parameters.alphabet.other", "Katze", "changed later"),
    ("parameters.alphabet.other", ABSENT, "changed later"),
    ("guarantee", "Nothing can be learnt from this.", "the guarantee is not that"),
    ("guarantee", None, "the guarantee is not that"),
]


def _change_field(where: str, value: object) -> dict[str, Any]:
    whole = deepcopy(survey_document(SURVEYS["k-rr"]))
    *path, last = where.split(".")
    inside = whole
    for name in path:
        inside = inside[name]
    if value is ABSENT:
        del inside[last]
    else:
        inside[last] = value
    return whole


@each_of("name", SURVEYS)
def test_a_survey_is_read_as_it_was_written(tmp_path: Path, name: str) -> None:
    write(SURVEYS[name], tmp_path / "a.json")
    assert read_survey(tmp_path / "a.json") == SURVEYS[name]


@each_of("name", SURVEYS)
def test_golden_files_stay_readable(name: str) -> None:
    # Written when the format was made; never to be written anew.
    assert read_survey(GOLDEN / f"survey-{name}.json") == SURVEYS[name]


@each_of("name", [*SURVEYS, "charged"])
def test_the_same_bytes_are_written(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = (GOLDEN / f"survey-{name}.json").read_text(encoding="utf-8")
    monkeypatch.setattr(version, "__version__", json.loads(written)["library_version"])
    survey = replace(SURVEYS["k-rr"], receipt=RECEIPT) if name == "charged" else SURVEYS[name]
    assert survey_text(survey) == written


def test_a_receipt_is_kept(tmp_path: Path) -> None:
    charged = read_survey(GOLDEN / "survey-charged.json")
    assert (charged, charged.receipt) == (SURVEYS["k-rr"], RECEIPT)
    write(charged, tmp_path / "a.json")
    assert read_survey(tmp_path / "a.json").receipt == RECEIPT
    write(SURVEYS["k-rr"], tmp_path / "b.json")
    assert read_survey(tmp_path / "b.json").receipt is None


@each_of(("where", "value", "reason"), BAD)
def test_bad_surveys_are_refused(tmp_path: Path, where: str, value: object, reason: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(_change_field("title", "Pets 2024")), encoding="utf-8")
    assert read_survey(path) == SURVEYS["k-rr"]
    path.write_text(json.dumps(_change_field(where, value)), encoding="utf-8")
    with pytest.raises(DataError, match=reason) as caught:
        read_survey(path)
    message = str(caught.value)
    assert message.startswith(f"'{path}' is not a survey that can be read: ")
    assert message.endswith(".")
    assert "\n" not in message


@each_of("content", [b"", b"[]", b"null", b"\xff", b'{"format": NaN}', b'{"format": 1, "format": 1}'])
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(DataError, match="not a survey that can be read"):
        read_survey(tmp_path / "bad.json")


def test_files_that_are_not_there_or_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_survey(tmp_path / "none.json")
    with pytest.raises(UsageError, match=r"not a survey file: name one that ends in \.json"):
        read_survey(tmp_path / "none.parquet")
    with pytest.raises(UsageError, match=r"A survey is written as \.json"):
        write(SURVEYS["warner"], tmp_path / "a.parquet")


def test_labels_that_no_file_can_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="half a surrogate pair"):
        write(KRR(alphabet=["a", "\ud800"], epsilon=1), tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=100, database=None)
@given(places=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=3))
def test_damaged_surveys_are_refused_or_the_same(places: list[tuple[float, int]]) -> None:
    damaged = bytearray((GOLDEN / "survey-k-rr.json").read_bytes())
    for place, byte in places:
        damaged[int(place * len(damaged))] = byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "damaged.json")
        path.write_bytes(damaged)
        try:
            survey = read_survey(path)
        except DataError:
            return
    assert survey == SURVEYS["k-rr"]

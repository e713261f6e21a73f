"""One report from given words: the vectors of docs/drawing.md, which clients in other languages follow, too."""

import json
import runpy
from pathlib import Path

import pytest

from anonhist.catalogue import RANDOMIZERS

ROOT = Path(__file__).parents[2]
VECTORS = json.loads((ROOT / "examples" / "drawing_vectors.json").read_text(encoding="utf-8"))


@pytest.mark.full
def test_surveys_draw_the_vectors() -> None:
    # The program draws all of them again.
    made = runpy.run_path(str(ROOT / "tools" / "drawing_vectors.py"))["document"]()
    assert json.loads(json.dumps(made)) == VECTORS


def test_there_are_enough_vectors_of_every_mechanism() -> None:
    numbers = dict.fromkeys(RANDOMIZERS, 0)
    for survey in VECTORS["surveys"]:
        numbers[survey["mechanism"]] += len(survey["vectors"])
        heads = [head for _, _, head, _, _ in survey["vectors"] if head]
        # Ties of 16, 64, 128 and 192 bits, decided either way, except where the digits of a threshold are all 0 or 1.
        assert len(heads) >= 7
    assert len(numbers) == 13
    assert min(numbers.values()) >= 200

"""Write examples/drawing_vectors.json: which report each survey draws from which words, ties at thresholds included.

Word i of seed n is the first eight bytes, little-endian, of SHA-256 of ``anonhist drawing vectors``, n and i, each in
eight bytes, little-endian; the words of a vector's head come before them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonhist.local import (
    KRAPPOR,
    KRR,
    ORAPPOR,
    ORR,
    RAPPOR,
    Alphabet,
    HadamardResponse,
    HeavyHitters,
    HybridProjectiveGeometry,
    LocalHashing,
    OptimizedUnary,
    ProjectiveGeometry,
    SubsetSelection,
    Survey,
    WarnerRR,
)
from anonhist.local.block_design import BlockDesign
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness.bernoulli import PATTERNS, _floors, floor_of

PATH = Path(__file__).parent.parent / "examples" / "drawing_vectors.json"
DOMAIN = b"anonhist drawing vectors"
PETS = Alphabet(["cat", "dog", "Käfer", "🐈", 'a"b\\c'], other="another")
SURVEYS: list[Survey] = [
    KRR(alphabet=PETS, epsilon=1),
    KRR(alphabet=5000, epsilon="7/3"),
    KRR(alphabet=2**32, epsilon="1e-9"),
    WarnerRR(epsilon="0.25"),
    WarnerRR(epsilon=64),
    SubsetSelection(alphabet=PETS, epsilon=1, subset_size=2),
    SubsetSelection(alphabet=40, epsilon="1/2", subset_size=30),
    SubsetSelection(alphabet=70_000, epsilon=7),
    KRAPPOR(alphabet=PETS, epsilon=2),
    KRAPPOR(alphabet=100, epsilon=1),
    OptimizedUnary(alphabet=PETS, epsilon=1),
    OptimizedUnary(alphabet=203, epsilon=5),
    LocalHashing(epsilon=1, key="vectors"),
    LocalHashing(alphabet=PETS, epsilon=2, buckets=3),
    LocalHashing(alphabet=10**6, epsilon=3),
    HeavyHitters(epsilon=4, max_bytes=6),
    HeavyHitters(epsilon=1, max_bytes=1),
    HadamardResponse(alphabet=PETS, epsilon=1),
    HadamardResponse(alphabet=1000, epsilon=3),
    HadamardResponse(alphabet=2**32, epsilon=6),
    ProjectiveGeometry(alphabet=PETS, epsilon=1),
    ProjectiveGeometry(alphabet=22_000, epsilon=5),
    ProjectiveGeometry(alphabet=2**32, epsilon=8),
    HybridProjectiveGeometry(alphabet=PETS, epsilon=2),
    HybridProjectiveGeometry(alphabet=22_000, epsilon=5),
    ORR(buckets=256, cohorts=8, epsilon=4, key="vectors"),
    ORR(alphabet=PETS, cohorts=3, buckets=4, epsilon=1, key="vectors"),
    ORAPPOR(buckets=64, cohorts=4, hashes=2, epsilon=4, key="vectors"),
    ORAPPOR(alphabet=PETS, cohorts=1, epsilon=1, key="vectors"),
    RAPPOR(buckets=32, cohorts=8, hashes=2, key="vectors", f="1/2", p="1/2", q="3/4"),
    RAPPOR(alphabet=PETS, cohorts=2, key="vectors", f="1/3", p="0", q="2/3"),
]
# Of each survey; there are two or more of each mechanism.
LEAST = 100
# Of those without cohorts, how many whole numbers are drawn before the first bit.
_NUMBERS_FIRST = {
    "local-hashing": 1,
    "heavy-hitters": 2,
    "hadamard-response": 1,
    "projective-geometry": 1,
    "hybrid-projective-geometry": 1,
}


@dataclass
class Stream:
    """The words of a vector: those of its head, then those of its seed."""

    seed: int
    head: list[int]
    used: int = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words."""
        out = [self._word(i) for i in range(self.used, self.used + count)]
        self.used += count
        return np.array(out, dtype=np.uint64)

    def _word(self, i: int) -> int:
        if i < len(self.head):
            return self.head[i]
        counted = self.seed.to_bytes(8, "little") + (i - len(self.head)).to_bytes(8, "little")
        return int.from_bytes(hashlib.sha256(DOMAIN + counted).digest()[:8], "little")


def answer_of(survey: Survey, number: int) -> Any:
    """Return one of the answers to a survey."""
    alphabet = getattr(survey, "alphabet", None)
    if alphabet is None:
        return ["", "ant", "bumblebee", "Ünïcödé", "🐈🐈", f"answer {number}"][number % 6]
    if isinstance(alphabet.labels, int):
        return (alphabet.size - 1, 0, number * 2654435761 % alphabet.size)[number % 3]
    possible = alphabet.labels if alphabet.other is None else (*alphabet.labels, "beyond")
    return possible[number % len(possible)]


def draw(survey: Survey, answer: Any, seed: int, head: list[int]) -> list[Any]:
    """Return a vector: answer, seed, head, the number of words used, and the columns of the report."""
    stream = Stream(seed, head)
    reports = survey.randomize([answer], source=stream)
    columns = [reports.columns[column.name][0] for column in survey.columns]
    report = [bytes(each).hex() if each.ndim else str(int(each)) for each in columns]
    return [answer, seed, [f"{word:016x}" for word in head], stream.used, report]


def ties(target: int) -> Iterator[list[int]]:
    """Yield words that begin like a threshold, a whole number of 256 bits, and differ after 16, 64, 128 or 192."""
    slot, rest, *words = (
        target >> 240,
        target >> 192 & (1 << 48) - 1,
        *(target >> by & (1 << 64) - 1 for by in (128, 64, 0)),
    )
    for change in (-1, 1):
        if 0 <= rest + change < 1 << 48:
            yield [slot, rest + change << 16]
        for tied in range(3):
            if 0 <= words[tied] + change < 1 << 64:
                yield [slot, rest << 16, *words[:tied], words[tied] + change]


def decided(probability: Fraction | ExponentialQuotient) -> int:
    """Return 16 bits that decide a byte which is not the rarest one."""
    holding = {floor >> 48 for floor in _floors(probability, 64)}
    counts = [(slot, sum(floor >> 48 <= slot for floor in _floors(probability, 64))) for slot in range(0, 1 << 16, 97)]
    return next(slot for slot, count in counts if slot not in holding and PATTERNS[count] not in (0, 255))


def exact(probability: ExponentialQuotient) -> Fraction | ExponentialQuotient:
    """Return the number as samplers take it."""
    return probability if probability.rational is None else probability.rational


def tied_heads(survey: Survey) -> Iterator[list[int]]:
    """Yield heads that tie with a threshold of a draw of the survey, wherever its words begin."""
    # A zero word is the number 0, and no bound of 1 uses one.
    before = [0] * _NUMBERS_FIRST.get(survey.name, getattr(survey, "cohorts", 1) > 1)
    if getattr(survey, "max_bytes", 2) == 1:
        before.pop()
    for rows, own in drawn_bits(survey):
        if rows is not None:
            chance, width = rows
            fill = decided(chance)
            slots = [fill | fill << 16 | fill << 32 | fill << 48] * -(-width // 4)
            targets = _floors(chance, 256)
            for place in (0, 1, 100, 254):
                for slot, *tied in ties(targets[place]):
                    yield [*before, slots[0] >> 16 << 16 | slot, *slots[1:], *tied]
            before = [*before, *slots]
        if own is not None:
            for tied in ties(floor_of(own, bits=256)):
                yield [*before, *tied]
            before = [*before, 1 << 15]


def drawn_bits(survey: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the draws of bits in their order: (probability, bytes) of packed bits, probability of a single one."""
    width = -(-getattr(survey, "places", getattr(survey, "size", 0) if survey.name[0] in "ko" else 0) // 8)
    if survey.name in {"k-rappor", "optimized-unary", "o-rappor"}:
        yield (exact(survey.false_support_probability), width), exact(survey.true_support_probability)
    elif survey.name == "rappor":
        yield (survey.f / 2, width), 1 - survey.f / 2
        yield from (((each, width), None) for each in (survey.p, survey.q) if 0 < each < 1)
    elif survey.name == "subset-selection":
        yield None, survey.true_support_probability
    elif survey.name in {"local-hashing", "heavy-hitters"}:
        yield None, (survey.odds - 1) / (survey.odds + (survey.buckets - 1))
    elif hasattr(survey, "block_design") or hasattr(survey, "space"):
        design = BlockDesign(survey.space, 1) if hasattr(survey, "space") else survey.block_design
        yield None, design.design.support * (survey.odds - 1) * design.base(survey.odds)
    else:
        yield None, survey.true_support_probability - survey.false_support_probability


def vectors_of(survey: Survey) -> list[list[Any]]:
    """Return the vectors of a survey: ties first."""
    heads = [head for head in tied_heads(survey) if survey.name != "rappor" or len(head) < 100]
    made = [draw(survey, answer_of(survey, number), number, head) for number, head in enumerate(heads)]
    return made + [draw(survey, answer_of(survey, number), number, []) for number in range(len(heads), LEAST)]


def document() -> dict[str, Any]:
    """Return all vectors."""
    surveys = [
        {"mechanism": each.name, "epsilon": str(each.epsilon), "title": each.title, "parameters": each.parameters}
        | {"digest": each.digest, "columns": [column.name for column in each.columns], "vectors": vectors_of(each)}
        for each in SURVEYS
    ]
    return {"domain": DOMAIN.decode(), "surveys": surveys}


def main() -> None:
    """Write the vectors, one a line."""
    heads = []
    for survey in document()["surveys"]:
        vectors = ",\n".join(json.dumps(each, ensure_ascii=False) for each in survey.pop("vectors"))
        head = json.dumps(survey, ensure_ascii=False)
        heads.append(f'{head[:-1]}, "vectors": [\n{vectors}\n]}}')
    PATH.write_text(f'{{"domain": "{DOMAIN.decode()}", "surveys": [\n' + ",\n".join(heads) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

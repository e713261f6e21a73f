"""Values save themselves as ``write`` writes them, and are read again."""

from pathlib import Path
from typing import Any

import pytest

from anonhist.errors import UsageError
from anonhist.formats.files import read, write
from anonhist.local import KRR
from anonhist.mechanisms import compare
from anonhist.profiles import Profile
from anonhist.properties.entropy import entropy
from anonhist.properties.estimate import Estimates
from anonhist.properties.guessing_curve import guessing_curve
from anonhist.releases import Release
from anonhist.sketches import DomainSketch

PROFILE = Profile.from_counts([9, 8, 8, 3, 1, 1])
PETS = KRR(alphabet=["cat", "dog"], epsilon=2)


@pytest.mark.full
def test_every_value_that_is_saved_is_what_write_writes(tmp_path: Path, releases: dict[str, Release]) -> None:
    reports = PETS.randomize(["cat", "dog", "cat"])
    tally = PETS.tally(reports)
    values: dict[str, Any] = {
        "release.json": releases["frobenius"],
        "release.csv": releases["frobenius"],
        "survey.json": PETS,
        "tally.parquet": tally,
        "reports.ndjson": reports,
        "estimate.csv": PETS.estimate(tally),
        "sketch.sketch": DomainSketch(alphabet=["a", "b"], epsilon=1),
        "entropy.csv": entropy(releases["frobenius"]),
        "all.csv": Estimates((("entropy", entropy(releases["frobenius"])),)),
        "curve.csv": guessing_curve(releases["frobenius"], bootstraps=3),
        "comparison.csv": compare(PROFILE, epsilons=[1], mechanisms=["isotonic"], repeats=2),
    }
    for name, value in values.items():
        value.save(tmp_path / name)
        write(value, tmp_path / f"written-{name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"written-{name}").read_bytes(), name
    assert read(tmp_path / "survey.json") == PETS
    assert read(tmp_path / "tally.parquet") == tally
    with pytest.raises(UsageError, match="exists"):
        PETS.save(tmp_path / "survey.json")
    PETS.save(tmp_path / "survey.json", overwrite=True)

"""``anonhist local rappor``: what google/rappor collected, decoded without it."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from anonhist.cli.entry import run


@pytest.fixture
def rappor_files(tmp_path: Path) -> Path:
    """Two cohorts of 40,000 reports on 16 bits, p = 1/4, q = 3/4, f = 1/2: half of the people say cat, none emu."""
    rng = np.random.default_rng(7)
    bits = {"cat": (3, 9), "dog": (5, 1), "emu": (7, 12)}
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n16,1,2,0.25,0.75,0.5\n")
    rows = []
    for cohort in range(2):
        counts = np.full(16, 0)
        for name, people in (("cat", 20_000), ("dog", 20_000)):
            chance = np.full(16, 0.25 * 0.75 + 0.75 * 0.25)
            chance[bits[name][cohort] - 1] = 0.75 * 0.75 + 0.25 * 0.25
            counts += rng.binomial(people, chance)
        rows.append(",".join(map(str, [40_000, *counts])))
    (tmp_path / "counts.csv").write_text("\n".join(rows) + "\n")
    lines = [f"{name},{first},{16 + second}" for name, (first, second) in bits.items()]
    (tmp_path / "map.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.slow
def test_shares_are_found(rappor_files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(rappor_files / name) for name in ("params.csv", "counts.csv", "map.csv")]
    assert run(["local", "rappor", *files, "--report", str(rappor_files / "out.html")]) == 0
    told = capsys.readouterr()
    rows = {row["label"]: row for row in csv.DictReader(io.StringIO(told.out))}
    for label, share in (("cat", 0.5), ("dog", 0.5), ("emu", 0)):
        assert abs(float(rows[label]["raw"]) - share) < 5 * float(rows[label]["standard_error"])
        assert (rows[label]["significant"] == "true") is (share > 0)
    assert told.err == ""
    assert "cat" in (rappor_files / "out.html").read_text(encoding="utf-8")


def test_bad_files_are_refused_in_a_sentence(rappor_files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rappor_files / "map.csv").write_text("cat,99,3\n")
    files = [str(rappor_files / name) for name in ("params.csv", "counts.csv", "map.csv")]
    assert run(["local", "rappor", *files, "-o", str(rappor_files / "out.csv")]) == 3
    assert "map.csv" in capsys.readouterr().err
    assert not (rappor_files / "out.csv").exists()


def test_booleans_are_decoded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One bit: a share of 1% is 1%, in one cohort or two, and two candidates for it cannot be told apart."""
    files = [tmp_path / name for name in ("params.csv", "counts.csv", "map.csv")]
    for texts in (
        ("k,h,m,p,q,f\n1,1,1,0.25,0.75,0\n", "100000,25500\n", "TRUE,1\n"),
        ("k,h,m,p,q,f\n1,1,2,0.25,0.75,0\n", "1000,255\n1000,255\n", "TRUE,1,2\n"),
    ):
        for path, text in zip(files, texts, strict=True):
            path.write_text(text)
        assert run(["local", "rappor", *map(str, files)]) == 0
        (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
        assert float(row["raw"]) == 0.01
        assert abs(float(row["frequency"]) - 0.01) < 1e-4
        assert float(row["low"]) < 0.01 < float(row["high"]) < 0.05
    files[2].write_text("TRUE,1,2\nFALSE,1,2\n")
    assert run(["local", "rappor", *map(str, files)]) == 3
    told = capsys.readouterr().err
    assert "map.csv' is not a file in the format of google/rappor" in told
    assert "distinguish only one candidate from all other values, and there are 2" in told

"""Tumult Analytics is asked in another interpreter: here in one that answers without noise."""

import runpy
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent.parent / "bench"
FAKE = """#!{python}
import csv, json, sys
with open(sys.argv[2]) as lines:
    prevalences = {{int(row["count"]): int(row["prevalence"]) for row in csv.DictReader(lines)}}
for _ in sys.stdin:
    numbers = range(1, int(sys.argv[3]) + 1)
    noisy = [sum(labels for count, labels in prevalences.items() if count >= number) for number in numbers]
    print(json.dumps(noisy), flush=True)
"""


def _run(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.setattr(sys, "argv", ["alternatives.py", "--quick", "--only", "Tumult", *options])
    runpy.run_path(str(BENCH / "alternatives.py"), run_name="__main__")


def test_answers_become_profiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / "python"
    fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    fake.chmod(0o755)
    _run(monkeypatch, "--tumult", str(fake))
    out = capsys.readouterr().out
    rows = [line.strip("| ").split(" | ") for line in out.splitlines() if line.startswith("| Tumult")]
    assert [row[2] for row in rows] == ["0"]
    assert "left out" not in out


def test_failure_and_absence_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "python"
    broken.write_text(f"#!{sys.executable}\nimport sys; sys.stdin.readline()\n", encoding="utf-8")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match="Tumult Analytics failed"):
        _run(monkeypatch, "--tumult", str(broken))
    _run(monkeypatch)
    assert "Tumult Analytics was left out" in capsys.readouterr().out

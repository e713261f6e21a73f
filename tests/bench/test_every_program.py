"""Every program of bench/ runs: what the documents say can be measured again."""

import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

ROOT = Path(__file__).parent.parent.parent
BENCH = ROOT / "bench"
PAGES: dict[str, Any] = runpy.run_path(str(BENCH / "pages.py"))
TABLE = PAGES["pages"]()
RUNS = re.findall(r"^python bench/(.+)$", "\n".join(PAGES["commands_of"](page) for page in TABLE), re.MULTILINE)


def test_make_bench_runs_every_program() -> None:
    programs = {path.name for path in BENCH.glob("*.py") if "def main(" in path.read_text(encoding="utf-8")}
    assert {run.split()[0] for run in RUNS} == programs - {"pages.py"}
    assert "\t$(BIN)/python bench/pages.py\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.drawn(20)
@pytest.mark.parametrize("run", RUNS)
def test_program_runs(
    run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *options = shlex.split(run)
    # As from a clone, where figures go to docs/images; nothing is written into this one.
    (tmp_path / "docs" / "images").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(BENCH))
    # What is drawn is tested elsewhere, and takes longer than all that is computed.
    monkeypatch.setattr(Figure, "savefig", lambda _, path, **__: Path(path).touch())
    monkeypatch.setattr(sys, "argv", [program, *options, "--quick"])
    runpy.run_path(str(BENCH / program), run_name="__main__")
    rows = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert len(rows) >= 2
    plots = [option for option in options if option.startswith("docs/images")]
    assert bool(plots) == any(tmp_path.rglob("*.png"))

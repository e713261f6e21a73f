"""Points of settings that were run, kept line by line, so that a run that was broken off goes on where it ended."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from anonhist.errors import OutputError
from anonhist_papers import __version__
from anonhist_papers.experiment import Point

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anonhist_papers.experiment import Cell

FILE = "cells.jsonl"


class Results:
    """The points of one folder, by experiment and setting.

    Parameters
    ----------
    folder
        Must exist.
    made_by
        What all settings of a folder share: the paper and the size of the run.
    """

    def __init__(self, folder: Path, *, made_by: str) -> None:
        self._path = folder / FILE
        self._head = {"made_by": made_by, "version": __version__}
        self._found: dict[str, list[Point]] = {}
        if self._path.exists():
            self._read()
        else:
            self._append(self._head)

    def __contains__(self, key: tuple[str, Cell]) -> bool:
        return _text(*key) in self._found

    def points(self, experiment: str, cells: Sequence[Cell]) -> list[Point]:
        """Return the points of settings that were run, in the order of the settings."""
        return [point for cell in cells for point in self._found[_text(experiment, cell)]]

    def add(self, experiment: str, cell: Cell, points: Sequence[Point]) -> None:
        """Keep the points of a setting, on disk too."""
        self._append({"experiment": experiment, "cell": dict(cell), "points": [asdict(each) for each in points]})
        self._found[_text(experiment, cell)] = list(points)

    def _append(self, entry: object) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            raise OutputError(f"Points could not be added to {str(self._path)!r}: {error.strerror}.") from error

    def _read(self) -> None:
        text = self._path.read_text(encoding="utf-8")
        lines = text.split("\n")
        # What stands behind the last end of a line was broken off while it was written.
        if lines.pop():
            self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if not lines or json.loads(lines[0]) != self._head:
            message = (
                f"{str(self._path)!r} is of another run or version: name another folder (-o), or start anew (--force)."
            )
            raise OutputError(message)
        for line in lines[1:]:
            entry = json.loads(line)
            points = [Point(**each) for each in entry["points"]]
            self._found[_text(entry["experiment"], entry["cell"])] = points


def _text(experiment: str, cell: Cell) -> str:
    return json.dumps([experiment, dict(cell)], sort_keys=True)

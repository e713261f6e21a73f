"""How two releases differ, as a table and as JSON, for other programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from anonhist.formats.files import FileKind, as_text
from anonhist.formats.tables import Table, csv_text
from anonhist.formats.untrusted import document_text
from anonhist.releases.numbers import LEVEL
from anonhist.version import __version__

if TYPE_CHECKING:
    from anonhist.formats.tables import Columns
    from anonhist.privacy import Guarantee
    from anonhist.properties.estimate import Estimate
    from anonhist.releases.difference import NumberDifference, ReleaseDifference

_NUMBERS = ("value", "low", "high")
EXPLAINED = (
    "second minus first; low and high are the ends of a 95% interval of one difference, together_low and together_high "
    "those of intervals that hold for all differences at once with probability 95%"
)


def _columns(found: ReleaseDifference) -> Columns:
    """Return one row per number: both, their difference, and what is known of it."""
    columns: dict[str, Any] = {
        "number": [row.key.what for row in found.rows],
        "at": np.array([np.nan if row.key.at is None else row.key.at for row in found.rows], float),
    }
    for place in ("first", "second", "difference"):
        ends = np.array([_ends(getattr(row, place)) for row in found.rows], float).reshape(-1, 3)
        columns |= {f"{place}{'' if name == 'value' else f'_{name}'}": ends[:, at] for at, name in enumerate(_NUMBERS)}
    together = np.array([row.together for row in found.rows], float).reshape(-1, 2)
    return {
        **columns,
        "together_low": together[:, 0],
        "together_high": together[:, 1],
        "differs": np.array([row.differs for row in found.rows], dtype=np.bool_),
        "says": [row.difference.statement.holds.value for row in found.rows],
        "reason": [row.difference.statement.reason for row in found.rows],
        "unit": [row.difference.unit for row in found.rows],
    }


def _ends(found: Estimate) -> tuple[float, float, float]:
    return found.value, *found.interval


def difference_document(found: ReleaseDifference) -> dict[str, Any]:
    """Return a difference as JSON values; an end that does not exist is null."""
    return {
        "format": "anonhist/release-difference",
        "library_version": __version__,
        "about": found.of,
        "caveat": found.caveat,
        "explained": EXPLAINED,
        "level": LEVEL,
        "comparisons": found.comparisons,
        "differing": len(found.differing),
        "releases": [
            {"name": name, "mechanism": each.mechanism.name, "guarantee": _guarantee(each.guarantee)}
            for name, each in zip(found.names, (found.first, found.second), strict=True)
        ],
        "guarantee_of_both": _guarantee(found.guarantee),
        "numbers": [_number(row) for row in found.rows],
    }


def _guarantee(told: Guarantee) -> dict[str, str]:
    return {"sentence": told.sentence, "epsilon": str(told.epsilon), "delta": str(told.delta)}


def _number(row: NumberDifference) -> dict[str, Any]:
    values = {
        place: dict(zip(_NUMBERS, map(_finite, _ends(getattr(row, place))), strict=True))
        for place in ("first", "second", "difference")
    }
    return {
        "number": row.key.what,
        "at": row.key.at,
        **values,
        "together": dict(zip(_NUMBERS[1:], map(_finite, row.together), strict=True)),
        "differs": row.differs,
        "says": row.difference.statement.holds.value,
        "reason": row.difference.statement.reason,
        "unit": row.difference.unit,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _at(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.15g}"


TABLE = Table(_columns, lambda _: {"at": _at})
FILES: FileKind[Never] = FileKind(
    "release difference",
    {".csv": as_text(csv_text), ".json": as_text(lambda found: document_text(difference_document(found)))},
)

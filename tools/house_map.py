"""Draw the rooms of the house and what they import, as docs/images/house.svg.

python tools/house_map.py

Rooms and their order are those of the contract in pyproject.toml, and arrows those of the code. A room that arrows
already reach through other rooms gets no arrow of its own.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "anonhist"
PICTURE = ROOT / "docs" / "images" / "house.svg"

WIDTH, MARGIN, GAP = 820, 16, 36
BOX_WIDTH, BOX_HEIGHT, STEP, TURN, PORT = 230, 70, 106, 12, 36
TYPES_ONLY = re.compile(r"^if TYPE_CHECKING:\n(?:(?: {4}.*)?\n)+", re.MULTILINE)
IMPORT = re.compile(r"^ *(?:from|import) anonhist\.(\w+)", re.MULTILINE)
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>The rooms of anonhist, and which rooms they import</title>
<style>
text {{ font-family: sans-serif; fill: #1b1b1b; text-anchor: middle }}
.room {{ fill: #f4f1ea; stroke: #555 }}
.name {{ font-size: 15px; font-weight: 600 }}
.inner {{ font-size: 10px; fill: #555 }}
.arrow {{ fill: none; stroke: #7a8aa0; stroke-width: 1.4; marker-end: url(#tip) }}
</style>
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" fill="#7a8aa0"/>
</marker>
<rect width="100%" height="100%" fill="white"/>
"""


def rows() -> list[list[str]]:
    """Return the rooms that stand beside each other, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.strip() for name in layer.split("|")] for layer in layers]


def imports(room: str) -> set[str]:
    """Return which rooms a room imports when it runs, wherever in a file that is said."""
    files = [PACKAGE / f"{room}.py", *sorted((PACKAGE / room).rglob("*.py"))]
    texts = [TYPES_ONLY.sub("", path.read_text(encoding="utf-8")) for path in files if path.exists()]
    return {name for text in texts for name in IMPORT.findall(text)} - {room}


def arrows(rooms: list[str]) -> list[tuple[str, str]]:
    """Return who imports whom, without what follows from the others; rooms are given from the top."""
    direct = {room: imports(room) & set(rooms) for room in rooms}
    reached: dict[str, set[str]] = {}
    for room in reversed(rooms):
        reached[room] = direct[room].union(*(reached[other] for other in direct[room]))
    return [
        (room, other)
        for room in rooms
        for other in sorted(direct[room], key=rooms.index)
        if not any(other in reached[between] for between in direct[room])
    ]


def inner_rooms(room: str) -> list[str]:
    """Return the rooms within a room, in lines that fit its box."""
    inner = sorted(path.parent.name for path in (PACKAGE / room).glob("*/__init__.py"))
    return wrap(", ".join(inner), width=44)


def drawing() -> str:
    """Return the picture."""
    layers = rows()
    boxes = [
        (room, (WIDTH - len(layer) * (BOX_WIDTH + GAP) + GAP) // 2 + place * (BOX_WIDTH + GAP), MARGIN + level * STEP)
        for level, layer in enumerate(layers)
        for place, room in enumerate(layer)
    ]
    at = {room: (left + BOX_WIDTH // 2, top) for room, left, top in boxes}
    height = 2 * MARGIN + (len(layers) - 1) * STEP + BOX_HEIGHT
    taken: set[int] = set()
    lines = [path(at[above], at[below], list(at.values()), taken) for above, below in arrows(list(at))]
    for room, left, top in boxes:
        inner = inner_rooms(room)
        lines.append(f'<rect class="room" x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>')
        lines.append(f'<text class="name" x="{at[room][0]}" y="{top + (22 if inner else 40)}">{room}</text>')
        for number, words in enumerate(inner):
            lines.append(f'<text class="inner" x="{at[room][0]}" y="{top + 38 + 13 * number}">{words}</text>')
    return HEAD.format(width=WIDTH, height=height) + "\n".join(lines) + "\n</svg>\n"


def path(start: tuple[int, int], end: tuple[int, int], boxes: list[tuple[int, int]], taken: set[int]) -> str:
    """Return an arrow: straight to the next row, else down a lane that no box stands in and no other arrow has."""
    (x, top), (to_x, to) = start, end
    bottom = top + BOX_HEIGHT
    if to - top == STEP:
        return f'<path class="arrow" d="M{x} {bottom}L{to_x} {to}"/>'
    between = [middle for middle, level in boxes if top < level < to]
    lanes = sorted({x, to_x, *range(0, WIDTH, 10)}, key=lambda lane: abs(lane - x) + abs(lane - to_x))
    reach = BOX_WIDTH // 2 + 8
    lane = next(lane for lane in lanes if lane not in taken and all(abs(lane - middle) > reach for middle in between))
    taken.add(lane)
    # Arrows that turn in one row do so at heights and places of their own.
    turn = TURN - 6 + 6 * (len(taken) % 3)
    x += PORT * ((lane > x) - (lane < x))
    to_x += PORT * ((lane > to_x) - (lane < to_x))
    return f'<path class="arrow" d="M{x} {bottom}V{bottom + turn}H{lane}V{to - turn}H{to_x}V{to}"/>'


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")
    print(f"Wrote {PICTURE.relative_to(ROOT)}.")
